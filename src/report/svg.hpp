// Figures as SVG: self-contained, no script, light and dark by the reader's preference, colours that the
// colour-blind tell apart (Okabe and Ito's; cividis for heat maps) and that print. Marks that stand for data
// have the class "mg-mark".
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "src/report/canvas.hpp"
#include "src/results/frame/figure.hpp"

namespace mgsync::report {

struct look {
  bool with_style = true;           // a picture on its own contains figure_style(); a page does so once
  std::string_view rows{};          // the prefix of links from marks to their rows, "row-"; empty: no links
  const palette* colors = nullptr;  // of the page; nullptr: of this figure alone
  bool slim = false;  // for a phone: half as wide, without links; charts and bars only, others are as ever
  double width() const { return slim ? slim_width : picture_width; }
};

// The figure as an <svg> element. Throws std::invalid_argument for a figure without data, with inconsistent
// parts, or with a value that its scale cannot show.
std::string to_svg(const figure&, const look& = {});

std::string draw_chart(const chart&, const look&);

// A small picture of a chart, of which `high` and `low` are the ends of the vertical scale: the coloured
// curves alone, to choose among several by their form.
std::string to_small_svg(const chart&, const palette&, double low, double high);

// One picture of several that are shown together, in the colours of all.
std::string to_svg_beside(const figure&, std::span<const figure> together);

// CSS of all figures, without <style>.
std::string_view figure_style();

}  // namespace mgsync::report
