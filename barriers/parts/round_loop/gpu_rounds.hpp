// What barriers inside kernels and barriers between kernels share: what a launch is told of its run, the
// board on which checked runs publish, and what the kernels found.
#pragma once

#include <memory>
#include <string>

#include "barriers/backend.hpp"
#include "barriers/parts/gpu_team/team.hpp"
#include "barriers/parts/round_loop/device_run.hpp"
#include "barriers/parts/symmetric_memory/group_memory.hpp"
#include "src/base/session.hpp"

namespace mgsync::round_loop {

class gpu_rounds {
 public:
  struct settings {
    std::string what;  // for the watchdog and for errors: "multigrid (relay)"
    unsigned blocks = 1;
    unsigned threads = 32;
    std::string peer_memory;           // how processes are asked to share GPU memory
    reach board_reach = reach::group;  // whose parts of the board a member can read
    std::size_t words_beside = 0;      // words of each GPU's memory for other results of a launch
  };

 protected:
  gpu_rounds(const topology::group&, session&, settings);
  ~gpu_rounds() = default;

  // Makes the board where there is none. Throws api_error when it cannot be had. Collective over the
  // session's ranks.
  void need_board();
  // The part that all kernels of rounds are told.
  device_run run_of(const run_request&, unsigned local) const;
  std::uint32_t* words(unsigned local) const;

  // Throws api_error unless the last kernels ran with the shape that was asked for, so that no value is
  // reported for another one.
  void must_be_launched_as_asked() const;
  // Adds the findings of all GPUs to a checked run.
  void add_findings(trial&) const;

  topology::group group_;
  session& session_;
  settings settings_;
  gpu_team::team team_;
  std::uint32_t rounds_done_ = 0;

 private:
  device_findings found_by(unsigned local) const;

  std::unique_ptr<group_memory> board_;
};

}  // namespace mgsync::round_loop
