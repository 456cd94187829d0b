#include "src/audit/clocks.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace mgsync::audit {
namespace {

using kind = step::kind;

std::vector<std::size_t> clocks_of(const function& f) {
  std::vector<std::size_t> found;
  for (std::size_t at = 0; at < f.steps.size(); ++at)
    if (f.steps[at].reads_cycles) found.push_back(at);
  return found;
}

// The name of an instruction that the code may be meant to time; empty for others.
std::string_view work_of(const step& s) {
  switch (s.what) {
  case kind::load: return s.global ? "a load of global memory" : "";
  case kind::store: return s.global ? "a store to global memory" : "";
  case kind::update: return s.global ? "an atomic operation" : "";
  case kind::block_barrier: return "a barrier of the block";
  default: return "";
  }
}
bool is_way(const step& s) { return s.what == kind::branch || s.what == kind::call || s.what == kind::end; }

// Between each two reads, in the order of the text. Nothing: ways part there.
struct stretch {
  std::set<std::string_view> work;
  bool parts = false;
  bool computes = false;
};
std::vector<stretch> stretches(const function& f) {
  const auto clocks = clocks_of(f);
  std::vector<stretch> found;
  for (std::size_t i = 0; i + 1 < clocks.size(); ++i) {
    stretch one;
    for (std::size_t at = clocks[i] + 1; at < clocks[i + 1]; ++at) {
      const step& s = f.steps[at];
      one.parts = one.parts || is_way(s);
      one.computes = one.computes || (s.computes && !s.is_constant && s.what == kind::other);
      if (const auto work = work_of(s); !work.empty()) one.work.insert(work);
    }
    found.push_back(std::move(one));
  }
  return found;
}

// Instructions between two clock reads whose results are not waited for up to the second read.
void find_unwaited(const function& f, std::size_t first, std::size_t second, report& r) {
  std::vector<std::pair<unsigned, std::size_t>> open;  // scoreboard, and the step that set it
  for (std::size_t at = first + 1; at <= second; ++at) {
    const step& s = f.steps[at];
    if (is_way(s)) return;
    open.erase(std::remove_if(open.begin(), open.end(),
                              [&](const auto& o) { return (s.waits_for >> o.first & 1U) != 0; }),
               open.end());
    if (at != second && s.marks < 6 && (s.what == kind::load || s.what == kind::update))
      open.emplace_back(s.marks, at);
  }
  for (const auto& [mark, at] : open)
    r.findings.push_back(
        {severity::doubt, &rule_named("clock-not-waited"), at,
         fmt::format("the read of the clock at {} does not wait for this", place(f, second))});
}

}  // namespace

void look_at_clocks(const function& f, report& r) {
  const auto clocks = clocks_of(f);
  r.clocks = clocks.size();
  if (clocks.size() < 2) return;
  if (f.is_text) {
    r.not_known.push_back(
        {"whether machine code reads the clock where these stand: audit it together with this PTX", clocks});
    return;
  }
  for (std::size_t i = 0; i + 1 < clocks.size(); ++i) find_unwaited(f, clocks[i], clocks[i + 1], r);
}

void compare_clocks(const function& text, const function& machine, report& r) {
  const auto meant = stretches(text), is = stretches(machine);
  if (meant.empty() && is.empty()) return;
  const auto clocks = clocks_of(machine);
  const auto at_clocks = [&](const char* what) { r.not_known.push_back({what, clocks}); };
  if (meant.size() != is.size())
    return at_clocks("where these reads of the clock stand in PTX: there are not as many");
  for (std::size_t i = 0; i < meant.size(); ++i) {
    if (meant[i].parts || is[i].parts) {
      r.not_known.push_back({"whether what is timed between these stayed there: ways part between them",
                             {clocks[i], clocks[i + 1]}});
      continue;
    }
    const auto moved = [&](std::string what) {
      r.findings.push_back({severity::fault, &rule_named("clock-moved"), clocks[i], std::move(what)});
    };
    for (const auto work : meant[i].work)
      if (is[i].work.count(work) == 0)
        moved(fmt::format(
            "{} stands behind this read and before the next one in PTX, and not in machine code", work));
    for (const auto work : is[i].work)
      if (meant[i].work.count(work) == 0)
        moved(fmt::format(
            "{} stands behind this read and before the next one in machine code, and not in PTX", work));
    if (meant[i].computes && !is[i].computes && meant[i].work.empty())
      moved("something is computed between this read and the next one in PTX, and nothing in machine code");
  }
}

}  // namespace mgsync::audit
