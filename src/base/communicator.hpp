// The ranks of the job, or of a part of it: gathering, broadcasting and splitting, without a vendor type.
// Every wait sleeps between polls, so that a waiting rank disturbs nobody's measurement, and is bounded: past
// the deadline it throws timeout_error naming the ranks that do not wait too, or rank_lost naming those of
// this host whose process is stopped or gone; who is gone is not waited for till then. Time in which this
// process itself was stopped does not count. What MPI offers only as a call that may never return (making and
// freeing communicators, ending MPI) is under the watchdog. One header, two bodies: communicator_mpi.cpp and
// communicator_single.cpp (built without MPI: always one rank).
#pragma once

#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace mgsync {

class watchdog;

// How long a rank that failed by itself waits for rank 0 to write what was measured.
inline constexpr std::chrono::seconds patience_of_a_failed_rank{3};

// How many threads of a process may call MPI, as MPI_Init_thread takes it. mgsync itself calls MPI from one
// thread, the one that started it: its watchdog, its workers and what waits on GPUs never do. So `single` is
// enough, and it is what a program pays that calls MPI_Init; higher levels are for measuring what they cost.
enum class thread_level { single, funneled, serialized, multiple };
inline constexpr std::string_view thread_level_words[] = {"single", "funneled", "serialized", "multiple"};
thread_level thread_level_named(std::string_view word);  // one of these words

class communicator {
 public:
  struct native;  // holds the MPI_Comm; src/base/mpi_native.hpp opens it to those that call MPI

  // Whether this build can start MPI at all.
  static bool built_with_mpi();
  // The library's name and version in one line ("none" without MPI). Needs no MPI_Init.
  static std::string library_version();
  // The same, and behind MPI_Init what it moves messages with, as far as that is known: "Open MPI v4.1.4 (pml
  // ob1, btl self vader)", "MPICH 4.0.2 (ch4:ucx)".
  static std::string library_in_use();

  // "rank 2 (process 4711 on n1) is stopped, rank 3 ... is gone": the ranks of this host whose process is
  // gone, or also those that are stopped; or this rank, where it was stopped itself until just now. Where a
  // rank has left a sentence that says why it ends (leave_word), only that. Empty where nobody is lost. From
  // any thread.
  enum class lost { gone, gone_or_stopped };
  static std::string lost_ranks(lost which = lost::gone_or_stopped);
  static bool first_is_gone();
  // Whether the ranks have begun to finalize MPI: a rank that is gone since then has done all its work.
  static bool is_over();
  // Tells the other ranks of this host why this one ends, by a sentence that names it. Each rank keeps the
  // first such sentence that it gets. Does nothing before world(), nor for ranks in another container or of
  // another user. From any thread.
  static void leave_word(std::string_view sentence);
  // Whether lost_ranks() returns a sentence of leave_word(), which its rank has already printed on stderr.
  static bool has_word();
  // The same for a sentence that this rank did not leave itself.
  static bool was_told();
  // Of rank 0: that it has written what was measured, so that nothing is lost if the launcher kills it now.
  static void files_are_written();
  // Of a rank that is about to end the job: waits until rank 0 has called files_are_written(), is gone, or
  // `most` is over. A rank 0 that is stopped is continued. Some launchers kill all other ranks at once. Does
  // nothing on rank 0; does not wait for one on another host. From any thread.
  static void let_first_write(std::chrono::nanoseconds most);
  // "rank 0 (process 4711 on n1)"; empty where there is only one rank, or before world().
  static std::string this_rank();
  // Whether this is rank 0, which prints what concerns all ranks.
  static bool speaks_first();

  // One rank, no MPI.
  static communicator single(std::chrono::nanoseconds timeout);
  // Starts MPI and returns all ranks. Call once, first, from the thread that will make all calls; finalised
  // by the destructor of the communicator that world() returned, unless an exception is in flight. Throws
  // api_error when the library does not offer the level. The watchdog must outlive every communicator made
  // from this one.
  static communicator world(std::chrono::nanoseconds timeout, watchdog&,
                            thread_level wanted = thread_level::single);

  // The word for the thread level that MPI runs at, which may be above the wanted one; empty before world().
  static std::string thread_level_in_force();

  communicator(communicator&&) noexcept;
  communicator& operator=(communicator&&) noexcept;
  ~communicator();

  int rank() const { return rank_; }
  int size() const { return size_; }

  // How long the waits below may last from now on.
  void be_patient_for(std::chrono::nanoseconds timeout) { timeout_ = timeout; }

  // All collective over the ranks of this communicator.
  void barrier(std::string_view what) const;
  std::vector<std::string> all_gather(std::string_view mine, std::string_view what) const;
  std::string broadcast(std::string value, int root, std::string_view what) const;
  // The same for numbers and other trivially copyable values.
  template <class Value>
  std::vector<Value> all_gather_values(const Value& mine, std::string_view what) const {
    std::vector<Value> all;
    for (const auto& bytes : all_gather(bytes_of(mine), what)) all.push_back(value_of<Value>(bytes));
    return all;
  }
  template <class Value>
  Value broadcast_value(const Value& mine, int root, std::string_view what) const {
    return value_of<Value>(broadcast(std::string(bytes_of(mine)), root, what));
  }
  // The ranks of one host (what shared memory spans), in rank order.
  communicator split_by_host() const;
  // The ranks that passed the same non-negative color, in rank order; nothing for a negative one.
  std::optional<communicator> split(int color) const;
  // The same ranks with a separate space of messages, as by MPI_Comm_dup.
  communicator duplicate() const;

  // Ends every rank of the job with this exit code, as MPI_Abort does, after a failure that the others do not
  // know of.
  [[noreturn]] void abort(int code) const;

  const native* native_handle() const { return native_.get(); }

 private:
  communicator();
  template <class Value>
  static std::string_view bytes_of(const Value& one) {
    static_assert(std::is_trivially_copyable_v<Value>);
    return {reinterpret_cast<const char*>(&one), sizeof one};
  }
  template <class Value>
  static Value value_of(const std::string& bytes) {
    Value one{};
    std::memcpy(&one, bytes.data(), sizeof one);
    return one;
  }
  // The communicator that `make` (MPI_Comm* -> result of the MPI call) creates, called under the watchdog.
  template <class Make>
  std::optional<communicator> made_by(std::string_view what, Make) const;

  int rank_ = 0;
  int size_ = 1;
  std::chrono::nanoseconds timeout_{};
  std::unique_ptr<native> native_;
};

}  // namespace mgsync
