// The library over two processes with a GPU each, whose exchange is a pipe to their parent: what they see of
// each other when all is well, when one comes too late, cannot, or is lost. Exit code 77 where there are
// fewer than two GPUs.
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <mgsync/multi_grid.hpp>

#include "tests/gpu/library_kernels.hpp"

namespace {

using namespace mgsync;
using namespace mgsync::test;
using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

constexpr int processes = 2;

void expect(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error("expected: " + what);
}

void send_all(int to, const void* from, std::size_t bytes) {
  for (const char* p = static_cast<const char*>(from); bytes > 0;) {
    const auto sent = send(to, p, bytes, MSG_NOSIGNAL);
    if (sent <= 0) throw std::runtime_error("the other process is gone");
    p += sent;
    bytes -= static_cast<std::size_t>(sent);
  }
}
void receive_all(int from, void* to, std::size_t bytes) {
  for (char* p = static_cast<char*>(to); bytes > 0;) {
    const auto got = recv(from, p, bytes, 0);
    if (got <= 0) throw std::runtime_error("the other process is gone");
    p += got;
    bytes -= static_cast<std::size_t>(got);
  }
}
void send_text(int to, const std::string& text) {
  const std::uint64_t length = text.size();
  send_all(to, &length, sizeof length);
  send_all(to, text.data(), text.size());
}
std::string receive_text(int from) {
  std::uint64_t length = 0;
  receive_all(from, &length, sizeof length);
  std::string text(length, '\0');
  receive_all(from, text.data(), length);
  return text;
}

process_exchange exchange_over(int pipe) {
  return [pipe](const std::string& mine) {
    send_text(pipe, mine);
    std::vector<std::string> all;
    for (int p = 0; p < processes; ++p) all.push_back(receive_text(pipe));
    return all;
  };
}

struct found_here {
  findings* at = nullptr;
  found_here() {
    void* made = nullptr;
    expect(cudaHostAlloc(&made, sizeof(findings), cudaHostAllocPortable | cudaHostAllocMapped) == cudaSuccess,
           "host memory");
    at = static_cast<findings*>(made);
    *at = {};
  }
};

void sound(multi_grid& grids, unsigned blocks, unsigned first, unsigned rounds) {
  const auto memory = grids.allocate(2 * blocks * sizeof(std::uint32_t));
  board slots{};
  for (unsigned g = 0; g < grids.gpus(); ++g) slots.parts[g] = memory.part_as<std::uint32_t>(g);
  found_here found;
  grids.launch(check_rounds_kernel(), blocks, 64, 0, {}, slots, first, rounds, way::whole, found.at);
  grids.wait();
  expect(found.at->wrong == 0 && found.at->given_up == 0, "no wrong value");
}

std::string message_of(multi_grid& grids) {
  try {
    grids.wait();
  } catch (const timeout_error& e) { return e.what(); }
  return "no timeout_error";
}

// --- the cases: what each of the two processes does

void all_is_well(int process, const process_exchange& exchange) {
  multi_grid grids({process}, process, exchange, 5s);
  for (unsigned i = 0; i < 6; ++i)
    sound(grids, i % 2 == 0 ? 8 : 132, 1 + 10 * i, 10);  // flags stay for each grid
  grids.reset();
  sound(grids, 8, 1, 100);
}

void one_comes_too_late(int process, const process_exchange& exchange) {
  multi_grid grids({process}, process, exchange, 2s);
  grids.resize(8);
  found_here found;
  const auto begin = steady::now();
  if (process == 1) std::this_thread::sleep_for(3s);
  const auto launched = steady::now();
  grids.launch(leave_early_kernel(), 8, 64, 0, {}, 99u, 0u, 0u, 5u, found.at);
  const auto why = message_of(grids);
  if (process == 0) {
    expect(steady::now() - begin < 2900ms, "process 0 gives up after its patience");
    expect(why.find("GPU 1 of process 1 (grid 1)") != std::string::npos,
           "the missing process is named: " + why);
  } else {
    expect(steady::now() - launched < 1s, "process 1 sees at once that process 0 gave up");
    expect(why != "no timeout_error", "process 1 is told");
    expect(found.at->passed == 0 && found.at->given_up == 5,
           "its kernel, which began after that, passes no barrier");
  }
  grids.reset();
  sound(grids, 8, 1, 100);
}

void one_cannot_allocate(int process, const process_exchange& exchange) {
  multi_grid grids({process}, process, exchange, 5s);
  std::size_t free = 0, total = 0;
  void* taken = nullptr;
  expect(cudaSetDevice(process) == cudaSuccess && cudaMemGetInfo(&free, &total) == cudaSuccess,
         "the GPU's memory");
  if (process == 0) expect(cudaMalloc(&taken, free / 4 * 3) == cudaSuccess, "most of it is taken");
  bool thrown = false;
  try {
    const auto memory = grids.allocate(total / 2);
  } catch (const std::exception&) { thrown = true; }
  expect(thrown, "what fails in one process fails in both, and nobody waits");
  expect(cudaFree(taken) == cudaSuccess, "the GPU's memory is free again");
  expect(cudaGetLastError() == cudaSuccess, "no error is left");
  sound(grids, 8, 1, 100);
}

// What `f` throws, by its kind.
template <class F>
std::string thrown_by(F f) {
  try {
    f();
  } catch (const usage_error& e) {
    return std::string("usage: ") + e.what();
  } catch (const timeout_error& e) {
    return std::string("timeout: ") + e.what();
  } catch (const std::exception& e) { return std::string("other: ") + e.what(); }
  return "nothing";
}

// Its kernel has no barrier, or it has launched none: only the memory of its GPU tells that the other gave
// up.
void one_never_waits(int process, const process_exchange& exchange) {
  multi_grid grids({process}, process, exchange, 1s);
  for (const bool launches : {true, false}) {
    sound(grids, 8, 1, 10);
    found_here found;
    if (process == 0 || launches)
      grids.launch(leave_early_kernel(), 8, 64, 0, {}, 99u, 0u, 0u, process == 0 ? 5u : 0u, found.at);
    if (process == 1) {
      std::this_thread::sleep_for(3s);
      cudaStream_t busy = nullptr;
      expect(cudaSetDevice(process) == cudaSuccess &&
                 cudaStreamCreateWithFlags(&busy, cudaStreamNonBlocking) == cudaSuccess,
             "a stream");
      expect(cudaSetDevice(9999) != cudaSuccess, "an error of the caller's");
      const auto why = thrown_by([&] { launches ? grids.wait() : grids.check(); });
      int now = -1;
      expect(cudaGetDevice(&now) == cudaSuccess && now == process, "the caller's GPU is as before");
      expect(cudaGetLastError() == cudaErrorInvalidDevice, "the caller's error is as before");
      expect(why.rfind("timeout: a barrier was given up, and no kernel of this process was waiting at it",
                       0) == 0,
             "process 1 hears of it: " + why);
      expect(thrown_by(
                 [&] { grids.launch(leave_early_kernel(), 8, 64, 0, {}, 99u, 0u, 0u, 1u, found.at); }) == why,
             "and launches no more");
      expect(cudaStreamDestroy(busy) == cudaSuccess, "the stream");
    } else {
      const auto why = message_of(grids);
      expect(why.find("GPU 1 of process 1 (grid 1)") != std::string::npos,
             "the missing process is named: " + why);
    }
    grids.reset();
  }
  sound(grids, 8, 1, 100);
}

// Wrong use in one process inside of a collective call throws in both, and the group stays usable.
void one_may_not(int process, const process_exchange& exchange) {
  multi_grid grids({process}, process, exchange, 5s);
  found_here found;
  unsigned blocks = 20;  // a new number for every call
  const auto both = [&](int wrong, const std::string& reason, const std::string& why) {
    const std::string begins =
        process == wrong ? "usage: " : "usage: process " + std::to_string(wrong) + ": ";
    expect(why.rfind(begins + reason, 0) == 0, "'" + begins + reason + "' and not '" + why + "'");
  };
  for (const int wrong : {0, 1}) {
    const bool mine = process == wrong;
    const auto launch = [&](dim3 grid, unsigned threads, std::size_t shared,
                            const std::vector<cudaStream_t>& streams) {
      return thrown_by([&] {
        grids.launch(leave_early_kernel(), grid, threads, shared, streams, 99u, 0u, 0u, 1u, found.at);
      });
    };
    ++blocks;
    both(wrong, std::to_string(blocks) + " blocks of 64 threads with 1048576 bytes",
         launch(blocks, 64, mine ? 1 << 20 : 0, {}));
    ++blocks;
    both(wrong, "blocks of 2048 threads: it takes 32 to 1024", launch(blocks, mine ? 2048 : 64, 0, {}));
    ++blocks;
    both(wrong, "2 streams for the 1 GPUs",
         launch(blocks, 64, 0, mine ? std::vector<cudaStream_t>(2) : std::vector<cudaStream_t>()));
    ++blocks;
    both(wrong, "a grid of no blocks", launch(mine ? 0 : blocks, 64, 0, {}));
    both(wrong, "a grid of no blocks", thrown_by([&] { grids.resize(mine ? 0 : blocks); }));
    unsigned rank = 99, late = 0, when = 0, rounds = 1;
    void* arguments[] = {nullptr, &rank, &late, &when, &rounds, &found.at};
    launch_parameters given{mine ? nullptr : reinterpret_cast<const void*>(leave_early_kernel()),
                            ++blocks,
                            64,
                            arguments,
                            0,
                            nullptr};
    both(wrong, "no kernel (func is null)", thrown_by([&] { grids.launch(&given, 1); }));
    both(wrong, "memory of no bytes", thrown_by([&] { grids.allocate(mine ? 0 : 1024); }));
    const auto both_sizes = thrown_by([&] { grids.allocate(mine ? 2048 : 1024); });
    const std::string sizes =
        wrong == 0 ? "1024 bytes and process 0 wants 2048" : "2048 bytes and process 0 wants 1024";
    expect(both_sizes == "usage: process 1 wants " + sizes + ": the memory's size is the same on all GPUs",
           both_sizes);
    expect(cudaGetLastError() == cudaSuccess, "no error is left");
    sound(grids, 8, 1, 100);
    // Where the number is there already, a launch is not collective: the other process hears nothing.
    if (mine)
      expect(launch(8, 2048, 0, {}) == "usage: blocks of 2048 threads: it takes 32 to 1024",
             "it throws here alone");
    sound(grids, 8, 1, 100);
  }
}

// Unequal grids, blocks and kernels are refused in both before anything runs, naming both, and so they are at
// every launch where the group asks for it.
void one_launches_another(int process, const process_exchange& exchange) {
  group_options options(5s);
  options.check_each_launch = true;
  multi_grid grids({process}, process, exchange, options);
  found_here found;
  const std::string same = ": the kernel, its grid and the barrier's algorithm are the same on all GPUs";
  const auto launch = [&](unsigned blocks, unsigned threads, leave_kernel kernel) {
    return thrown_by([&] { grids.launch(kernel, blocks, threads, 0, {}, 99u, 0u, 0u, 1u, found.at); });
  };
  const auto refused = [&](const std::string& why, const std::string& theirs, const std::string& first) {
    expect(why.find("process 1 wants " + theirs) != std::string::npos &&
               why.find(" and process 0 wants " + first) != std::string::npos &&
               why.find(same) != std::string::npos,
           why);
  };
  const bool mine = process == 1;
  for (int time = 0; time < 2; ++time) {  // numbers of blocks that are new, and then known
    refused(launch(mine ? 16 : 8, 64, leave_early_kernel()), "16 blocks of 64 threads of ",
            "8 blocks of 64 ");
    refused(launch(8, mine ? 128 : 64, leave_early_kernel()), "8 blocks of 128 threads of ",
            "8 blocks of 64 ");
    refused(launch(8, 64, mine ? in_clusters_kernel() : leave_early_kernel()), "8 blocks of 64 threads of ",
            "8 blocks of 64 ");
    expect(found.at->passed == 0 && found.at->given_up == 0, "no kernel ran");
    sound(grids, 8, 1, 10);
    sound(grids, 16, 1, 10);
  }
}

void one_is_lost(int process, const process_exchange& exchange) {
  multi_grid grids({process}, process, exchange, 1s);
  sound(grids, 8, 1, 10);
  if (process == 1) raise(SIGKILL);
  found_here found;
  grids.launch(leave_early_kernel(), 8, 64, 0, {}, 99u, 0u, 0u, 5u, found.at);
  const auto why = message_of(grids);
  expect(why.find("process 1 (grid 1)") != std::string::npos, "the lost process is named: " + why);
}

// An exception of the program's own in process 1, while process 0's kernel waits for it: process 0 hears of
// it long before its time-out, and goes without waiting for anybody.
void one_throws(int process, const process_exchange& exchange, memory_sharing sharing) {
  group_options options(20s);
  options.sharing = sharing;
  const auto begin = steady::now();
  try {
    multi_grid grids({process}, process, exchange, options);
    sound(grids, 8, 1, 10);
    if (process == 1) {
      std::this_thread::sleep_for(500ms);
      throw std::runtime_error("the program's own");
    }
    found_here found;
    grids.launch(leave_early_kernel(), 8, 64, 0, {}, 99u, 0u, 0u, 5u, found.at);
    const auto why = message_of(grids);
    expect(why != "no timeout_error", "process 0 is told");
  } catch (const std::runtime_error& e) {
    expect(process == 1 && std::string(e.what()) == "the program's own", e.what());
  }
  expect(steady::now() - begin < 15s, "long before the time-out");
}
void one_throws_under_vmm(int process, const process_exchange& exchange) {
  one_throws(process, exchange, memory_sharing::vmm);
}
void one_throws_under_ipc(int process, const process_exchange& exchange) {
  one_throws(process, exchange, memory_sharing::ipc);
}

// What arguments_of() throws comes after the group's own exchange has begun: the other process hears of it.
void one_has_no_arguments(int process, const process_exchange& exchange) {
  multi_grid grids({process}, process, exchange, 5s);
  found_here found;
  const auto why = thrown_by([&] {
    grids.launch_each(leave_early_kernel(), 8, 64, 0, {}, [&](unsigned) {
      if (process == 1) throw std::runtime_error("no arguments here");
      return std::tuple(99u, 0u, 0u, 5u, found.at);
    });
  });
  expect(why.find("no arguments here") != std::string::npos, why);
  sound(grids, 8, 1, 100);
}

// Ten replays each, and one more of process 0: it waits for process 1, which its time-out names.
void one_replays_once_more(int process, const process_exchange& exchange) {
  multi_grid grids({process}, process, exchange, 1s);
  grids.prepare(leave_early_kernel(), 8, 64);
  found_here found;
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  expect(cudaSetDevice(process) == cudaSuccess &&
             cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess &&
             cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess,
         "a capture");
  grids.launch(leave_early_kernel(), 8, 64, 0, {stream}, 99u, 0u, 0u, 3u, found.at);
  expect(cudaStreamEndCapture(stream, &graph) == cudaSuccess &&
             cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess,
         "a graph");
  for (int i = 0; i < 10 + (process == 0 ? 1 : 0); ++i)
    expect(cudaGraphLaunch(executable, stream) == cudaSuccess, "a replay");
  expect(cudaStreamSynchronize(stream) == cudaSuccess, "the replays end");
  std::vector<absent_grid> who;
  try {
    grids.check();
  } catch (const timeout_error& e) { who = e.who(); }
  if (process == 0)
    expect(who.size() == 1 && who[0].grid_rank == 1 && who[0].blocks.empty(), "process 1's grid is named");
  expect(found.at->passed == 10 * 3 * 8, "the ten passed");
  exchange("");  // the other's replay is over
  grids.reset();
  sound(grids, 8, 1, 100);
  expect(cudaGraphExecDestroy(executable) == cudaSuccess && cudaGraphDestroy(graph) == cudaSuccess &&
             cudaStreamDestroy(stream) == cudaSuccess,
         "all of it goes");
}

// What a node is may be said, and that counts.
void nodes_are_as_said(int process, const process_exchange& exchange) {
  group_options options(5s);
  options.node = process == 0 ? "a" : "b";
  const auto why = thrown_by([&] { multi_grid grids({process}, process, exchange, options); });
  expect(why.find("a group stays on one node") != std::string::npos, why);
  options.node = "a";
  multi_grid grids({process}, process, exchange, options);
  sound(grids, 8, 1, 10);
}

// A thread that chose no GPU, and a group of GPU 1: nothing is started on GPU 0.
void no_context_elsewhere(int process, const process_exchange&) {
  if (process == 0) return;
  std::thread([] {
    multi_grid grids({1}, 5s);
    const auto found = grids.allocate(sizeof(findings));
    grids.launch(leave_early_kernel(), 8, 64, 0, {}, 99u, 0u, 0u, 5u, found.part_as<findings>(0));
    grids.wait();
    grids.set_timeout(1s);
    grids.abort("to see whether that starts anything");
    grids.reset();
  }).join();
  using state_of = CUresult (*)(CUdevice, unsigned*, int*);
  void* ask = nullptr;
  cudaDriverEntryPointQueryResult found{};
  expect(cudaGetDriverEntryPointByVersion("cuDevicePrimaryCtxGetState", &ask, 12000, cudaEnableDefault,
                                          &found) == cudaSuccess,
         "the driver's call");
  unsigned flags = 0;
  int active = 1;
  expect(reinterpret_cast<state_of>(ask)(0, &flags, &active) == CUDA_SUCCESS && active == 0,
         "GPU 0 has no context of this process");
  expect(reinterpret_cast<state_of>(ask)(1, &flags, &active) == CUDA_SUCCESS && active == 1, "GPU 1 has");
}

// A child that was forked lets go of a group without touching it.
void a_child_is_forked(int process, const process_exchange& exchange) {
  multi_grid grids({process}, process, exchange, 5s);
  sound(grids, 8, 1, 10);
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);
    { const multi_grid mine = std::move(grids); }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ends by itself");
  sound(grids, 8, 1, 100);
}

// After cudaDeviceReset() the group throws, and goes without a crash.
void the_gpu_is_reset(int process, const process_exchange&) {
  if (process == 1) return;
  {
    multi_grid grids({0}, 5s);
    sound(grids, 8, 1, 10);
    expect(cudaSetDevice(0) == cudaSuccess && cudaDeviceReset() == cudaSuccess, "the reset");
    expect(thrown_by([&] { sound(grids, 8, 1, 10); }) != "nothing", "the group throws");
    cudaGetLastError();
    grids = multi_grid({0}, 5s);  // which destroys nothing of the old one
    sound(grids, 8, 1, 10);
    expect(cudaSetDevice(0) == cudaSuccess && cudaDeviceReset() == cudaSuccess, "a second reset");
  }
  cudaGetLastError();
  multi_grid again({0}, 5s);
  sound(again, 8, 1, 10);
}

struct test_case {
  const char* name;
  void (*run)(int process, const process_exchange&);
  bool loses_one;
};
constexpr test_case cases[] = {{"all is well", all_is_well, false},
                               {"one comes too late", one_comes_too_late, false},
                               {"one cannot allocate", one_cannot_allocate, false},
                               {"one never waits", one_never_waits, false},
                               {"one may not", one_may_not, false},
                               {"one throws (VMM)", one_throws_under_vmm, false},
                               {"one throws (IPC)", one_throws_under_ipc, false},
                               {"one has no arguments", one_has_no_arguments, false},
                               {"one replays once more", one_replays_once_more, false},
                               {"nodes are as said", nodes_are_as_said, false},
                               {"no context elsewhere", no_context_elsewhere, false},
                               {"a child is forked", a_child_is_forked, false},
                               {"the GPU is reset", the_gpu_is_reset, false},
                               {"one launches another", one_launches_another, false},
                               {"one is lost", one_is_lost, true}};

int child(const test_case& c, int process, int pipe) {
  alarm(40);
  try {
    c.run(process, exchange_over(pipe));
    return 0;
  } catch (const std::exception& error) {
    std::printf("FAIL  %s, process %d: %s\n", c.name, process, error.what());
    return 1;
  }
}

// Hands everybody everybody's bytes, until somebody goes.
void relay_between(const std::array<int, processes>& pipes) {
  try {
    for (;;) {
      std::vector<std::string> all;
      for (const int p : pipes) all.push_back(receive_text(p));
      for (const int p : pipes)
        for (const auto& text : all) send_text(p, text);
    }
  } catch (const std::exception&) {}
  for (const int p : pipes) shutdown(p, SHUT_RDWR);
}

bool run(const test_case& c) {
  std::array<int, processes> pipes{};
  std::array<pid_t, processes> children{};
  for (int p = 0; p < processes; ++p) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return false;
    children[static_cast<std::size_t>(p)] = fork();
    if (children[static_cast<std::size_t>(p)] == 0) {
      close(ends[0]);
      for (int other = 0; other < p; ++other) close(pipes[static_cast<std::size_t>(other)]);
      const int code = child(c, p, ends[1]);
      std::fflush(stdout);
      _exit(code);
    }
    close(ends[1]);
    pipes[static_cast<std::size_t>(p)] = ends[0];
  }
  relay_between(pipes);
  bool good = true;
  for (int p = 0; p < processes; ++p) {
    int status = 0;
    waitpid(children[static_cast<std::size_t>(p)], &status, 0);
    const bool lost = c.loses_one && p == 1;
    good = good && (lost ? WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL
                         : WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close(pipes[static_cast<std::size_t>(p)]);
  }
  std::printf("%s  %s\n", good ? "ok  " : "FAIL", c.name);
  std::fflush(stdout);
  return good;
}

// Counted in a process of its own: CUDA must not have begun before the fork.
int gpus_here() {
  const pid_t asking = fork();
  if (asking == 0) {
    int count = 0;
    _exit(cudaGetDeviceCount(&count) == cudaSuccess ? count : 0);
  }
  int status = 0;
  waitpid(asking, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

}  // namespace

int main() {
  if (const int here = gpus_here(); here < processes) {
    std::printf("needs %d GPUs, and %d are here\n", processes, here);
    return std::getenv("MGSYNC_REQUIRE_GPUS") != nullptr &&
                   std::atoi(std::getenv("MGSYNC_REQUIRE_GPUS")) >= processes
               ? 1
               : 77;
  }
  int failed = 0;
  for (const auto& c : cases) failed += run(c) ? 0 : 1;
  std::printf("%d failed\n", failed);
  return failed == 0 ? 0 : 1;
}
