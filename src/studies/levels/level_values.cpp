#include "src/studies/levels/level_values.hpp"

#include "src/harness/methods/slope.hpp"
#include "src/results/frame/frame.hpp"
#include "src/studies/levels/level_points.hpp"

namespace mgsync::levels {

const level_value* find(std::span<const level_value> values, std::string_view family, quantity what,
                        unsigned threads, unsigned lanes, std::string_view where) {
  for (const auto& v : values)
    if (v.family == family && v.quantity == what && v.threads == threads &&
        (lanes == 0 || v.lanes == lanes) && v.where == where)
      return &v;
  return nullptr;
}

const level_value* largest_throughput(std::span<const level_value> values, std::string_view name,
                                      unsigned lanes) {
  const unsigned wanted = lanes == 0 ? family(name).lanes : lanes;
  return most(where(values,
                    [name, wanted](const level_value& v) {
                      return v.family == name && v.quantity == quantity::throughput && v.lanes == wanted;
                    }),
              &level_value::value);
}

warp_line line_over_warps(std::span<const level_value> values, std::string_view family) {
  std::vector<double> warps, cycles;
  for (const auto& v : values) {
    if (v.family != family || v.quantity != quantity::latency || !v.is_line) continue;
    warps.push_back(v.warps_per_sm());
    cycles.push_back(v.value);
  }
  if (warps.size() < 3) return {};
  const auto line = fit_line(warps, cycles);
  return {line.slope, line.offset, line.r_squared, warps.size()};
}

}  // namespace mgsync::levels
