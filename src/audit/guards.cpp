#include "src/audit/guards.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace mgsync::audit {
namespace {

using kind = step::kind;

bool goes_by_thread(const flow& code, const step& s) {
  return s.condition >= 0 && code.of_thread()[static_cast<std::size_t>(s.condition)];
}

// What an instruction's text has behind its first comma: what it reads.
std::string_view behind_the_result(std::string_view text) {
  const auto comma = text.find(',');
  return comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
}

}  // namespace

std::optional<std::size_t> way_past(const flow& code, std::size_t branch, std::size_t to) {
  const step& s = code[branch];
  if (s.what != kind::branch || s.next.size() != 2 || !goes_by_thread(code, s)) return std::nullopt;
  // A step that the branch's other side comes to as well parts nobody.
  const auto leads = [&](std::size_t next) {
    const auto& before = code.before(next);
    return code.dominates(next, to) && std::all_of(before.begin(), before.end(), [&](std::size_t b) {
             return b == branch || code.dominates(next, b);
           });
  };
  const bool one = leads(s.next[0]), other = leads(s.next[1]);
  if (one == other) return std::nullopt;
  return s.next[one ? 1 : 0];
}

guards::guards(const flow& code) : code_(&code) {
  for (std::size_t at = 0; at < code.size(); ++at)
    if (code.is_reached(at) && code[at].what == kind::branch && goes_by_thread(code, code[at]))
      branches_.push_back(at);
}

std::vector<guard> guards::of(std::size_t at) const {
  std::vector<guard> found;
  if (!code_->spend(branches_.size() + 1)) return found;
  const step& here = (*code_)[at];
  for (const std::size_t b : branches_)
    if (const auto past = way_past(*code_, b, at)) {
      const step& s = (*code_)[b];
      const bool is_taken = s.next[1] != *past;
      found.push_back(made(b, is_taken != s.if_not));
    }
  if (here.what != kind::branch && goes_by_thread(*code_, here)) found.push_back(made(at, !here.if_not));
  return found;
}

bool guards::are_apart(std::size_t one, std::size_t other) const {
  return code_->spend(branches_.size() + 1) &&
         std::any_of(branches_.begin(), branches_.end(), [&](std::size_t b) {
           const auto past_one = way_past(*code_, b, one), past_other = way_past(*code_, b, other);
           return past_one && past_other && *past_one != *past_other;
         });
}

guard guards::made(std::size_t at, bool value) const {
  constexpr int most_deep = 4;
  guard one{at, {}};
  add(one.conditions, (*code_)[at].condition, value, most_deep);
  return one;
}

// The conditions that make this predicate have that value. Text tells what they are made of; of machine code
// the register stands for them.
void guards::add(std::set<std::string>& all, int predicate, bool value, int most_deep) const {
  const auto& writers = code_->writers(predicate);
  const step* w = writers.size() == 1 && code_->of().is_text ? &(*code_)[writers.front()] : nullptr;
  if (w != nullptr && w->condition < 0 && most_deep > 0) {
    const bool negates = w->text.starts_with("not.pred");
    if (negates || w->text.starts_with(value ? "and.pred" : "or.pred")) {
      for (const int r : w->reads) add(all, r, value != negates, most_deep - 1);
      return;
    }
    if (w->compares != step::comparison::none) {
      const bool unequal = w->compares == step::comparison::unequal;
      const bool is_order = w->compares == step::comparison::other;
      all.insert(fmt::format("{}{} {}", is_order ? w->text.substr(0, w->text.find(' ')) : "equal",
                             operands_of(*w), value != unequal));
      return;
    }
  }
  all.insert(fmt::format("register {} {}", predicate, value));
}

// What a comparison compares, in words that do not depend on the registers in which the thread's number is.
std::string guards::operands_of(const step& s) const {
  std::string text;
  std::size_t read = 0;
  for (auto rest = behind_the_result(s.text); !rest.empty(); rest = behind_the_result(rest)) {
    const auto word = rest.substr(0, rest.find(','));
    const bool is_register = word.find("%r") != std::string_view::npos && read < s.reads.size();
    text += ",";
    if (!is_register) {
      text += word;
      continue;
    }
    const int r = s.reads[read++];
    const auto& writers = code_->writers(r);
    const step* w = writers.size() == 1 ? &(*code_)[writers.front()] : nullptr;
    if (w != nullptr && w->of_thread && w->reads.empty()) text += behind_the_result(w->text);
    else text += fmt::format(" register {}", r);
  }
  return text;
}

}  // namespace mgsync::audit
