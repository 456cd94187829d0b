// Figures as SVG: self-contained, no script, light and dark by the reader's preference, colours that the
// colour-blind tell apart (Okabe and Ito's; cividis for heat maps) and that print. Marks that stand for data
// have the class "mg-mark".
#pragma once

#include <string>
#include <string_view>

#include "src/results/figure.hpp"

namespace mgsync::report {

// The picture as an <svg> element. A picture on its own holds its style; on a page, figure_style() stands
// once instead. `rows`: what the links from marks to the rows that they are from begin with, "row-"; empty:
// no links. Throws std::invalid_argument for a figure without data, whose parts do not fit one another, or
// with a value that its scale cannot show.
std::string to_svg(const figure&, bool with_style = true, std::string_view rows = "");

// CSS of all figures, without <style>.
std::string_view figure_style();

// Text as XML and HTML want it: & < > " ' escaped, and what printable() spells out spelt out.
std::string escaped(std::string_view text);

}  // namespace mgsync::report
