// What studies plan for a node with four GPUs, as it is described by a file.
#pragma once

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "src/harness/study.hpp"
#include "topology/description.hpp"

namespace mgsync::test {

inline study_request request_of(const study& s, topology::device device, const typed_words& typed) {
  static const std::vector<topology::rank_view> ranks = [] {
    std::ifstream in(MGSYNC_MACHINES "/h200x4.machine");
    const std::string text(std::istreambuf_iterator<char>(in), {});
    return std::vector<topology::rank_view>{{0, 0, topology::read_description(text, "h200x4.machine"), {}}};
  }();
  study_request asked;
  asked.ranks = ranks;
  asked.device = device;
  asked.with_cuda = true;
  asked.planning = true;
  asked.settle(s.axes, typed);
  return asked;
}

inline std::vector<measurement> planned_on_gpus(const study& s, const typed_words& typed) {
  return s.points(request_of(s, topology::device::gpu, typed));
}

}  // namespace mgsync::test
