// What sync() costs at one, two and three places of a kernel, and less what makes it safe, against the
// algorithm alone: all interleaved in one process. Prints nanoseconds per barrier, (T(long) - T(short)) /
// difference in barriers: the median of the repeats, and the 95 % interval of the median (its order
// statistics). Usage: sync_cost [GPUS [REPEATS]].
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include <mgsync/multi_grid.hpp>

#include "tests/gpu/sync_cost.hpp"

namespace {

using namespace mgsync;

struct form {
  std::string name;
  test::turn_kernel kernel;
  unsigned sites;
  std::vector<double> ns;
};

double seconds(multi_grid& grids, const form& f, unsigned blocks, unsigned threads, unsigned barriers) {
  const auto begin = std::chrono::steady_clock::now();
  grids.launch(f.kernel, blocks, threads, 0, {}, barriers / f.sites);
  grids.wait();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void measure(multi_grid& grids, unsigned blocks, unsigned threads, const char* shape, unsigned repeats) {
  constexpr unsigned few = 96, many = 96 + 1920;  // whole turns of 1, 2 and 3
  grids.resize(blocks);
  std::vector<form> forms{{"algorithm", test::algorithm_kernel(grids.handle_for(blocks)), 1, {}}};
  for (unsigned sites = 1; sites <= 3; ++sites)
    forms.push_back({"sync " + std::to_string(sites), test::library_kernel(sites), sites, {}});
  forms.push_back({"sync 1 without looks", test::altered_kernel(test::alteration::without_looks), 1, {}});
  forms.push_back({"sync 1 without a word", test::altered_kernel(test::alteration::without_a_word), 1, {}});
  forms.push_back(
      {"sync 1 without a verdict", test::altered_kernel(test::alteration::without_verdict), 1, {}});
  for (unsigned r = 0; r <= repeats; ++r)  // the first warms up
    for (form& f : forms) {
      const double difference =
          seconds(grids, f, blocks, threads, many) - seconds(grids, f, blocks, threads, few);
      if (r != 0) f.ns.push_back(difference / (many - few) * 1e9);
    }
  const auto lowest =
      static_cast<std::size_t>(std::max(0.0, std::floor(repeats / 2.0 - 0.98 * std::sqrt(repeats))));
  for (form& f : forms) std::sort(f.ns.begin(), f.ns.end());
  for (const form& f : forms) {
    std::printf("%u,%s,%u,%u,%s,%.1f,%.1f,%.1f,%.1f\n", grids.gpus(), shape, blocks, threads, f.name.c_str(),
                f.ns[f.ns.size() / 2], f.ns[lowest], f.ns[f.ns.size() - 1 - lowest],
                100 * (f.ns[f.ns.size() / 2] / forms[0].ns[forms[0].ns.size() / 2] - 1));
    std::fflush(stdout);
  }
}

}  // namespace

int main(int count, char** words) try {
  int here = 0, sms = 0;
  if (cudaGetDeviceCount(&here) != cudaSuccess || here == 0) {
    std::printf("no GPU here: nothing was run\n");
    return 77;
  }
  const int gpus = count > 1 ? std::atoi(words[1]) : here;
  const unsigned repeats = count > 2 ? static_cast<unsigned>(std::atoi(words[2])) : 41;
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
  std::vector<int> ordinals;
  for (int g = 0; g < gpus; ++g) ordinals.push_back(g);
  multi_grid grids(ordinals);
  std::printf("gpus,shape,blocks,threads,form,ns per barrier,from,to,%% over the algorithm\n");
  const struct {
    unsigned per_sm, threads;
    const char* name;
  } shapes[] = {{0, 32, "b1x32"},  {1, 32, "1x32"},   {1, 1024, "1x1024"}, {4, 256, "4x256"},
                {8, 256, "8x256"}, {16, 64, "16x64"}, {32, 64, "32x64"}};
  // One block in all meets nobody, so sync() leaves the flags alone that the algorithm would count on.
  for (const auto& s : shapes)
    if (gpus > 1 || s.per_sm != 0)
      measure(grids, s.per_sm == 0 ? 1 : s.per_sm * static_cast<unsigned>(sms), s.threads, s.name, repeats);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "sync_cost: %s\n", error.what());
  return 1;
}
