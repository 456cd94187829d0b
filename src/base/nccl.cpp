#include "src/base/nccl.hpp"

#include <algorithm>
#include <cstring>
#include <map>

#include <fmt/format.h>

#include "src/base/cuda.hpp"
#include "src/base/errors.hpp"

namespace mgsync::nccl {

void check(ncclResult_t status, std::string_view action, source_location where) {
  if (status == ncclSuccess) return;
  const char* more = ncclGetLastError(nullptr);
  throw api_error("NCCL",
                  fmt::format("{}{}{}", ncclGetErrorString(status),
                              more != nullptr && *more != '\0' ? ": " : "", more != nullptr ? more : ""),
                  action, where);
}

int version() {
  int v = 0;
  check(ncclGetVersion(&v), "asking for the version");
  return v;
}

std::string version_text(int version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

namespace {

std::vector<ncclComm_t> start(const std::vector<process_gpu>& members, int process,
                              const std::function<std::string(std::string)>& share) {
  ncclUniqueId id{};
  if (members.front().process == process) check(ncclGetUniqueId(&id), "getting an id for a communicator");
  const std::string shared = share(std::string(id.internal, sizeof id.internal));
  std::memcpy(id.internal, shared.data(), std::min(shared.size(), sizeof id.internal));
  std::vector<ncclComm_t> made;
  made.reserve(members.size());
  check(ncclGroupStart(), "beginning to start communicators");
  for (std::size_t m = 0; m < members.size(); ++m) {
    if (members[m].process != process) continue;
    const cuda::device_scope scope(members[m].ordinal);
    made.emplace_back();
    check(ncclCommInitRank(&made.back(), static_cast<int>(members.size()), id, static_cast<int>(m)),
          fmt::format("starting a communicator on GPU {}", members[m].ordinal));
  }
  check(ncclGroupEnd(), "starting communicators");
  return made;
}

}  // namespace

const std::vector<ncclComm_t>& communicators_of(const std::vector<process_gpu>& members, int process,
                                                const std::function<std::string(std::string)>& share) {
  static std::map<std::vector<process_gpu>, std::vector<ncclComm_t>> started;
  auto found = started.find(members);
  if (found == started.end()) found = started.emplace(members, start(members, process, share)).first;
  return found->second;
}

}  // namespace mgsync::nccl
