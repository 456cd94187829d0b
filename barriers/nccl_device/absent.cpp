// Built without NCCL's device API.
#include "barriers/nccl_device/lsa_barrier.hpp"

namespace mgsync {

namespace {

constexpr const char* reason = "needs NCCL 2.28 or later with its device API when built";

}  // namespace

support nccl_device_is_built() { return support::no(reason); }

creation create_nccl_device(const topology::group&, const configuration&, session&) { return {nullptr, reason, {}, {}}; }

}  // namespace mgsync
