#include "barriers/library/launch_plan.hpp"

#include <sstream>

#include "src/base/demangled.hpp"
#include "src/base/errors.hpp"
#include "src/base/filled.hpp"

namespace mgsync::library {

namespace {

bool compatible(const std::string& one, const std::string& other) {
  return one.empty() || other.empty() || one == other;
}

}  // namespace

std::string written(const dim3& d) {
  if (d.y == 1 && d.z == 1) return std::to_string(d.x);
  return filled("({}, {}, {})", d.x, d.y, d.z);
}

// Seven numbers, then two lines of text.
std::string launch_plan::bytes() const {
  return filled("{} {} {} {} {} {} {}\n{}\n{}", blocks, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                kernel, algorithm);
}

launch_plan launch_plan::of_bytes(const std::string& bytes) {
  launch_plan plan;
  std::istringstream in(bytes);
  in >> plan.blocks >> plan.grid.x >> plan.grid.y >> plan.grid.z >> plan.block.x >> plan.block.y >>
      plan.block.z;
  if (!in || in.get() != '\n' || !std::getline(in, plan.kernel))
    throw usage_error(
        "the exchange between processes did not return what a process is about to launch: all processes make "
        "the same calls to the group");
  std::getline(in, plan.algorithm);
  return plan;
}

bool launch_plan::operator==(const launch_plan& other) const {
  if (blocks != other.blocks || !compatible(algorithm, other.algorithm)) return false;
  if (volume(block) == 0 || volume(other.block) == 0) return true;
  return compatible(kernel, other.kernel) && alike(grid, other.grid) && alike(block, other.block);
}

std::string launch_plan::written() const {
  if (volume(block) == 0) return filled("{} blocks", blocks);
  return filled("{} blocks of {} threads{}", library::written(grid), library::written(block),
                kernel.empty() ? "" : filled(" of {}", demangled(kernel)));
}

std::string why_not_one_launch(const std::vector<launch_plan>& all) {
  for (std::size_t p = 1; p < all.size(); ++p) {
    const auto &theirs = all[p], &first = all.front();
    if (theirs == first) continue;
    const bool by_algorithm = theirs.written() == first.written();
    return filled("process {} wants {}{} and process 0 wants {}{}: the kernel, its grid and the barrier's "
                  "algorithm are "
                  "the same on all GPUs",
                  p, theirs.written(), by_algorithm ? " by " + theirs.algorithm : "", first.written(),
                  by_algorithm ? " by " + first.algorithm : "");
  }
  return {};
}

}  // namespace mgsync::library
