// Variants of backends that tests make up: barriers between all, of which nothing is made.
#pragma once

#include "barriers/backend.hpp"

namespace mgsync::test {

inline creation make_nothing(const topology::group&, const configuration&, session&) { return {}; }

constexpr barrier_variant made_up_variant(std::string_view name) {
  return {.name = name,
          .summary = "made up",
          .facts = {.origin = fact::origin::ours,
                    .driver = fact::driver::device,
                    .scope = fact::scope::node,
                    .extent = fact::extent::everything,
                    .order = fact::order::both},
          .make = makers::of_both(make_nothing, make_nothing),
          .bounded = true};
}

}  // namespace mgsync::test
