#include "src/models/memory_order/litmus.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "src/base/blanks.hpp"
#include "src/base/errors.hpp"

namespace mgsync::memory_order {

namespace {

std::vector<std::string_view> split(std::string_view text, char between) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(between);
    parts.push_back(trimmed(text.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

template <class Value, std::size_t n>
bool looks_up(const std::array<std::pair<std::string_view, Value>, n>& table, std::string_view word,
              Value& found) {
  const auto row =
      std::find_if(table.begin(), table.end(), [&](const auto& one) { return one.first == word; });
  if (row != table.end()) found = row->second;
  return row != table.end();
}

constexpr std::array<std::pair<std::string_view, order>, 6> orders{{{"weak", order::weak},
                                                                    {"relaxed", order::relaxed},
                                                                    {"volatile", order::relaxed},
                                                                    {"acquire", order::acquire},
                                                                    {"release", order::release},
                                                                    {"acq_rel", order::acq_rel}}};
constexpr std::array<std::pair<std::string_view, scope>, 3> scopes{
    {{"cta", scope::block}, {"gpu", scope::gpu}, {"sys", scope::system}}};
constexpr std::array<std::pair<std::string_view, proxy>, 4> proxies{{{"surface", proxy::surface},
                                                                     {"texture", proxy::texture},
                                                                     {"constant", proxy::constant},
                                                                     {"async", proxy::async}}};

// One test, line by line.
class reader {
 public:
  explicit reader(std::size_t line) : line_(line) {}

  void take(std::string_view text, std::size_t line) {
    line_ = line;
    if (const std::size_t bar = text.find('|'); text.rfind("gpu ", 0) == 0 && bar != std::string_view::npos) {
      add_thread(trimmed(text.substr(0, bar)), text.substr(bar + 1));
    } else if (text.rfind("memory ", 0) == 0) {
      const auto [name, value] = equation(text.substr(7));
      program_.start[static_cast<std::size_t>(memory_of(name))] = number(value);
    } else if (text.rfind("alias ", 0) == 0) {
      const auto [name, of] = equation(text.substr(6));
      addresses_[std::string(name)] = add_address(name, memory_of(of));
    } else if (text.rfind("name ", 0) == 0) {
      const auto [name, of] = equation(text.substr(5));
      addresses_[std::string(name)] = address_of(of);
    } else if (text.rfind("ask ", 0) == 0) {
      rest_ = text.substr(4);
      program_.question = any_of();
      if (!trimmed(rest_).empty()) refuse(rest_, "the end of the question");
      asked_ = true;
    } else {
      refuse(text, "'gpu N block N | ...', 'memory', 'alias', 'name' or 'ask'");
    }
  }

  program finish() {
    if (!asked_) refuse("", "a question: 'ask ...'");
    return std::move(program_);
  }

 private:
  [[noreturn]] void refuse(std::string_view what, std::string_view accepted) const {
    throw usage_error(fmt::format("litmus test, line {}: '{}' where {} is expected", line_, what, accepted));
  }
  std::int64_t number(std::string_view text) const {
    std::int64_t value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failed != std::errc() || end != text.data() + text.size()) refuse(text, "a whole number");
    return value;
  }
  std::pair<std::string_view, std::string_view> equation(std::string_view text) const {
    const auto parts = split(text, '=');
    if (parts.size() != 2) refuse(text, "NAME = ...");
    return {parts[0], parts[1]};
  }

  int add_address(std::string_view name, int memory) {
    program_.addresses.push_back({std::string(name), memory});
    return static_cast<int>(program_.addresses.size()) - 1;
  }
  int address_of(std::string_view name) {
    const auto [found, is_new] = addresses_.try_emplace(std::string(name), 0);
    if (is_new) {
      program_.start.push_back(0);
      found->second = add_address(name, static_cast<int>(program_.start.size()) - 1);
    }
    return found->second;
  }
  int memory_of(std::string_view name) {
    return program_.addresses[static_cast<std::size_t>(address_of(name))].memory;
  }

  void add_thread(std::string_view where, std::string_view instructions) {
    const auto words = split(where, ' ');
    if (words.size() != 4 || words[2] != "block") refuse(where, "'gpu N block N'");
    program_.threads.push_back({static_cast<int>(number(words[1])), static_cast<int>(number(words[3]))});
    turns_.clear();
    for (const std::string_view one : split(instructions, ';')) {
      if (!one.empty()) add_instruction(one);
    }
  }

  event begun(event_kind kind) const {
    event e;
    e.kind = kind;
    e.thread = static_cast<int>(program_.threads.size()) - 1;
    e.text = text_;
    e.guards = guards_;
    for (const guard& one : guards_) e.depends.push_back(one.read);
    return e;
  }
  int push(event e) {
    program_.events.push_back(std::move(e));
    return static_cast<int>(program_.events.size()) - 1;
  }

  void add_instruction(std::string_view text) {
    text_ = std::string(text);
    guards_.clear();
    if (text.rfind("@(", 0) == 0) {
      const std::size_t end = text.find(')');
      if (end == std::string_view::npos) refuse(text, "a condition in parentheses");
      guards_.push_back(guard_of(text.substr(2, end - 2)));
      text = trimmed(text.substr(end + 1));
    }
    const std::size_t space = std::min(text.find(' '), text.size());
    const auto name = split(text.substr(0, space), '.');
    const auto arguments =
        space == text.size() ? std::vector<std::string_view>{} : split(text.substr(space + 1), ',');
    if (name[0] == "bar") add_barrier(name, arguments);
    else if (name[0] == "fence") add_fence(name);
    else add_memory(name, arguments);
  }

  guard guard_of(std::string_view text) const {
    const bool equal = text.find("==") != std::string_view::npos;
    const std::size_t at = equal ? text.find("==") : text.find("!=");
    if (at == std::string_view::npos) refuse(text, "REGISTER == NUMBER or REGISTER != NUMBER");
    return {read_of(trimmed(text.substr(0, at))), equal ? compared::equal : compared::unequal,
            number(trimmed(text.substr(at + 2)))};
  }
  int read_of(std::string_view name) const {
    const auto found = registers_.find(std::string(name));
    if (found == registers_.end()) refuse(name, "a register that an instruction before it sets");
    return found->second;
  }
  operand operand_of(std::string_view text) const {
    if (registers_.count(std::string(text)) != 0) return {read_of(text), 0};
    return {operand::none, number(text)};
  }

  void add_barrier(const std::vector<std::string_view>& name,
                   const std::vector<std::string_view>& arguments) {
    if (name.size() != 2 || (name[1] != "sync" && name[1] != "arrive") || arguments.size() != 1)
      refuse(text_, "bar.sync NAME or bar.arrive NAME");
    event e = begun(event_kind::barrier);
    e.barrier = std::string(arguments[0]);
    e.turn = turns_[e.barrier]++;
    e.waits = name[1] == "sync";
    push(std::move(e));
  }

  void add_fence(const std::vector<std::string_view>& name) {
    event e = begun(event_kind::fence);
    if (name.size() == 3 && name[1] == "proxy" && name[2] == "alias") {
      e.kind = event_kind::alias_fence;
    } else if (name.size() == 3 && name[1] == "proxy" && looks_up(proxies, name[2], e.proxy)) {
      e.kind = event_kind::proxy_fence;
    } else if (name.size() == 3 && (name[1] == "sc" || name[1] == "acq_rel") &&
               looks_up(scopes, name[2], e.scope)) {
      e.fence = name[1] == "sc" ? fence_kind::sc : fence_kind::acq_rel;
      e.order = order::acq_rel;
    } else if (name.size() == 3 && (name[1] == "acquire" || name[1] == "release") &&
               looks_up(scopes, name[2], e.scope)) {
      e.order = name[1] == "acquire" ? order::acquire : order::release;
    } else {
      refuse(text_, "fence.sc.SCOPE, fence.acq_rel.SCOPE, fence.acquire.SCOPE, fence.release.SCOPE or "
                    "fence.proxy.KIND");
    }
    push(std::move(e));
  }

  void add_memory(const std::vector<std::string_view>& name, const std::vector<std::string_view>& arguments) {
    static constexpr std::array<std::pair<std::string_view, proxy>, 8> verbs{{{"ld", proxy::generic},
                                                                              {"st", proxy::generic},
                                                                              {"atom", proxy::generic},
                                                                              {"red", proxy::generic},
                                                                              {"suld", proxy::surface},
                                                                              {"sust", proxy::surface},
                                                                              {"tld", proxy::texture},
                                                                              {"ldc", proxy::constant}}};
    event e = begun(event_kind::read);
    std::string_view operation;
    if (!looks_up(verbs, name[0], e.proxy))
      refuse(text_, "ld, st, atom, red, fence, bar, suld, sust, tld or ldc");
    for (std::size_t i = 1; i < name.size(); ++i) {
      if (looks_up(orders, name[i], e.order) || looks_up(scopes, name[i], e.scope)) continue;
      if (name[i] == "async") e.proxy = proxy::async;
      else if (operation.empty() && (name[0] == "atom" || name[0] == "red")) operation = name[i];
      else
        refuse(text_,
               "an order (.weak, .relaxed, .acquire, .release, .acq_rel) and a scope (.cta, .gpu, .sys)");
    }
    if (name[0] == "atom" || name[0] == "red")
      add_atomic(std::move(e), name[0] == "atom", operation, arguments);
    else if (name[0] == "st" || name[0] == "sust") add_store(std::move(e), arguments);
    else add_load(std::move(e), arguments);
  }

  std::string_view bracketed(std::string_view text) const {
    if (text.size() < 3 || text.front() != '[' || text.back() != ']') refuse(text, "an address in brackets");
    return text.substr(1, text.size() - 2);
  }
  void add_store(event e, const std::vector<std::string_view>& arguments) {
    if (arguments.size() != 2) refuse(text_, "st [ADDRESS], VALUE");
    e.kind = event_kind::write;
    e.address = address_of(bracketed(arguments[0]));
    e.value = operand_of(arguments[1]);
    push(std::move(e));
  }
  void add_load(event e, const std::vector<std::string_view>& arguments) {
    if (arguments.size() != 2) refuse(text_, "ld REGISTER, [ADDRESS]");
    e.address = address_of(bracketed(arguments[1]));
    sets(arguments[0], push(std::move(e)));
  }
  void sets(std::string_view name, int read) {
    if (!registers_.emplace(std::string(name), read).second)
      refuse(name, "a register that no other instruction sets");
  }

  void add_atomic(event e, bool answers, std::string_view operation,
                  std::vector<std::string_view> arguments) {
    if (!answers) arguments.insert(arguments.begin(), "");
    if (arguments.size() != (operation == "cas" ? 4U : 3U))
      refuse(text_, "atom REGISTER, [ADDRESS], VALUE (cas: COMPARED, VALUE)");
    const order asked = e.order == order::weak ? order::relaxed : e.order;
    e.address = address_of(bracketed(arguments[1]));
    e.order = asked == order::acquire || asked == order::acq_rel ? order::acquire : order::relaxed;
    event written = e;
    const int read = push(std::move(e));
    written.kind = event_kind::write;
    written.order = asked == order::release || asked == order::acq_rel ? order::release : order::relaxed;
    written.of_atomic = read;
    const std::string_view value = arguments.back();
    if (operation == "add") written.value = {read, number(value)};
    else if (operation == "sub") written.value = {read, -number(value)};
    else if (operation == "exch" || operation == "cas") written.value = operand_of(value);
    else refuse(operation, "add, sub, exch or cas");
    if (operation == "cas") {
      written.guards.push_back({read, compared::equal, number(arguments[2])});
      written.depends.push_back(read);
    }
    push(std::move(written));
    if (answers) sets(arguments[0], read);
  }

  // The question: || of && of comparisons, ! and parentheses.
  bool accept(std::string_view word) {
    rest_ = trimmed(rest_);
    if (rest_.rfind(word, 0) != 0) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  std::string_view next_name() {
    rest_ = trimmed(rest_);
    std::size_t end = 0;
    while (end < rest_.size() && (std::isalnum(static_cast<unsigned char>(rest_[end])) != 0 ||
                                  rest_[end] == '_' || rest_[end] == '-'))
      ++end;
    if (end == 0) refuse(rest_, "a name or a number");
    const std::string_view name = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return name;
  }
  condition any_of() {
    condition either{.what = condition::kind::any_of, .parts = {all_of()}};
    while (accept("||")) either.parts.push_back(all_of());
    return either;
  }
  condition all_of() {
    condition each{.what = condition::kind::all_of, .parts = {single()}};
    while (accept("&&")) each.parts.push_back(single());
    return each;
  }
  condition single() {
    if (accept("!(")) return {.what = condition::kind::negation, .parts = {closed()}};
    if (accept("(")) return closed();
    const std::string_view name = next_name();
    const bool equal = accept("==");
    if (!equal && !accept("!=")) refuse(rest_, "== or !=");
    const condition is = comparison(name, next_name());
    return equal ? is : condition{.what = condition::kind::negation, .parts = {is}};
  }
  condition closed() {
    condition inside = any_of();
    if (!accept(")")) refuse(rest_, "a closing parenthesis");
    return inside;
  }
  condition comparison(std::string_view name, std::string_view value) {
    condition is{.what = condition::kind::read_is};
    const auto found = registers_.find(std::string(name));
    if (found == registers_.end()) {
      if (addresses_.count(std::string(name)) == 0) refuse(name, "a register or an address of the test");
      return {.what = condition::kind::memory_is, .index = memory_of(name), .value = number(value)};
    }
    is.index = found->second;
    if (const auto other = registers_.find(std::string(value)); other != registers_.end())
      is.other_read = other->second;
    else is.value = number(value);
    return is;
  }

  std::size_t line_;
  program program_;
  bool asked_ = false;
  std::string text_;
  std::vector<guard> guards_;
  std::map<std::string, int> addresses_, registers_, turns_;
  std::string_view rest_;
};

}  // namespace

std::vector<litmus_test> read_litmus(std::string_view text) {
  std::vector<litmus_test> tests;
  std::vector<reader> readers;
  std::size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    const std::size_t colon = line.rfind(": ");
    const std::string_view known = colon == std::string_view::npos ? "" : line.substr(colon + 2);
    if (known == "forbidden" || known == "allowed") {
      tests.push_back({std::string(line.substr(0, colon)),
                       known == "allowed" ? verdict::allowed : verdict::forbidden,
                       {}});
      readers.emplace_back(number);
    } else if (readers.empty()) {
      throw usage_error(fmt::format(
          "litmus test, line {}: '{}' where 'NAME: forbidden' or 'NAME: allowed' is expected", number, line));
    } else {
      readers.back().take(line, number);
    }
  }
  for (std::size_t i = 0; i < tests.size(); ++i) tests[i].program = readers[i].finish();
  return tests;
}

}  // namespace mgsync::memory_order
