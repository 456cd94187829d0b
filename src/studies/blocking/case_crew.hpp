// Carries out planned cases ahead of their turn, several at once: two that need the same unit (a share of the
// processors, one of the two seats at a GPU) never run together, and of those that share a GPU one at a time
// runs anything there, while the other's process starts.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "src/base/scratch_folder.hpp"
#include "src/base/unique_descriptor.hpp"
#include "src/studies/blocking/blocking_case.hpp"

namespace mgsync::blocking {

// The programs that start a case.
struct case_starter {
  std::string program;    // mgsync itself
  std::string launcher;   // mpirun or mpiexec, for ranks
  std::string session{};  // a folder for what the launcher keeps of them; empty: its own
};
// The running program, and the launcher found in PATH.
case_starter starter_here();

struct case_end {
  case_seen seen{};
  std::string error{};                         // a sentence, where the process did not get to an outcome
  bool interrupted = false;                    // this process was asked to end
  double seconds = 0;                          // from the moment on that it was its turn
  std::optional<blocking::outcome> outcome{};  // empty for rounds (part 1)
};
case_end carry_out(const case_starter&, const blocking_case&);

// What a run carries: how the case ended, who was absent, and whether a fresh process works afterwards.
struct case_report {
  case_end end{};
  std::vector<unsigned> absent{};
  std::string afterwards = "works";  // or what went wrong
};

class case_crew {
 public:
  explicit case_crew(case_starter by) : by_(std::move(by)) {}
  ~case_crew();
  case_crew(const case_crew&) = delete;
  case_crew& operator=(const case_crew&) = delete;

  const case_starter& by() const { return by_; }
  // Plans a case in which all come, which shows whether its barrier can run here, or one behind such a case,
  // which is carried out if that barrier can, and followed by a fresh process in which all come. Returns its
  // number. Cases are asked for in the order in which they were planned.
  std::size_t plan_ability(blocking_case, std::vector<int> units);
  std::size_t plan(blocking_case, std::vector<int> units, std::size_t ability);
  // Waits until the case is done; those behind it are then under way.
  const case_report& report(std::size_t planned);

 private:
  struct planned_case {
    blocking_case asked;
    std::vector<int> units;
    std::optional<std::size_t> ability;
    case_report report{};
    bool started = false, done = false;
    std::jthread thread{};
  };

  std::string turn_of(int gpu);
  void start_what_can();
  void do_case(planned_case&);
  case_end carry_out(const blocking_case&);

  case_starter by_;
  std::optional<scratch_folder> sessions_;  // of ranks
  std::atomic<unsigned> sessions_begun_ = 0;
  std::map<int, unique_descriptor> turns_;  // by GPU: a file that the process locks whose turn it is
  std::mutex mutex_;
  std::condition_variable done_;
  std::deque<planned_case> all_;
  std::size_t wanted_ = 0;
  bool ending_ = false;
};

}  // namespace mgsync::blocking
