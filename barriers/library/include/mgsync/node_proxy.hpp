// What speaks for the GPUs of one process to those of other nodes: the thread that calls MPI exchanges 8-byte
// epochs with all other processes of a group, and carries what was asked of it. It calls no CUDA: GPUs, or
// threads, meet it in words of host memory. multi_grid_nodes.hpp makes one; a program needs this header for
// members of its own alone. C++17 and MPI.
#pragma once

#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "barriers/parts/algorithm/node_exchange.hpp"

namespace mgsync { inline namespace v1 {

// The words in which a process's members and its proxy meet: a line of 128 bytes each. All hold
// first_node_epoch before the first round.
inline constexpr std::uint32_t first_node_epoch = 0xfffffe00u;
struct node_words {
  std::uint32_t* first = nullptr;
  unsigned members = 0;

  static constexpr std::size_t bytes(unsigned members) { return std::size_t{2} * members * 128; }
  std::uint32_t* come(unsigned member) const { return first + member * 32; }  // the epoch that it came to
  std::uint32_t* let_go(unsigned member) const { return come(members + member); }  // that it may leave
};

class node_proxy {
 public:
  // Collective over `ranks`, which is duplicated. All processes' calls come from the thread that MPI allows.
  node_proxy(MPI_Comm ranks, const node_words& words)
      : words_(words),
        ranks_(duplicate_of(ranks)),
        rank_(asked(MPI_Comm_rank)),
        size_(asked(MPI_Comm_size)),
        exchange_(static_cast<unsigned>(rank_), static_cast<unsigned>(size_), first_node_epoch) {
    for (unsigned l = 0; l < 2 * words.members; ++l) words.first[l * 32] = first_node_epoch;
    char host[64] = {};
    gethostname(host, sizeof host - 1);
    hosts_.resize(static_cast<std::size_t>(size()) * sizeof host);
    check(MPI_Allgather(host, sizeof host, MPI_CHAR, &hosts_[0], sizeof host, MPI_CHAR, ranks_));
    int step = 0;
    for (int distance = 1; distance < size(); distance *= 2, ++step)
      steps_.push_back(std::make_unique<incoming>(ranks_, (rank() + size() - distance) % size(), step));
    check(MPI_Barrier(ranks_));
  }
  node_proxy(const node_proxy&) = delete;
  node_proxy& operator=(const node_proxy&) = delete;
  ~node_proxy() {
    int ended = 0;
    MPI_Finalized(&ended);
    if (ended != 0) return;
    for (auto& one : steps_) one->cancel();
    for (auto& one : under_way_) MPI_Wait(&one.request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&ranks_);
  }

  // From the next round on: what stands in `from` when this process's members have come is in `to` of process
  // `other` when its members leave, and the other way round. Both are `bytes` of host memory that live as
  // long as the proxy. Both processes call it alike; a pair does so once.
  void carry(int other, const void* from, void* to, std::size_t bytes) {
    loads_.push_back({other, static_cast<const char*>(from), static_cast<char*>(to), bytes, {}});
  }

  // Takes this process's members through rounds until `ended`, which somebody else sets when they have left
  // the last one.
  void serve(const std::atomic<bool>& ended) {
    ended_ = &ended;
    for (awaited_ = nobody; wait_until([&] { return have_come(epoch_ + 1); }); awaited_ = nobody) {
      ++epoch_;
      bool carried = true;
      const auto loaded = [&] {
        carried = carry_all();
        return std::uint64_t{0};
      };
      if (!exchange_.exchange(*this, epoch_, loaded, [](std::uint64_t) {}) || !carried) return;
      for (unsigned m = 0; m < words_.members; ++m)
        __atomic_store_n(words_.let_go(m), static_cast<std::uint32_t>(epoch_), __ATOMIC_RELEASE);
    }
  }

  // Whom a serve() that did not end between two rounds was waiting for: "process 1 on node b, or for whom
  // that one waits". Empty: for nobody.
  std::string awaited() const {
    if (awaited_ == nobody) return {};
    return "process " + std::to_string(awaited_) + " on " + &hosts_[static_cast<std::size_t>(awaited_) * 64] +
           (size() > 2 ? ", or for whom that one waits" : "");
  }
  std::uint64_t rounds() const { return epoch_ - first_node_epoch; }
  int rank() const { return rank_; }
  int size() const { return size_; }

 private:
  friend class algorithm::across_nodes::node_exchange;  // it asks this of a network:
  using message = algorithm::across_nodes::message;
  void send(unsigned to, unsigned step, const message& m) {
    for (int taken = 1; taken != 0 && !under_way_.empty();) {
      check(MPI_Test(&under_way_.front().request, &taken, MPI_STATUS_IGNORE));
      if (taken != 0) under_way_.pop_front();
    }
    under_way_.emplace_back();
    auto& one = under_way_.back();
    one.what = m;
    check(MPI_Isend(&one.what, sizeof one.what, MPI_BYTE, static_cast<int>(to), static_cast<int>(step),
                    ranks_, &one.request));
  }
  template <class F>
  void take(unsigned step, F f) {
    awaited_ = steps_[step]->source();
    steps_[step]->take(f);
  }
  template <class Condition>
  bool wait_until(Condition holds) {
    constexpr unsigned quick = 4096;  // polls before it lets other threads run
    for (unsigned polls = 1;; ++polls) {
      if (holds()) return true;
      if (ended_->load(std::memory_order_acquire)) return holds();
      if (polls > quick) sched_yield();
    }
  }

  static constexpr int nobody = -1, load_tag = 100;
  static void check(int status) {
    if (status != MPI_SUCCESS) throw std::runtime_error("mgsync: MPI failed between the nodes of a group");
  }

  // Messages of one source and step, in their order. Two are posted: a process is at most one round ahead.
  class incoming {
   public:
    incoming(MPI_Comm ranks, int source, int step) : ranks_(ranks), source_(source), step_(step) {
      for (auto& one : posts_) post(one);
    }
    int source() const { return source_; }
    template <class F>
    void take(F f) {
      for (;;) {
        auto& one = posts_[next_];
        int here = 0;
        check(MPI_Test(&one.request, &here, MPI_STATUS_IGNORE));
        if (here == 0) return;
        const message came = one.what;
        post(one);
        next_ = 1 - next_;
        f(came);
      }
    }
    void cancel() {
      for (auto& one : posts_) {
        MPI_Cancel(&one.request);
        MPI_Wait(&one.request, MPI_STATUS_IGNORE);
      }
    }

   private:
    struct posted {
      message what{};
      MPI_Request request = MPI_REQUEST_NULL;
    };
    void post(posted& one) {
      check(MPI_Irecv(&one.what, sizeof one.what, MPI_BYTE, source_, step_, ranks_, &one.request));
    }
    MPI_Comm ranks_;
    int source_, step_;
    posted posts_[2];
    unsigned next_ = 0;
  };
  struct sent {
    message what{};
    MPI_Request request = MPI_REQUEST_NULL;
  };
  struct load {
    int other;
    const char* from;
    char* to;
    std::size_t bytes;
    MPI_Request requests[2];
  };

  static MPI_Comm duplicate_of(MPI_Comm ranks) {
    MPI_Comm own = MPI_COMM_NULL;
    check(MPI_Comm_dup(ranks, &own));
    check(MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN));
    return own;
  }
  int asked(int (*question)(MPI_Comm, int*)) const {
    int answer = 0;
    check(question(ranks_, &answer));
    return answer;
  }
  bool have_come(std::uint64_t epoch) const {
    for (unsigned m = 0; m < words_.members; ++m)
      if (static_cast<std::int32_t>(__atomic_load_n(words_.come(m), __ATOMIC_ACQUIRE) -
                                    static_cast<std::uint32_t>(epoch)) < 0)
        return false;
    return true;
  }
  // No member reads `to` or writes `from` meanwhile: all have come, and none is let go.
  bool carry_all() {
    for (auto& one : loads_) {
      check(MPI_Irecv(one.to, static_cast<int>(one.bytes), MPI_BYTE, one.other, load_tag, ranks_,
                      &one.requests[0]));
      check(MPI_Isend(one.from, static_cast<int>(one.bytes), MPI_BYTE, one.other, load_tag, ranks_,
                      &one.requests[1]));
    }
    for (auto& one : loads_) {
      awaited_ = one.other;
      const bool came = wait_until([&] {
        int done = 0;
        check(MPI_Testall(2, one.requests, &done, MPI_STATUSES_IGNORE));
        return done != 0;
      });
      if (!came) return false;
    }
    return true;
  }

  node_words words_;
  MPI_Comm ranks_;
  int rank_, size_;
  std::string hosts_;
  std::uint64_t epoch_ = first_node_epoch;
  std::vector<std::unique_ptr<incoming>> steps_;
  std::deque<sent> under_way_;  // a deque keeps them where they are
  std::vector<load> loads_;
  const std::atomic<bool>* ended_ = nullptr;
  int awaited_ = nobody;
  algorithm::across_nodes::node_exchange exchange_;
};

}}  // namespace mgsync::v1
