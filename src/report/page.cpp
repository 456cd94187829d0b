#include "src/report/page.hpp"

#include <algorithm>

#include "src/base/content_hash.hpp"
#include "src/base/units.hpp"
#include "src/report/page_parts.hpp"
#include "src/report/svg.hpp"
#include <fmt/format.h>
#include <fmt/ranges.h>

// Made by cmake/embed.cmake; they end with a zero.
extern const unsigned char mgsync_page_css[];
extern const unsigned char mgsync_page_js[];

namespace mgsync::report {
namespace {

void add_term(std::string& text, std::string_view name, const std::string& value) {
  if (!value.empty()) text += fmt::format("<dt>{}</dt><dd>{}</dd>", escaped(name), escaped(value));
}

constexpr std::size_t most_files_in_sight = 3;

// `folded`: one of many.
std::string html_file(const page_file& f, std::size_t number, bool folded) {
  const auto& m = f.machine;
  const auto name = fmt::format("{}. {}", number, escaped(f.name));
  auto text = folded ? fmt::format("<details><summary>{}</summary>", name) : fmt::format("<h3>{}</h3>", name);
  text += fmt::format("\n<pre>{}</pre>\n<dl>", escaped(fmt::format("{}", fmt::join(f.commands, "\n"))));
  add_term(text, "measured", fmt::format("{}, {}", f.started, f.ended));
  add_term(
      text, "hosts",
      fmt::format("{}{}", fmt::join(m.hosts, " "), m.ranks > 1 ? fmt::format(", {} ranks", m.ranks) : ""));
  add_term(text, "CPU", fmt::format("{}, {} cores", m.cpu_model, m.cores));
  for (const auto& gpu : m.gpus)
    add_term(text, fmt::format("GPU {}", gpu.id),
             fmt::format("{}, {}{}", gpu.name, gpu.uuid,
                         gpu.sm_clock_mhz ? fmt::format(", SM clock {} MHz", *gpu.sm_clock_mhz) : ""));
  add_term(text, "mgsync", m.mgsync);
  add_term(
      text, "system",
      fmt::format("{}, {}, {}, hwloc {}", m.kernel, m.compiler, m.mpi == "none" ? "no MPI" : m.mpi, m.hwloc));
  add_term(text, "pinning", m.pinning);
  for (const auto& sentence : f.remarks) add_term(text, "note", sentence);
  for (const auto& sentence : m.notes) add_term(text, "note", sentence);
  text += "</dl>\n";
  const std::string_view end = folded ? "</details>\n" : "";
  if (f.settings.empty()) return text.append(end);
  text += "<details><summary>settings, driver, clocks, variables</summary><dl>";
  for (const auto& [what, value] : f.settings) add_term(text, what, value);
  return (text + "</dl></details>\n").append(end);
}

std::string html_files(const page& p) {
  if (p.files.empty()) return "";
  const bool many = p.files.size() > most_files_in_sight;
  std::string text = "<section id=\"environment\"><h2>Where and how it was measured</h2>\n";
  if (many) text += fmt::format("<details><summary>{} files</summary>\n", p.files.size());
  for (std::size_t i = 0; i < p.files.size(); ++i) text += html_file(p.files[i], i + 1, many);
  return text + (many ? "</details></section>\n" : "</section>\n");
}

// `program`: the page has one to paste.
std::string html_contents(const page& p, bool program) {
  std::string text = "<nav aria-label=\"contents\"><ul>";
  if (!p.index.empty()) text += fmt::format("<li><a href=\"{}\">All machines</a></li>", escaped(p.index));
  text += "<li><a href=\"#verdict\">What was found</a></li>";
  const auto lead = [&](const page_link& to, std::string_view title) {
    text += fmt::format("<li><a href=\"{}\">{}</a></li>", escaped(to.file), escaped(title));
  };
  const auto add = [&](std::string_view id, std::string_view title) {
    text += fmt::format("<li><a href=\"#{}\">{}</a></li>", id, escaped(title));
  };
  add("glossary", "What the words mean");
  if (program) add("program", "How to call it");
  for (const auto& one : p.pages) lead(one, one.title);
  for (const auto& one : p.beside) {  // of this machine all
    const auto colon = one.title.rfind(": ");
    lead(one, std::string_view(one.title).substr(colon == std::string::npos ? 0 : colon + 2));
  }
  // Of several machines the sections stand below each, under their own names.
  const bool several =
      std::ranges::any_of(p.sections, [](const auto& s) { return s.id.ends_with("-found"); });
  for (const auto& s : p.sections) {
    if (is_empty(s)) continue;
    const auto colon = s.title.find(": ");
    if (!several || colon == std::string::npos) add(s.id, s.title);
    else add(s.id + "\" class=\"below", s.title.substr(0, colon));
  }
  if (!p.drawings.empty()) add("topology", p.drawings_title);
  if (!html_rows(p).empty()) add("rows", "Every row");
  if (!p.files.empty()) add("environment", "Where and how");
  return text + "</ul></nav>\n";
}

}  // namespace

std::string page_style() {
  return std::string(figure_style()) + style_of_sets() + reinterpret_cast<const char*>(mgsync_page_css);
}

std::string_view page_script() { return reinterpret_cast<const char*>(mgsync_page_js); }

namespace {

std::string html_head(const page& p) {
  const auto style = page_style() + p.style_of_drawings;
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '{}'; script-src "
      "'{}'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"referrer\" "
      "content=\"no-referrer\">\n<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n",
      content_hash(style), content_hash(page_script()), escaped(p.title), style);
}

std::string html_drawings(const page& p) {
  if (p.drawings.empty()) return "";
  auto text = fmt::format("<section id=\"topology\"><h2>{}</h2>\n", escaped(p.drawings_title));
  for (const auto& d : p.drawings)
    text += fmt::format(
        "<figure class=\"drawing\"><div class=\"wide\">{}</div><figcaption>{}</figcaption></figure>\n", d.svg,
        escaped(d.title + (d.caption.empty() ? "" : ": " + d.caption)));
  return text + "</section>\n";
}

std::string html_pages(const page& p) {
  std::string text;
  for (const auto& one : p.pages)
    text += fmt::format(
        "<section><h2><a href=\"{}\">{}</a></h2>\n<p class=\"soft\">{}</p>\n<p>{}</p></section>\n",
        escaped(one.file), escaped(one.title), escaped(one.measured), escaped(one.answer));
  return text;
}

palette colors_of(const page& p) {
  std::vector<palette::pictures> sections;
  for (const auto& s : p.sections) {
    auto& here = sections.emplace_back();
    for (const auto& one : s.shown.figures) here.push_back(&one);
  }
  return palette(sections);
}

}  // namespace

std::string to_html(const page& whole) {
  auto p = whole;
  const auto colors = colors_of(whole);
  const auto first = take_headline(p);
  std::string text = html_head(p);
  text += fmt::format(
      "<header><h1>{}</h1><p class=\"soft\">{}</p>\n<p class=\"soft\">4x256: 4 blocks of 256 threads on each "
      "SM of a GPU; b1x32: one block of 32 threads on a GPU. <a href=\"#glossary\">All other words</a></p>"
      "</header>\n",
      escaped(p.title), escaped(p.subtitle));
  auto body = html_section(p.verdict, colors, "verdict", &first, p.brief) + html_pages(p);
  for (const auto& s : p.sections)
    if (!is_empty(s)) body += html_section(s, colors, "", nullptr, p.brief);
  const bool program = body.find("href=\"#program\"") != body.npos;
  text += html_contents(whole, program) + "<main>\n" + html_glossary() + (program ? html_program() : "") +
          "<details id=\"tools\" hidden><summary>Choose what is shown</summary></details>\n" + body +
          html_drawings(p) + html_attachments(whole) + html_rows(whole) + html_files(p);
  text += fmt::format("<footer><p class=\"soft\">Written by {}. The summaries, and the medians of "
                      "all batches unless they are very many, are in this file as JSON, in the element "
                      "\"mgsync-data\". Latency is the median over batches, with its 95 % confidence "
                      "interval.</p>\n</footer>\n</main>\n",
                      escaped(p.written));
  text += fmt::format("<script type=\"application/json\" "
                      "id=\"mgsync-data\">{}</script>\n<script>{}</script>\n</body>\n</html>\n",
                      json_of(whole), page_script());
  return text;
}

}  // namespace mgsync::report
