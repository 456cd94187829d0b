#include <cstdio>
#include <exception>

#include <mgsync/multi_grid.hpp>
#include <mgsync/timeline.cuh>
#include <mgsync/timeline.hpp>

int main() {
  mgsync::warp_events<4> events{};  // what was recorded is host code too
  events.stamped = 6;
  if (events.kept() != 4 || events.lost() != 2 || &events[0] != &events.ring[2]) return 1;
  mgsync::kernel_timeline timeline({"load"});
  timeline.add(events);
  if (timeline.recording().find("load") == std::string::npos) return 1;
  try {
    mgsync::multi_grid none({});
  } catch (const mgsync::usage_error& error) {
    std::printf("%s\n", error.what());
    return 0;
  }
  return 1;
}
