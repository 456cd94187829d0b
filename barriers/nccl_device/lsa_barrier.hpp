// The nccl-device backend's part that calls NCCL.
#pragma once

#include "barriers/backend.hpp"

namespace mgsync {

support nccl_device_is_built();
creation create_nccl_device(const topology::group&, const configuration&, session&);

}  // namespace mgsync
