#include "src/results/frame/not_measured.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "topology/cpu_list.hpp"

namespace mgsync {
namespace {

constexpr std::size_t width = 100;
constexpr std::size_t most_reasons = 20;
constexpr std::size_t most_names = 16;

std::string subject_with_study(const point& p) {
  return (p.study == point{}.study ? "" : p.study + "/") + p.subject;
}

// The points that one reason applies to.
struct group {
  std::string_view why;
  std::size_t points = 0;
  std::set<int> members;
  std::map<std::string, std::set<std::string>> variants;  // of each subject
  std::vector<std::string> order;                         // of the subjects
};

std::vector<group> groups_of(std::span<const not_measured> all) {
  std::vector<group> groups;
  std::map<std::string_view, std::size_t> place;
  for (const auto& one : all) {
    const auto [found, fresh] = place.try_emplace(one.why, groups.size());
    if (fresh) groups.emplace_back().why = one.why;
    group& into = groups[found->second];
    ++into.points;
    into.members.insert(one.of->members);
    auto subject = subject_with_study(*one.of);
    const auto [known, new_subject] = into.variants.try_emplace(subject);
    known->second.insert(one.of->variant);
    if (new_subject) into.order.push_back(std::move(subject));
  }
  std::ranges::stable_sort(groups, std::greater(), &group::points);
  return groups;
}

std::string names_in(const group& one) {
  std::vector<std::string> names;
  for (const auto& subject : one.order) {
    const auto& variants = one.variants.at(subject);
    if (variants.size() > 1) names.push_back(fmt::format("{} ({} variants)", subject, variants.size()));
    else
      names.push_back(variants.begin()->empty() ? subject : fmt::format("{}:{}", subject, *variants.begin()));
  }
  const auto more = names.size() > most_names ? fmt::format(" and {} more", names.size() - most_names) : "";
  names.resize(std::min(names.size(), most_names));
  return fmt::format("{}{}", fmt::join(names, ", "), more);
}

// `text` in lines of at most `width` columns, all but the first behind `indent` blanks.
std::string wrapped(std::string first, std::string_view text, std::size_t indent) {
  std::string out, line = std::move(first);
  bool empty = true;  // whether the line has only its beginning so far
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    if (!empty && line.size() + 1 + end > width) {
      out += line + '\n';
      line = std::string(indent, ' ');
      empty = true;
    }
    line += (empty ? "" : " ") + std::string(text.substr(0, end));
    empty = false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out + line + '\n';
}

std::string ranges(std::span<const int> counts) { return topology::write_cpu_list(counts); }  // "1-4,8"

}  // namespace

std::string each_of(std::string_view word, std::span<const not_measured> all) {
  struct line {
    std::string name;
    std::string_view why;
    std::vector<int> members{};
  };
  std::vector<line> lines;
  std::map<std::pair<std::string, std::string_view>, std::size_t> place;
  std::size_t widest = 0;
  for (const auto& one : all) {
    auto name = subject_with_study(*one.of);
    if (!one.of->variant.empty()) name += ":" + one.of->variant;
    const auto [found, fresh] = place.try_emplace({name, one.why}, lines.size());
    if (fresh) lines.push_back({std::move(name), one.why});
    auto& members = lines[found->second].members;
    widest = std::max(widest, lines[found->second].name.size());
    if (members.empty() ||
        (members.back() != one.of->members && std::ranges::find(members, one.of->members) == members.end()))
      members.push_back(one.of->members);
  }
  std::string out;
  for (const auto& each : lines)
    out += fmt::format("{:<6}  {:<{}}  {} (members {})\n", word, each.name, widest, each.why,
                       ranges(each.members));
  return out;
}

std::string by_reason(std::string_view word, std::span<const not_measured> all, std::size_t of_all) {
  if (all.empty()) return "";
  const auto groups = groups_of(all);
  std::set<int> members;
  for (const auto& one : all) members.insert(one.of->members);
  const auto subjects = [](const group& one) {
    return one.order.size() == 1 && one.variants.begin()->second.size() == 1;
  };
  if (groups.size() == 1 && subjects(groups.front())) return each_of(word, all);
  std::string out =
      fmt::format("{}: {} of {} points, by reason (--verbose lists each)\n", word, all.size(), of_all);
  const auto digits = fmt::formatted_size("{}", groups.front().points);
  for (std::size_t i = 0; i < std::min(groups.size(), most_reasons); ++i) {
    const auto& one = groups[i];
    const std::vector<int> counts(one.members.begin(), one.members.end());
    out += wrapped(fmt::format("  {:>{}}  ", one.points, digits),
                   fmt::format("{}{}: {}", one.why,
                               one.members == members ? "" : fmt::format(" (members {})", ranges(counts)),
                               names_in(one)),
                   digits + 4);
  }
  if (groups.size() > most_reasons) {
    std::size_t rest = 0;
    for (std::size_t i = most_reasons; i < groups.size(); ++i) rest += groups[i].points;
    out += fmt::format("  {:>{}}  for {} other reasons\n", rest, digits, groups.size() - most_reasons);
  }
  return out;
}

}  // namespace mgsync
