// The nccl-device backend's part that calls NCCL.
#pragma once

#include "barriers/backend.hpp"

namespace mgsync {

creation create_nccl_device(const topology::group&, const configuration&, session&);

}  // namespace mgsync
