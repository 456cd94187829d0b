#include "src/models/memory_order/event_facts.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "src/base/errors.hpp"

namespace mgsync::memory_order {

event_facts::event_facts(const program& asked) : program_(asked), events_(asked.events) {
  refuse_nonsense();
  for (std::size_t memory = 0; memory < program_.start.size(); ++memory) {
    event start;
    start.kind = event_kind::write;
    start.thread = before_all;
    start.address = first_address_of(static_cast<int>(memory));
    start.value.plus = program_.start[memory];
    events_.push_back(start);
  }
}

bool event_facts::exclude_each_other(std::size_t a, std::size_t b) const {
  const auto contradict = [](const guard& one, const guard& other) {
    if (one.read != other.read) return false;
    if (one.how == compared::equal && other.how == compared::equal) return one.value != other.value;
    return one.how != other.how && one.value == other.value;
  };
  return std::ranges::any_of(at(a).guards, [&](const guard& one) {
    return std::ranges::any_of(at(b).guards, [&](const guard& other) { return contradict(one, other); });
  });
}
bool event_facts::takes_place_with(std::size_t e, std::size_t a, std::size_t b) const {
  return std::ranges::all_of(at(e).guards, [&](const guard& one) {
    return std::ranges::find(at(a).guards, one) != at(a).guards.end() ||
           std::ranges::find(at(b).guards, one) != at(b).guards.end();
  });
}

bool event_facts::same_block(std::size_t a, std::size_t b) const {
  return !is_start(a) && !is_start(b) && position(a).gpu == position(b).gpu &&
         position(a).block == position(b).block;
}

bool event_facts::includes(std::size_t a, std::size_t other) const {
  switch (at(a).scope) {
  case scope::block: return same_block(a, other);
  case scope::gpu: return position(a).gpu == position(other).gpu;
  case scope::system: break;
  }
  return true;
}

bool event_facts::morally_strong(std::size_t a, std::size_t b) const {
  if (is_start(a) || is_start(b) || !same_proxy(a, b)) return false;
  if (is_memory(a) && is_memory(b) && !same_address(a, b)) return false;
  if (at(a).thread == at(b).thread) return true;
  return is_strong(a) && is_strong(b) && includes(a, b) && includes(b, a);
}

int event_facts::first_address_of(int memory) const {
  for (std::size_t i = 0; i < program_.addresses.size(); ++i) {
    if (program_.addresses[i].memory == memory) return static_cast<int>(i);
  }
  throw usage_error(fmt::format("memory {} of the program has no address", memory));
}

void event_facts::refuse_nonsense() const {
  for (std::size_t e = 0; e < events_.size(); ++e) {
    const auto known = [&](int read) {
      return read == operand::none ||
             (read >= 0 && static_cast<std::size_t>(read) < e && reads(static_cast<std::size_t>(read)) &&
              (at(static_cast<std::size_t>(read)).thread == at(e).thread ||
               same_block(static_cast<std::size_t>(read), e)));
    };
    bool right = at(e).thread >= 0 && static_cast<std::size_t>(at(e).thread) < program_.threads.size() &&
                 known(at(e).value.read) && known(at(e).of_atomic);
    for (const guard& one : at(e).guards) right = right && one.read != operand::none && known(one.read);
    for (const int read : at(e).depends) right = right && read != operand::none && known(read);
    if (!right) throw usage_error(fmt::format("'{}' uses what no earlier read of its block got", at(e).text));
  }
}

}  // namespace mgsync::memory_order
