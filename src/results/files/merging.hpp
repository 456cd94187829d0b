// Merges several files of results, of one sweep or of several.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "src/results/files/result_file.hpp"

namespace mgsync {

// The unit of replication where samples of several files are joined: the batch, or the file as the result of
// one process. Two processes that run the same command differ by more than the batches of one.
enum class replication { batches, processes };

struct merged_results {
  json_document document;  // machine, seed and settings of the first file; every point once
  std::vector<std::string>
      notes;  // a sentence for each kind of point that several files contained, and how it was merged
};

// Points stand in the order in which the files name them first. A point in several files is merged as
// follows:
// - Of attempts with different numbers (--resume tries failed points again) only the last one counts.
// - If it failed in any file, it failed: no good run takes back a violated barrier.
// - Else, if it was measured in any file, or interrupted with samples, it is so. Where one file holds all
//   samples of another (a store and its document, a store before and after --resume), the larger one counts.
//   Samples of different runs are joined, with each batch, or each file, as a batch, and summarized anew.
// - Else it is an error, if it is one in any file; else as in the first file.
// Samples that a store holds without a result come out as a point that was interrupted; its check is not in
// the store, so it says unchecked. A result of another host or mgsync than the first file's carries its name
// in the environment. Over processes the environment says in "processes" how many a point's metrics are of.
// The caller must have checked that the machines may be merged (machine_likeness.hpp). Needs at least one
// file.
merged_results merge_results(std::span<const result_file> files, replication = replication::batches);

}  // namespace mgsync
