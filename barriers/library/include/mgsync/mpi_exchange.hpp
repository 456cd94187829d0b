// The exchange of mgsync::multi_grid over an MPI communicator. A header of its own, so that nothing else needs MPI.
#pragma once

#include <mpi.h>

#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <mgsync/multi_grid.hpp>

namespace mgsync {

// `ranks` outlives the group. The group's process number is the rank in it.
inline process_exchange mpi_exchange(MPI_Comm ranks) {
  return [ranks](const std::string& mine) {
    const auto check = [](int status) {
      if (status != MPI_SUCCESS) throw std::runtime_error("mgsync: MPI failed while exchanging handles");
    };
    int count = 0;
    check(MPI_Comm_size(ranks, &count));
    std::vector<int> lengths(static_cast<std::size_t>(count)), begins(lengths.size(), 0);
    const int length = static_cast<int>(mine.size());
    check(MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, ranks));
    std::partial_sum(lengths.begin(), lengths.end() - 1, begins.begin() + 1);
    std::string bytes(static_cast<std::size_t>(begins.back() + lengths.back()), '\0');
    check(MPI_Allgatherv(mine.data(), length, MPI_CHAR, &bytes[0], lengths.data(), begins.data(), MPI_CHAR, ranks));
    std::vector<std::string> all;
    for (std::size_t p = 0; p < lengths.size(); ++p)
      all.push_back(bytes.substr(static_cast<std::size_t>(begins[p]), static_cast<std::size_t>(lengths[p])));
    return all;
  };
}

}  // namespace mgsync
