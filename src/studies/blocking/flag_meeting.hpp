// The barrier of this project between the participants of a case, by flags in memory that they share. Its
// waits are bounded; whoever gives up names the participants whose heartbeat is behind.
#pragma once

#include <vector>

#include "barriers/parts/algorithm/dissemination.hpp"
#include "barriers/parts/algorithm/host_policy.hpp"
#include "src/studies/blocking/case_board.hpp"

namespace mgsync::blocking {

// `memory`: words() words, all zero, shared by the threads or ranks. Threads share one object; each rank has
// its own.
class flag_barrier {
 public:
  static std::size_t words(unsigned participants) {
    return participants * lines_of(participants) * words_per_line + words_per_line * (participants + 1);
  }
  flag_barrier(std::uint32_t* memory, unsigned participants, std::chrono::nanoseconds patience)
      : participants_(participants), memory_(memory), patience_(patience), epochs_(participants) {
    for (unsigned m = 0; m < participants; ++m)
      parts_.push_back(memory + m * lines_of(participants) * words_per_line);
  }
  bool meet(unsigned me) {
    const auto epoch = ++epochs_[me];  // only participant `me` writes it
    heartbeat(me).store(epoch);
    algorithm::host_policy policy(algorithm::host_limits{patience_, abort_word(), true, nullptr});
    algorithm::host_lines lines{parts_.data()};
    return algorithm::dissemination<2>::arrive_and_wait(policy, lines,
                                                        algorithm::position{me, participants_, 0, 1}, epoch);
  }
  std::vector<unsigned> behind(unsigned me) const {
    std::vector<unsigned> all;
    for (unsigned i = 0; i < participants_; ++i)
      if (heartbeat(i).load() < epochs_[me]) all.push_back(i);
    return all;
  }

 private:
  static constexpr std::size_t words_per_line = algorithm::line_bytes / sizeof(std::uint32_t);
  static std::size_t lines_of(unsigned participants) { return algorithm::layout{participants}.lines(); }
  std::uint32_t* behind_the_parts() const {
    return memory_ + participants_ * lines_of(participants_) * words_per_line;
  }
  std::uint32_t* abort_word() const { return behind_the_parts() + participants_ * words_per_line; }
  std::atomic_ref<std::uint32_t> heartbeat(unsigned i) const {
    return std::atomic_ref<std::uint32_t>(behind_the_parts()[i * words_per_line]);
  }

  unsigned participants_;
  std::uint32_t* memory_;
  std::chrono::nanoseconds patience_;
  std::vector<std::uint32_t> epochs_;
  std::vector<std::uint32_t*> parts_;
};

class flag_meeting final : public meeting {
 public:
  // `memory`: twice words(); the second half is for the barrier of wait_elsewhere().
  flag_meeting(std::uint32_t* memory, unsigned participants, std::chrono::nanoseconds patience)
      : here_(memory, participants, patience),
        elsewhere_(memory + flag_barrier::words(participants), participants, patience) {}
  bool meet(unsigned me) override { return here_.meet(me); }
  void wait_elsewhere(unsigned me) override { elsewhere_.meet(me); }
  std::vector<unsigned> named(unsigned me) const override { return here_.behind(me); }

 private:
  flag_barrier here_, elsewhere_;
};

}  // namespace mgsync::blocking
