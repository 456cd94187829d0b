// The one interface between the harness and every way to synchronize.
// A backend is a record of its variants, each with its facts and the function that makes it; it owns no state
// and runs nothing at load time. How often it runs, what is a sample, and every statistic belong to
// src/harness, so no backend can measure differently.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "barriers/load.hpp"
#include "src/base/awake_clock.hpp"
#include "src/results/values/facts.hpp"
#include "topology/group.hpp"
#include "topology/machine.hpp"

namespace mgsync {

class session;  // this process's place in the job; src/base/session.hpp

// Whether a backend can run here. `reason` is a sentence for the user, empty when ok.
struct support {
  bool ok = true;
  std::string reason;
  bool elsewhere = true;  // if not ok: whether another machine or another build might run it
  static support yes() { return {}; }
  static support no(std::string why) { return {false, std::move(why)}; }
  // Impossible everywhere: the barrier is not one of such members, or of such a shape. This reason comes
  // before what this build or this machine lacks.
  static support never(std::string why) { return {false, std::move(why), false}; }
};

// The shape of one barrier, and what goes on beside it. What a barrier has no use for is absent.
struct configuration {
  std::optional<unsigned> blocks_per_sm;      // GPU: blocks per SM; host: threads per member
  std::optional<unsigned> blocks;             // GPU: blocks per GPU in all, instead of blocks_per_sm
  std::optional<unsigned> threads_per_block;  // GPU only
  std::optional<unsigned> cluster_size;
  std::optional<unsigned> lanes;
  std::string peer_memory;  // asked for: "" (automatic), "ipc" or "vmm"
  mgsync::load load;        // GPU only
};

// record: a timed run in which every worker reads its clock when it comes to a round and when it leaves it.
// Backends that cannot record run it as `time`, and return no records.
enum class run_mode { time, check, record };

// A fault to inject into a run. arrive_early is the positive control of a check: the member enters the
// barrier before it publishes its phase, so the check must report violations; recorded, it reads its clock
// after it went through. never_arrive is for tests of the bounded waits.
struct fault {
  enum class kind { none, arrive_early, never_arrive };
  kind what = kind::none;
  unsigned member = 0;  // index in the group
  unsigned block = 0;
  std::uint32_t round = 0;  // never_arrive: the round that it misses
};

struct run_request {
  std::uint32_t rounds = 1;            // back to back
  awake_clock::time_point deadline{};  // of one wait, counted from the start of the run
  awake_clock::time_point ends = awake_clock::time_point::max();  // of the whole run, whatever its waits
  run_mode mode = run_mode::time;
  std::uint32_t work_units = 0;     // us of work before each round (docs/method.md, "Barrier latency")
  std::uint32_t late_units = 0;     // microseconds more that the last member works: the others wait for it
  std::uint32_t payload_words = 1;  // what a reduction carries, 32-bit words
  mgsync::fault fault{};
  std::uint64_t seed = 1;         // of the skews and samples of a checked run
  std::uint32_t kept_rounds = 8;  // record: how many of the run's last rounds are kept
};

// Microseconds that a member works between rounds.
inline std::uint32_t work_of(const run_request& request, std::size_t member, std::size_t members) {
  return request.work_units + (member + 1 == members ? request.late_units : 0);
}

// One worker: block `block` of the group's member `member`.
struct worker_id {
  unsigned member = 0;
  unsigned block = 0;
};

// How far a worker came: rounds that it has arrived at, counted over all runs of the barrier object.
struct arrival {
  worker_id worker;
  std::uint64_t rounds = 0;
};

struct violation {
  std::uint64_t round = 0;  // of this run
  worker_id reader;         // who left the barrier too early, or read something stale
  worker_id offender;       // whose phase or payload was wrong
  std::uint32_t expected = 0;
  std::uint32_t seen = 0;
  std::string what;  // "phase", "payload", "pushed payload", "sum" or "arrival"
};

// A worker's own clock: its processor's cycle counter; on GPUs also the timer that its SMs share, in ns.
struct moment {
  std::uint64_t clock = 0;
  std::uint64_t timer_ns = 0;
};

// The last rounds of a recorded run as one worker saw them.
struct worker_record {
  worker_id worker;
  unsigned processor = 0;         // the SM, or the host's hardware thread
  std::uint32_t first_round = 0;  // of the run: that of the first passage
  struct passage {
    moment arrived, left;
    std::optional<moment> spoke{};  // when it told the other members that its own had come; none for a worker
                                    // that speaks for no member, or whose speaking is not recorded
  };
  std::vector<passage> passages;
};

// aborted: the process was asked to stop; timed_out: a wait was too long; overdue: no single wait was too
// long, but the whole run was.
enum class outcome { completed, aborted, timed_out, overdue };

// What the load beside a timed run was on one GPU.
struct load_seen {
  double gbps = 0;        // 10^9 bytes a second, while the barrier ran
  std::string misplaced;  // a sentence if it did not run on the SMs that were asked for, else empty
};

// What the local members saw in one run.
struct trial {
  mgsync::outcome outcome = mgsync::outcome::completed;
  std::vector<std::chrono::nanoseconds>
      elapsed;  // per local member, from leaving a start barrier to having finished
  std::optional<std::uint64_t> device_cycles;  // where the method is the device clock
  std::uint64_t operations = 0;
  std::uint64_t observations = 0;  // comparisons that a checked run made
  std::uint64_t violations = 0;
  std::uint64_t far_violations = 0;  // of these: between members of different hosts
  std::optional<violation> first_violation;
  std::vector<load_seen> loads;  // per local member, of a timed run beside load
  std::vector<std::vector<int>>
      ran_on;  // of a timed run on a host, per local member: the hardware thread of each worker
  std::optional<double> taken;  // of a timed run on a host: the largest share of it for which a worker was
                                // preempted; none where every worker also slept of its own accord
  std::vector<worker_record> records;  // of a recorded run, per local worker
  std::vector<arrival> arrivals;       // timed_out: of every worker that this process can see
};

// One barrier over one group at one shape. Every rank of the group creates, runs and destroys it together.
class barrier {
 public:
  virtual ~barrier() = default;
  // Runs all rounds on every local member; returns when all have finished or the wait was given up.
  // Collective.
  virtual trial run(const run_request&) = 0;
};

// The kernel that a checked run launches, of which the program has machine code. Empty: none is the barrier
// by itself, as where the host takes part.
struct checked_kernel {
  std::string name;           // the symbol's
  std::string file;           // the executable or shared object
  unsigned architecture = 0;  // 90: of its machine code that runs on this GPU
};

// What a variant's maker returns: a barrier, or the reason why there is none, the same on all ranks.
struct creation {
  std::unique_ptr<mgsync::barrier> barrier;
  std::string reason;
  std::string algorithm;    // what runs where the variant is "auto", and why: "inbox: ..."
  std::string peer_memory;  // "threads", "mpi-window", "peer-access", "cuda-ipc", "vmm"; empty: not used
  checked_kernel checked{};
  static creation none(std::string why) { return {nullptr, std::move(why), {}, {}}; }
};
inline constexpr const char* without_cuda = "this build has no CUDA";

// How a program calls a barrier that its library or language ships: a line of code, and what that needs.
struct user_call {
  std::string_view maker{};  // whose it is: "mgsync", "NVIDIA", "NCCL", "MPI", "OpenMP", "C++"
  std::string_view call{};   // "cooperative_groups::this_grid().sync()"; empty: no program can call it
  std::string_view needs{};  // "#include <cooperative_groups.h>, a cooperative launch"; empty: nothing
  int least_members = 1;     // of fewer it meets nobody
};

// Collective over the ranks of the group.
using make_function = creation(const topology::group&, const configuration&, session&);
// Pure: a question about values, asked before anything is started.
using can_run_function = support(const topology::machine&, const topology::group&, const configuration&);

// Makes a barrier that no record of this program declares: one of a user's file (barriers/user).
class variant_of_file {
 public:
  virtual ~variant_of_file() = default;
  virtual support can_run(const topology::group&, const configuration&) const = 0;
  virtual creation make(const topology::group&, const configuration&, session&) const = 0;  // collective
};

// What makes a variant for members of one kind: called like a make_function; null: nothing does.
class maker {
 public:
  constexpr maker(make_function* function, const variant_of_file* of_file)
      : function_(function), of_file_(of_file) {}
  creation operator()(const topology::group& group, const configuration& wanted, session& where) const {
    return of_file_ != nullptr ? of_file_->make(group, wanted, where) : function_(group, wanted, where);
  }
  friend bool operator==(const maker& one, std::nullptr_t) {
    return one.function_ == nullptr && one.of_file_ == nullptr;
  }

 private:
  make_function* function_;
  const variant_of_file* of_file_;
};

// The functions that make a variant, for host members and for GPU members. Without either, the record does
// not compile.
class makers {
 public:
  maker of(topology::device device) const {
    const bool on_gpu = device == topology::device::gpu;
    return {on_gpu ? gpu_ : host_, of_file_ != nullptr && on_gpu == file_on_gpu_ ? of_file_ : nullptr};
  }
  std::string_view for_whom() const { return for_whom_; }  // where there is only one
  const variant_of_file* file() const { return of_file_; }

  static constexpr makers of_hosts(make_function* make, std::string_view for_whom = "for host members") {
    return makers(make, nullptr, for_whom);
  }
  static constexpr makers of_gpus(make_function* make) { return makers(nullptr, make, "for GPU members"); }
  static constexpr makers of_both(make_function* host, make_function* gpu) { return makers(host, gpu, {}); }
  static makers of_file(const variant_of_file& one, bool on_gpu) { return makers(one, on_gpu); }

 private:
  constexpr makers(make_function* host, make_function* gpu, std::string_view for_whom)
      : host_(host), gpu_(gpu), for_whom_(for_whom) {
    if (host == nullptr && gpu == nullptr) throw "nobody makes this variant";
  }
  makers(const variant_of_file& one, bool on_gpu)
      : for_whom_(on_gpu ? "for GPU members" : "for host members"), of_file_(&one), file_on_gpu_(on_gpu) {}

  make_function *host_ = nullptr, *gpu_ = nullptr;
  std::string_view for_whom_;
  const variant_of_file* of_file_ = nullptr;
  bool file_on_gpu_ = false;
};

// Calls `Make` if this build contains it, else returns the sentence `Missing`; as in built<MGSYNC_WITH_CUDA,
// make>.
template <bool Built, make_function* Make, const char* const& Missing = without_cuda>
creation built(const topology::group& group, const configuration& wanted, session& where) {
  if constexpr (Built) return Make(group, wanted, where);
  else return creation::none(Missing);
}

// One form of a backend's barrier.
struct barrier_variant {
  std::string_view name;     // on the command line behind the backend's: lower-case words joined by '-'
  std::string_view summary;  // one line
  mgsync::facts facts;       // of GPU members where it has them; host threads are driven by the host
  makers make;
  user_call call{};            // for GPU members; without one the variant is for comparison only
  user_call host_call{};       // for host members
  bool bounded = false;        // its waits end by themselves; otherwise the watchdog ends the process
  std::string_view carries{};  // what rides on it beside the meeting: "a sum of 32 bits over all threads"
  can_run_function* can_run = nullptr;  // what it requires besides what its backend does
  std::string (*library)() = nullptr;   // what provides it in this process, and its version

  const user_call& call_for(topology::device device) const {
    return device == topology::device::gpu ? call : host_call;
  }
  bool is_callable() const { return !call.call.empty() || !host_call.call.empty(); }
  mgsync::facts facts_for(topology::device device) const {
    auto all = facts;
    if (device == topology::device::host) all.driver = fact::driver::host;
    return all;
  }
};

struct backend {
  std::string_view name;                      // on the command line; lower-case words joined by '-'
  std::string_view summary;                   // one line
  std::span<const barrier_variant> variants;  // the first is the default
  can_run_function* can_run = nullptr;        // what all of its variants require

  const barrier_variant* find(std::string_view variant) const {  // nullptr: it has none of that name
    for (const auto& one : variants)
      if (one.name == variant) return &one;
    return nullptr;
  }
};

// Whether the variant can run. A reason that holds everywhere (its members, its shape) comes before what is
// missing here.
inline support can_run(const backend& b, const barrier_variant& v, const topology::machine& machine,
                       const topology::group& group, const configuration& wanted) {
  if (v.make.of(group.device) == nullptr) return support::never(std::string(v.make.for_whom()));
  auto all = b.can_run == nullptr ? support::yes() : b.can_run(machine, group, wanted);
  const variant_of_file* const file = v.make.file();
  if ((v.can_run == nullptr && file == nullptr) || (!all.ok && !all.elsewhere)) return all;
  auto own = file != nullptr ? file->can_run(group, wanted) : v.can_run(machine, group, wanted);
  return all.ok || (!own.ok && !own.elsewhere) ? own : all;
}

// Every backend of this build, in the order of barriers/CMakeLists.txt. The table is generated. Barriers of a
// user's file are not among them (barriers/words.hpp).
std::span<const backend* const> backends();

}  // namespace mgsync
