// A chain of adds on one SM, as a subject: timed by the SM's cycle counter and by the host's clock in the
// same launches.
#pragma once

#include <string>

#include "src/harness/study.hpp"

namespace mgsync::verify {

// unrolled: a kernel for each length of the chain. looped: one loop over 256 links, so that any multiple of
// them is a length. all_in_code: unrolled, and as long as the papers' chains of adds of floats, which leave
// the instruction caches.
enum class chain_form { unrolled, looped, all_in_code };

// `operation`: fp32_add, fp64_add or int_add; all_in_code: fp32_add only. A run of `count` links yields
// "cycles" (a sample for each pass) and "duration_us", by the host's clock, of one pass with its share of the
// launch. The creation finds the SM's "clock", and "code": a chain whose machine code is not what it
// says is no subject.
subject_creation make_gpu_chain(const std::string& operation, chain_form, int gpu, unsigned passes);

}  // namespace mgsync::verify
