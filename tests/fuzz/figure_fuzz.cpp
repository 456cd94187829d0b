// Figures of every kind with any numbers and names: each is drawn as XML that any reader takes, or refused by
// std::invalid_argument; and so are the tables of their numbers.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

#include "src/report/figure_data.hpp"
#include "src/report/svg.hpp"
#include "src/report/text.hpp"
#include "tests/fuzz/well_formed.hpp"

namespace {

using namespace mgsync;

// Makes of bytes what figures are made of. Behind the last byte all are 0.
class bytes {
 public:
  bytes(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

  bool empty() const { return size_ == 0; }

  std::uint8_t one() {
    if (size_ == 0) return 0;
    --size_;
    return *data_++;
  }

  bool coin() { return one() % 2 != 0; }
  std::size_t up_to(std::size_t most) { return one() % (most + 1); }

  double number() {
    using limits = std::numeric_limits<double>;
    constexpr std::array special{0.0,
                                 -0.0,
                                 1.0,
                                 -1.0,
                                 2.0,
                                 3.0,
                                 0.5,
                                 1e-3,
                                 5e-324,
                                 1e-310,
                                 limits::min(),
                                 1e-150,
                                 1e-151,
                                 1e149,
                                 1e150,
                                 1.1e150,
                                 -1e150,
                                 limits::max(),
                                 limits::lowest(),
                                 limits::infinity(),
                                 -limits::infinity(),
                                 limits::quiet_NaN(),
                                 4.0,
                                 4.000000000000001,
                                 1e15,
                                 1e16,
                                 -5e-324,
                                 1e9,
                                 7.5};
    const auto which = one();
    if (which < 2 * special.size()) return special[which / 2];
    if (which < 160) return static_cast<double>(which) - 100;
    std::array<std::uint8_t, sizeof(double)> raw{};
    for (auto& byte : raw) byte = one();
    double any = 0;
    std::memcpy(&any, raw.data(), sizeof any);
    return any;
  }

  std::optional<double> perhaps() { return coin() ? std::optional(number()) : std::nullopt; }

  std::string words() {
    const std::string long_one(200, 'w');
    const std::string known[] = {
        "",        "a",         "b",        "warp 0", "warp 1",      "warp 12",      "<b>&amp;",
        "\"' ]]>", "\xc2\xb5s", "\xff\xfe", "\x1b[m", "line\nbreak", "\xef\xbf\xbf", "\xe2\x80\xae",
        "|a|b|",   long_one};
    const auto which = one();
    if (which < 240) return known[which % std::size(known)];
    std::string any;
    for (auto letters = up_to(12); letters > 0; --letters) any += static_cast<char>(one());
    return any;
  }

  std::vector<std::string> several_words(std::size_t most) {
    std::vector<std::string> all(up_to(most));
    for (auto& each : all) each = words();
    return all;
  }

  std::vector<double> numbers(std::size_t most) {
    std::vector<double> all(up_to(most));
    for (auto& each : all) each = number();
    return all;
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};

figure_heading heading(bytes& in) { return {in.words(), in.words(), in.words()}; }
scale scale_of(bytes& in) { return {in.words(), in.coin(), in.several_words(3)}; }

chart chart_of(bytes& in) {
  chart made{heading(in), scale_of(in), scale_of(in), {}};
  for (auto curves = in.up_to(12); curves > 0; --curves) {
    curve one{in.words(), {}, in.coin(), in.coin()};
    for (auto points = in.up_to(6); points > 0; --points)
      one.points.push_back(
          {in.number(), in.number(), in.perhaps(), in.perhaps(), in.numbers(3), in.words(), in.words()});
    made.curves.push_back(std::move(one));
  }
  return made;
}

heat_map heat_map_of(bytes& in) {
  heat_map made{heading(in),          in.words(), in.words(), in.several_words(4),
                in.several_words(12), {},         in.words()};
  const bool ragged = in.one() > 240;  // wrongly made
  made.values.resize(ragged ? in.up_to(5) : made.rows.size());
  for (auto& row : made.values)
    for (auto cells = ragged ? in.up_to(12) : made.columns.size(); cells > 0; --cells)
      row.push_back(in.perhaps());
  for (auto rows = in.up_to(4); rows > 0; --rows) made.holes.push_back(in.several_words(4));
  for (auto rows = in.up_to(4); rows > 0; --rows) made.sources.push_back(in.several_words(4));
  return made;
}

bar_chart bar_chart_of(bytes& in) {
  bar_chart made{heading(in), scale_of(in), in.several_words(3), {}};
  for (auto bars = in.up_to(8); bars > 0; --bars)
    made.bars.push_back(
        {in.words(), in.numbers(4), in.perhaps(), in.perhaps(), in.words(), in.coin(), in.words()});
  return made;
}

timeline timeline_of(bytes& in) {
  timeline made{heading(in), in.words(), {}, in.number()};
  for (auto tracks = in.up_to(60); tracks > 0 && !in.empty(); --tracks) {
    track one{in.words(), {}};
    for (auto events = in.up_to(5); events > 0; --events)
      one.events.push_back({in.words(), in.number(), in.number(), in.words()});
    made.tracks.push_back(std::move(one));
  }
  return made;
}

figure figure_of(bytes& in) {
  switch (in.up_to(3)) {
  case 0: return chart_of(in);
  case 1: return heat_map_of(in);
  case 2: return bar_chart_of(in);
  default: return timeline_of(in);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  bytes in(data, size);
  const bool with_style = in.coin();
  const auto rows = in.coin() ? in.words() : "";
  const auto made = figure_of(in);
  try {
    const auto svg = report::to_svg(made, {with_style, rows});
    fuzz::must_be_well_formed(svg);
    if (svg.size() > (std::size_t{1} << 20) + 100 * size) std::abort();  // it ends, and soon
  } catch (const std::invalid_argument&) {}
  try {
    const auto numbers = report::data_of(made);
    to_text(numbers);
    to_markdown(numbers);
  } catch (const std::invalid_argument&) {}
  return 0;
}
