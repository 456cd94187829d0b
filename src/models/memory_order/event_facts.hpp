// What is known of a program's events before a solver is asked: what each does, and which two are of one
// memory, of one address, of one block.
#pragma once

#include <vector>

#include "src/models/memory_order/program.hpp"

namespace mgsync::memory_order {

class event_facts {
 public:
  // The program's events, then a write for each memory's initial value. Throws usage_error for an event that
  // uses a value which no earlier read of its block got, and for a memory without an address.
  explicit event_facts(const program&);

  const program& of() const { return program_; }
  std::size_t size() const { return events_.size(); }
  const event& at(std::size_t e) const { return events_[e]; }
  const std::vector<event>& events() const { return events_; }
  const thread_position& position(std::size_t e) const {
    return program_.threads[static_cast<std::size_t>(at(e).thread)];
  }
  int memory_of(std::size_t e) const {
    return program_.addresses[static_cast<std::size_t>(at(e).address)].memory;
  }

  bool writes(std::size_t e) const { return at(e).kind == event_kind::write; }
  bool reads(std::size_t e) const { return at(e).kind == event_kind::read; }
  bool is_memory(std::size_t e) const { return reads(e) || writes(e); }
  bool is_start(std::size_t e) const { return at(e).thread == before_all; }
  bool is_fence(std::size_t e) const { return at(e).kind == event_kind::fence; }
  bool is_sc(std::size_t e) const { return is_fence(e) && at(e).fence == fence_kind::sc; }
  bool is_strong(std::size_t e) const {
    return is_fence(e) || (is_memory(e) && !is_start(e) && at(e).order != order::weak);
  }
  bool releases(std::size_t e) const {
    return writes(e) && (at(e).order == order::release || at(e).order == order::acq_rel);
  }
  bool acquires(std::size_t e) const {
    return reads(e) && (at(e).order == order::acquire || at(e).order == order::acq_rel);
  }
  bool generic(std::size_t e) const { return is_memory(e) && at(e).proxy == proxy::generic; }

  // Whether their guards contradict each other, so that at most one of the two takes place.
  bool exclude_each_other(std::size_t a, std::size_t b) const;
  // Whether `e` takes place wherever both of the others do.
  bool takes_place_with(std::size_t e, std::size_t a, std::size_t b) const;

  bool same_memory(std::size_t a, std::size_t b) const {
    return is_memory(a) && is_memory(b) && memory_of(a) == memory_of(b);
  }
  bool same_address(std::size_t a, std::size_t b) const {
    return same_memory(a, b) && (at(a).address == at(b).address || is_start(a) || is_start(b));
  }
  bool same_block(std::size_t a, std::size_t b) const;
  // Whether both use the same proxy; a fence belongs to the generic proxy.
  bool same_proxy(std::size_t a, std::size_t b) const { return at(a).proxy == at(b).proxy; }
  // Morally strong: both strong with scopes that include each other, or in program order; by the same proxy;
  // and to the same address.
  bool morally_strong(std::size_t a, std::size_t b) const;

 private:
  static constexpr int before_all = -1;  // the thread number of the writes of initial values

  bool includes(std::size_t a, std::size_t other) const;
  int first_address_of(int memory) const;
  void refuse_nonsense() const;

  const program& program_;
  std::vector<event> events_;
};

}  // namespace mgsync::memory_order
