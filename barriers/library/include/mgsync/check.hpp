// Your own barrier on mgsync's bench. Write a struct like this one, compile the file to a shared object, and
// mgsync runs its checks on it and times it beside all others. Barriers of GPUs include <mgsync/check.cuh>.
// docs/check.md explains it. C++17; there is no library to link.
//
//     #include <mgsync/check.hpp>
//
//     struct counted {                             // one counter in member 0's memory
//       static constexpr const char* name = "counted";
//       static constexpr std::size_t bytes = 4;    // of every member's memory, which starts as zeros
//       mgsync::check::position at;                // each worker has an object of its own
//       bool arrive_and_wait() {
//         auto* count = at.part<std::uint32_t>(0);
//         __atomic_fetch_add(count, 1, __ATOMIC_ACQ_REL);
//         at.epoch += 1;
//         while (__atomic_load_n(count, __ATOMIC_ACQUIRE) < at.epoch * at.workers)
//           if (!at.go_on()) return false;
//         return true;
//       }
//     };
//     MGSYNC_CHECK_BARRIER(counted)
//
//     g++ -std=c++17 -O2 -shared -fPIC -I PREFIX/include counted.cpp -o counted.so
//
// (mgsync finds the fault of this one: it counts from what its launch was told, which a graph repeats.)
//
// What the struct must have:
//   static constexpr const char* name
//       lower-case words joined by '-'
//   static constexpr std::size_t bytes, or static std::size_t bytes(const shape&)
//       the size of each member's memory, which begins at a multiple of 128
//   a constructor from a position
//       An aggregate whose first field is a position has one. It runs in every worker, right before that
//       worker's first arrival, when others may already be waiting. An object lasts for one launch; state
//       that must outlast it belongs into the members' memory.
//
// and one of:
//   void arrive_and_wait()
//       called by every worker, on GPUs by all threads of the block; afterwards every worker may read what
//       all workers wrote before it
//   void arrive(), void wait()
//       the same in two calls
//   std::uint32_t exchange(std::uint32_t mine, unsigned from)
//       the same, and every member contributes a word (all workers of a member the same one): returns the
//       word of member `from`
// The first two forms may return bool from arrive_and_wait() or wait(): false once go_on() returned false,
// which ends the run. A barrier that waits for ever is ended by mgsync: host threads, and kernels with their
// process.
//
// Optional:
//   static void start(void* part, unsigned member, const shape&)
//       writes a member's initial values, on the host, before anybody arrives, and again for a second object
//       on the same memory; without it the memory is zeroed, and no counter is tried near its wrap
//   static constexpr auto orders = extent::equal_blocks
//       block 3 waits only for the others' block 3
//   static bool takes(const shape&)
//       whether the barrier is meant for this shape; without it: every shape in which all members have
//       equally many blocks
//   static constexpr unsigned streams = 2
//       how many launches may use the same memory at once; without it one
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#include <mgsync/version.h>

#include "barriers/parts/algorithm/policy.hpp"
#include "barriers/parts/round_loop/host_loop.hpp"

#define MGSYNC_CHECK_TEXT_OF(x) #x
#define MGSYNC_CHECK_TEXT(x) MGSYNC_CHECK_TEXT_OF(x)

namespace mgsync { namespace check {

// The shape that a barrier is asked to span.
struct shape {
  std::uint32_t members;
  std::uint32_t blocks;   // of the member that has most
  std::uint32_t workers;  // blocks of all members
  std::uint32_t streams;  // launches at once
  std::uint32_t epoch;    // that the counters start from: near the wrap, so that a check crosses it; 0
                          // where there is no start(), which could bring them there
};

enum class extent : std::uint32_t { everything, equal_blocks };

// Where a worker stands, and what it shares with the others. A worker is a host thread, or a block of a GPU.
struct position {
  std::uint32_t member, members;
  std::uint32_t block, blocks;    // of this member
  std::uint32_t workers;          // blocks of all members
  std::uint32_t stream, streams;  // which of the launches at once it belongs to
  std::uint32_t epoch;            // rounds passed before this launch, as a host would pass it to its kernel
  void* const* parts;             // the members' memory
  std::uint64_t ends;             // GPUs: the value of clock64() from which go_on() returns false
  const std::uint32_t* abort;     // host threads: not 0 once the run is given up
  std::uint32_t yields;           // host threads: not 0 if there are more of them than hardware threads

  template <class T>
  MGSYNC_HD T* part(unsigned of) const {
    return static_cast<T*>(parts[of]);
  }

  // To be called in every loop that waits; false once mgsync gives up on it.
  MGSYNC_HD bool go_on() const {
#if defined(__CUDA_ARCH__)
    return static_cast<std::uint64_t>(clock64()) < ends;
#else
    if (yields != 0) sched_yield();
    return __atomic_load_n(abort, __ATOMIC_RELAXED) == 0;
#endif
  }
};

// ---- From here on: the binary interface between mgsync and the shared object.

// What run() does with a host worker. `ordinary`: only ordinary loads and stores stand on either side of the
// barrier: the compiler may move them across a barrier that does not forbid it, and ThreadSanitizer follows
// them.
enum class loop : std::uint32_t { time, check, record, ordinary };

struct host_order {
  round_loop::host_run run;
  position at;
  loop what;
  std::uint32_t kept;  // recorded runs: the length of `ring`, a power of two
  round_loop::host_passage* ring;
};

enum class kernel : std::uint32_t { timed, checked, recorded };

// What the kernels of a GPU's barrier are passed besides their run.
struct kernel_arguments {
  static constexpr unsigned most_members = 32;

  position at;  // stream and streams of it
  void* parts[most_members];
  std::uint32_t epoch_ahead;  // what the barrier's epoch is ahead of the run's
};

struct launch_order {
  kernel what;
  std::uint32_t blocks, threads;
  std::uint32_t cooperative;  // 1: the launch makes sure that all blocks are resident
  void** arguments;           // of the kernel, as cudaLaunchKernel takes them
  void* stream;               // of the current device
};

struct barrier_table {
  const char* name;
  std::uint32_t on_gpu;  // 0: of host threads
  extent orders;
  std::uint32_t exchanges;    // 1: carries a word
  std::uint32_t ends_itself;  // 1: its functions return bool, false once given up
  std::uint32_t has_start;    // 1: its counters may begin at any epoch
  std::uint32_t streams;
  std::uint64_t (*bytes)(const shape*);
  std::uint32_t (*takes)(const shape*);
  void (*start)(void* part, unsigned member, const shape*);
  // Host threads: called by each worker. Returns 0 if the run was given up.
  std::uint32_t (*run)(const host_order*, round_loop::host_findings*);
  // GPUs: both return a CUDA error code, 0 for none. `resident` finds out how many blocks fit on an SM.
  int (*launch)(const launch_order*);
  int (*resident)(kernel, std::uint32_t threads, int* blocks);
};

// The first two words never change their place, so that any version of mgsync can read them.
struct file_table {
  static constexpr std::uint32_t this_magic = 0x6d677363, this_interface = 2;
  static constexpr unsigned sizes_told = 8;

  std::uint32_t magic;
  std::uint32_t interface;
  std::uint32_t sizes[sizes_told];  // of the structs that the two exchange, to be compared
  std::uint32_t count;
  const barrier_table* const* barriers;
  const char* compiler;
  const char* mgsync;  // the version of these headers
};

#pragma GCC visibility push(hidden)  // two files may have structs of one name
namespace inside {

template <class B, class = void>
struct waits_at_once : std::false_type {};
template <class B>
struct waits_at_once<B, std::void_t<decltype(std::declval<B&>().arrive_and_wait())>> : std::true_type {};
template <class B, class = void>
struct waits_later : std::false_type {};
template <class B>
struct waits_later<B, std::void_t<decltype(std::declval<B&>().arrive(), std::declval<B&>().wait())>>
    : std::true_type {};
template <class B, class = void>
struct exchanges : std::false_type {};
template <class B>
struct exchanges<B, std::void_t<decltype(std::declval<B&>().exchange(std::uint32_t{}, 0u))>>
    : std::true_type {};
template <class B, class = void>
struct gives_up : std::false_type {};
template <class B>
struct gives_up<B, std::enable_if_t<std::is_same_v<decltype(std::declval<B&>().arrive_and_wait()), bool>>>
    : std::true_type {};
template <class B>
struct gives_up<B, std::enable_if_t<std::is_same_v<decltype(std::declval<B&>().wait()), bool>>>
    : std::true_type {};

template <class B, class = void>
struct bytes_depend : std::false_type {};
template <class B>
struct bytes_depend<B, std::void_t<decltype(B::bytes(std::declval<const shape&>()))>> : std::true_type {};
template <class B, class = void>
struct has_start : std::false_type {};
template <class B>
struct has_start<
    B, std::void_t<decltype(B::start(static_cast<void*>(nullptr), 0u, std::declval<const shape&>()))>>
    : std::true_type {};
template <class B, class = void>
struct has_takes : std::false_type {};
template <class B>
struct has_takes<B, std::void_t<decltype(B::takes(std::declval<const shape&>()))>> : std::true_type {};
template <class B, class = void>
struct has_orders : std::false_type {};
template <class B>
struct has_orders<B, std::void_t<decltype(B::orders)>> : std::true_type {};
template <class B, class = void>
struct has_streams : std::false_type {};
template <class B>
struct has_streams<B, std::void_t<decltype(B::streams)>> : std::true_type {};

template <class B>
std::uint64_t bytes(const shape* of) {
  if constexpr (bytes_depend<B>::value) return B::bytes(*of);
  else return B::bytes;
}
template <class B>
std::uint32_t takes(const shape* of) {
  if constexpr (has_takes<B>::value) return B::takes(*of) ? 1 : 0;
  else return of->workers == of->members * of->blocks ? 1 : 0;
}
template <class B>
void start(void* part, unsigned member, const shape* of) {
  if constexpr (has_start<B>::value) B::start(part, member, *of);
  else std::memset(part, 0, bytes<B>(of));
}

// One passage through the barrier, in whichever form it is written. `seen`: the word from exchange(). Returns
// false if given up.
template <class B>
MGSYNC_HD bool pass_once(B& barrier, std::uint32_t mine, unsigned from, std::uint32_t& seen) {
  static_assert(exchanges<B>::value || waits_at_once<B>::value || waits_later<B>::value,
                "a barrier has arrive_and_wait(), arrive() and wait(), or exchange(mine, from)");
  if constexpr (exchanges<B>::value) {
    seen = barrier.exchange(mine, from);
  } else if constexpr (waits_at_once<B>::value) {
    if constexpr (gives_up<B>::value) return barrier.arrive_and_wait();
    else barrier.arrive_and_wait();
  } else {
    barrier.arrive();
    if constexpr (gives_up<B>::value) return barrier.wait();
    else barrier.wait();
  }
  return true;
}

// The word that a member contributes in a round: different in every round, and now and then a pattern that
// may have a special meaning to somebody: -0.0, a NaN, all ones, a denormal number, two halves of -0.0.
MGSYNC_HD constexpr std::uint32_t brought(std::uint32_t round, std::uint32_t member) {
  const std::uint32_t h = round_loop::mix(round, member + 4242u);
  switch (h % 32) {
  case 0: return 0x80000000u;
  case 1: return 0x7fc00000u;
  case 2: return 0xffffffffu;
  case 3: return 0u;
  case 4: return 1u;
  case 5: return 0x7f800000u;
  case 6: return 0x80008000u;
  case 7: return 0xfffffffeu;
  default: return h;
  }
}
MGSYNC_HD constexpr unsigned asked_of(std::uint32_t round, std::uint32_t member, std::uint32_t members) {
  return members < 2 ? member : (member + 1 + round % (members - 1)) % members;
}

// A worker's passages through its barrier, in the form that the loops of host_loop.hpp and device_rounds.hpp
// expect. If Late (checked runs), the barrier object is constructed right before its first passage, when the
// worker may have been held back until all others wait; else together with this object.
template <class B, bool Late>
class passages {
 public:
  MGSYNC_HD explicit passages(const position& at) : at_(at) {
    if constexpr (!Late) make();
  }
  passages(const passages&) = delete;
  passages& operator=(const passages&) = delete;
  MGSYNC_HD ~passages() {
    if (made_ != nullptr) made_->~B();
  }

  MGSYNC_HD bool once() {
    if constexpr (Late)
      if (made_ == nullptr) make();
    if constexpr (exchanges<B>::value) {
      from_ = asked_of(++round_, at_.member, at_.members);
      return pass_once(*made_, brought(at_.epoch + round_, at_.member), from_, seen_);
    } else {
      return pass_once(*made_, 0, 0, seen_);
    }
  }
  MGSYNC_HD std::uint32_t expected() const { return brought(at_.epoch + round_, from_); }
  MGSYNC_HD std::uint32_t seen() const { return seen_; }

 private:
  MGSYNC_HD void make() { made_ = new (static_cast<void*>(room_)) B{at_}; }

  position at_;
  std::uint32_t round_ = 0, seen_ = 0;
  unsigned from_ = 0;
  B* made_ = nullptr;
  alignas(B) unsigned char room_[sizeof(B)];
};

template <class B, bool Late>
struct host_pass : passages<B, Late> {
  using passages<B, Late>::passages;
  bool operator()() { return this->once(); }
};
template <class B, bool Late>
struct exchanging_host_pass : host_pass<B, Late> {
  using host_pass<B, Late>::host_pass;
  std::optional<std::pair<std::uint32_t, std::uint32_t>> wrong_result() const {
    if (this->seen() == this->expected()) return std::nullopt;
    return std::pair(this->expected(), this->seen());
  }
};

template <class B>
std::uint32_t run(const host_order* order, round_loop::host_findings* found) {
  namespace loops = round_loop::host_loop;
  using late = std::conditional_t<exchanges<B>::value, exchanging_host_pass<B, true>, host_pass<B, true>>;
  if (order->what == loop::check) {
    late pass(order->at);
    return loops::check(order->run, pass, *found) ? 1 : 0;
  }
  host_pass<B, false> pass(order->at);
  if (order->what == loop::ordinary) return loops::check_ordinary(order->run, pass, *found) ? 1 : 0;
  if (order->what == loop::time) return loops::time(order->run, pass, *found) ? 1 : 0;
  return loops::record(order->run, pass, order->ring, order->kept, *found) ? 1 : 0;
}

// The entries of a table that are the same for host and GPU barriers.
template <class B>
barrier_table described() {
  barrier_table table{};
  table.name = B::name;
  if constexpr (has_orders<B>::value) table.orders = B::orders;
  table.exchanges = exchanges<B>::value ? 1 : 0;
  table.ends_itself = gives_up<B>::value ? 1 : 0;
  table.has_start = has_start<B>::value ? 1 : 0;
  table.streams = 1;
  if constexpr (has_streams<B>::value) table.streams = B::streams;
  table.bytes = bytes<B>;
  table.takes = takes<B>;
  table.start = start<B>;
  return table;
}

template <class B>
struct host_table {
  static const barrier_table* get() {
    static const barrier_table table = [] {
      barrier_table of = described<B>();
      of.run = run<B>;
      return of;
    }();
    return &table;
  }
};

inline void tell_sizes(std::uint32_t (&sizes)[file_table::sizes_told], std::size_t of_a_kernels_run) {
  const std::size_t all[] = {sizeof(barrier_table),    sizeof(shape),
                             sizeof(host_order),       sizeof(round_loop::host_findings),
                             sizeof(launch_order),     sizeof(round_loop::worker_page),
                             sizeof(kernel_arguments), of_a_kernels_run};
  for (unsigned i = 0; i < file_table::sizes_told; ++i) sizes[i] = static_cast<std::uint32_t>(all[i]);
}

template <template <class> class Table, std::size_t KernelsRun, class... Barriers>
const file_table* file_of() {
  static_assert(sizeof...(Barriers) > 0, "MGSYNC_CHECK_BARRIER names one struct, or several");
  static const barrier_table* const barriers[] = {Table<Barriers>::get()...};
  static const file_table file = [] {
    file_table of{};
    of.magic = file_table::this_magic;
    of.interface = file_table::this_interface;
    tell_sizes(of.sizes, KernelsRun);
    of.count = sizeof...(Barriers);
    of.barriers = barriers;
    of.compiler = __VERSION__;
    of.mgsync = MGSYNC_CHECK_TEXT(MGSYNC_VERSION_MAJOR) "." MGSYNC_CHECK_TEXT(
        MGSYNC_VERSION_MINOR) "." MGSYNC_CHECK_TEXT(MGSYNC_VERSION_PATCH);
    return of;
  }();
  return &file;
}

}  // namespace inside
#pragma GCC visibility pop
}}  // namespace mgsync::check

// To be written once, at the end of a file: names the barriers that the file offers.
#define MGSYNC_CHECK_BARRIER(...)                                                                            \
  extern "C" __attribute__((visibility("default"))) const ::mgsync::check::file_table* mgsync_check_file() { \
    return ::mgsync::check::inside::file_of<::mgsync::check::inside::host_table, 0, __VA_ARGS__>();          \
  }
