#include "tests/gpu/some_gpus.hpp"

#include <cstdio>

namespace mgsync::test {

topology::group group_of(int count) {
  topology::group group;
  group.device = topology::device::gpu;
  for (int i = 0; i < count; ++i) {
    topology::member m;
    m.id = i;
    m.gpu = i;
    m.host = "here";
    group.members.push_back(m);
  }
  return group;
}

one_rank::one_rank()
    : job_(communicator::single(std::chrono::seconds(30))),
      dog_([](const std::string& why) { std::fprintf(stderr, "%s\n", why.c_str()); },
           [](const std::string&) {}),
      session_(job_, job_, dog_, std::chrono::seconds(30)) {}

configuration shape(unsigned blocks_per_sm, unsigned threads) {
  configuration c;
  if (blocks_per_sm == 0) c.blocks = 1;
  else c.blocks_per_sm = blocks_per_sm;
  c.threads_per_block = threads;
  return c;
}

run_request checked(std::uint32_t rounds, std::chrono::seconds patience) {
  run_request r;
  r.rounds = rounds;
  r.mode = run_mode::check;
  r.deadline = awake_clock::now() + patience;
  return r;
}

}  // namespace mgsync::test
