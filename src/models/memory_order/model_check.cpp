#include "src/models/memory_order/model_check.hpp"

#include <algorithm>

#include "src/base/errors.hpp"
#include "src/models/memory_order/causality.hpp"

namespace mgsync::memory_order {

namespace {

void forbid_incoherence(execution& run, const relation& cause) {
  for (std::size_t a = 0; a < run.size(); ++a) {
    for (std::size_t b = 0; b < run.size(); ++b) {
      if (!run.writes(a) || !run.writes(b) || !run.same_memory(a, b)) continue;
      if (cause.possible(a, b))
        run.solver().add(z3::implies(*cause.at(a, b), run.coherence().possible(a, b)
                                                          ? *run.coherence().at(a, b)
                                                          : run.context().bool_val(false)));
      if (a < b && run.strong_pairs().possible(a, b))
        run.solver().add(z3::implies(*run.strong_pairs().at(a, b),
                                     *run.coherence().at(a, b) || *run.coherence().at(b, a)));
    }
  }
}

// Atomicity: no write that is morally strong with both halves of an atomic operation comes between them.
void forbid_split_atomics(execution& run) {
  for (std::size_t w = 0; w < run.size(); ++w) {
    if (run.at(w).of_atomic == operand::none) continue;
    const auto r = static_cast<std::size_t>(run.at(w).of_atomic);
    for (std::size_t other = 0; other < run.size(); ++other) {
      if (!run.from_read().possible(r, other) || !run.coherence().possible(other, w)) continue;
      if (!run.strong_pairs().possible(r, other) || !run.strong_pairs().possible(other, w)) continue;
      run.solver().add(!(*run.from_read().at(r, other) && *run.coherence().at(other, w)));
    }
  }
}

// No thin air: reads, and writes that depend on them, can be ordered, so that no value depends on itself.
void forbid_thin_air(execution& run) {
  const auto rank = [&](std::size_t e) { return run.named("rank", e); };
  run.reads_from().for_each([&](std::size_t w, std::size_t r, const z3::expr& when) {
    if (!run.is_start(w)) run.solver().add(z3::implies(when, rank(w) < rank(r)));
  });
  for (std::size_t e = 0; e < run.size(); ++e) {
    if (run.at(e).value.read != operand::none)
      run.solver().add(rank(static_cast<std::size_t>(run.at(e).value.read)) < rank(e));
    if (!run.writes(e)) continue;
    for (const int read : run.at(e).depends) run.solver().add(rank(static_cast<std::size_t>(read)) < rank(e));
  }
}

void forbid(execution& run) {
  const causality found = causality_of(run);
  const relation& cause = found.order;
  forbid_incoherence(run, cause);
  found.base.for_each([&](std::size_t a, std::size_t b, const z3::expr& when) {
    if (run.fence_order().possible(b, a)) run.solver().add(!(when && *run.fence_order().at(b, a)));
  });
  forbid_split_atomics(run);
  forbid_thin_air(run);
  const auto forbid_cycle = [&](std::size_t a, std::size_t b, const z3::expr& when) {
    if (cause.possible(b, a)) run.solver().add(!(when && *cause.at(b, a)));
  };
  run.reads_from().for_each(forbid_cycle);
  run.from_read().for_each(forbid_cycle);
}

// --- what is asked

// The final value of a memory: that of a write after which no other comes.
z3::expr last_value(execution& run, int memory) {
  const z3::expr last = run.context().int_const(fmt::format("last{}", memory).c_str());
  z3::expr_vector candidates(run.context());
  for (std::size_t w = 0; w < run.size(); ++w) {
    if (!run.writes(w) || run.memory_of(w) != memory) continue;
    z3::expr is_last = run.takes_place(w) && last == run.value_of(w);
    for (std::size_t later = 0; later < run.size(); ++later) {
      if (run.coherence().possible(w, later)) is_last = is_last && !*run.coherence().at(w, later);
    }
    candidates.push_back(is_last);
  }
  run.solver().add(z3::mk_or(candidates));
  return last;
}

z3::expr holds(execution& run, const condition& asked) {
  z3::expr_vector parts(run.context());
  for (const condition& part : asked.parts) parts.push_back(holds(run, part));
  switch (asked.what) {
  case condition::kind::all_of: return z3::mk_and(parts);
  case condition::kind::any_of: return z3::mk_or(parts);
  case condition::kind::negation: return !z3::mk_and(parts);
  case condition::kind::read_is: {
    const z3::expr wanted =
        asked.other_read == operand::none
            ? run.number(asked.value)
            : run.value_of(static_cast<std::size_t>(asked.other_read)) + run.number(asked.value);
    return run.value_of(static_cast<std::size_t>(asked.index)) == wanted;
  }
  case condition::kind::memory_is: break;
  }
  return last_value(run, asked.index) == run.number(asked.value);
}

// The name of an event's thread, which is numbered within its block.
std::string who(const execution& run, std::size_t e) {
  const auto& all = run.of().threads;
  const auto same = [&](const thread_position& p) {
    return p.gpu == run.position(e).gpu && p.block == run.position(e).block;
  };
  return fmt::format("GPU {} block {} thread {}", run.position(e).gpu, run.position(e).block,
                     std::count_if(all.begin(), all.begin() + run.at(e).thread, same));
}
std::vector<std::string> story(const execution& run, const z3::model& model) {
  std::vector<std::string> lines;
  for (std::size_t r = 0; r < run.size(); ++r) {
    if (!run.reads(r) || !model.eval(run.takes_place(r), true).is_true()) continue;
    const std::string got = fmt::format("{}: {} got {}", who(run, r), run.at(r).text,
                                        model.eval(run.value_of(r), true).get_numeral_int64());
    for (std::size_t w = 0; w < run.size(); ++w) {
      if (!run.reads_from().possible(w, r) || !model.eval(*run.reads_from().at(w, r), true).is_true())
        continue;
      lines.push_back(run.is_start(w) ? got + ", what was there at first"
                                      : fmt::format("{} from {}: {}", got, who(run, w), run.at(w).text));
    }
  }
  return lines;
}

}  // namespace

answer check(const program& asked, std::chrono::milliseconds limit) {
  try {
    execution run(asked);
    forbid(run);
    for (const condition& one : asked.given) run.solver().add(holds(run, one));
    run.solver().add(holds(run, asked.question));
    z3::params params(run.context());
    params.set("timeout", static_cast<unsigned>(std::max<std::int64_t>(1, limit.count())));
    run.solver().set(params);
    switch (run.solver().check()) {
    case z3::sat: return {verdict::allowed, story(run, run.solver().get_model())};
    case z3::unsat: return {verdict::forbidden, {}};
    case z3::unknown: break;
    }
    return {};
  } catch (const z3::exception& failed) {
    throw api_error("Z3", failed.msg(), "looking for an execution of a program");
  }
}

}  // namespace mgsync::memory_order
