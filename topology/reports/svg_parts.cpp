#include "topology/reports/svg_parts.hpp"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "src/base/markup.hpp"

namespace mgsync::topology::svg_parts {
namespace {

// Every colour that a picture of a machine has, and what a reader who prefers dark sees in its place.
struct shade {
  std::string_view light, dark;
};
constexpr std::array<shade, 21> palette = {
    {{paper, "#0d1117"},        {ink, "#e6edf3"},           {soft_ink, "#b4bec9"},
     {nvlink_color, "#5fbf63"}, {strong_nvlink, "#7ee787"}, {weak_nvlink, "#557a2b"},
     {pcie_color, "#7d8590"},   {c2c_color, "#c297ff"},     {nic_color, "#ffb26b"},
     {package_fill, "#161b22"}, {package_edge, "#6e7f96"},  {node_fill, "#1f2a3a"},
     {node_edge, "#4a6285"},    {gpu_fill, "#16301a"},      {bar_fill, "#1d4022"},
     {hidden_fill, "#21262d"},  {hidden_edge, "#7f868e"},   {switch_fill, "#2d2820"},
     {switch_edge, "#8a7c5f"},  {switch_ink, "#d8caa8"},    {nic_fill, "#3a2612"}}};

}  // namespace

// Attributes of elements yield to a style sheet, and readers without one still see the light picture.
std::string dark_style(std::string_view inside) {
  std::string rules;
  for (const auto& [light, dark] : palette)
    rules +=
        fmt::format("{2}[fill=\"{0}\"]{{fill:{1}}}{2}[stroke=\"{0}\"]{{stroke:{1}}}\n", light, dark, inside);
  return "@media screen and (prefers-color-scheme:dark){\n" + rules + "}\n";
}

std::string picture(double width, double height, const std::string& inside, bool with_style) {
  const auto w = std::lround(width), h = std::lround(height);
  return enclosing("svg",
                   {{"xmlns", "http://www.w3.org/2000/svg"},
                    {"width", w},
                    {"height", h},
                    {"viewBox", fmt::format("0 0 {} {}", w, h)},
                    {"font-family", "Helvetica, Arial, sans-serif"}},
                   "\n" + (with_style ? "<style>" + dark_style("") + "</style>\n" : "") +
                       rectangle(0, 0, width, height, paper, "") + inside) +
         "\n";
}

std::string text(double x, double y, double size, std::string_view color, const std::string& what,
                 std::string_view anchor, std::string_view weight) {
  return element("text",
                 {{"x", x},
                  {"y", y},
                  {"font-size", std::lround(size)},
                  {"fill", color},
                  {"text-anchor", anchor},
                  {"font-weight", weight}},
                 what) +
         "\n";
}

std::string rectangle(double x, double y, double w, double h, std::string_view fill, std::string_view stroke,
                      std::string_view dashes) {
  return element("rect", {{"x", x},
                          {"y", y},
                          {"width", w},
                          {"height", h},
                          {"rx", stroke.empty() ? "" : "6"},
                          {"fill", fill},
                          {"stroke", stroke},
                          {"stroke-dasharray", dashes}}) +
         "\n";
}

std::string line(double x1, double y1, double x2, double y2, std::string_view color, double width) {
  return element(
             "line",
             {{"x1", x1}, {"y1", y1}, {"x2", x2}, {"y2", y2}, {"stroke", color}, {"stroke-width", width}}) +
         "\n";
}

std::string arc(double x1, double y1, double x2, double y2, double depth, std::string_view color,
                double width) {
  return element("path",
                 {{"d", fmt::format("M {0:.1f} {1:.1f} C {0:.1f} {4:.1f} {2:.1f} {4:.1f} {2:.1f} {3:.1f}", x1,
                                    y1, x2, y2, depth)},
                  {"fill", "none"},
                  {"stroke", color},
                  {"stroke-width", width}}) +
         "\n";
}

std::string label(double x, double y, const std::string& what, std::string_view color) {
  const double width = width_of(what, 6.2) + 6;
  return element("rect", {{"x", x - width / 2},
                          {"y", y - 11.5},
                          {"width", width},
                          {"height", 15},
                          {"fill", paper},
                          {"opacity", "0.9"}}) +
         "\n" + text(x, y, 11, color, what);
}

}  // namespace mgsync::topology::svg_parts
