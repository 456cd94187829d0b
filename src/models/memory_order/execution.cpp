#include "src/models/memory_order/execution.hpp"

namespace mgsync::memory_order {

execution::execution(const program& asked)
    : event_facts(asked),
      solver_(context_),
      po_(context_, 0),
      strong_pairs_(po_),
      rf_(none()),
      co_(rf_),
      fr_(po_),
      fence_order_(rf_) {
  for (std::size_t e = 0; e < size(); ++e) name_values(e);
  po_ = pairs(
      [&](std::size_t a, std::size_t b) { return !is_start(a) && at(a).thread == at(b).thread && a < b; });
  strong_pairs_ = pairs([&](std::size_t a, std::size_t b) { return morally_strong(a, b); });
  relate_reads_from();
  relate_coherence();
  fr_ = rf_.inverse().then_named(co_, solver_, "fr");
  relate_fence_order();
}

void execution::name_values(std::size_t e) {
  if (reads(e)) values_.push_back(context_.int_const(fmt::format("v{}", e).c_str()));
  else if (at(e).value.read == operand::none) values_.push_back(number(at(e).value.plus));
  else values_.push_back(value_of(static_cast<std::size_t>(at(e).value.read)) + number(at(e).value.plus));
  takes_place_.push_back(all_hold(at(e).guards));
}
z3::expr execution::all_hold(const std::vector<guard>& guards) {
  if (guards.empty()) return context_.bool_val(true);
  const auto known = guarded_.find(guards);
  if (known != guarded_.end()) return known->second;
  z3::expr_vector conditions(context_);
  for (const guard& one : guards) {
    const z3::expr equal = value_of(static_cast<std::size_t>(one.read)) == number(one.value);
    conditions.push_back(one.how == compared::equal ? equal : !equal);
  }
  const z3::expr all = context_.bool_const(fmt::format("on{}", guarded_.size()).c_str());
  solver_.add(all == z3::mk_and(conditions));
  return guarded_.emplace(guards, all).first->second;
}
z3::expr execution::both_take_place(std::size_t a, std::size_t b) const {
  if (takes_place_[a].is_true()) return takes_place_[b];
  if (takes_place_[b].is_true()) return takes_place_[a];
  return takes_place_[a] && takes_place_[b];
}

relation execution::pairs(const std::function<bool(std::size_t, std::size_t)>& related) {
  relation some = none();
  for (std::size_t a = 0; a < size(); ++a) {
    for (std::size_t b = 0; b < size(); ++b) {
      if (a != b && related(a, b) && !exclude_each_other(a, b)) some.add(a, b, both_take_place(a, b));
    }
  }
  return some;
}

relation execution::program_steps() const {
  return po_.where([&](std::size_t a, std::size_t b) {
    for (std::size_t between = a + 1; between < b; ++between)
      if (at(between).thread == at(a).thread && takes_place_with(between, a, b)) return false;
    return true;
  });
}

// Each read that takes place gets its value from one write to the same memory.
void execution::relate_reads_from() {
  for (std::size_t r = 0; r < size(); ++r) {
    if (!reads(r)) continue;
    z3::expr_vector sources(context_);
    for (std::size_t w = 0; w < size(); ++w) {
      if (!writes(w) || !same_memory(w, r) || (at(w).thread == at(r).thread && r < w)) continue;
      if (exclude_each_other(w, r)) continue;
      const z3::expr from = named_bool("rf", w, r);
      solver_.add(z3::implies(from, both_take_place(w, r) && values_[r] == values_[w]));
      rf_.add(w, r, from);
      sources.push_back(from);
    }
    solver_.add(z3::implies(takes_place_[r], z3::mk_or(sources)));
    if (sources.size() > 1) solver_.add(z3::atmost(sources, 1));
  }
}

// Coherence: a partial order of the writes to one memory, in which the initial value comes first.
void execution::relate_coherence() {
  const auto ordered = [&](std::size_t a, std::size_t b) {
    return a != b && writes(a) && writes(b) && same_memory(a, b) && !is_start(b) && !exclude_each_other(a, b);
  };
  for (std::size_t a = 0; a < size(); ++a) {
    for (std::size_t b = 0; b < size(); ++b) {
      if (!ordered(a, b)) continue;
      const z3::expr before = is_start(a) ? takes_place_[b] : named_bool("co", a, b);
      if (!is_start(a)) solver_.add(z3::implies(before, both_take_place(a, b)));
      co_.add(a, b, before);
    }
  }
  co_.for_each([&](std::size_t a, std::size_t b, const z3::expr& first) {
    if (co_.possible(b, a)) solver_.add(!(first && *co_.at(b, a)));
    for (std::size_t c = 0; c < size(); ++c) {
      if (c != a && co_.possible(b, c) && co_.possible(a, c))
        solver_.add(z3::implies(first && *co_.at(b, c), *co_.at(a, c)));
    }
  });
}

// Fence-SC: an order of the sequentially consistent fences, in which only morally strong pairs synchronize.
void execution::relate_fence_order() {
  for (std::size_t a = 0; a < size(); ++a) {
    for (std::size_t b = 0; b < size(); ++b) {
      if (!is_sc(a) || !is_sc(b) || !strong_pairs_.possible(a, b)) continue;
      const auto turn = [&](std::size_t e) { return named("sc", e); };
      fence_order_.add(a, b, both_take_place(a, b) && turn(a) < turn(b));
      solver_.add(turn(a) != turn(b));
    }
  }
}

}  // namespace mgsync::memory_order
