// What a person is told who asks for what is not accepted.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "src/base/errors.hpp"

namespace mgsync::test {

// The message of the usage_error that `action` must end with.
template <class Action>
std::string refused(Action action) {
  try {
    action();
  } catch (const usage_error& error) { return error.what(); }
  ADD_FAILURE() << "was accepted";
  return {};
}

}  // namespace mgsync::test
