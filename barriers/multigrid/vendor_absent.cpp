// Built without the vendor's kernels.
#include "barriers/multigrid/vendor.hpp"

namespace mgsync {

namespace {

constexpr const char* reason =
    "CUDA 13 removed multi_grid.sync; build with -DMGSYNC_LEGACY_NVCC=<nvcc 11 or 12> or bring its kernels along with "
    "-DMGSYNC_VENDOR_CUBIN=<file>";

}  // namespace

support vendor_can_run(const topology::group&) { return support::no(reason); }

creation create_vendor(const round_loop::flag_barrier_request&) { return {nullptr, reason, {}, {}}; }

}  // namespace mgsync
