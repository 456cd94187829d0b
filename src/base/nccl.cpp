#include "src/base/nccl.hpp"

#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/errors.hpp"

namespace mgsync::nccl {

void check(ncclResult_t status, std::string_view action, source_location where) {
  if (status == ncclSuccess) return;
  const char* more = ncclGetLastError(nullptr);
  throw api_error("NCCL", fmt::format("{}{}{}", ncclGetErrorString(status), more != nullptr && *more != '\0' ? ": " : "",
                                      more != nullptr ? more : ""), action, where);
}

int version() {
  int v = 0;
  check(ncclGetVersion(&v), "asking for the version");
  return v;
}

const std::vector<ncclComm_t>& communicators_of(const std::vector<int>& ordinals) {
  static std::map<std::vector<int>, std::vector<ncclComm_t>> started;
  auto& communicators = started[ordinals];
  if (communicators.empty()) {
    std::vector<ncclComm_t> made(ordinals.size());
    check(ncclCommInitAll(made.data(), static_cast<int>(made.size()), ordinals.data()),
          fmt::format("starting communicators on GPUs {}", fmt::join(ordinals, ",")));
    communicators = std::move(made);
  }
  return communicators;
}

}  // namespace mgsync::nccl
