#include "src/results/comparison/acceptance_forms.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "src/base/markup.hpp"

namespace mgsync {
namespace {

std::string test_case(const std::string& name, std::string_view state, const std::string& words) {
  const auto begin = fmt::format("    <testcase classname=\"mgsync.accept\" name=\"{}\"", escaped(name));
  if (state.empty()) return begin + "/>\n";
  return fmt::format("{}><{} message=\"{}\"/></testcase>\n", begin, state, escaped(words));
}

std::string_view element_of(judged_state state) {
  switch (state) {
  case judged_state::ok: return "";
  case judged_state::slow:
  case judged_state::broken: return "failure";
  default: return "skipped";
  }
}

// In quotes of a label: \, " and a line's end are escaped.
std::string label(std::string_view text) {
  std::string quoted;
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (c == '\n') quoted += "\\n";
    else quoted += c;
  }
  return quoted;
}

std::string gauge(std::string_view name, std::string_view help) {
  return fmt::format("# HELP {} {}\n# TYPE {} gauge\n", name, help, name);
}

template <class Value>
std::string gauge_of_points(const acceptance& a, std::string_view name, std::string_view help, Value value) {
  auto text = gauge(name, help);
  for (const auto& p : a.points)
    if (p.us > 0)
      text += fmt::format("{}{{part=\"{}\",subject=\"{}\",shape=\"{}\"}} {}\n", name, label(p.part),
                          label(p.subject), label(p.shape), value(p));
  return text;
}

}  // namespace

std::string to_junit(const acceptance& a) {
  std::string cases, wrong;
  std::size_t failed = 0, skipped = 0;
  for (const auto& f : a.findings) wrong += (wrong.empty() ? "" : " ") + f.what;
  const std::string_view looked = wrong.empty()                                    ? ""
                                  : a.verdict == node_verdict_kind::cannot_be_told ? "skipped"
                                                                                   : "failure";
  failed += looked == "failure";
  skipped += looked == "skipped";
  cases += test_case("nothing is wrong before measuring", looked, wrong);
  for (const auto& p : a.points) {
    const auto element = element_of(p.state);
    failed += element == "failure";
    skipped += element == "skipped";
    const auto words =
        p.us > 0 ? fmt::format("{:.4g} us, {:.3f} times the reference, {:.3f} may be", p.us, p.times, p.limit)
                 : p.reason;
    cases += test_case(fmt::format("{}: {} {}", p.part, p.subject, p.shape), element, words);
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"mgsync accept\" "
      "hostname=\"{}\" timestamp=\"{}\" time=\"{:.3f}\" tests=\"{}\" failures=\"{}\" errors=\"0\" "
      "skipped=\"{}\">\n{}    <system-out>{}</system-out>\n  </testsuite>\n</testsuites>\n",
      escaped(a.node), escaped(a.started.substr(0, 19)), a.seconds, a.points.size() + 1, failed, skipped,
      cases, escaped(a.sentence));
}

std::string to_prometheus(const acceptance& a, double completed) {
  auto text = gauge_of_points(a, "mgsync_accept_latency_seconds", "Median time of one passage of a barrier.",
                              [](const judged_point& p) { return p.us * 1e-6; });
  text += gauge_of_points(a, "mgsync_accept_reference_ratio", "Latency over that of the reference.",
                          [](const judged_point& p) { return p.times; });
  text += gauge_of_points(a, "mgsync_accept_limit_ratio", "The largest such ratio of a normal node.",
                          [](const judged_point& p) { return p.limit; });
  text += gauge("mgsync_accept_verdict", "1 for the verdict on this node.");
  for (const auto& [verdict, word] : enum_words<node_verdict_kind>::list)
    text += fmt::format("mgsync_accept_verdict{{verdict=\"{}\"}} {}\n", word, verdict == a.verdict ? 1 : 0);
  text += gauge("mgsync_accept_exit_code", "The exit code of mgsync accept.");
  text += fmt::format("mgsync_accept_exit_code {}\n", a.exit_code);
  text += gauge("mgsync_accept_duration_seconds", "How long it took.");
  text += fmt::format("mgsync_accept_duration_seconds {}\n", a.seconds);
  text += gauge("mgsync_accept_completion_time_seconds", "When it ended, in seconds since 1970.");
  return text + fmt::format("mgsync_accept_completion_time_seconds {:.0f}\n", completed);
}

}  // namespace mgsync
