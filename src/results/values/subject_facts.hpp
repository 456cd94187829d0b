// What a subject's declaration says, independent of results: whether a program can call it, and what it
// synchronizes.
#pragma once

#include <string>
#include <vector>

#include "src/results/values/point.hpp"

namespace mgsync {

struct subject_facts {
  bool known = false;         // whether this build has the subject; otherwise the other fields are empty
  bool by_host = false;       // for GPU members: their kernels end in each round, or the host drives it
  std::string maker{};        // its maker: "mgsync", "NVIDIA", "MPI"; empty: no program can call it
  std::string call{};         // what a program writes; empty: it cannot
  std::string needs{};        // what the call needs: an include, a way to launch
  std::string carries{};      // what rides on it beside the meeting: "a sum of 32 bits over all threads"
  bool meets_nobody = false;  // fewer members than it is made for, so that its time there says nothing
  std::string
      never{};  // why it cannot synchronize such members or such a shape on any machine; empty: it can
  std::vector<std::string> beside{};  // variants of the same backend that a program can call for these
                                      // members, the first of each maker: "multigrid:library"
};

// Returns the facts of the point's subject for its members and its shape.
using facts_of_point = subject_facts (*)(const point&);

}  // namespace mgsync
