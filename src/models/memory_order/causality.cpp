#include "src/models/memory_order/causality.hpp"

#include <algorithm>

namespace mgsync::memory_order {
namespace {

relation release_patterns(execution& run) {
  relation found = run.program_order().where([&](std::size_t a, std::size_t b) {
    return run.writes(b) && run.is_strong(b) &&
           ((run.is_fence(a) && run.at(a).order != order::acquire) ||
            (run.releases(a) && run.same_address(a, b)));
  });
  for (std::size_t e = 0; e < run.size(); ++e) {
    if (run.releases(e)) found.add(e, e, run.context().bool_val(true));
  }
  return found;
}
relation acquire_patterns(execution& run) {
  relation found = run.program_order().where([&](std::size_t a, std::size_t b) {
    return run.reads(a) && run.is_strong(a) &&
           ((run.is_fence(b) && run.at(b).order != order::release) ||
            (run.acquires(b) && run.same_address(a, b)));
  });
  for (std::size_t e = 0; e < run.size(); ++e) {
    if (run.acquires(e)) found.add(e, e, run.context().bool_val(true));
  }
  return found;
}
relation barriers(execution& run) {
  return run.pairs([&](std::size_t a, std::size_t b) {
    return run.at(a).kind == event_kind::barrier && run.at(b).kind == event_kind::barrier &&
           run.at(b).waits && run.same_block(a, b) && run.at(a).barrier == run.at(b).barrier &&
           run.at(a).turn == run.at(b).turn;
  });
}

// Observation: a read of a write with which it is morally strong, or the two halves of an atomic operation.
relation observations(execution& run) {
  relation seen = run.strong_pairs() & run.reads_from();
  for (std::size_t w = 0; w < run.size(); ++w) {
    if (run.at(w).of_atomic != operand::none)
      seen.add(static_cast<std::size_t>(run.at(w).of_atomic), w, run.takes_place(w));
  }
  return seen;
}

relation base_causality(execution& run, const relation& observed) {
  const relation chains = observed.closed(run.solver(), "obs");
  const relation synchronizes = release_patterns(run)
                                    .then_named(chains, run.solver(), "rel")
                                    .then_named(acquire_patterns(run), run.solver(), "sync") &
                                run.strong_pairs();
  return (run.program_steps() | synchronizes | run.fence_order() | barriers(run)).closed(run.solver(), "cb");
}

// Causality order: base causality order as far as proxies preserve it.
relation kept_by_proxies(execution& run, const relation& base) {
  relation kept = base.where([&](std::size_t a, std::size_t b) {
    return run.same_address(a, b) &&
           ((run.generic(a) && run.generic(b)) || (run.same_proxy(a, b) && run.same_block(a, b)));
  });
  const bool one_way = std::all_of(run.events().begin(), run.events().end(), [](const event& e) {
    return e.kind != event_kind::alias_fence && e.kind != event_kind::proxy_fence;
  });
  if (one_way) return kept;
  const auto orders = [&](std::size_t fence, std::size_t operation) {
    return run.at(fence).kind == event_kind::proxy_fence && run.is_memory(operation) &&
           run.same_proxy(fence, operation) && run.same_block(fence, operation);
  };
  // From an operation to a proxy fence that makes it visible to the generic proxy, and back; generic
  // operations need none.
  const relation leaves = base.where([&](std::size_t a, std::size_t b) { return orders(b, a); });
  const relation enters = base.where([&](std::size_t a, std::size_t b) { return orders(a, b); });
  const auto from_generic = [&](const relation& r) {
    return r.where([&](std::size_t a, std::size_t) { return run.generic(a); });
  };
  const auto to_generic = [&](const relation& r) {
    return r.where([&](std::size_t, std::size_t b) { return run.generic(b); });
  };
  const auto of_one_address = [&](const relation& r) {
    return r.where([&](std::size_t a, std::size_t b) { return run.same_address(a, b); });
  };
  const relation left = leaves.then_named(base, run.solver(), "px");
  kept = kept | of_one_address(to_generic(left)) |
         of_one_address(from_generic(base.then_named(enters, run.solver(), "pe"))) |
         of_one_address(left.then_named(enters, run.solver(), "pb"));
  const relation by_alias =
      base.where([&](std::size_t, std::size_t b) { return run.at(b).kind == event_kind::alias_fence; })
          .then_named(base, run.solver(), "al");
  const auto of_one_memory = [&](const relation& r) {
    return r.where([&](std::size_t a, std::size_t b) { return run.same_memory(a, b); });
  };
  const relation left_by_alias = leaves.then_named(by_alias, run.solver(), "la");
  return kept | of_one_memory(from_generic(to_generic(by_alias))) | of_one_memory(to_generic(left_by_alias)) |
         of_one_memory(from_generic(by_alias.then_named(enters, run.solver(), "ae"))) |
         of_one_memory(left_by_alias.then_named(enters, run.solver(), "lb"));
}

}  // namespace

causality causality_of(execution& run) {
  const relation observed = observations(run);
  const relation base = base_causality(run, observed);
  const relation kept = kept_by_proxies(run, base);
  return {base, kept | observed.then_named(kept, run.solver(), "c")};
}

}  // namespace mgsync::memory_order
