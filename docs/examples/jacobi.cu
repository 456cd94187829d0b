// The time loop of a Jacobi iteration inside one kernel over N GPUs of this process, checked against one GPU.
// Usage: jacobi [GPUS [ROWS COLUMNS STEPS]]. With -1 for GPUS: all.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

#include "jacobi.cuh"

namespace {

std::vector<float> run(int gpus, const plate_size& size) {
  std::vector<int> ordinals;
  for (int g = 0; g < gpus; ++g) ordinals.push_back(g);
  mgsync::multi_grid grids(ordinals);
  plate work(grids, size.rows, size.columns);
  check(cudaSetDevice(0), "selecting a GPU");
  const unsigned blocks = blocks_for(size.rows / grids.gpus() + 1);
  grids.launch_each(jacobi, blocks, 256, 0, {},
                    [&](unsigned local) { return std::tuple(work.part(local), size.steps); });
  grids.wait();
  std::printf("%d GPU%s, %u blocks each, %s\n", gpus, gpus == 1 ? "" : "s", blocks,
              grids.algorithm().c_str());
  return work.result(size.steps);
}

}  // namespace

int main(int count, char** words) try {
  const int gpus = gpus_asked_for(count, words);
  if (gpus == 0) return nothing_run;
  const plate_size size(count, words, 2);
  const auto alone = run(1, size);
  return compared(alone, run(gpus, size), size);
} catch (const std::exception& error) {
  std::fprintf(stderr, "jacobi: %s\n", error.what());
  return 1;
}
