// The process of a case on GPUs: what it says of itself, and how it ends.
#pragma once

#include <string>

#include "src/studies/blocking/blocking_case.hpp"

namespace mgsync::blocking {

// Without CUDA's own ending, which may wait for a kernel.
[[noreturn]] void end_process();
[[noreturn]] void waive(const std::string& why);

// 90 of compute capability 9.0.
int capability_of(int gpu);
// "CUDA 13.0", by which the program's own kernels were compiled.
std::string toolkit_here();
// "sm_90": the code of `kernel`, as it was loaded here: native, or compiled from PTX by the driver.
std::string architecture_of(const void* kernel);
// What a verdict belongs to.
void say_what_it_ran_with(const blocking_case&, const std::string& toolkit, const std::string& architecture);

// Part 1, of the lanes of a warp. Ends the process.
[[noreturn]] void run_lane_rounds(const blocking_case&);

}  // namespace mgsync::blocking
