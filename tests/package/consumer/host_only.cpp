#include <cstdio>
#include <exception>

#include <mgsync/multi_grid.hpp>

int main() {
  try {
    mgsync::multi_grid none({});
  } catch (const mgsync::usage_error& error) {
    std::printf("%s\n", error.what());
    return 0;
  }
  return 1;
}
