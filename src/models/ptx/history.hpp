// All steps of a recording, and what each read may get of them.
#pragma once

#include "src/models/ptx/arithmetic.hpp"
#include "src/models/ptx/paths.hpp"

namespace mgsync::ptx {

// Where a word lies that a lane addresses: global memory as it is, a block's shared memory by block.
struct word {
  std::uint64_t address = 0;
  std::uint64_t bytes = 4;
  bool is_signed = false;
};

// A poll goes on waiting with these values of its read, on the ways where all of that was decided.
struct refusal {
  int read = -1;
  choice values = 0;
  std::vector<decision> under;
};

// Where the words of a block's shared memory and a kernel's parameters are, as generic addresses.
inline constexpr std::uint64_t parameters_at = std::uint64_t{1} << 60, shared_at = std::uint64_t{1} << 58;

class history {
 public:
  explicit history(const launch& of) : launch_(&of) {}

  // What is there at first, as a number of its sign.
  std::int64_t at_first(const word&) const;
  bool is_written(const word&) const;
  // What a read of the lane may get, of what was known before this turn.
  std::vector<std::int64_t> candidates(const way&, unsigned thread, int block, const word&) const;

  int add(step);
  void know(const known_write& one) { found_.insert(one); }
  std::vector<step>& steps() { return steps_; }
  const std::vector<step>& steps() const { return steps_; }

  // A new turn with what this one found. False: it found nothing new.
  bool next_turn();
  bool settled() const { return found_ == known_; }
  int new_meeting() { return meetings_++; }

  std::vector<refusal>& refusals() { return refusals_; }
  const std::vector<refusal>& refusals() const { return refusals_; }
  // Whether the read can have got nothing else, but for what a poll refuses.
  bool is_all(const decision&) const;
  // A parameter or a word of shared memory; within its space.
  static std::uint64_t place_of(const kernel&, const std::string& name);
  // Of this turn; what is said in the last one is an error.
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
