#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "src/base/errors.hpp"
#include "topology/description.hpp"
#include "topology/reports/reports.hpp"

namespace mgsync::topology {
namespace {

constexpr std::array<std::string_view, 7> formats = {"text", "picture", "json",       "xml",
                                                     "dot",  "svg",     "description"};

}  // namespace

std::span<const std::string_view> report_formats() { return formats; }

std::string write_report(std::span<const rank_view> views, const report_request& request) {
  if (std::find(formats.begin(), formats.end(), request.format) == formats.end())
    throw usage_error(fmt::format("--format '{}'; accepted: text, picture, json, xml, dot, svg, description",
                                  request.format));
  if (views.empty()) throw usage_error("there is no rank to report");
  const machine& first = views.front().seen;
  if (request.format == "json") return write_json(views, request);
  if (request.format == "xml") return write_xml(first);
  if (request.format == "dot") return write_dot(first);
  if (request.format == "svg") return write_svg(first);
  if (request.format == "description") return write_description(first);
  if (request.format == "picture") return write_picture(first, request.picture);
  return (request.with_picture ? write_picture(first, request.picture) + "\n" : "") +
         write_text(views, request);
}

}  // namespace mgsync::topology
