// The CUDA driver, loaded at run time and asked only what needs no context: attributes, UUIDs and P2P facts.
#include <array>
#include <cstdlib>

#include <fmt/format.h>

#include "topology/sources/dynamic_library.hpp"
#include "topology/sources/gpu_answers.hpp"

namespace mgsync::topology {
namespace {

using status = int;  // CUresult
using device = int;  // CUdevice
constexpr status success = 0;

// CUdevice_attribute and CUdevice_P2PAttribute, as the driver API fixes them.
constexpr int attribute_clock_khz = 13, attribute_sm_count = 16, attribute_major = 75, attribute_minor = 76;
constexpr int p2p_rank = 1, p2p_access = 2, p2p_atomics = 3;

struct uuid_bytes {
  std::array<unsigned char, 16> bytes;
};

struct functions {
  explicit functions(const dynamic_library& library)
      : init(library.find<status(unsigned)>("cuInit")),
        error_string(library.find<status(status, const char**)>("cuGetErrorString")),
        count(library.find<status(int*)>("cuDeviceGetCount")),
        get(library.find<status(device*, int)>("cuDeviceGet")),
        name(library.find<status(char*, int, device)>("cuDeviceGetName")),
        uuid(library.find<status(uuid_bytes*, device)>("cuDeviceGetUuid_v2")),
        bus_id(library.find<status(char*, int, device)>("cuDeviceGetPCIBusId")),
        memory(library.find<status(std::size_t*, device)>("cuDeviceTotalMem_v2")),
        attribute(library.find<status(int*, int, device)>("cuDeviceGetAttribute")),
        p2p(library.find<status(int*, int, device, device)>("cuDeviceGetP2PAttribute")) {
    if (uuid == nullptr) uuid = library.find<status(uuid_bytes*, device)>("cuDeviceGetUuid");
  }

  status (*init)(unsigned);
  status (*error_string)(status, const char**);
  status (*count)(int*);
  status (*get)(device*, int);
  status (*name)(char*, int, device);
  status (*uuid)(uuid_bytes*, device);
  status (*bus_id)(char*, int, device);
  status (*memory)(std::size_t*, device);
  status (*attribute)(int*, int, device);
  status (*p2p)(int*, int, device, device);
};

template <class Function, class... Arguments>
bool ok(Function* function, Arguments... arguments) {
  return function != nullptr && function(arguments...) == success;
}

std::string written(const uuid_bytes& uuid) {
  std::string text;
  for (std::size_t i = 0; i < uuid.bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned>(uuid.bytes[i]));
  }
  return text;
}

gpu describe(const functions& cuda, device d, int ordinal) {
  gpu g;
  g.id = ordinal;
  g.cuda_ordinal = ordinal;
  std::array<char, 256> text{};
  if (ok(cuda.name, text.data(), 256, d)) g.name = text.data();
  if (ok(cuda.bus_id, text.data(), 256, d)) g.pci_bus_id = plain_bus_id(text.data());
  if (uuid_bytes uuid{}; ok(cuda.uuid, &uuid, d)) g.uuid = written(uuid);
  if (std::size_t bytes = 0; ok(cuda.memory, &bytes, d)) g.memory_bytes = bytes;
  const auto ask = [&](int attribute, std::optional<int>& value) {
    if (int answer = 0; ok(cuda.attribute, &answer, attribute, d)) value = answer;
  };
  ask(attribute_major, g.compute_major);
  ask(attribute_minor, g.compute_minor);
  ask(attribute_sm_count, g.sm_count);
  ask(attribute_clock_khz, g.sm_clock_mhz);
  if (g.sm_clock_mhz) *g.sm_clock_mhz /= 1000;
  return g;
}

peer peer_of(const functions& cuda, int from, int to, device a, device b) {
  peer p;
  p.from = from;
  p.to = to;
  if (int value = 0; ok(cuda.p2p, &value, p2p_access, a, b)) p.access = value != 0;
  if (int value = 0; ok(cuda.p2p, &value, p2p_atomics, a, b)) p.atomics = value != 0;
  if (int value = 0; ok(cuda.p2p, &value, p2p_rank, a, b)) p.performance_rank = value;
  return p;
}

std::string why(const functions& cuda, status result) {
  const char* text = nullptr;
  if (!ok(cuda.error_string, result, &text) || text == nullptr) return fmt::format("error {}", result);
  return text;
}

}  // namespace

cuda_answer ask_cuda() {
  cuda_answer answer;
  dynamic_library library("libcuda.so.1");
  if (!library) {
    answer.notes.push_back("No CUDA driver here: libcuda.so.1 is not found.");
    return answer;
  }
  const functions cuda(library);
  library.keep();
  if (cuda.init == nullptr || cuda.count == nullptr || cuda.get == nullptr) {
    answer.notes.push_back("libcuda.so.1 lacks cuInit: it is no CUDA driver.");
    return answer;
  }
  int count = 0;
  status result = cuda.init(0);
  if (result == success) result = cuda.count(&count);
  if (result != success) {
    answer.notes.push_back(fmt::format("The CUDA driver shows no GPU: {}.", why(cuda, result)));
    return answer;
  }
  answer.answered = true;
  std::vector<device> devices(static_cast<std::size_t>(count), -1);
  for (int i = 0; i < count; ++i)
    if (ok(cuda.get, &devices[static_cast<std::size_t>(i)], i))
      answer.gpus.push_back(describe(cuda, devices[static_cast<std::size_t>(i)], i));
  for (const auto& from : answer.gpus)
    for (const auto& to : answer.gpus)
      if (from.id != to.id)
        answer.peers.push_back(peer_of(cuda, from.id, to.id, devices[static_cast<std::size_t>(from.id)],
                                       devices[static_cast<std::size_t>(to.id)]));
  return answer;
}

}  // namespace mgsync::topology
