#include "src/probes/machine_code/code_check.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "src/probes/machine_code/opcodes.hpp"

namespace mgsync::machine_code {

namespace {

// The instructions from a pair's first clock read (left out) to its second (left out), by index in the
// function.
struct stretch {
  std::size_t first = 0;
  std::size_t last = 0;
};

std::string word(std::size_t number, const char* what) { return std::to_string(number) + " " + what; }

// A multiply-add with the zero register as a factor, by which the compiler copies a register on the
// multiplier's unit.
bool copies(const instruction& i) {
  return (i.name() == "IMAD" || i.name() == "HFMA2") && i.bits(24, 8) == zero_register;
}

std::string called(const instruction& i) {
  if (copies(i)) return "MOV";
  return i.name().empty() ? "opcode " + std::to_string(i.opcode()) : std::string(i.name());
}

class examination {
 public:
  examination(const cubin& image, const function& f, const expected_code& expected, code_verdict& verdict)
      : architecture_(image.architecture), code_(f.code), expected_(expected), verdict_(verdict) {}

  void run() {
    if (!find_stretch()) return;
    verdict_.instructions = stretch_.last - stretch_.first;
    verdict_.found = names_in(stretch_);
    verdict_.stall_sum = stall_sum();
    check_stalls();
    if (expected_.prepared) check_prepared();
    if (verdict_.looked_at != depth::full) return;
    check_names();
    check_branches();
    check_enclosed();
    if (!expected_.result_of.empty()) check_chain();
  }

 private:
  void complain(std::string sentence) { verdict_.complaints.push_back(std::move(sentence)); }

  bool find_stretch() {
    std::vector<std::size_t> reads;
    for (std::size_t i = 0; i < code_.size(); ++i) {
      if (code_[i].reads_clock_64()) reads.push_back(i);
      if (code_[i].reads_clock_32())
        complain("it reads the clock's low or high word alone: 32 bits wrap, and cost something else");
    }
    if (reads.size() != 2 + expected_.reads_before) {
      complain(word(reads.size(), "64-bit clock reads, not ") + std::to_string(2 + expected_.reads_before));
      return false;
    }
    stretch_ = {reads[expected_.reads_before] + 1, reads[expected_.reads_before + 1]};
    return true;
  }

  counts names_in(const stretch& s) const {
    counts found;
    for (std::size_t i = s.first; i < s.last; ++i) { ++found[called(code_[i])]; }
    return found;
  }

  // Up to and including the last link.
  std::uint64_t stall_sum() const {
    std::uint64_t sum = code_[stretch_.first - 1].stall(), since_link = 0;
    for (std::size_t i = stretch_.first; i < stretch_.last; ++i) {
      since_link += code_[i].stall();
      if (expected_.per_link.contains(called(code_[i]))) sum += std::exchange(since_link, 0);
    }
    return sum;
  }

  void check_stalls() {
    auto each = expected_.stall_per_link.find(architecture_);
    if (each == expected_.stall_per_link.end()) each = expected_.stall_per_link.find(0);
    if (each == expected_.stall_per_link.end()) return;
    const double predicted = each->second * static_cast<double>(expected_.links);
    const auto sum = static_cast<double>(verdict_.stall_sum);
    // A loop's body also contains the loop's own instructions.
    const double slack =
        expected_.looped ? 3 * stall_slack : std::max(stall_slack, predicted * stall_slack_share);
    if (std::abs(sum - predicted) > slack)
      complain("stall counts of " + std::to_string(static_cast<std::uint64_t>(sum)) + " cycles, not " +
               std::to_string(static_cast<std::uint64_t>(predicted)));
  }

  void check_names() {
    counts left = verdict_.found;
    for (const auto& [name, each] : expected_.per_link) {
      const auto wanted = each * expected_.links;
      const auto extra = expected_.extras.find(name);
      const auto most = wanted + (extra == expected_.extras.end() ? 0 : extra->second);
      const auto is = left.contains(name) ? left.find(name)->second : 0;
      if (is < wanted || is > most)
        complain(word(is, name.c_str()) + " between the clock reads, not " + std::to_string(wanted));
      left.erase(name);
    }
    for (const auto& [name, is] : left) {
      const auto extra = expected_.extras.find(name);
      const std::uint64_t most = extra == expected_.extras.end() ? 0 : extra->second;
      if (is > most)
        complain(word(is, name.c_str()) + " between the clock reads, where at most " + std::to_string(most) +
                 " may be");
    }
  }

  void check_branches() {
    std::size_t backward = 0;
    bool seen_side_path = false;
    for (std::size_t i = stretch_.first; i < stretch_.last; ++i) {
      const auto target = target_of(i);
      if (!target) continue;
      if (inside(*target)) {
        if (*target <= i) ++backward;
        continue;
      }
      if (!expected_.side_paths) complain("a branch leaves the stretch between the clock reads");
      else if (!seen_side_path) check_side_path(*target);
      seen_side_path = true;
    }
    if (expected_.looped && backward != 1) complain(word(backward, "loops between the clock reads, not one"));
    if (!expected_.looped && !expected_.side_paths && backward != 0)
      complain("a loop between the clock reads of a chain");
    if (!expected_.side_per_link.empty() && !seen_side_path) complain("no path for lanes that are apart");
  }

  bool inside(std::size_t index) const { return index >= stretch_.first && index <= stretch_.last; }

  std::optional<std::size_t> target_of(std::size_t index) const {
    const auto offset = code_[index].branch_offset(architecture_);
    if (!offset) return std::nullopt;
    return static_cast<std::size_t>(static_cast<std::int64_t>(index) + 1 +
                                    *offset / static_cast<std::int64_t>(sizeof(instruction)));
  }

  // Checks the path from the branch's target until the code returns to the stretch.
  void check_side_path(std::size_t begin) {
    if (expected_.side_per_link.empty()) return;
    std::size_t end = begin;
    while (end < code_.size() && code_[end].name() != "EXIT" && !(target_of(end) && inside(*target_of(end))))
      ++end;
    const counts found = names_in({begin, end});
    for (const auto& [name, each] : expected_.side_per_link) {
      const auto is = found.contains(name) ? found.find(name)->second : 0;
      if (is != each * expected_.links)
        complain(word(is, name.c_str()) + " on the path of lanes that are apart, not " +
                 std::to_string(each * expected_.links));
    }
  }

  // Finds instructions between the clock reads that wait for results that were still pending at the first
  // read. Read scoreboards (which protect source registers from being overwritten) are not considered.
  void check_prepared() {
    std::map<unsigned, std::string> pending;  // by scoreboard
    const auto pass = [&](const instruction& one) {
      std::erase_if(pending, [&](const auto& p) { return (one.wait_mask() >> p.first & 1) != 0; });
    };
    for (std::size_t i = 0; i + 1 < stretch_.first; ++i) {
      pass(code_[i]);
      if (code_[i].write_scoreboard() != no_scoreboard)
        pending[code_[i].write_scoreboard()] = called(code_[i]);
    }
    pass(code_[stretch_.first - 1]);  // the first clock read
    for (std::size_t i = stretch_.first; i <= stretch_.last; ++i) {
      for (const auto& [scoreboard, who] : pending)
        if ((code_[i].wait_mask() >> scoreboard & 1) != 0)
          complain(called(code_[i]) + " waits for " + who + ", which was begun before the first clock read");
      pass(code_[i]);
      pending.erase(code_[i].write_scoreboard());
    }
  }

  void check_enclosed() {
    const auto& [first, work, last] = expected_.enclosed;
    std::size_t outside = 0;
    bool open = false;
    for (std::size_t i = stretch_.first; i < stretch_.last && !work.empty(); ++i) {
      const auto name = called(code_[i]);
      if (name == first) open = true;
      if (name == last) open = false;
      outside += name == work && !open;
    }
    if (outside != 0) complain(word(outside, work.c_str()) + " outside of " + first + " and " + last);
  }

  // Follows the chain by tracking, for every register, which link its value comes from.
  void check_chain() {
    std::map<register_name, std::size_t> from;        // link + 1
    std::map<register_name, unsigned> scoreboard_of;  // registers whose scoreboard has not been waited for
    std::vector<register_name> first_reads;
    std::size_t links = 0;
    bool taken = false, waited = true;
    for (std::size_t i = stretch_.first; i < stretch_.last; ++i) {
      const auto& one = code_[i];
      for (auto it = scoreboard_of.begin(); it != scoreboard_of.end();)
        it = (one.wait_mask() >> it->second & 1) != 0 ? scoreboard_of.erase(it) : std::next(it);
      const auto what = operands_of(one);
      if (!what.known) {
        complain("the operands of " + std::string(one.name()) +
                 " are not in the table, so the chain cannot be followed");
        return;
      }
      std::size_t newest = 0;
      bool ready = true;
      for (const auto& source : what.reads) {
        if (const auto it = from.find(source); it != from.end()) newest = std::max(newest, it->second);
        if (scoreboard_of.contains(source)) ready = false;
      }
      if (one.name() == expected_.result_of) {
        if (links == 0) first_reads = what.reads;
        if (links >= expected_.side_by_side && newest + expected_.side_by_side <= links) {
          complain("link " + std::to_string(links + 1) + " does not take the result of the link before it");
          return;
        }
        newest = ++links;
        taken = false;
      } else if (links != 0 && newest == links) {  // uses the newest result, which may be the last one
        taken = true;
        waited = ready;
      }
      for (const auto& target : what.writes) {
        from[target] = newest;
        scoreboard_of.erase(target);
        if (one.write_scoreboard() != no_scoreboard) scoreboard_of[target] = one.write_scoreboard();
      }
    }
    const auto from_last = [&](const register_name& r) { return from.contains(r) && from[r] == links; };
    if (expected_.looped && links != 0 && std::ranges::none_of(first_reads, from_last))
      complain("the loop's first link does not take the result of its last one");
    if (links == 0) complain("no " + expected_.result_of + " between the clock reads");
    else if (!taken) complain("nothing takes the last result before the second clock read");
    else if (!waited) complain("the second clock read does not wait for the last result");
  }

  unsigned architecture_;
  std::span<const instruction> code_;
  const expected_code& expected_;
  code_verdict& verdict_;
  stretch stretch_;
};

}  // namespace

code_verdict check_code(const cubin& image, const expected_code& expected) {
  code_verdict verdict;
  verdict.kernel = expected.kernel;
  const bool known = image.architecture == architecture_known_in_full && !expected.library_code;
  verdict.looked_at = known ? depth::full : depth::clocks_and_stalls;
  const function* f = image.find(expected.kernel);
  if (f == nullptr) {
    verdict.complaints.push_back("no kernel " + expected.kernel + " in the machine code");
    return verdict;
  }
  examination(image, *f, expected, verdict).run();
  return verdict;
}

}  // namespace mgsync::machine_code
