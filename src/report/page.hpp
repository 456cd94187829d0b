// A report as one HTML page that needs no network, no script and no other file: the findings first, then
// pictures with tables of their numbers, all rows of results, and the machines. It is made for light and dark
// screens, narrow ones and paper, and contains the results' summaries as JSON. All text from results files is
// escaped.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "src/results/frame/figure.hpp"
#include "src/results/values/machine_record.hpp"
#include "src/results/values/result.hpp"

namespace mgsync::report {

struct page_section {
  std::string id;  // of letters, digits and '-'
  std::string title;
  evaluation shown{};
  std::vector<std::string> commands{};  // the commands that measured it
  std::string rows{};                   // the prefix of the ids of the rows that its sources name
  std::vector<std::string> above{};     // its sentences that stand in the verdict
  bool folded = false;                  // only its title is seen until it is opened
  std::size_t before_figure = 1;        // of its sentences those that stand above the headline's figure
};

// A trusted <svg> element that was drawn elsewhere.
struct page_drawing {
  std::string title;
  std::string svg;
  std::string caption{};
};

struct page_row {
  const result* of = nullptr;  // outlives the page
  std::size_t file = 0;        // in page.files
  std::string id;              // the id of its row, as the target of links
  bool earlier = false;        // a later file has the same point, which counts
};

struct page_file {
  std::string name;
  std::vector<std::string> commands;  // that measured it; none: no results
  std::string started, ended;
  machine_record machine;
  std::map<std::string, std::string> settings{};
  std::vector<std::string> remarks{};  // damage, an early end
};

// Another page, which an index leads to.
struct page_link {
  std::string file, title;
  std::string measured;  // "3 files, 120 points measured"; empty: nothing of the page is
  std::string answer;
};

struct page {
  std::string title;
  std::string subtitle{};
  page_section verdict{};                // without figures
  std::vector<page_section> sections{};  // those with nothing to show are left out
  std::string drawings_title = "Topology";
  std::vector<page_drawing> drawings{};
  std::string style_of_drawings{};  // CSS, of what is in elements of the class drawing
  std::vector<page_row> rows{};
  std::vector<page_file> files{};
  std::vector<page_link> pages{};   // of an index
  std::vector<page_link> beside{};  // further pages of the same machine
  std::string index{};              // the file of the index that leads here, if any
  std::string written{};            // by which program: "mgsync 0.1.0 (abc)"
  bool brief = false;  // without the batches' medians, and without tables of the figures' numbers
};

std::string to_html(const page&);

// A page for each section, where one with all of them would be too large: the verdict and the drawings stand
// on the first, and each has its rows and files.
std::vector<page> by_section(const page&);

// A page of one file has at most this many bytes, and about this many pixels of height in a window of 1,280.
inline constexpr std::size_t most_bytes = 2'800'000;
inline constexpr double most_height = 11'500;

// Folds the later sections of a page that would be higher.
void fold(page&);

// Makes a page smaller until it has no more than this many bytes: first brief, then with only sentences and
// short tables of its largest sections but the first, those of barriers last. A sentence on the page names
// them. Returns their titles.
std::vector<std::string> fit(page&, std::size_t bytes = most_bytes);

// What the page's policy names by hash: its style, with that of the figures, and its script.
std::string page_style();
std::string_view page_script();

// Text as HTML, in which the number of a paper, as in "(000, table I)", leads to its title in the glossary.
std::string with_papers(std::string_view text);

// The same, and the call of mgsync's library leads to html_program().
std::string with_links(std::string_view text);

// The papers whose numbers stand in a text: "000: L. Zhang, ...".
std::vector<std::string> papers_in(std::string_view text);

// A folded section with every word and its sentence.
std::string html_glossary();

// A folded section with a whole program that calls mgsync's library: the first one of docs/library.md, and
// how it is compiled.
std::string html_program();

}  // namespace mgsync::report
