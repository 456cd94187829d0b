#include "src/models/memory_order/model_check.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <z3++.h>

#include "src/base/errors.hpp"
#include "src/models/memory_order/relation.hpp"

namespace mgsync::memory_order {

namespace {

constexpr int before_all = -1;  // the thread number of the writes that represent the initial values of memory

class encoding {
 public:
  explicit encoding(const program& asked)
      : program_(asked),
        solver_(context_),
        events_(asked.events),
        po_(context_, 0),
        rf_(po_),
        co_(po_),
        strong_pairs_(po_),
        fr_(po_) {
    refuse_nonsense();
    for (std::size_t memory = 0; memory < program_.start.size(); ++memory) {
      event start;
      start.kind = event_kind::write;
      start.thread = before_all;
      start.address = first_address_of(static_cast<int>(memory));
      start.value.plus = program_.start[memory];
      events_.push_back(start);
    }
    for (std::size_t e = 0; e < events_.size(); ++e) name_values(e);
    relate();
    forbid();
    for (const condition& one : program_.given) solver_.add(holds(one));
    solver_.add(holds(program_.question));
  }

  answer solve(std::chrono::milliseconds limit) {
    z3::params params(context_);
    params.set("timeout", static_cast<unsigned>(std::max<std::int64_t>(1, limit.count())));
    solver_.set(params);
    switch (solver_.check()) {
    case z3::sat: return {verdict::allowed, story(solver_.get_model())};
    case z3::unsat: return {verdict::forbidden, {}};
    case z3::unknown: break;
    }
    return {};
  }

 private:
  std::size_t size() const { return events_.size(); }
  const event& at(std::size_t e) const { return events_[e]; }
  bool is_memory(std::size_t e) const {
    return at(e).kind == event_kind::read || at(e).kind == event_kind::write;
  }
  bool writes(std::size_t e) const { return at(e).kind == event_kind::write; }
  bool reads(std::size_t e) const { return at(e).kind == event_kind::read; }
  bool is_start(std::size_t e) const { return at(e).thread == before_all; }
  bool is_strong(std::size_t e) const {
    return at(e).kind == event_kind::fence || (is_memory(e) && !is_start(e) && at(e).order != order::weak);
  }
  bool releases(std::size_t e) const {
    return writes(e) && (at(e).order == order::release || at(e).order == order::acq_rel);
  }
  bool acquires(std::size_t e) const {
    return reads(e) && (at(e).order == order::acquire || at(e).order == order::acq_rel);
  }
  bool is_fence(std::size_t e) const { return at(e).kind == event_kind::fence; }
  bool is_sc(std::size_t e) const { return is_fence(e) && at(e).fence == fence_kind::sc; }
  int memory_of(std::size_t e) const {
    return program_.addresses[static_cast<std::size_t>(at(e).address)].memory;
  }
  bool same_memory(std::size_t a, std::size_t b) const {
    return is_memory(a) && is_memory(b) && memory_of(a) == memory_of(b);
  }
  bool same_address(std::size_t a, std::size_t b) const {
    return same_memory(a, b) && (at(a).address == at(b).address || is_start(a) || is_start(b));
  }
  const thread_position& position(std::size_t e) const {
    return program_.threads[static_cast<std::size_t>(at(e).thread)];
  }
  bool same_block(std::size_t a, std::size_t b) const {
    return !is_start(a) && !is_start(b) && position(a).gpu == position(b).gpu &&
           position(a).block == position(b).block;
  }
  bool includes(std::size_t a, std::size_t other) const {
    switch (at(a).scope) {
    case scope::block: return same_block(a, other);
    case scope::gpu: return position(a).gpu == position(other).gpu;
    case scope::system: break;
    }
    return true;
  }
  // Whether both use the same proxy; a fence belongs to the generic proxy.
  bool same_proxy(std::size_t a, std::size_t b) const { return at(a).proxy == at(b).proxy; }
  bool generic(std::size_t e) const { return is_memory(e) && at(e).proxy == proxy::generic; }

  int first_address_of(int memory) const {
    for (std::size_t i = 0; i < program_.addresses.size(); ++i) {
      if (program_.addresses[i].memory == memory) return static_cast<int>(i);
    }
    throw usage_error(fmt::format("memory {} of the program has no address", memory));
  }

  void refuse_nonsense() const {
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
      if (!right)
        throw usage_error(fmt::format("'{}' uses what no earlier read of its block got", at(e).text));
    }
  }

  z3::expr number(std::int64_t value) { return context_.int_val(value); }
  z3::expr named_bool(const char* what, std::size_t a, std::size_t b) {
    return context_.bool_const(fmt::format("{}{}_{}", what, a, b).c_str());
  }
  const z3::expr& value_of(int read) const { return values_[static_cast<std::size_t>(read)]; }

  void name_values(std::size_t e) {
    if (reads(e)) values_.push_back(context_.int_const(fmt::format("v{}", e).c_str()));
    else if (at(e).value.read == operand::none) values_.push_back(number(at(e).value.plus));
    else values_.push_back(value_of(at(e).value.read) + number(at(e).value.plus));
    z3::expr on = context_.bool_val(true);
    for (const guard& one : at(e).guards) {
      const z3::expr equal = value_of(one.read) == number(one.value);
      const z3::expr condition = one.how == compared::equal ? equal : !equal;
      on = on.is_true() ? condition : on && condition;
    }
    takes_place_.push_back(on);
  }
  z3::expr both_take_place(std::size_t a, std::size_t b) {
    if (takes_place_[a].is_true()) return takes_place_[b];
    if (takes_place_[b].is_true()) return takes_place_[a];
    return takes_place_[a] && takes_place_[b];
  }

  relation none() { return {context_, size()}; }
  relation pairs(const std::function<bool(std::size_t, std::size_t)>& related) {
    relation some = none();
    for (std::size_t a = 0; a < size(); ++a) {
      for (std::size_t b = 0; b < size(); ++b) {
        if (a != b && related(a, b)) some.add(a, b, both_take_place(a, b));
      }
    }
    return some;
  }

  void relate() {
    po_ = pairs(
        [&](std::size_t a, std::size_t b) { return !is_start(a) && at(a).thread == at(b).thread && a < b; });
    strong_pairs_ = morally_strong();
    relate_reads_from();
    relate_coherence();
    fr_ = rf_.inverse().then_named(co_, solver_, "fr");
    relate_fence_order();
  }

  // Morally strong: both strong with scopes that include each other, or in program order; by the same proxy;
  // and to the same address.
  relation morally_strong() {
    return pairs([&](std::size_t a, std::size_t b) {
      if (is_start(a) || is_start(b) || !same_proxy(a, b)) return false;
      if (is_memory(a) && is_memory(b) && !same_address(a, b)) return false;
      if (at(a).thread == at(b).thread) return true;
      return is_strong(a) && is_strong(b) && includes(a, b) && includes(b, a);
    });
  }

  // Each read that takes place gets its value from one write to the same memory.
  void relate_reads_from() {
    rf_ = none();
    for (std::size_t r = 0; r < size(); ++r) {
      if (!reads(r)) continue;
      z3::expr_vector sources(context_);
      for (std::size_t w = 0; w < size(); ++w) {
        if (!writes(w) || !same_memory(w, r) || (at(w).thread == at(r).thread && r < w)) continue;
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
  void relate_coherence() {
    co_ = none();
    const auto ordered = [&](std::size_t a, std::size_t b) {
      return a != b && writes(a) && writes(b) && same_memory(a, b) && !is_start(b);
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
  void relate_fence_order() {
    fence_order_ = none();
    for (std::size_t a = 0; a < size(); ++a) {
      for (std::size_t b = 0; b < size(); ++b) {
        if (!is_sc(a) || !is_sc(b) || !strong_pairs_.possible(a, b)) continue;
        const auto turn = [&](std::size_t e) { return context_.int_const(fmt::format("sc{}", e).c_str()); };
        fence_order_->add(a, b, both_take_place(a, b) && turn(a) < turn(b));
        solver_.add(turn(a) != turn(b));
      }
    }
  }

  relation release_patterns() {
    relation found = po_.where([&](std::size_t a, std::size_t b) {
      return writes(b) && is_strong(b) &&
             ((is_fence(a) && at(a).order != order::acquire) || (releases(a) && same_address(a, b)));
    });
    for (std::size_t e = 0; e < size(); ++e) {
      if (releases(e)) found.add(e, e, context_.bool_val(true));
    }
    return found;
  }
  relation acquire_patterns() {
    relation found = po_.where([&](std::size_t a, std::size_t b) {
      return reads(a) && is_strong(a) &&
             ((is_fence(b) && at(b).order != order::release) || (acquires(b) && same_address(a, b)));
    });
    for (std::size_t e = 0; e < size(); ++e) {
      if (acquires(e)) found.add(e, e, context_.bool_val(true));
    }
    return found;
  }
  relation barriers() {
    return pairs([&](std::size_t a, std::size_t b) {
      return at(a).kind == event_kind::barrier && at(b).kind == event_kind::barrier && at(b).waits &&
             same_block(a, b) && at(a).barrier == at(b).barrier && at(a).turn == at(b).turn;
    });
  }

  // Observation: a read of a write with which it is morally strong, or the two halves of an atomic operation.
  relation observations() {
    relation seen = strong_pairs_ & rf_;
    for (std::size_t w = 0; w < size(); ++w) {
      if (at(w).of_atomic != operand::none)
        seen.add(static_cast<std::size_t>(at(w).of_atomic), w, takes_place_[w]);
    }
    return seen;
  }

  relation base_causality(const relation& observed) {
    const relation chains = observed.closed(solver_, "obs");
    const relation synchronizes = release_patterns()
                                      .then_named(chains, solver_, "rel")
                                      .then_named(acquire_patterns(), solver_, "sync") &
                                  strong_pairs_;
    return (po_ | synchronizes | *fence_order_ | barriers()).closed(solver_, "cb");
  }

  // Causality order: base causality order as far as proxies preserve it.
  relation kept_by_proxies(const relation& base) {
    relation kept = base.where([&](std::size_t a, std::size_t b) {
      return same_address(a, b) && ((generic(a) && generic(b)) || (same_proxy(a, b) && same_block(a, b)));
    });
    const bool one_way = std::all_of(events_.begin(), events_.end(), [](const event& e) {
      return e.kind != event_kind::alias_fence && e.kind != event_kind::proxy_fence;
    });
    if (one_way) return kept;
    const auto orders = [&](std::size_t fence, std::size_t operation) {
      return at(fence).kind == event_kind::proxy_fence && is_memory(operation) &&
             same_proxy(fence, operation) && same_block(fence, operation);
    };
    // From an operation to a proxy fence that makes it visible to the generic proxy, and back; generic
    // operations need none.
    const relation leaves = base.where([&](std::size_t a, std::size_t b) { return orders(b, a); });
    const relation enters = base.where([&](std::size_t a, std::size_t b) { return orders(a, b); });
    const auto from_generic = [&](const relation& r) {
      return r.where([&](std::size_t a, std::size_t) { return generic(a); });
    };
    const auto to_generic = [&](const relation& r) {
      return r.where([&](std::size_t, std::size_t b) { return generic(b); });
    };
    const auto of_one_address = [&](const relation& r) {
      return r.where([&](std::size_t a, std::size_t b) { return same_address(a, b); });
    };
    const relation left = leaves.then_named(base, solver_, "px");
    kept = kept | of_one_address(to_generic(left)) |
           of_one_address(from_generic(base.then_named(enters, solver_, "pe"))) |
           of_one_address(left.then_named(enters, solver_, "pb"));
    const relation by_alias =
        base.where([&](std::size_t, std::size_t b) { return at(b).kind == event_kind::alias_fence; })
            .then_named(base, solver_, "al");
    const auto of_one_memory = [&](const relation& r) {
      return r.where([&](std::size_t a, std::size_t b) { return same_memory(a, b); });
    };
    const relation left_by_alias = leaves.then_named(by_alias, solver_, "la");
    return kept | of_one_memory(from_generic(to_generic(by_alias))) |
           of_one_memory(to_generic(left_by_alias)) |
           of_one_memory(from_generic(by_alias.then_named(enters, solver_, "ae"))) |
           of_one_memory(left_by_alias.then_named(enters, solver_, "lb"));
  }

  void forbid() {
    const relation observed = observations();
    const relation base = base_causality(observed);
    const relation kept = kept_by_proxies(base);
    const relation cause = kept | observed.then_named(kept, solver_, "c");
    forbid_incoherence(cause);
    base.for_each([&](std::size_t a, std::size_t b, const z3::expr& when) {
      if (fence_order_->possible(b, a)) solver_.add(!(when && *fence_order_->at(b, a)));
    });
    forbid_split_atomics();
    forbid_thin_air();
    const auto forbid_cycle = [&](std::size_t a, std::size_t b, const z3::expr& when) {
      if (cause.possible(b, a)) solver_.add(!(when && *cause.at(b, a)));
    };
    rf_.for_each(forbid_cycle);
    fr_.for_each(forbid_cycle);
  }

  void forbid_incoherence(const relation& cause) {
    for (std::size_t a = 0; a < size(); ++a) {
      for (std::size_t b = 0; b < size(); ++b) {
        if (!writes(a) || !writes(b) || !same_memory(a, b)) continue;
        if (cause.possible(a, b))
          solver_.add(
              z3::implies(*cause.at(a, b), co_.possible(a, b) ? *co_.at(a, b) : context_.bool_val(false)));
        if (a < b && strong_pairs_.possible(a, b))
          solver_.add(z3::implies(*strong_pairs_.at(a, b), *co_.at(a, b) || *co_.at(b, a)));
      }
    }
  }

  // Atomicity: no write that is morally strong with both halves of an atomic operation comes between them.
  void forbid_split_atomics() {
    for (std::size_t w = 0; w < size(); ++w) {
      if (at(w).of_atomic == operand::none) continue;
      const auto r = static_cast<std::size_t>(at(w).of_atomic);
      for (std::size_t other = 0; other < size(); ++other) {
        if (!fr_.possible(r, other) || !co_.possible(other, w)) continue;
        if (!strong_pairs_.possible(r, other) || !strong_pairs_.possible(other, w)) continue;
        solver_.add(!(*fr_.at(r, other) && *co_.at(other, w)));
      }
    }
  }

  // No thin air: reads, and writes whose value or execution depends on them, can be ordered, so that no value
  // depends on itself.
  void forbid_thin_air() {
    const auto rank = [&](std::size_t e) { return context_.int_const(fmt::format("rank{}", e).c_str()); };
    rf_.for_each([&](std::size_t w, std::size_t r, const z3::expr& when) {
      if (!is_start(w)) solver_.add(z3::implies(when, rank(w) < rank(r)));
    });
    for (std::size_t e = 0; e < size(); ++e) {
      if (at(e).value.read != operand::none)
        solver_.add(rank(static_cast<std::size_t>(at(e).value.read)) < rank(e));
      if (!writes(e)) continue;
      for (const guard& one : at(e).guards) solver_.add(rank(static_cast<std::size_t>(one.read)) < rank(e));
    }
  }

  z3::expr holds(const condition& asked) {
    z3::expr_vector parts(context_);
    for (const condition& part : asked.parts) parts.push_back(holds(part));
    switch (asked.what) {
    case condition::kind::all_of: return z3::mk_and(parts);
    case condition::kind::any_of: return z3::mk_or(parts);
    case condition::kind::negation: return !z3::mk_and(parts);
    case condition::kind::read_is: {
      const z3::expr wanted = asked.other_read == operand::none
                                  ? number(asked.value)
                                  : value_of(asked.other_read) + number(asked.value);
      return value_of(asked.index) == wanted;
    }
    case condition::kind::memory_is: break;
    }
    return last_value(asked.index) == number(asked.value);
  }

  // The final value of a memory: that of a write after which no other comes.
  z3::expr last_value(int memory) {
    const z3::expr last = context_.int_const(fmt::format("last{}", memory).c_str());
    z3::expr_vector candidates(context_);
    for (std::size_t w = 0; w < size(); ++w) {
      if (!writes(w) || memory_of(w) != memory) continue;
      z3::expr is_last = takes_place_[w] && last == values_[w];
      for (std::size_t later = 0; later < size(); ++later) {
        if (co_.possible(w, later)) is_last = is_last && !*co_.at(w, later);
      }
      candidates.push_back(is_last);
    }
    solver_.add(z3::mk_or(candidates));
    return last;
  }

  // The name of an event's thread, which is numbered within its block.
  std::string who(std::size_t e) const {
    const auto& all = program_.threads;
    const auto same = [&](const thread_position& p) {
      return p.gpu == position(e).gpu && p.block == position(e).block;
    };
    return fmt::format("GPU {} block {} thread {}", position(e).gpu, position(e).block,
                       std::count_if(all.begin(), all.begin() + at(e).thread, same));
  }
  std::vector<std::string> story(const z3::model& model) const {
    std::vector<std::string> lines;
    for (std::size_t r = 0; r < size(); ++r) {
      if (!reads(r) || !model.eval(takes_place_[r], true).is_true()) continue;
      const std::string got =
          fmt::format("{}: {} got {}", who(r), at(r).text, model.eval(values_[r], true).get_numeral_int64());
      for (std::size_t w = 0; w < size(); ++w) {
        if (!rf_.possible(w, r) || !model.eval(*rf_.at(w, r), true).is_true()) continue;
        lines.push_back(is_start(w) ? got + ", what was there at first"
                                    : fmt::format("{} from {}: {}", got, who(w), at(w).text));
      }
    }
    return lines;
  }

  const program& program_;
  z3::context context_;
  z3::solver solver_;
  std::vector<event> events_;  // the program's events, then a write for each memory's initial value
  std::vector<z3::expr> values_, takes_place_;
  relation po_, rf_, co_, strong_pairs_, fr_;
  std::optional<relation> fence_order_;
};

}  // namespace

answer check(const program& asked, std::chrono::milliseconds limit) {
  try {
    return encoding(asked).solve(limit);
  } catch (const z3::exception& failed) {
    throw api_error("Z3", failed.msg(), "looking for an execution of a program");
  }
}

}  // namespace mgsync::memory_order
