// What the process of a case on GPUs reports about itself, and how it ends.
#pragma once

#include <string>

#include "src/studies/blocking/blocking_case.hpp"

namespace mgsync::blocking {

// Ends the process at once: CUDA's own cleanup might wait for a kernel that hangs.
[[noreturn]] void end_process();
[[noreturn]] void waive(const std::string& why);

// Waits until no other case runs anything on these GPUs; its turn ends with the process. The parent bounds
// the wait.
void take_turn(const blocking_case&);

// The compute capability as a number: 90 for 9.0.
int capability_of(int gpu);
// The toolkit that compiled the program's own kernels: "CUDA 13.0".
std::string toolkit_here();
// The architecture of the code of `kernel` as it was loaded here, native or compiled from PTX by the driver:
// "sm_90".
std::string architecture_of(const void* kernel);
// Reports what the verdict depends on.
void say_what_it_ran_with(const blocking_case&, const std::string& toolkit, const std::string& architecture);

// Carries out part 1 for the lanes of a warp, and ends the process.
[[noreturn]] void run_lane_rounds(const blocking_case&);

}  // namespace mgsync::blocking
