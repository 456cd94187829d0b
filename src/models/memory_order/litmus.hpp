// Litmus tests as text: small programs in PTX's notation, each with a question and the expected answer.
//
//   message passing, one block each: forbidden
//     gpu 0 block 0 | st.weak [x], 1; st.release.sys [y], 1
//     gpu 1 block 0 | ld.acquire.sys a, [y]; ld.weak b, [x]
//     ask a == 1 && b != 1
//
// A thread is a line. Register names are unique in a test, so the question needs no names of threads; a name
// in the question that no instruction sets means the final value of that memory. "@(a == 0)" before an
// instruction: it takes place only then. "memory x = 2": what is there at first, otherwise 0. "alias y = x":
// another virtual address of x. "name s = x": the same address under another name, for surfaces and textures.
// Lines that begin with # say nothing.
// Instructions: ld, st, atom (add, sub, exch, cas), red, with .weak, .relaxed, .acquire, .release, .acq_rel,
// .volatile and .cta, .gpu, .sys; fence.sc, fence.acq_rel, fence.acquire and fence.release with a scope;
// suld, sust, tld, ldc: through the surface, texture, constant proxy; ld.async, st.async: through the
// asynchronous one; fence.proxy.alias, .surface, .texture, .constant, .async; bar.sync NAME, bar.arrive NAME.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/models/memory_order/model_check.hpp"

namespace mgsync::memory_order {

struct litmus_test {
  std::string name;
  memory_order::verdict known = memory_order::verdict::unknown;
  memory_order::program program;
};

// Throws usage_error, naming the line, what stands there and what is accepted.
std::vector<litmus_test> read_litmus(std::string_view text);

}  // namespace mgsync::memory_order
