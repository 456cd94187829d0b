// The time loop of a Jacobi iteration inside one kernel over N GPUs of this process, checked against one GPU.
// Usage: jacobi [GPUS [ROWS COLUMNS STEPS]]. With -1 for GPUS: all.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

#include "jacobi.cuh"

namespace {

std::vector<float> run(int gpus, unsigned rows, unsigned columns, unsigned steps) {
  std::vector<int> ordinals;
  for (int g = 0; g < gpus; ++g) ordinals.push_back(g);
  mgsync::multi_grid grids(ordinals);
  plate work(grids, rows, columns);
  check(cudaSetDevice(0), "selecting a GPU");
  const unsigned blocks = blocks_for(rows / grids.gpus() + 1);
  grids.launch_each(jacobi, blocks, 256, 0, {}, [&](unsigned local) { return std::tuple(work.part(local), steps); });
  grids.wait();
  std::printf("%d GPU%s, %u blocks each, %s\n", gpus, gpus == 1 ? "" : "s", blocks, grids.algorithm().c_str());
  return work.result(steps);
}

}  // namespace

int main(int count, char** words) try {
  int here = 0;
  if (cudaGetDeviceCount(&here) != cudaSuccess || here == 0) {
    std::printf("no GPU here: nothing was run\n");
    return 77;
  }
  const int gpus = count > 1 && std::atoi(words[1]) > 0 ? std::atoi(words[1]) : here;
  const auto number = [&](int i, unsigned otherwise) { return count > i ? static_cast<unsigned>(std::atoi(words[i])) : otherwise; };
  const unsigned rows = number(2, 1001), columns = number(3, 999), steps = number(4, 500);
  const auto alone = run(1, rows, columns, steps);
  const auto together = run(gpus, rows, columns, steps);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < alone.size(); ++i) wrong += alone[i] != together[i];
  std::printf("%u x %u cells, %u steps: %zu cells differ from one GPU's\n", rows, columns, steps, wrong);
  return wrong == 0 && alone[columns / 2] > 0.5f ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "jacobi: %s\n", error.what());
  return 1;
}
