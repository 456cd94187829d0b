#include "src/audit/flow.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace mgsync::audit {
namespace {

// The most steps in the bodies of all loops together; only deeply nested loops have more.
constexpr std::size_t most_in_loops = 4'000'000;
constexpr std::size_t work_at_first = 200'000, work_for_each_step = 1'000, most_work = 30'000'000;
constexpr auto none = static_cast<std::size_t>(-1);
constexpr std::uint64_t all_bits = ~std::uint64_t{0};

}  // namespace

bool loop::has(std::size_t at) const { return std::binary_search(body.begin(), body.end(), at); }

flow::flow(const function& f)
    : of_(&f),
      before_(f.steps.size()),
      order_(f.steps.size(), -1),
      left_(std::min(work_at_first + f.steps.size() * work_for_each_step, most_work)) {
  for (std::size_t at = 0; at < size(); ++at)
    for (const std::size_t next : f.steps[at].next) before_[next].push_back(at);
  find_order();
  find_dominators();
  number_dominators();
  find_values();
  find_loops();
}

bool flow::spend(std::size_t steps) const {
  left_ -= std::min(left_, steps);
  return left_ != 0;
}

void flow::find_order() {
  if (size() == 0) return;
  std::vector<std::pair<std::size_t, std::size_t>> open{
      {0, 0}};  // step, and how many of its successors were tried
  std::vector<bool> seen(size());
  seen[0] = true;
  while (!open.empty()) {
    auto& [at, tried] = open.back();
    const auto& next = (*this)[at].next;
    if (tried == next.size()) {
      by_order_.push_back(at);
      open.pop_back();
    } else if (const std::size_t one = next[tried++]; !seen[one]) {
      seen[one] = true;
      open.emplace_back(one, 0);
    }
  }
  std::reverse(by_order_.begin(), by_order_.end());
  for (std::size_t i = 0; i < by_order_.size(); ++i) order_[by_order_[i]] = static_cast<int>(i);
}

// The algorithm of Cooper, Harvey and Kennedy: the immediate dominator is the common one of all predecessors,
// iterated until nothing changes.
void flow::find_dominators() {
  dominator_.assign(size(), none);
  if (size() == 0) return;
  dominator_[0] = 0;
  const auto common = [&](std::size_t a, std::size_t b) {
    while (a != b && spend(1)) {
      while (order_[a] > order_[b] && spend(1)) a = dominator_[a];
      while (order_[b] > order_[a] && spend(1)) b = dominator_[b];
    }
    return a;
  };
  for (bool changed = true; changed && spend(1);) {
    changed = false;
    for (const std::size_t at : by_order_) {
      if (at == 0) continue;
      std::size_t found = none;
      for (const std::size_t b : before_[at])
        if (order_[b] >= 0 && dominator_[b] != none) found = found == none ? b : common(found, b);
      changed = changed || found != dominator_[at];
      dominator_[at] = found;
    }
  }
}

void flow::number_dominators() {
  std::vector<std::vector<std::size_t>> below(size());
  for (const std::size_t at : by_order_)
    if (at != 0) below[dominator_[at]].push_back(at);
  begin_.assign(size(), 0);
  end_.assign(size(), 0);
  std::size_t time = 0;
  std::vector<std::pair<std::size_t, std::size_t>> open;
  if (size() != 0) open.emplace_back(0, 0);
  while (!open.empty()) {
    auto& [at, done] = open.back();
    if (done == 0) begin_[at] = ++time;
    if (done == below[at].size()) {
      end_[at] = ++time;
      open.pop_back();
    } else {
      const std::size_t one = below[at][done++];
      open.emplace_back(one, 0);
    }
  }
}

bool flow::dominates(std::size_t first, std::size_t at) const {
  return is_reached(at) && is_reached(first) && begin_[first] <= begin_[at] && end_[at] <= end_[first];
}

void flow::find_loops() {
  std::map<std::size_t, std::vector<std::size_t>> ends;  // by head
  for (const std::size_t at : by_order_)
    for (const std::size_t next : (*this)[at].next)
      if (order_[next] <= order_[at]) {
        if (dominates(next, at)) ends[next].push_back(at);
        else if (not_known_.empty()) not_known_.emplace_back("a loop that is entered at two places");
      }
  std::size_t in_all = 0;
  std::vector<std::size_t> mark(size(), none);
  for (auto& [head, open] : ends) {
    loop made{head, {head}};
    mark[head] = head;
    while (!open.empty()) {
      const std::size_t at = open.back();
      open.pop_back();
      if (mark[at] == head || !is_reached(at)) continue;
      mark[at] = head;
      made.body.push_back(at);
      open.insert(open.end(), before_[at].begin(), before_[at].end());
    }
    in_all += made.body.size();
    if (in_all > most_in_loops || !spend(made.body.size())) {
      not_known_.emplace_back("its loops, of which there are too many inside of one another");
      break;
    }
    std::sort(made.body.begin(), made.body.end());
    loops_.push_back(std::move(made));
  }
  std::stable_sort(loops_.begin(), loops_.end(),
                   [](const loop& a, const loop& b) { return a.body.size() < b.body.size(); });
}

void flow::find_values() {
  const auto registers = static_cast<std::size_t>(of_->registers);
  writers_.resize(registers);
  of_thread_.assign(registers, false);
  zero_.assign(registers, false);
  std::vector<std::vector<std::size_t>> readers(registers);
  for (std::size_t at = 0; at < size(); ++at) {
    const step& s = (*this)[at];
    for (const int r : s.writes) writers_[static_cast<std::size_t>(r)].push_back(at);
    for (const int r : s.reads) readers[static_cast<std::size_t>(r)].push_back(at);
  }
  for (std::size_t r = 0; r < registers; ++r)
    zero_[r] = !writers_[r].empty() &&
               std::all_of(writers_[r].begin(), writers_[r].end(),
                           [&](std::size_t at) { return (*this)[at].is_constant && (*this)[at].puts_zero; });
  const auto may_be_set = set_bits(readers);
  const auto differ = differing_bits(readers, may_be_set);
  for (std::size_t r = 0; r < registers; ++r) of_thread_[r] = differ[r] != 0;
}

// The bits that a step's result has from these bits of what it reads.
std::uint64_t flow::bits_of(const step& s, std::uint64_t read) {
  switch (s.bits) {
  case step::pattern::joined:
  case step::pattern::chosen: return read;
  case step::pattern::masked: return read & static_cast<std::uint64_t>(s.number);
  case step::pattern::moved: return s.number >= 0 ? read << s.number : read >> -s.number;
  case step::pattern::added: {
    const auto sum = static_cast<std::uint64_t>(s.number), below = sum == 0 ? all_bits : (sum & -sum) - 1;
    return (read & below) | ((read & ~below) != 0 ? ~below : 0);
  }
  case step::pattern::unknown: break;
  }
  return read != 0 ? all_bits : 0;
}

// Whether the register decides which value the result has, or whether it is written.
bool flow::decides(const step& s, int reg) {
  return reg == s.condition || (s.bits == step::pattern::chosen && reg == s.reads.back());
}

// For each register, the bits that may be 1.
std::vector<std::uint64_t> flow::set_bits(const std::vector<std::vector<std::size_t>>& readers) const {
  std::vector<std::uint64_t> set(static_cast<std::size_t>(of_->registers));
  std::vector<int> open;
  const auto add = [&](const step& s, std::uint64_t bits) {
    for (const int r : s.writes) {
      auto& now = set[static_cast<std::size_t>(r)];
      if ((now | bits) != now) open.push_back(r);
      now |= bits;
    }
  };
  for (const step& s : of_->steps) {
    const bool is_known = s.what == step::kind::other && s.writes.size() == 1 && !s.of_thread &&
                          s.bits != step::pattern::unknown && (!s.reads.empty() || s.is_constant);
    const bool has_number =
        s.bits == step::pattern::joined || s.bits == step::pattern::chosen || s.bits == step::pattern::added;
    add(s, !is_known ? all_bits : has_number ? static_cast<std::uint64_t>(s.number) : 0);
    if (is_known)
      for (const int r : s.reads)
        if (writers_[static_cast<std::size_t>(r)].empty()) add(s, all_bits);
  }
  while (!open.empty()) {
    const int r = open.back();
    open.pop_back();
    for (const std::size_t at : readers[static_cast<std::size_t>(r)])
      if (!decides((*this)[at], r)) add((*this)[at], bits_of((*this)[at], set[static_cast<std::size_t>(r)]));
  }
  return set;
}

// For each register, the bits that may differ between the threads of a block.
std::vector<std::uint64_t> flow::differing_bits(const std::vector<std::vector<std::size_t>>& readers,
                                                const std::vector<std::uint64_t>& may_be_set) const {
  std::vector<std::uint64_t> differ(static_cast<std::size_t>(of_->registers));
  std::vector<int> open;
  const auto add = [&](int r, std::uint64_t bits) {
    auto& now = differ[static_cast<std::size_t>(r)];
    if ((now | bits) != now) open.push_back(r);
    now |= bits;
  };
  for (const step& s : of_->steps)
    if (s.of_thread)
      for (const int r : s.writes) add(r, all_bits);
  while (!open.empty()) {
    const int r = open.back();
    open.pop_back();
    for (const std::size_t at : readers[static_cast<std::size_t>(r)]) {
      const step& s = (*this)[at];
      if (s.what != step::kind::other) continue;
      std::uint64_t bits = bits_of(s, differ[static_cast<std::size_t>(r)]);
      if (r == s.condition) bits = all_bits;
      else if (decides(s, r)) {
        bits = static_cast<std::uint64_t>(s.number & ~s.common);
        for (const int from : s.reads)
          if (from != r) bits |= may_be_set[static_cast<std::size_t>(from)];
      }
      for (const int to : s.writes) add(to, bits);
    }
  }
  return differ;
}

std::set<std::size_t> flow::sources(int reg, const loop* within, bool with_addresses) const {
  std::set<std::size_t> found;
  std::set<int> seen{reg};
  std::vector<int> open{reg};
  while (!open.empty() && !is_tired()) {
    const auto r = static_cast<std::size_t>(open.back());
    open.pop_back();
    spend(1 + writers_[r].size());
    for (const std::size_t at : writers_[r]) {
      if ((within != nullptr && !within->has(at)) || !found.insert(at).second) continue;
      const step& s = (*this)[at];
      for (const int source : s.reads) {
        const bool of_address = std::find(s.address.begin(), s.address.end(), source) != s.address.end();
        if ((with_addresses || !of_address) && seen.insert(source).second) open.push_back(source);
      }
    }
  }
  return found;
}

// Readers forwards, writers backwards, up to where the register surely is written anew.
std::set<std::size_t> flow::along(std::size_t at, int reg, bool forwards) const {
  const auto has = [&](const std::vector<int>& some) {
    return std::find(some.begin(), some.end(), reg) != some.end();
  };
  std::set<std::size_t> found;
  std::vector<bool> seen(spend(size() / 64) ? size() : 0);
  std::vector<std::size_t> open = forwards ? (*this)[at].next : before_[at];
  while (!open.empty() && spend(1)) {
    const std::size_t one = open.back();
    open.pop_back();
    if (seen[one]) continue;
    seen[one] = true;
    const step& s = (*this)[one];
    if (has(forwards ? s.reads : s.writes)) found.insert(one);
    if (has(s.writes) && s.condition < 0) continue;
    const auto& more = forwards ? s.next : before_[one];
    open.insert(open.end(), more.begin(), more.end());
  }
  return found;
}
std::set<std::size_t> flow::written_for(std::size_t at, int reg) const { return along(at, reg, false); }
std::set<std::size_t> flow::read_from(std::size_t at, int reg) const { return along(at, reg, true); }

std::vector<bool> flow::stable(const loop& l, loads how) const {
  const auto registers = static_cast<std::size_t>(of_->registers);
  if (!spend(registers / 64 + l.body.size())) return std::vector<bool>(registers, false);
  std::unordered_map<int, unsigned> left;  // by register: steps of the loop that write it and may change it
  std::vector<bool> is(registers, true);
  std::map<int, std::vector<std::size_t>> readers;
  std::vector<unsigned> unsettled(l.body.size(), 0);
  for (const std::size_t at : l.body)
    for (const int r : (*this)[at].writes) {
      ++left[r];
      is[static_cast<std::size_t>(r)] = false;
    }
  std::vector<std::size_t> ready;
  for (std::size_t i = 0; i < l.body.size(); ++i) {
    const step& s = (*this)[l.body[i]];
    const bool stays = how == loads::may_stay && s.what == step::kind::load && !s.strong;
    if (!s.computes && !stays) unsettled[i] = ~0U;  // values from memory may change, and clocks do
    else
      for (const int r : s.reads)
        if (!is[static_cast<std::size_t>(r)]) {
          ++unsettled[i];
          readers[r].push_back(i);
        }
    if (unsettled[i] == 0) ready.push_back(i);
  }
  while (!ready.empty()) {
    const std::size_t i = ready.back();
    ready.pop_back();
    for (const int r : (*this)[l.body[i]].writes) {
      if (--left[r] != 0) continue;
      is[static_cast<std::size_t>(r)] = true;
      for (const std::size_t reader : readers[r])
        if (unsettled[reader] != ~0U && --unsettled[reader] == 0) ready.push_back(reader);
    }
  }
  return is;
}

}  // namespace mgsync::audit
