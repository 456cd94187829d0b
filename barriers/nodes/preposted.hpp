// Small messages by MPI: receives that are posted before anything is sent, and sends whose buffers live until
// MPI has taken them. One thread alone calls these.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <deque>

#include "src/base/mpi_native.hpp"

namespace mgsync::nodes {

// Messages of one source and tag, in their order. Two are posted: a node is at most one round ahead.
template <class Message>
class preposted {
 public:
  preposted(MPI_Comm comm, int source, int tag) : comm_(comm), source_(source), tag_(tag) {
    for (auto& one : posts_) post(one);
  }
  preposted(const preposted&) = delete;
  preposted& operator=(const preposted&) = delete;

  // Calls f(message) for each that has come.
  template <class F>
  void take(F f) {
    for (;;) {
      auto& one = posts_[next_];
      int here = 0;
      check_mpi(MPI_Test(&one.request, &here, MPI_STATUS_IGNORE), "receiving from another node");
      if (here == 0) return;
      const Message came = one.message;
      post(one);
      next_ = 1 - next_;
      ++taken_;
      f(came);
    }
  }
  std::uint64_t taken() const { return taken_; }

  void cancel() {
    for (auto& one : posts_) {
      check_mpi(MPI_Cancel(&one.request), "cancelling a receive");
      check_mpi(MPI_Wait(&one.request, MPI_STATUS_IGNORE), "cancelling a receive");
    }
  }

 private:
  struct posted {
    Message message{};
    MPI_Request request = MPI_REQUEST_NULL;
  };
  void post(posted& one) {
    check_mpi(MPI_Irecv(&one.message, sizeof one.message, MPI_BYTE, source_, tag_, comm_, &one.request),
              "receiving from another node");
  }

  MPI_Comm comm_;
  int source_, tag_;
  posted posts_[2];
  unsigned next_ = 0;
  std::uint64_t taken_ = 0;
};

// Sends that are under way.
template <class Message>
class sends {
 public:
  void start(const Message& message, int to, int tag, MPI_Comm comm) {
    for (int taken = 1; taken != 0 && !under_way_.empty();) {
      check_mpi(MPI_Test(&under_way_.front().request, &taken, MPI_STATUS_IGNORE), "sending to another node");
      if (taken != 0) under_way_.pop_front();
    }
    auto& one = under_way_.emplace_back();
    one.message = message;
    check_mpi(MPI_Isend(&one.message, sizeof one.message, MPI_BYTE, to, tag, comm, &one.request),
              "sending to another node");
  }
  void finish() {
    for (auto& one : under_way_)
      check_mpi(MPI_Wait(&one.request, MPI_STATUS_IGNORE), "sending to another node");
    under_way_.clear();
  }

 private:
  struct sent {
    Message message{};
    MPI_Request request = MPI_REQUEST_NULL;
  };
  std::deque<sent> under_way_;  // a deque keeps them where they are
};

}  // namespace mgsync::nodes
