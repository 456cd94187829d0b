// Every rule that the audit knows, with its sentences.
#include <algorithm>

#include "src/audit/findings.hpp"

namespace mgsync::audit {
namespace {

constexpr rule rules[] = {
    {"release", "PTX ISA, Memory Consistency Model: Release and Acquire Patterns",
     "What was written before, by this thread or by those that it speaks for, may arrive after the flag "
     "does: who sees the "
     "flag then reads something stale",
     "st.release.sys (red.release, atom.release), or fence.acq_rel.sys in the same thread between the "
     "block's barrier and "
     "the flag; gpu in place of sys where one GPU's threads alone poll"},
    {"release-scope", "PTX ISA, Memory Consistency Model: Scope, Morally Strong Operations",
     "A release orders for threads within its scope only: those of another GPU may see the flag first",
     "the scope of the flag on the release: .sys where another GPU or the host polls"},
    {"acquire", "PTX ISA, Memory Consistency Model: Release and Acquire Patterns",
     "What is read next may have been read before the flag was seen, by this thread or by those that it "
     "polls for: it may be "
     "stale",
     "ld.acquire.sys, or fence.acq_rel.sys in the polling thread behind the loop and before the block's "
     "barrier"},
    {"acquire-scope", "PTX ISA, Memory Consistency Model: Scope, Morally Strong Operations",
     "An acquire orders against threads within its scope only: what another GPU wrote may not be there",
     "the scope of the flag on the acquire: .sys where another GPU or the host writes it"},
    {"flag-scope", "PTX ISA, Memory Consistency Model: Scope, Morally Strong Operations",
     "An access of gpu scope and one of another GPU are not morally strong: they race, and neither orders "
     "anything",
     ".sys on both sides of every flag that crosses GPUs"},
    {"ordinary-poll", "PTX ISA, Memory Consistency Model: Operation Types, Morally Strong Operations",
     "An ordinary load races with who writes the flag: it may be served for ever by what was read before, "
     "and orders "
     "nothing",
     "ld.acquire.sys, ld.relaxed.sys with a fence behind the loop, or cuda::atomic_ref"},
    {"endless-loop", "PTX ISA, asm statements: volatile, and \"memory\" among what is clobbered",
     "The loop never reads memory again: it is left at once, or never. So a compiler leaves a poll that it "
     "was not told "
     "about",
     "asm volatile (... : \"memory\") around a poll, a volatile load, or cuda::atomic_ref"},
    {"poller-alone", "PTX ISA, Parallel Synchronization: barrier",
     "Threads that do not poll are held by nothing, and have acquired nothing: they read before the others "
     "have arrived",
     "__syncthreads() behind the loop, for all threads of the block"},
    {"speaker-alone", "PTX ISA, Parallel Synchronization: barrier",
     "What the other threads of the block wrote is not ordered before the flag: who sees it may read "
     "something stale of theirs",
     "__syncthreads() in front of the branch that chooses who sets the flag, for all threads of the block"},
    {"equality", "a rule of barriers that are passed again and again, of no document",
     "A value that passes by between two polls is never seen again, and the loop never ends: a peer that is "
     "a round ahead, "
     "or a counter that is reset",
     "an epoch that only grows, compared by (int)(seen - wanted) >= 0"},
    {"clock-moved", "paper 002: the clock is read where the compiler puts it",
     "What the source measures does not stand between the two reads of the clock in machine code: the cycles "
     "are of "
     "something else",
     "asm volatile (... : \"memory\") for the reads, and results that the second read depends on; then audit "
     "again"},
    {"clock-not-waited", "paper 002: a read of the clock waits for nothing",
     "The second read does not wait for this result: its latency is not in the difference",
     "use the result before the second read, such as by a branch that is never taken"},
};

}  // namespace

std::span<const rule> all_rules() { return rules; }

const rule& rule_named(std::string_view name) {
  return *std::find_if(std::begin(rules), std::end(rules), [&](const rule& r) { return r.name == name; });
}

}  // namespace mgsync::audit
