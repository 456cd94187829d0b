// All steps of a recording, and the candidate values of each read.
#pragma once

#include "src/models/ptx/arithmetic.hpp"
#include "src/models/ptx/paths.hpp"

namespace mgsync::ptx {

// A word of memory. Global memory has its own addresses, the shared memory of each block a range of its own.
struct word {
  std::uint64_t address = 0;
  std::uint64_t bytes = 4;
  bool is_signed = false;
};

// A poll that gets one of these values keeps waiting, on the paths where all of `under` holds.
struct refusal {
  int read = -1;
  choice values = 0;
  std::vector<decision> under;
};

// The generic addresses at which a kernel's parameters and a block's shared memory begin.
inline constexpr std::uint64_t parameters_at = std::uint64_t{1} << 60, shared_at = std::uint64_t{1} << 58;

class history {
 public:
  explicit history(const launch& of) : launch_(&of) {}

  // The initial value of a word, sign-extended where it is signed.
  std::int64_t at_first(const word&) const;
  bool is_written(const word&) const;
  // The values that a read of the lane may get, from the writes known from previous iterations.
  std::vector<std::int64_t> candidates(const way&, unsigned thread, int block, const word&) const;

  int add(step);
  void know(const known_write& one) { found_.insert(one); }
  std::vector<step>& steps() { return steps_; }
  const std::vector<step>& steps() const { return steps_; }

  // Begins a new iteration with the writes that this one found. False: it found nothing new.
  bool next_turn();
  bool settled() const { return found_ == known_; }
  int new_meeting() { return meetings_++; }

  std::vector<refusal>& refusals() { return refusals_; }
  const std::vector<refusal>& refusals() const { return refusals_; }
  // Whether the decision covers all candidates of the read except those with which a poll keeps waiting.
  bool is_all(const decision&) const;
  // The address of a parameter or a word of shared memory within its space.
  static std::uint64_t place_of(const kernel&, const std::string& name);
  // Notes that a poll can never end in this iteration; an error if it is still so in the last iteration.
  void waits_in_vain(std::string what) { in_vain_ = std::move(what); }
  const std::string& in_vain() const { return in_vain_; }

 private:
  std::vector<std::int64_t> of_own(const way&, unsigned thread, const word&, bool& at_first) const;

  const launch* launch_;
  std::vector<step> steps_;
  std::vector<refusal> refusals_;
  std::string in_vain_;
  std::set<known_write> known_, found_;
  std::map<std::uint64_t, std::vector<known_write>> known_at_;
  int meetings_ = 0;
};

}  // namespace mgsync::ptx
