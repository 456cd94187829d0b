// How the GPUs of this host stand right now, as NVML tells: clocks, throttling, temperature, power; and the driver.
#pragma once

#include <map>
#include <string>

namespace mgsync::topology {

// By the GPU's UUID: "SM 1980 of 1980 MHz, memory 3201 MHz, 34 C, 120 W, not slowed". Empty without NVML. What a driver does
// not tell is left out. Takes some milliseconds; no context is made on any GPU.
std::map<std::string, std::string> gpu_states();

// "580.95.05"; empty without NVML.
std::string driver_version();

// What NVML's reasons for slowing clocks down mean: "not slowed" (an idle GPU's low clocks are no slowing), or "slowed by
// power cap, thermal (software)".
std::string slowed_by(unsigned long long reasons);

}  // namespace mgsync::topology
