#include "src/studies/timeline/region_code.hpp"

#include <stdexcept>

namespace mgsync::timelines {

namespace {

using machine_code::counts;
using machine_code::expected_code;

expected_code prepared(std::string kernel, counts per_link, std::string result_of, std::uint64_t links = 1,
                       counts extras = {}) {
  expected_code e;
  e.kernel = std::move(kernel);
  e.links = links;
  e.per_link = std::move(per_link);
  e.result_of = std::move(result_of);
  e.side_by_side = static_cast<unsigned>(links);
  e.extras = std::move(extras);
  e.extras["ISETP"] += 1;  // makes the clock read wait for the last result
  e.extras["SEL"] += 2;    // selects the first stamp, or 0 where there is no sample
  e.prepared = true;
  return e;
}

}  // namespace

std::vector<expected_code> region_code() {
  std::vector<expected_code> all;
  all.push_back(prepared("region_corrected", {{"STS", 1}, {"BAR", 1}, {"LDS", 1}}, "LDS"));
  all.push_back(prepared("region_load", {{"LDS", 1}}, "LDS"));
  all.push_back(prepared("region_nothing", {}, ""));
  for (const unsigned links : {4u, 32u}) {
    const auto chain = [&](const char* name, counts per_link, const char* result_of) {
      all.push_back(prepared(name + std::to_string(links), std::move(per_link), result_of, links));
      all.back().side_by_side = 1;
    };
    chain("stores_and_loads_", {{"STS", 1}, {"LDS", 1}}, "LDS");
    chain("barriers_", {{"BAR", 1}}, "");
    chain("chased_loads_", {{"LDS", 1}}, "LDS");
  }
  for (const unsigned count : {1u, 2u, 4u, 8u, 16u})
    all.push_back(prepared("loads_" + std::to_string(count), {{"LDS", 1}}, "LDS", count, {{"LOP3", count}}));
  all.push_back(prepared("shuffle_alone", {{"SHFL", 1}}, "SHFL", 1, {{"LOP3", 1}}));
  all.push_back(prepared("load_beside_shuffle", {{"LDS", 1}, {"SHFL", 1}}, "", 1, {{"LOP3", 1}}));
  // The twin has the same instructions, but waits stand in the wrong places.
  expected_code naive;
  naive.kernel = "region_as_compiled";
  naive.per_link = {{"STS", 1}, {"BAR", 1}, {"LDS", 1}};
  all.push_back(naive);
  return all;
}

expected_code region_code_of(const std::string& kernel) {
  for (auto& e : region_code())
    if (e.kernel == kernel) return e;
  throw std::invalid_argument("no kernel " + kernel + " in region.cu");
}

expected_code as_compiled_claims() {
  auto e = region_code_of("region_corrected");
  e.kernel = "region_as_compiled";
  return e;
}

}  // namespace mgsync::timelines
