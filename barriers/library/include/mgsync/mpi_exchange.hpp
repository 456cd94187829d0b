// The exchange of mgsync::multi_grid over an MPI communicator. It is a separate header so that nothing else
// needs MPI.
#pragma once

#include <mpi.h>

#include <chrono>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <mgsync/multi_grid.hpp>

namespace mgsync { inline namespace v1 {

// Collective over `ranks`, which is duplicated so that the group's messages cannot meet the program's. The
// duplicate is freed with the last copy of the returned function, unless MPI has been finalized by then. A
// process's number in the group is its rank in `ranks`. Destroy groups and their memory before MPI_Finalize:
// afterwards they are freed without the other ranks, and a message on stderr says so. If some rank does not
// come within `patience` (0: wait for ever), those that did throw timeout_error, and the communicator must
// not be used any more.
inline process_exchange mpi_exchange(MPI_Comm ranks,
                                     std::chrono::nanoseconds patience = std::chrono::minutes(5)) {
  const auto check = [](int status) {
    if (status != MPI_SUCCESS) throw error("MPI failed while exchanging handles");
  };
  const auto free_it = [](MPI_Comm* own) {
    int ended = 0;
    MPI_Finalized(&ended);
    if (ended == 0 && *own != MPI_COMM_NULL) MPI_Comm_free(own);
    delete own;
  };
  const std::shared_ptr<MPI_Comm> own(new MPI_Comm(MPI_COMM_NULL), free_it);
  check(MPI_Comm_dup(ranks, own.get()));
  check(MPI_Comm_set_errhandler(*own, MPI_ERRORS_RETURN));
  // A pending MPI collective cannot be cancelled, so after a time-out the buffers that it may still write to
  // are leaked on purpose.
  struct gathering {
    std::string mine, bytes;
    std::vector<int> lengths, begins;
    int length = 0;
  };
  const auto wait_for = [check, patience](MPI_Request& request, const std::shared_ptr<gathering>& kept) {
    const auto begin = std::chrono::steady_clock::now();
    for (int looks = 0, done = 0;; ++looks) {
      check(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
      if (done != 0) return;
      const auto waited = std::chrono::steady_clock::now() - begin;
      if (patience.count() != 0 && waited > patience) {
        new std::shared_ptr<gathering>(kept);
        throw timeout_error("not all ranks of the group came to its exchange within " +
                            std::to_string(std::chrono::duration<double>(patience).count()) + " s");
      }
      if (waited > std::chrono::milliseconds(1)) std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  };
  return [own, check, wait_for](const std::string& mine) {
    int ended = 0;
    MPI_Finalized(&ended);  // after MPI_Finalize any other call would abort the job
    if (ended != 0) throw error("MPI has ended: groups and their memory are to go before MPI_Finalize");
    const MPI_Comm ranks_of_group = *own;
    int count = 0;
    check(MPI_Comm_size(ranks_of_group, &count));
    const auto g = std::make_shared<gathering>();
    g->mine = mine;
    g->length = static_cast<int>(mine.size());
    g->lengths.resize(static_cast<std::size_t>(count));
    g->begins.resize(g->lengths.size());
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Iallgather(&g->length, 1, MPI_INT, g->lengths.data(), 1, MPI_INT, ranks_of_group, &request));
    wait_for(request, g);
    std::partial_sum(g->lengths.begin(), g->lengths.end() - 1, g->begins.begin() + 1);
    g->bytes.resize(static_cast<std::size_t>(g->begins.back() + g->lengths.back()));
    check(MPI_Iallgatherv(g->mine.data(), g->length, MPI_CHAR, &g->bytes[0], g->lengths.data(),
                          g->begins.data(), MPI_CHAR, ranks_of_group, &request));
    wait_for(request, g);
    std::vector<std::string> all;
    for (std::size_t p = 0; p < g->lengths.size(); ++p)
      all.push_back(
          g->bytes.substr(static_cast<std::size_t>(g->begins[p]), static_cast<std::size_t>(g->lengths[p])));
    return all;
  };
}

}}  // namespace mgsync::v1
