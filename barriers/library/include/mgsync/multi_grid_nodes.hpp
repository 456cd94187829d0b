// A set of GPUs of several nodes whose kernels meet at one barrier: an mgsync::multi_grid in each node, and
// between nodes messages of MPI by the thread that waits for the kernels.
//
//     mgsync::multi_grid_nodes grids({my_gpu}, blocks_per_gpu, MPI_COMM_WORLD);
//     // kernel(const __grid_constant__ mgsync::multi_grid_node_handle, float*)     (multi_grid_nodes.cuh)
//     grids.launch(kernel, threads, 0, data);
//     grids.wait();
//
// All of it is called by the thread that started MPI (the lowest thread level is enough), and by all
// processes alike. Kernels wait at their first barrier until all processes are in wait(). Between nodes
// execution is ordered, and memory only as carry() says. Errors are those of multi_grid.hpp; after one that
// wait() throws, make another group: reset() of here() is of one node. C++17, MPI.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <mgsync/mpi_exchange.hpp>
#include <mgsync/multi_grid.hpp>
#include <mgsync/multi_grid_node_handle.hpp>
#include <mgsync/node_proxy.hpp>

namespace mgsync { inline namespace v1 {

class multi_grid_nodes {
 public:
  // This process brings `gpus`, with `blocks_per_gpu` blocks in all kernels. Processes of one host name are
  // on one node, or those of one group_options::node where that is given. Collective over `ranks`: if one
  // process throws, all throw.
  multi_grid_nodes(const std::vector<int>& gpus, unsigned blocks_per_gpu, MPI_Comm ranks,
                   group_options options = {})
      : multi_grid_nodes(gpus, blocks_per_gpu, named(std::move(options))) {  // so that what is made here goes
    const auto exchange = mpi_exchange(ranks);
    const auto names = exchange(options_.node);
    int color = 0, rank = 0;
    MPI_Comm_rank(ranks, &rank);
    while (names[static_cast<std::size_t>(color)] != options_.node) ++color;  // the node's first process
    check(MPI_Comm_split(ranks, color, rank, &near_ranks_));
    std::exception_ptr own;
    std::string why;
    try {
      make_here();
    } catch (const std::exception& failure) {
      own = std::current_exception();
      why = failure.what();
    }
    const auto all_why = exchange(why);
    if (own) std::rethrow_exception(own);
    for (std::size_t p = 0; p < all_why.size(); ++p)
      if (!all_why[p].empty()) throw error("process " + std::to_string(p) + ": " + all_why[p]);
    count_grids(ranks, color);
    proxy_ = std::make_unique<node_proxy>(ranks, node_words{words_.get(), local_gpus()});
  }
  multi_grid_nodes(const multi_grid_nodes&) = delete;
  multi_grid_nodes& operator=(const multi_grid_nodes&) = delete;
  // Collective, once the kernels have ended.
  ~multi_grid_nodes() {
    proxy_.reset();
    here_.reset();
    int ended = 0;
    MPI_Finalized(&ended);
    if (ended == 0 && near_ranks_ != MPI_COMM_NULL) MPI_Comm_free(&near_ranks_);
    const device_kept kept;
    for (const auto& one : members_) {
      cudaSetDevice(one.gpu);
      cudaStreamDestroy(one.stream);
      cudaFree(one.spoken);
    }
  }

  unsigned gpus() const { return all_grids_; }  // of all nodes
  unsigned local_gpus() const { return static_cast<unsigned>(gpus_.size()); }
  unsigned grid_rank(unsigned local = 0) const { return first_grid_ + here_->grid_rank(local); }
  multi_grid& here() { return *here_; }  // the node's own group: its memory, its time-outs

  // What `from` holds when this process's GPUs come to a barrier is in `to` of process `other` when its GPUs
  // leave it, and the other way round: `bytes` of host memory that the kernels address. Before the first
  // launch, once for each pair, by both.
  void carry(int other, const void* from, void* to, std::size_t bytes) {
    proxy_->carry(other, from, to, bytes);
  }

  // Launches the kernel on every GPU of this process. Does not wait; wait() must follow, in all processes.
  template <class... Parameters, class... Arguments>
  void launch(void (*kernel)(multi_grid_node_handle, Parameters...), dim3 threads, std::size_t shared_bytes,
              const Arguments&... arguments) {
    static_assert(sizeof...(Parameters) == sizeof...(Arguments),
                  "as many arguments as the kernel takes behind its handle");
    launch_each(kernel, threads, shared_bytes, [&](unsigned) { return std::tie(arguments...); });
  }
  // The same with what `arguments_of(local)` returns, a std::tuple.
  template <class... Parameters, class ArgumentsOf>
  void launch_each(void (*kernel)(multi_grid_node_handle, Parameters...), dim3 threads,
                   std::size_t shared_bytes, ArgumentsOf arguments_of) {
    for (unsigned l = 0; l < local_gpus(); ++l) {
      std::tuple<std::remove_cv_t<Parameters>...> given(arguments_of(l));
      auto handle = handle_for(l);
      std::vector<void*> addresses{&handle};
      std::apply([&](auto&... value) { (addresses.push_back(&value), ...); }, given);
      launch_one(reinterpret_cast<const void*>(kernel), threads, shared_bytes, l, addresses.data());
    }
  }

  // Serves the barriers of the kernels until those of this process have ended. Throws what
  // multi_grid::check() throws, with the process that was waited for.
  void wait() {
    std::atomic<bool> ended{false};
    cudaError_t status = cudaSuccess;
    std::thread waits([&] {
      for (const auto& one : members_) {
        cudaSetDevice(one.gpu);
        if (const auto s = cudaStreamSynchronize(one.stream); s != cudaSuccess) status = s;
      }
      ended.store(true, std::memory_order_release);
    });
    try {
      proxy_->serve(ended);
    } catch (const std::exception& failure) {
      here_->abort("MPI failed");
      waits.join();
      throw error(failure.what());
    }
    waits.join();
    check(status);
    try {
      here_->check();
    } catch (const timeout_error& error) {
      const auto whom = proxy_->awaited();
      if (whom.empty()) throw;
      throw timeout_error(std::string(error.what()) + " Between the nodes, this process waited for " + whom,
                          error.who());
    }
  }

 private:
  multi_grid_nodes(const std::vector<int>& gpus, unsigned blocks_per_gpu, group_options options)
      : gpus_(gpus), blocks_(blocks_per_gpu), options_(std::move(options)) {
    options_.one_block_speaks = true;
  }

  struct device_kept {  // gives the caller its current GPU back
    device_kept() { cudaGetDevice(&before); }
    ~device_kept() { cudaSetDevice(before); }
    int before = 0;
  };
  struct member {
    int gpu;
    cudaStream_t stream;
    std::uint32_t* spoken;
  };
  struct host_memory {
    void operator()(std::uint32_t* words) const { cudaFreeHost(words); }
  };

  static void check(int status) {
    if (status != MPI_SUCCESS) throw error("MPI failed while a group was made");
  }
  static void check(cudaError_t status) {
    if (status != cudaSuccess) throw error(cudaGetErrorString(status));
  }
  static group_options named(group_options options) {
    char host[64] = {};
    gethostname(host, sizeof host - 1);
    if (options.node.empty()) options.node = host;
    return options;
  }

  // What is of this node and of this process.
  void make_here() {
    int near_rank = 0;
    MPI_Comm_rank(near_ranks_, &near_rank);
    here_ = std::make_unique<multi_grid>(gpus_, near_rank, mpi_exchange(near_ranks_), options_);
    if (here_->gpus() * blocks_ < 2) throw usage_error("a node of one block in all: take two or more");
    here_->resize(blocks_);
    for (const int gpu : gpus_) make_member(gpu);
    void* words = nullptr;
    check(
        cudaHostAlloc(&words, node_words::bytes(local_gpus()), cudaHostAllocPortable | cudaHostAllocMapped));
    words_.reset(static_cast<std::uint32_t*>(words));
  }
  // Grids are counted by node, nodes in the order of their first processes.
  void count_grids(MPI_Comm ranks, int color) {
    struct {
      int color;
      unsigned gpus;
    } mine{color, local_gpus()};
    int all = 0;
    MPI_Comm_size(ranks, &all);
    std::vector<decltype(mine)> told(static_cast<std::size_t>(all));
    check(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, told.data(), sizeof mine, MPI_BYTE, ranks));
    for (const auto& one : told) {
      all_grids_ += one.gpus;
      if (one.color < color) first_grid_ += one.gpus;
    }
  }
  void make_member(int gpu) {
    const device_kept kept;
    members_.push_back({gpu, nullptr, nullptr});
    check(cudaSetDevice(gpu));
    check(cudaStreamCreateWithFlags(&members_.back().stream, cudaStreamNonBlocking));
    check(cudaMalloc(reinterpret_cast<void**>(&members_.back().spoken), sizeof(std::uint32_t)));
    check(cudaMemcpy(members_.back().spoken, &first_node_epoch, sizeof first_node_epoch,
                     cudaMemcpyHostToDevice));
  }
  multi_grid_node_handle handle_for(unsigned local) const {
    const node_words words{words_.get(), local_gpus()};
    multi_grid_node_handle handle;
    handle.node = here_->handle_for(blocks_, local);
    handle.come = words.come(local);
    handle.let_go = words.let_go(local);
    handle.spoken = members_[local].spoken;
    handle.first_grid = first_grid_;
    handle.all_grids = all_grids_;
    return handle;
  }
  void launch_one(const void* kernel, dim3 threads, std::size_t shared_bytes, unsigned local,
                  void** arguments) {
    const device_kept kept;
    check(cudaSetDevice(members_[local].gpu));
    const auto status = cudaLaunchCooperativeKernel(kernel, dim3(blocks_), threads, arguments, shared_bytes,
                                                    members_[local].stream);
    if (status == cudaSuccess) return;
    here_->abort("a launch failed");  // kernels of other GPUs would wait for this one
    check(status);
  }

  std::vector<int> gpus_;
  unsigned blocks_;
  group_options options_;
  MPI_Comm near_ranks_ = MPI_COMM_NULL;  // of this node
  std::unique_ptr<multi_grid> here_;
  unsigned first_grid_ = 0, all_grids_ = 0;
  std::vector<member> members_;
  std::unique_ptr<std::uint32_t, host_memory> words_;
  std::unique_ptr<node_proxy> proxy_;
};

}}  // namespace mgsync::v1
