// Figures as SVG: self-contained, no script, light and dark by the reader's preference, colours that the
// colour-blind tell apart (Okabe and Ito's; cividis for heat maps) and that print. Marks that stand for data
// have the class "mg-mark".
#pragma once

#include <string>
#include <string_view>

#include "src/results/frame/figure.hpp"

namespace mgsync::report {

// The figure as an <svg> element. A figure on its own contains its style; a page contains figure_style() once
// instead. `rows`: the prefix of links from marks to their rows, such as "row-"; empty: no links. Throws
// std::invalid_argument for a figure without data, with inconsistent parts, or with a value that its scale
// cannot show.
std::string to_svg(const figure&, bool with_style = true, std::string_view rows = "");

// CSS of all figures, without <style>.
std::string_view figure_style();

// Escapes text for XML and HTML: & < > " ', and the characters that printable() escapes.
std::string escaped(std::string_view text);

}  // namespace mgsync::report
