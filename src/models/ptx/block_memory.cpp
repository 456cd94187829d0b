#include <algorithm>

#include <fmt/format.h>

#include "src/base/errors.hpp"
#include "src/models/ptx/block_run.hpp"

namespace mgsync::ptx {

using memory_order::event_kind;
using memory_order::order;
using memory_order::scope;

namespace {

// Without qualifiers, loads and stores are weak, and atomic operations relaxed at GPU scope. Cluster scope is
// taken as block scope, which is weaker and so hides no violation.
scope scope_of(const instruction& one, scope unsaid) {
  if (one.has("cta") || one.has("cluster")) return scope::block;
  if (one.has("gpu") || one.has("gl")) return scope::gpu;
  if (one.has("sys") || one.has("volatile") || one.has("mmio")) return scope::system;
  return unsaid;
}
order order_of(const instruction& one, order unsaid) {
  if (one.has("acq_rel")) return order::acq_rel;
  if (one.has("acquire")) return order::acquire;
  if (one.has("release")) return order::release;
  if (one.has("relaxed") || one.has("volatile") || one.has("mmio")) return order::relaxed;
  return unsaid;
}

}  // namespace

step block_run::begun(const way& on, unsigned thread, const instruction& one, event_kind kind) const {
  step made;
  made.event.kind = kind;
  made.event.thread = thread_number(launch_, {gpu_, block_, thread});
  made.event.text = one.text;
  made.line = one.line;
  made.block = number_;
  made.phase = on.phase;
  made.decided = on.decided;
  const lane& l = on.lanes[thread];
  made.depends = l.led_by;
  made.depends.insert(l.under.begin(), l.under.end());
  return made;
}

std::optional<block_run::split> block_run::address_of(const way& on, unsigned thread, const instruction& one,
                                                      const operand& from, std::uint64_t& found) const {
  if (from.what != operand::kind::memory) refuse(one, "has no address where one is expected");
  std::uint64_t base = 0;
  if (from.reg >= 0) {
    const value& held = on.lanes[thread].registers[static_cast<std::size_t>(from.reg)];
    if (const auto parts = decide(on, held)) return parts;
    base = settled(on, held).bits;
  } else {
    base = history::place_of(facts_.code(), from.name);
  }
  found = base + static_cast<std::uint64_t>(from.number);
  if (one.has("shared")) {
    constexpr std::uint64_t within = 0xffffff;
    found = shared_at + (static_cast<std::uint64_t>(number_) << 24) + (found & within);
  }
  return std::nullopt;
}

reads block_run::behind_address(const way& on, unsigned thread, const operand& from) const {
  return from.reg < 0 ? reads{} : on.lanes[thread].registers[static_cast<std::size_t>(from.reg)].from;
}

step block_run::access(const way& on, unsigned thread, const instruction& one, event_kind kind,
                       const word& of) const {
  step made = begun(on, thread, one, kind);
  made.address = of.address;
  made.bytes = of.bytes;
  std::string verb;
  for (const std::string& part : one.name) verb += (verb.empty() ? "" : ".") + part;
  made.event.text = fmt::format(
      "{} [{}]", verb, launch_.name_of ? launch_.name_of(of.address) : fmt::format("{:#x}", of.address));
  return made;
}

value block_run::read_parameter(unsigned thread, const instruction& one, const word& of) const {
  const auto& bytes = parameters_[thread];
  const std::uint64_t at = of.address - parameters_at;
  if (at + of.bytes > bytes.size()) refuse(one, "reads behind the kernel's parameters");
  std::uint64_t bits = 0;
  for (std::uint64_t i = 0; i < of.bytes; ++i) bits |= std::uint64_t{bytes[at + i]} << (8 * i);
  return {bits, -1, {}};
}

value block_run::read_word(way& on, unsigned thread, const instruction& one, const word& of, int* number) {
  const number_type type{static_cast<unsigned>(8 * of.bytes), of.is_signed};
  const auto held = [&](std::int64_t got) {
    const auto bits = static_cast<std::uint64_t>(got);
    return type.is_signed ? static_cast<std::uint64_t>(type.extended(bits)) : type.low(bits);
  };
  lost_ = lost_ || polls_in_vain(on, on.lanes[thread], one);
  ++on.lanes[thread].loads;
  if (!history_.is_written(of) && number == nullptr) return {held(history_.at_first(of)), -1, {}};
  step made = access(on, thread, one, event_kind::read, of);
  const order said = order_of(one, one.is("ld") ? order::weak : order::relaxed);
  made.event.order = said == order::acq_rel ? order::acquire : said == order::release ? order::relaxed : said;
  made.event.scope = scope_of(one, scope::gpu);
  made.candidates = history_.candidates(on, static_cast<unsigned>(made.event.thread), number_, of);
  value got{0, -1, {}};
  for (const std::int64_t candidate : made.candidates) got.by_candidate.push_back(held(candidate));
  const bool is_open = made.candidates.size() > 1;
  got.read = history_.add(std::move(made));
  if (is_open) got.from.insert(got.read);
  if (number != nullptr) *number = got.read;
  return settled(on, got);
}

std::optional<block_run::split> block_run::load(way& on, unsigned thread, const instruction& one) {
  const auto type = type_named(one.name.back());
  if (!type || one.has("nc")) refuse(one, "is a load that is not known here");
  word of{0, type->bytes(), type->is_signed};
  if (const auto parts = address_of(on, thread, one, one.operands.at(1), of.address)) return parts;
  const reads by = behind_address(on, thread, one.operands.at(1));
  const operand& to = one.operands.at(0);
  const std::vector<int> registers = to.what == operand::kind::list ? to.regs : std::vector<int>{to.reg};
  for (const int reg : registers) {
    value got = of.address >= parameters_at ? read_parameter(thread, one, of)
                                            : read_word(on, thread, one, of, nullptr);
    got.from.insert(by.begin(), by.end());
    if (reg >= 0) on.lanes[thread].registers[static_cast<std::size_t>(reg)] = std::move(got);
    of.address += of.bytes;
  }
  return std::nullopt;
}

std::optional<block_run::split> block_run::written_as(const way& on, const value& of, const word& to,
                                                      memory_order::operand& found) const {
  const number_type type{static_cast<unsigned>(8 * to.bytes), true};
  const value now = settled(on, of);
  if (!now.open()) {
    found = {memory_order::operand::none, type.extended(now.bits)};
    return std::nullopt;
  }
  const auto& candidates = history_.steps()[static_cast<std::size_t>(now.read)].candidates;
  std::optional<std::int64_t> plus;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if ((left(on, now.read) >> i & 1) == 0) continue;
    const std::int64_t more = type.extended(now.by_candidate[i]) - candidates[i];
    if (plus && *plus != more) return decide(on, now);
    plus = more;
  }
  found = {now.read, *plus};
  return std::nullopt;
}

void block_run::write_word(way& on, unsigned thread, step made, bool adds) {
  lane& l = on.lanes[thread];
  ++l.effects;
  known_write known{made.event.thread, number_, made.phase, l.effects, made.address, made.bytes, adds, 0};
  const memory_order::operand& what = made.event.value;
  if (adds || what.read == memory_order::operand::none) {
    known.number = what.plus;
    history_.know(known);
  } else {
    for (const std::int64_t got : history_.steps()[static_cast<std::size_t>(what.read)].candidates) {
      known.number = got + what.plus;
      history_.know(known);
    }
  }
  const std::uint64_t address = made.address;
  on.last_own[{static_cast<unsigned>(made.event.thread), address}] = {history_.add(std::move(made))};
}

std::optional<block_run::split> block_run::store(way& on, unsigned thread, const instruction& one) {
  const auto type = type_named(one.name.back());
  if (!type || one.has("async")) refuse(one, "is a store that is not known here");
  word of{0, type->bytes(), false};
  if (const auto parts = address_of(on, thread, one, one.operands.at(0), of.address)) return parts;
  const operand& from = one.operands.at(1);
  std::vector<value> values;
  if (from.what == operand::kind::list)
    for (const int reg : from.regs)
      values.push_back(on.lanes[thread].registers[static_cast<std::size_t>(reg)]);
  else values.push_back(read(on, thread, from));
  std::vector<memory_order::operand> written(values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    if (const auto parts = written_as(on, values[i], of, written[i])) return parts;
  reads by = behind_address(on, thread, one.operands.at(0));
  for (std::size_t i = 0; i < written.size(); ++i) {
    step made = access(on, thread, one, event_kind::write, of);
    made.depends.insert(by.begin(), by.end());
    made.depends.insert(values[i].from.begin(), values[i].from.end());
    made.event.order = order_of(one, order::weak);
    made.event.scope = scope_of(one, scope::gpu);
    made.event.value = written[i];
    write_word(on, thread, std::move(made), false);
    of.address += of.bytes;
  }
  return std::nullopt;
}

// An atomic operation is two steps: the read, and the write that refers to it.
std::optional<block_run::split> block_run::atomic(way& on, unsigned thread, const instruction& one) {
  const auto type = type_named(one.name.back());
  const bool answers = one.is("atom"), adds = one.has("add"), compares = one.has("cas");
  if (!type || (!adds && !compares && !one.has("exch")))
    refuse(one, "is an atomic operation that is not known here");
  const std::size_t at = answers ? 1 : 0;
  word of{0, type->bytes(), false};
  if (const auto parts = address_of(on, thread, one, one.operands.at(at), of.address)) return parts;
  value given = read(on, thread, one.operands.at(one.operands.size() - 1)), wanted{};
  if (adds || compares)
    if (const auto parts = decide(on, given)) return parts;
  if (compares) {
    wanted = read(on, thread, one.operands.at(at + 1));
    if (const auto parts = decide(on, wanted)) return parts;
    wanted = settled(on, wanted);
  }
  memory_order::operand what;
  if (const auto parts = written_as(on, given, of, what)) return parts;
  reads by = behind_address(on, thread, one.operands.at(at));
  int number = -1;
  value got = read_word(on, thread, one, of, &number);
  step made = access(on, thread, one, event_kind::write, of);
  const order said = order_of(one, order::relaxed);
  made.event.order = said == order::acq_rel || said == order::release ? order::release : order::relaxed;
  made.event.scope = scope_of(one, scope::gpu);
  made.event.of_atomic = number;
  for (const auto& from : {by, given.from, wanted.from}) made.depends.insert(from.begin(), from.end());
  made.event.value = adds ? memory_order::operand{number, what.plus} : what;
  bool writes = true;
  if (compares) {
    const auto& candidates = history_.steps()[static_cast<std::size_t>(number)].candidates;
    choice equal = 0;
    for (std::size_t i = 0; i < candidates.size(); ++i)
      if (type->low(static_cast<std::uint64_t>(candidates[i])) == type->low(wanted.bits))
        equal |= choice{1} << i;
    writes = equal != 0;
    made.decided.push_back({number, equal});
    made.depends.insert(number);
  }
  if (writes) write_word(on, thread, std::move(made), adds);
  if (!answers) return std::nullopt;
  got.from.insert(by.begin(), by.end());
  set(on, thread, one.operands.at(0), std::move(got));
  return std::nullopt;
}

void block_run::fence(way& on, unsigned thread, const instruction& one) {
  ++on.lanes[thread].effects;
  if (one.has("proxy")) {
    step made = begun(on, thread, one, one.has("alias") ? event_kind::alias_fence : event_kind::proxy_fence);
    if (!one.has("alias") && !one.has("async")) refuse(one, "is a fence of a proxy that is not known here");
    made.event.proxy = memory_order::proxy::async;
    history_.add(std::move(made));
    return;
  }
  step made = begun(on, thread, one, event_kind::fence);
  const bool full = one.is("membar") || one.has("sc");
  made.event.fence = full ? memory_order::fence_kind::sc : memory_order::fence_kind::acq_rel;
  made.event.order = full ? order::acq_rel : order_of(one, order::acq_rel);
  made.event.scope = scope_of(one, scope::system);
  history_.add(std::move(made));
}

}  // namespace mgsync::ptx
