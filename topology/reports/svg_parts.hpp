// What the pictures of machines are painted with: one palette, light and dark by the reader's preference.
#pragma once

#include <string>
#include <string_view>

namespace mgsync::topology::svg_parts {

inline constexpr std::string_view paper = "#ffffff", ink = "#1b1f24", soft_ink = "#3b4754",
                                  nvlink_color = "#2f7d32", strong_nvlink = "#1b5e20",
                                  weak_nvlink = "#7cb342", pcie_color = "#8a8f98", c2c_color = "#7b3fc4",
                                  nic_color = "#b35900", nic_fill = "#fdebd8", package_fill = "#eef2f7",
                                  package_edge = "#5b6b7f", node_fill = "#dbe5f1", node_edge = "#8fa3bd",
                                  gpu_fill = "#e3f2e1", bar_fill = "#d5e8d4", hidden_fill = "#f2f2f2",
                                  hidden_edge = "#9a9a9a", switch_fill = "#f3f0ea", switch_edge = "#b5a98f",
                                  switch_ink = "#5d5340";

constexpr double letter = 0.56, bold_letter = 0.68;  // their widths, of this font, by its size

// The whole file: the ground, and these elements on it. Without its style: for a page that has the rules.
std::string picture(double width, double height, const std::string& inside, bool with_style);
// The rules for dark, of what is in the elements of this selector, "" for all.
std::string dark_style(std::string_view inside);

std::string text(double x, double y, double size, std::string_view color, const std::string& what,
                 std::string_view anchor = "middle", std::string_view weight = "");
std::string rectangle(double x, double y, double w, double h, std::string_view fill, std::string_view stroke,
                      std::string_view dashes = "");
std::string line(double x1, double y1, double x2, double y2, std::string_view color, double width);
// From one end down to `depth`, and to the other end.
std::string arc(double x1, double y1, double x2, double y2, double depth, std::string_view color,
                double width);
// A label on the ground's colour, so that lines behind it do not make it unreadable.
std::string label(double x, double y, const std::string& what, std::string_view color = ink);

}  // namespace mgsync::topology::svg_parts
