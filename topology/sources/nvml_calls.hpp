// NVML, loaded at run time, for single calls: each is found by its name, and may be missing in an old driver.
// Types of NVML are declared as its documentation fixes them; neither its header nor the library is needed to
// build.
//
//   const nvml_calls::nvml library;
//   if (unsigned count = 0; library.ask("nvmlDeviceGetCount_v2", &count)) ...
#pragma once

#include "topology/sources/dynamic_library.hpp"

namespace mgsync::topology::nvml_calls {

using status = int;  // nvmlReturn_t
using gpu_handle = void*;
inline constexpr status success = 0;

class nvml {
 public:
  nvml() : library_("libnvidia-ml.so.1") {
    auto* const start = library_.find<status()>("nvmlInit_v2");
    started_ = start != nullptr && start() == success;
  }
  ~nvml() {
    if (auto* const stop = library_.find<status()>("nvmlShutdown"); started_ && stop != nullptr) stop();
    library_.keep();
  }
  nvml(const nvml&) = delete;
  nvml& operator=(const nvml&) = delete;

  explicit operator bool() const { return started_; }

  // Whether the call is there and succeeded.
  template <class... Arguments>
  bool ask(const char* name, Arguments... arguments) const {
    auto* const function = library_.find<status(Arguments...)>(name);
    return function != nullptr && function(arguments...) == success;
  }

 private:
  dynamic_library library_;
  bool started_ = false;
};

}  // namespace mgsync::topology::nvml_calls
