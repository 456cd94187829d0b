// What is declared of a subject where it is declared, beside its results: whether a program can call it, and
// whom it joins.
#pragma once

#include <string>
#include <vector>

#include "src/results/point.hpp"

namespace mgsync {

struct subject_facts {
  bool known = false;         // to this build; of a subject that is not, nothing else is said
  bool by_host = false;       // of GPU members: their kernels end, or the host drives it
  std::string maker{};        // whose it is: "mgsync", "NVIDIA", "MPI"; empty: no program can call it
  std::string call{};         // what a program writes; empty: it cannot
  std::string needs{};        // what the call needs: an include, a way to launch
  bool meets_nobody = false;  // of fewer members than it is for: what it takes there says nothing of it
  std::string never{};        // why such members, or such a shape, are nothing that it joins on any machine
  std::vector<std::string>
      beside{};  // of the same backend, what a program can call for them: "multigrid:library"
};

// Of the point's subject, for its members and its shape.
using facts_of_point = subject_facts (*)(const point&);

}  // namespace mgsync
