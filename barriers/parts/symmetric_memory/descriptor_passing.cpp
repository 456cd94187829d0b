#include "barriers/parts/symmetric_memory/descriptor_passing.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <random>
#include <set>
#include <system_error>

#include "barriers/parts/symmetric_memory/between_processes.hpp"
#include "src/base/errors.hpp"
#include "src/base/filled.hpp"

namespace mgsync {

namespace {

constexpr std::size_t most_descriptors = 64;  // of one process

std::string why(std::string_view action) {
  return filled("passing file descriptors: {}: {}", action, std::generic_category().message(errno));
}

// An abstract address: the name begins with a zero byte, and needs no file.
sockaddr_un address_of(const std::string& name, socklen_t& length) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), std::min(name.size(), sizeof address.sun_path - 1));
  length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

unique_descriptor make_socket() {
  return unique_descriptor(check_errno(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "making a socket"));
}

struct message {
  std::int32_t from = 0;
  std::int32_t count = 0;
};

struct envelope {
  message text;
  iovec bytes{&text, sizeof text};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * most_descriptors)] = {};
  msghdr header{};

  explicit envelope(std::size_t room) {
    header.msg_iov = &bytes;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = CMSG_SPACE(sizeof(int) * room);
  }
  envelope(const envelope&) = delete;
  envelope& operator=(const envelope&) = delete;
};

// Empty, or what failed. Never waits: a connection and a message have room before anybody accepts.
std::string send_to(const std::string& name, int from, const std::vector<int>& mine) {
  const unique_descriptor out = make_socket();
  socklen_t length = 0;
  const auto address = address_of(name, length);
  if (connect(out.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0) return why("connecting");
  envelope e(mine.size());
  e.text = {from, static_cast<std::int32_t>(mine.size())};
  cmsghdr* const head = CMSG_FIRSTHDR(&e.header);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof(int) * mine.size());
  std::memcpy(CMSG_DATA(head), mine.data(), sizeof(int) * mine.size());
  if (sendmsg(out.get(), &e.header, MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof e.text))
    return why("sending");
  return {};
}

// Receives the next message, which must come from a process of this user. Returns what failed, or nothing.
std::string receive(int listening, std::chrono::nanoseconds patience,
                    std::vector<std::vector<unique_descriptor>>& into) {
  pollfd ready{listening, POLLIN, 0};
  const auto wait_ms = std::chrono::duration_cast<std::chrono::milliseconds>(patience).count();
  if (poll(&ready, 1, static_cast<int>(wait_ms)) <= 0)
    return "passing file descriptors: a process did not send any";
  const unique_descriptor in(accept4(listening, nullptr, nullptr, SOCK_CLOEXEC));
  if (!in) return why("accepting");
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(in.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.uid != geteuid())
    return "passing file descriptors: another user answered";
  envelope e(most_descriptors);
  if (recvmsg(in.get(), &e.header, MSG_CMSG_CLOEXEC) != static_cast<ssize_t>(sizeof e.text))
    return why("receiving");
  std::vector<unique_descriptor> got;
  for (cmsghdr* head = CMSG_FIRSTHDR(&e.header); head != nullptr; head = CMSG_NXTHDR(&e.header, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(head) + i * sizeof fd, sizeof fd);
      got.emplace_back(fd);
    }
  }
  if (e.text.from < 0 || static_cast<std::size_t>(e.text.from) >= into.size() ||
      got.size() != static_cast<std::size_t>(e.text.count))
    return "passing file descriptors: a message was cut";
  into[static_cast<std::size_t>(e.text.from)] = std::move(got);
  return {};
}

std::string new_name() {
  std::random_device random;
  return filled("mgsync-{}-{}-{}", getpid(), random(), random());
}

}  // namespace

passed_descriptors pass_descriptors(const gpu_members& members, const std::vector<int>& mine) {
  std::set<int> processes;
  for (const auto& p : members.places) processes.insert(p.process);
  unique_descriptor listening;
  std::string name;
  const auto begin = [&]() -> std::string {
    if (mine.size() > most_descriptors) return "passing file descriptors: more than 64 members in a process";
    listening = make_socket();
    name = new_name();
    socklen_t length = 0;
    const auto address = address_of(name, length);
    if (bind(listening.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0 ||
        listen(listening.get(), static_cast<int>(processes.size())) != 0)
      return why("listening");
    return {};
  };
  std::string problem = complaint_of(begin);
  if (auto first = first_complaint(members, problem); !first.empty()) return {{}, std::move(first)};
  const auto names = members.exchange(name);
  for (const int p : processes)
    if (p != members.process && problem.empty())
      problem =
          complaint_of([&] { return send_to(names.at(static_cast<std::size_t>(p)), members.process, mine); });
  if (auto first = first_complaint(members, problem); !first.empty()) return {{}, std::move(first)};
  passed_descriptors result;
  result.by_process.resize(names.size());
  for (std::size_t i = 1; i < processes.size() && problem.empty(); ++i)
    problem = complaint_of([&] { return receive(listening.get(), members.patience, result.by_process); });
  result.reason = first_complaint(members, problem);
  if (!result.reason.empty()) result.by_process.clear();
  return result;
}

}  // namespace mgsync
