// The parts of a page as HTML: sections of sentences, figures and tables, and the rows at the end.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "src/report/canvas.hpp"
#include "src/report/page.hpp"

namespace mgsync::report {

// A section with nothing in it is left out.
bool is_empty(const page_section&);

// `first`: figures that stand before all else, as the page's answer; their links are those of `first_of`.
std::string html_section(const page_section&, const palette&, std::string_view css = "",
                         const page_section* first = nullptr, bool brief = false);

// Long tables and those to look things up in are folded; failures never are.
bool is_folded(const table&);

// Where a set of figures of one kind ends that begins at this one.
std::size_t end_of_set(const std::vector<figure>&, std::size_t from);

// Moves the ranked bars of the first section that has any into a section of their own.
page_section take_headline(page&);
bool is_of_headline(const figure&);
bool has_headline(const page_section&);  // the headline's are those of the first section that has some

// How high a section is in a window of 1,280 pixels, roughly: of a set the highest figure counts.
double height_of(const page_section&);

// The ids of the rows that a section links to.
std::set<std::string> linked_from(const page_section&);

std::string html_attachments(const page&);
std::string html_rows(const page&);

// The results as JSON: summaries, and the batches' medians unless they are too many. "<" is escaped, so that
// no name can end the <script> element.
std::string json_of(const page&);

// The CSS rules that show one figure of a set: the one whose button is pressed.
std::string style_of_sets();

}  // namespace mgsync::report
