// The exchange of mgsync::multi_grid over an MPI communicator. A header of its own, so that nothing else
// needs MPI.
#pragma once

#include <mpi.h>

#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <mgsync/multi_grid.hpp>

namespace mgsync { inline namespace v1 {

// Collective over `ranks`, which is duplicated: the group's messages never meet the program's. The copy goes
// with the last copy of what is returned, or stays where MPI has ended by then. The group's process number is
// the rank in `ranks`. Groups and their memory are to go before MPI_Finalize: behind it they are freed
// without the other ranks, and say so on stderr.
inline process_exchange mpi_exchange(MPI_Comm ranks) {
  const auto check = [](int status) {
    if (status != MPI_SUCCESS) throw std::runtime_error("mgsync: MPI failed while exchanging handles");
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
  return [own, check](const std::string& mine) {
    int ended = 0;
    MPI_Finalized(&ended);  // any other call would end the whole job
    if (ended != 0)
      throw std::runtime_error("MPI has ended: groups and their memory are to go before MPI_Finalize");
    const MPI_Comm ranks_of_group = *own;
    int count = 0;
    check(MPI_Comm_size(ranks_of_group, &count));
    std::vector<int> lengths(static_cast<std::size_t>(count)), begins(lengths.size(), 0);
    const int length = static_cast<int>(mine.size());
    check(MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, ranks_of_group));
    std::partial_sum(lengths.begin(), lengths.end() - 1, begins.begin() + 1);
    std::string bytes(static_cast<std::size_t>(begins.back() + lengths.back()), '\0');
    check(MPI_Allgatherv(mine.data(), length, MPI_CHAR, &bytes[0], lengths.data(), begins.data(), MPI_CHAR,
                         ranks_of_group));
    std::vector<std::string> all;
    for (std::size_t p = 0; p < lengths.size(); ++p)
      all.push_back(bytes.substr(static_cast<std::size_t>(begins[p]), static_cast<std::size_t>(lengths[p])));
    return all;
  };
}

}}  // namespace mgsync::v1
