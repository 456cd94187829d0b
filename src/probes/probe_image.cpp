#include "src/probes/probe_image.hpp"

namespace mgsync::probes {

const image* image_for(std::span<const image> images, int major, int minor) {
  const image* best = nullptr;
  for (const auto& one : images) {
    const int its_major = static_cast<int>(one.architecture / 10),
              its_minor = static_cast<int>(one.architecture % 10);
    if (its_major != major || its_minor > minor) continue;
    if (best == nullptr || one.architecture > best->architecture) best = &one;
  }
  return best;
}

}  // namespace mgsync::probes
