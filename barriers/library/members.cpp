#include "barriers/library/members.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <set>

#include "barriers/library/include/mgsync/multi_grid.hpp"
#include "src/base/cuda.hpp"
#include "src/base/errors.hpp"
#include "src/base/filled.hpp"

namespace mgsync::library {

namespace {

enum class complaint : std::uint32_t { none, usage, unsupported };

// The head of a process's message to the others; `gpus` cards and the text of the complaint follow it. The
// first two words are the same in all versions.
struct greeting {
  std::uint32_t abi = multi_grid_handle::this_version;
  std::uint32_t version = MGSYNC_VERSION;
  char host[64] = {};  // for messages
  char node[64] = {};  // equal for processes on one node
  complaint kind = complaint::none;
  std::uint32_t gpus = 0;
  std::int64_t since = 0;  // when the process says this, so that groups have names of their own
};
struct card {
  char uuid[16];
  std::int32_t ordinal;
  std::uint32_t sms;
  std::uint32_t slice;  // 1: a MIG slice
};

template <class T>
void append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class T>
T take(const std::string& bytes, std::size_t& at) {
  T value{};
  if (bytes.size() < at + sizeof value)
    throw usage_error("the exchange between processes returned too few bytes");
  std::memcpy(&value, bytes.data() + at, sizeof value);
  at += sizeof value;
  return value;
}

[[noreturn]] void refuse(complaint kind, const std::string& why) {
  if (kind == complaint::usage) throw usage_error(why);
  throw unsupported_error(why);
}

struct local_gpus {
  complaint kind = complaint::none;
  std::string why;
  std::vector<card> cards;
};

std::string why_not(const std::vector<int>& ordinals, int here) {
  if (ordinals.empty()) return "a multi_grid of no GPUs: name at least one CUDA ordinal";
  std::set<int> seen;
  for (const int g : ordinals) {
    if (g < 0 || g >= here) return filled("there is no GPU {}: CUDA shows {} here, numbered from 0", g, here);
    if (!seen.insert(g).second) return filled("GPU {} is named twice: one grid per GPU", g);
  }
  return {};
}

card ask_one(int ordinal, std::string& why) {
  cudaDeviceProp about{};
  cuda::check(cudaGetDeviceProperties(&about, ordinal), filled("asking about GPU {}", ordinal));
  if (about.major < 7 || about.cooperativeLaunch == 0)
    why = filled("GPU {} ({}, compute capability {}.{}) cannot: it takes 7.0 and cooperative launches",
                 ordinal, about.name, about.major, about.minor);
  card c{};
  std::memcpy(c.uuid, about.uuid.bytes, sizeof c.uuid);
  c.ordinal = ordinal;
  c.sms = static_cast<std::uint32_t>(about.multiProcessorCount);
  c.slice = std::strstr(about.name, " MIG ") != nullptr;
  return c;
}

// Never throws, since the other processes wait for this one's message.
local_gpus ask(const std::vector<int>& ordinals, const std::string& wrong_use) {
  local_gpus mine;
  try {
    int here = 0;
    if (cudaGetDeviceCount(&here) != cudaSuccess) {
      cudaGetLastError();
      here = 0;
    }
    mine.why = wrong_use.empty() ? why_not(ordinals, here) : wrong_use;
    if (!mine.why.empty()) {
      mine.kind = complaint::usage;
      return mine;
    }
    for (const int g : ordinals) mine.cards.push_back(ask_one(g, mine.why));
    if (const auto reason = cuda::reason_not_to_spin(ordinals.size())) mine.why = *reason;
  } catch (const std::exception& error) {
    mine.cards.clear();
    mine.why = error.what();
  }
  if (!mine.why.empty()) mine.kind = complaint::unsupported;
  return mine;
}

// A text that is the same for all processes of a node and differs between nodes, even if every container has
// a host name of its own: the id of the boot.
std::string boot_of_system() {
  std::string number;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), number);
  return number;
}

template <std::size_t N>
void put(char (&into)[N], const std::string& text) {
  std::memcpy(into, text.data(), std::min(text.size(), N - 1));
}

std::string written(const local_gpus& mine, const std::string& node) {
  greeting hello;
  gethostname(hello.host, sizeof hello.host - 1);
  const std::string boot = node.empty() ? boot_of_system() : node;
  put(hello.node, boot.empty() ? hello.host : boot);
  hello.kind = mine.kind;
  hello.gpus = static_cast<std::uint32_t>(mine.cards.size());
  hello.since = std::chrono::system_clock::now().time_since_epoch().count();
  std::string bytes;
  append(bytes, hello);
  for (const card& c : mine.cards) append(bytes, c);
  return bytes + mine.why;
}

// 16 hexadecimal digits (FNV-1a) that all processes work out alike.
std::string name_of(const std::vector<std::string>& greetings) {
  std::uint64_t sum = 0xcbf29ce484222325u;
  for (const auto& text : greetings)
    for (const char c : text) sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(sum));
  return digits;
}

// Must come before anything else of the messages is read.
void check_versions(const std::vector<std::string>& all) {
  for (std::size_t p = 0; p < all.size(); ++p) {
    std::size_t at = 0;
    const auto abi = take<std::uint32_t>(all[p], at), version = take<std::uint32_t>(all[p], at);
    if (abi == multi_grid_handle::this_version) continue;
    const bool known =
        (abi ^ multi_grid_handle::this_version) >> 16 == 0;  // else from before versions were exchanged
    const auto theirs = known ? filled("{}.{}.{}", version / 10000, version / 100 % 100, version % 100)
                              : std::string("another version");
    refuse(complaint::usage,
           filled("process {} has mgsync {}, and this one {}.{}.{}: a group is of processes that were linked "
                  "with one",
                  p, theirs, MGSYNC_VERSION_MAJOR, MGSYNC_VERSION_MINOR, MGSYNC_VERSION_PATCH));
  }
}

}  // namespace

group_members meet(const std::vector<int>& ordinals, int process, byte_exchange exchange,
                   const std::string& node, const std::string& wrong_use) {
  constexpr std::size_t longest = sizeof greeting{}.node - 1;
  const local_gpus mine =
      ask(ordinals, wrong_use.empty() && node.size() > longest
                        ? filled("a node's name of {} bytes: it takes {} at most", node.size(), longest)
                        : wrong_use);
  const std::string hello = written(mine, node);
  const auto all = exchange ? exchange(hello) : std::vector<std::string>{hello};
  if (process < 0 || static_cast<std::size_t>(process) >= all.size() ||
      all[static_cast<std::size_t>(process)] != hello)
    throw usage_error(
        filled("process number {} does not fit the exchange, which returned {} entries: it takes the "
               "caller's place in them",
               process, all.size()));
  check_versions(all);
  group_members group;
  group.gpus.process = process;
  group.gpus.exchange = std::move(exchange);
  group.name = name_of(all);
  std::string first_host, first_node, slice;
  std::set<std::string> uuids;
  for (std::size_t p = 0; p < all.size(); ++p) {
    std::size_t at = 0;
    const auto theirs = take<greeting>(all[p], at);
    std::vector<card> cards;
    for (std::uint32_t i = 0; i < theirs.gpus; ++i) cards.push_back(take<card>(all[p], at));
    const std::string who = all.size() == 1 ? "" : filled("process {}: ", p);
    if (theirs.kind != complaint::none) refuse(theirs.kind, who + all[p].substr(at));
    if (p == 0) first_host = theirs.host, first_node = theirs.node;
    if (theirs.node != first_node)
      refuse(complaint::unsupported,
             filled("{}it runs on {} (node {}), and process 0 on {} (node {}): a group stays on one node. "
                    "group_options::node says it where these are one all the same",
                    who, theirs.host, theirs.node, first_host, first_node));
    for (const card& c : cards) {
      if (!uuids.insert(std::string(c.uuid, sizeof c.uuid)).second)
        refuse(complaint::usage,
               filled("{}its GPU {} belongs to another process too: one grid per GPU", who, c.ordinal));
      if (c.slice != 0 && slice.empty())
        slice =
            filled("{}its GPU {} is a MIG slice, which no other GPU can address: a group of it alone works",
                   who, c.ordinal);
      group.gpus.places.push_back({static_cast<int>(p), c.ordinal});
      group.fewest_sms = group.fewest_sms == 0 ? c.sms : std::min(group.fewest_sms, c.sms);
    }
  }
  if (group.gpus.places.size() > 1 && !slice.empty()) refuse(complaint::unsupported, slice);
  if (group.gpus.places.size() > multi_grid_handle::most_gpus_of_many)
    refuse(complaint::usage, filled("{} GPUs: a group has at most {}", group.gpus.places.size(),
                                    multi_grid_handle::most_gpus_of_many));
  return group;
}

}  // namespace mgsync::library
