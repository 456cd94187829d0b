// The nccl backend's part that calls NCCL.
#pragma once

#include "barriers/backend.hpp"

namespace mgsync {

creation create_nccl_all_reduce(const topology::group&, const configuration&, session&);

}  // namespace mgsync
