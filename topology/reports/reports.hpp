// What `mgsync topology` prints: one machine, or the machines of all ranks, in one of several formats. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topology/grouping.hpp"
#include "topology/machine.hpp"

namespace mgsync::topology {

// The names that `--format` accepts.
std::span<const std::string_view> report_formats();

// The report in this format; throws usage_error naming the accepted ones. Text and JSON hold the findings and
// what differs between ranks; the other formats draw or write the first rank's machine. `members_per_rank`
// and `pin` are the user's, so that groups and pinning are those that a measurement would use.
// How a picture of text is drawn.
struct picture_request {
  int columns = 100;
  bool unicode = false;
};
struct report_request {
  std::string format = "text";
  int members_per_rank = 0;
  bool pin = true;
  picture_request picture{};
  bool with_picture = false;  // above a report as text
};
std::string write_report(std::span<const rank_view>, const report_request&);

// The formats one by one.
std::string write_text(std::span<const rank_view>, const report_request&);
std::string write_json(std::span<const rank_view>, const report_request&);
// hwloc XML of version 2 that hwloc loads and lstopo draws. What hwloc has no place for (links, peers, notes)
// travels as our JSON in an info attribute named "mgsync"; discover() reads it back.
std::string write_xml(const machine&);
std::string write_dot(const machine&);
// A picture that stands in a page has no style of its own: the page has the rules of style_of_pictures(), of
// what is in elements of this selector, as ".drawing ".
std::string write_svg(const machine&, bool with_style = true);
std::string style_of_pictures(std::string_view inside);
// Of many GPUs: trays (or packages) in rows, on the switches that join them.
std::string write_folded_svg(const machine&, bool with_style);

// The machine as lines of text, drawn with box characters or plain ones.
std::string write_picture(const machine&, const picture_request&);

// The matrix of GPUs as `nvidia-smi topo -m` prints it, a line per GPU.
std::string write_matrix(const machine&);

}  // namespace mgsync::topology
