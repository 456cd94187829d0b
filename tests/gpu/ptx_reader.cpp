#include "tests/gpu/ptx_reader.hpp"

#include <algorithm>
#include <cstdint>
#include <regex>
#include <set>
#include <sstream>
#include <tuple>

#include "src/models/ptx/text.hpp"

namespace mgsync::test {

namespace {

bool begins(const std::string& text, const char* with) { return text.rfind(with, 0) == 0; }
bool is_register(const std::string& word) {
  return word.size() > 1 && word[0] == '%' && (word[1] == 'r' || word[1] == 'p' || word[1] == 'f');
}

// `line`: of the text, with its comments, in which the barriers' authors mark what to look at.
ptx_instruction instruction_of(const ptx::statement& from, const std::string& line) {
  static const std::regex word(R"(%[a-zA-Z_]\w*(?:\.\w)?|\$\w+|-?\w+)");
  ptx_instruction made{.guard = std::string(from.condition),
                       .negated = from.if_not,
                       .opcode = std::string(from.opcode),
                       .operands = {},
                       .text = line};
  const std::string rest(from.text.substr(from.opcode.size()));
  for (std::sregex_iterator w(rest.begin(), rest.end(), word), end; w != end; ++w)
    made.operands.push_back(w->str());
  return made;
}

// What is known of a value: the bits of `mask` are those of `value`.
struct known {
  std::uint64_t mask = 0, value = 0;
  bool operator<(const known& o) const { return std::tie(mask, value) < std::tie(o.mask, o.value); }
};
constexpr std::uint64_t all_bits = ~std::uint64_t{0};

// What is observed, and what was done since. Less is worse.
struct progress {
  enum : int { observed, acquired, met, released_to_gpu, released_to_all };
  int stage = acquired;  // at first nothing was observed: a barrier of the block comes first
  bool operator<(const progress& o) const { return stage < o.stage; }
};

using knowledge = std::map<std::string, known>;

class walk {
 public:
  walk(const ptx_code& code, reach wanted) : code_(code), wanted_(wanted), live_(liveness()) {}

  std::string run() {
    std::vector<std::tuple<int, progress, knowledge>> open{{0, {}, {}}};
    std::set<std::tuple<int, progress, knowledge>> seen;
    while (!open.empty()) {
      auto [at, how, env] = open.back();
      open.pop_back();
      for (auto e = env.begin(); e != env.end();)
        e = live_[static_cast<std::size_t>(at)].count(e->first) ? std::next(e) : env.erase(e);
      if (!seen.insert({at, how, env}).second) continue;
      if (seen.size() > 400'000) return "too many paths";
      const auto& i = code_[static_cast<std::size_t>(at)];
      if (auto why = step(i, how, env); !why.empty()) return why + ": " + i.text;
      const known guard = i.guard.empty() ? known{1, i.negated ? 0u : 1u} : value_of(env, i.guard);
      const bool may = guard.mask == 0 || (guard.value != 0) != i.negated,
                 may_not = !i.guard.empty() && (guard.mask == 0 || !((guard.value != 0) != i.negated));
      if (begins(i.opcode, "bra")) {
        if (may) {
          const auto there = told_by(i, at, true, env);
          open.emplace_back(i.target, how,
                            i.target <= at ? without_what_changes(there, i.target, at) : there);
        }
        if (may_not && next(at) >= 0) open.emplace_back(next(at), how, told_by(i, at, false, env));
        continue;
      }
      if (i.opcode == "ret" || i.opcode == "exit") {
        if (may_not && next(at) >= 0) open.emplace_back(next(at), how, env);
        continue;
      }
      learn(i, env);
      if (next(at) >= 0) open.emplace_back(next(at), how, env);
    }
    return {};
  }

  bool stored = false, polled = false, paid = false;

 private:
  int next(int at) const { return at + 1 < static_cast<int>(code_.size()) ? at + 1 : -1; }

  static known value_of(const knowledge& env, const std::string& word) {
    if (is_register(word)) {
      const auto found = env.find(word);
      return found == env.end() ? known{} : found->second;
    }
    if (word.find_first_not_of("-0123456789") == std::string::npos)
      return {all_bits, static_cast<std::uint64_t>(std::stoll(word))};
    return {};
  }

  static std::vector<std::string> written_by(const ptx_instruction& i) {
    for (const char* none :
         {"st.", "red.", "bar.", "barrier.", "bra", "fence", "membar", "ret", "exit", "prefetch"})
      if (begins(i.opcode, none)) return {};
    std::vector<std::string> written;
    if (i.text.find('{') != std::string::npos && (begins(i.opcode, "ld") || begins(i.opcode, "mov"))) {
      const auto open = i.text.find('{'), comma = i.text.find(',');
      if (open < comma || comma == std::string::npos) {  // a vector is written
        const std::string list = i.text.substr(open, i.text.find('}') - open);
        for (const auto& w : i.operands)
          if (list.find(w) != std::string::npos) written.push_back(w);
        return written;
      }
    }
    if (!i.operands.empty()) written.push_back(i.operands.front());
    if (i.text.find('|') != std::string::npos && i.operands.size() > 1) written.push_back(i.operands[1]);
    return written;
  }

  std::vector<int> after(int at) const {
    const auto& i = code_[static_cast<std::size_t>(at)];
    std::vector<int> there;
    if (i.target >= 0) there.push_back(i.target);
    const bool leaves =
        i.guard.empty() && (begins(i.opcode, "bra") || i.opcode == "ret" || i.opcode == "exit");
    if (next(at) >= 0 && !leaves) there.push_back(next(at));
    return there;
  }

  std::set<int> reached_from(int begin) const {
    std::set<int> seen{begin};
    for (std::vector<int> open{begin}; !open.empty();) {
      const int at = open.back();
      open.pop_back();
      for (const int there : after(at))
        if (seen.insert(there).second) open.push_back(there);
    }
    return seen;
  }

  // A register's value may have become another by the time a loop comes round: of those that are written on a
  // way from `to` back to `from`.
  knowledge without_what_changes(knowledge env, int to, int from) {
    auto [known, fresh] = changed_.try_emplace({to, from});
    if (fresh)
      for (const int k : reached_from(to))
        if (reached_from(k).count(from) != 0)
          for (const auto& w : written_by(code_[static_cast<std::size_t>(k)])) known->second.insert(w);
    for (const auto& w : known->second) env.erase(w);
    return env;
  }

  std::vector<std::set<std::string>> liveness() const {
    std::vector<std::set<std::string>> live(code_.size());
    for (bool changed = true; changed;) {
      changed = false;
      for (int at = static_cast<int>(code_.size()) - 1; at >= 0; --at) {
        const auto& i = code_[static_cast<std::size_t>(at)];
        std::set<std::string> now;
        for (const int there : after(at))
          now.insert(live[static_cast<std::size_t>(there)].begin(),
                     live[static_cast<std::size_t>(there)].end());
        const auto written = written_by(i);
        if (i.guard.empty())
          for (const auto& w : written) now.erase(w);
        std::size_t reads_from = written.size();
        for (std::size_t k = reads_from; k < i.operands.size(); ++k)
          if (is_register(i.operands[k])) now.insert(i.operands[k]);
        if (!i.guard.empty()) now.insert(i.guard);
        if (now != live[static_cast<std::size_t>(at)]) {
          live[static_cast<std::size_t>(at)] = std::move(now);
          changed = true;
        }
      }
    }
    return live;
  }

  int last_write(const std::string& word, int before) const {
    for (int k = before - 1; k >= std::max(0, before - 60); --k) {
      const auto written = written_by(code_[static_cast<std::size_t>(k)]);
      if (std::find(written.begin(), written.end(), word) != written.end()) return k;
    }
    return -1;
  }

  // What the way that a branch goes tells of the register that was looked at: all of it, or one bit of it.
  knowledge told_by(const ptx_instruction& branch, int at, bool taken, knowledge env) const {
    if (branch.guard.empty()) return env;
    bool holds = taken != branch.negated;
    env[branch.guard] = {1, holds ? 1u : 0u};
    int test = last_write(branch.guard, at);
    // A predicate turned round: not.pred, or xor.pred with one that is true.
    while (test >= 0 && (begins(code_[static_cast<std::size_t>(test)].opcode, "not.pred") ||
                         begins(code_[static_cast<std::size_t>(test)].opcode, "xor.pred"))) {
      const auto& turned = code_[static_cast<std::size_t>(test)];
      if (begins(turned.opcode, "xor.pred")) {
        const known with = value_of(env, turned.operands[2]);
        if (with.mask == 0) return env;
        holds = holds != (with.value != 0);
      } else {
        holds = !holds;
      }
      env[turned.operands[1]] = {1, holds ? 1u : 0u};
      test = last_write(turned.operands[1], test);
    }
    if (test < 0) return env;
    const auto& t = code_[static_cast<std::size_t>(test)];
    const bool equal = begins(t.opcode, "setp.eq"), unequal = begins(t.opcode, "setp.ne");
    if ((!equal && !unequal) || t.operands.size() != 3 || (t.operands[2] != "0" && t.operands[2] != "1"))
      return env;
    if (t.operands[2] == "1") {  // of a register masked to its lowest bit: the other way round
      const int masked = last_write(t.operands[1], test);
      if (masked < 0 || !begins(code_[static_cast<std::size_t>(masked)].opcode, "and.") ||
          code_[static_cast<std::size_t>(masked)].operands[2] != "1")
        return env;
      holds = !holds;
    }
    const bool zero = equal == holds;
    std::string looked_at = t.operands[1];
    std::uint64_t mask = all_bits;
    if (const int masked = last_write(looked_at, test);
        masked >= 0 && begins(code_[static_cast<std::size_t>(masked)].opcode, "and.")) {
      const auto& m = code_[static_cast<std::size_t>(masked)];
      const known number = value_of(env, m.operands[2]);
      if (number.mask != all_bits) return env;
      looked_at = m.operands[1];
      mask = number.value;
    }
    for (int copied = test; copied >= 0;) {
      known& learned = env[looked_at];
      if (zero) {
        learned = {learned.mask | mask, learned.value & ~mask};
      } else if (const std::uint64_t open = mask & ~learned.mask;
                 (learned.value & mask) == 0 && open != 0 && (open & (open - 1)) == 0) {
        learned = {learned.mask | open, learned.value | open};  // one bit is left that can be the one
      }
      if (learned.mask == 0) env.erase(looked_at);
      copied = copy_of_another(looked_at, copied, at);
      if (copied >= 0) looked_at = code_[static_cast<std::size_t>(copied)].operands[1];
    }
    return env;
  }

  // Where `word`, as `before` reads it, was made a copy of a register that is still the same at `at`: in a
  // row of instructions that nothing leads into. -1: nowhere.
  int copy_of_another(const std::string& word, int before, int at) const {
    const int made = last_write(word, before);
    if (made < 0) return -1;
    const auto& copy = code_[static_cast<std::size_t>(made)];
    if (!begins(copy.opcode, "mov.") || !copy.guard.empty() || copy.operands.size() != 2 ||
        !is_register(copy.operands[1]))
      return -1;
    if (last_write(copy.operands[1], at) > made) return -1;
    const auto led_into = [&](const ptx_instruction& i) { return i.target > made && i.target <= at; };
    return std::any_of(code_.begin(), code_.end(), led_into) ? -1 : made;
  }

  static known compared(const std::string& how, known a, known b) {
    const std::uint64_t both = a.mask & b.mask;
    const bool differ = ((a.value ^ b.value) & both) != 0, whole = both == all_bits;
    if (how == "eq" && (differ || whole)) return {1, differ ? 0u : 1u};
    if (how == "ne" && (differ || whole)) return {1, differ ? 1u : 0u};
    return {};
  }

  static void learn(const ptx_instruction& i, knowledge& env) {
    const auto operand = [&](std::size_t n) {
      return n < i.operands.size() ? value_of(env, i.operands[n]) : known{};
    };
    known made;
    const known a = operand(1), b = operand(2);
    const auto bits = [](known k) { return k.mask & k.value; };
    if (i.guard.empty()) {
      if (begins(i.opcode, "mov.") && i.operands.size() == 2) made = a;
      else if (begins(i.opcode, "not.pred") && a.mask != 0) made = {1, a.value ^ 1};
      else if (begins(i.opcode, "xor.pred") && a.mask != 0 && b.mask != 0)
        made = {1, (a.value ^ b.value) & 1};
      else if (begins(i.opcode, "and."))
        made = {(a.mask & b.mask) | (a.mask & ~a.value) | (b.mask & ~b.value), bits(a) & bits(b)};
      else if (begins(i.opcode, "or.")) made = {(a.mask & b.mask) | bits(a) | bits(b), bits(a) | bits(b)};
      else if (begins(i.opcode, "shl.") && b.mask == all_bits && b.value < 32)
        made = {a.mask << b.value | ((std::uint64_t{1} << b.value) - 1), bits(a) << b.value};
      else if (begins(i.opcode, "setp.") && i.operands.size() == 3)
        made = compared(i.opcode.substr(5, 2), a, b);
      else if (begins(i.opcode, "selp.")) {
        const known which = operand(3);
        if (which.mask != 0) made = which.value != 0 ? a : b;
        else made = {a.mask & b.mask & ~(a.value ^ b.value), a.value & b.value};
      }
    }
    if (begins(i.opcode, "mov.pred") && made.mask != 0) made = {1, made.value & 1};
    made.value &= made.mask;
    for (const auto& w : written_by(i)) {
      if (made.mask == 0 || !is_register(w)) env.erase(w);
      else env[w] = made;
    }
  }

  std::string step(const ptx_instruction& i, progress& now, const knowledge& env) {
    const std::string& op = i.opcode;
    const auto acquire = [&] { now.stage = std::max<int>(now.stage, progress::acquired); };
    if (begins(op, "fence.acquire")) {
      acquire();
    } else if (begins(op, "fence.release") || begins(op, "fence.acq_rel") || begins(op, "fence.sc")) {
      const int released =
          op.find(".sys") != std::string::npos ? progress::released_to_all : progress::released_to_gpu;
      if (now.stage >= progress::met) now.stage = std::max<int>(now.stage, released);
      else if (!begins(op, "fence.release")) acquire();
    } else if (begins(op, "bar.") || begins(op, "barrier.")) {
      if (now.stage == progress::acquired) now.stage = progress::met;
    } else if (begins(op, "ld.relaxed") || begins(op, "ld.acquire")) {
      polled = true;
      now.stage = begins(op, "ld.acquire") ? progress::acquired : progress::observed;
    } else if (begins(op, "st.relaxed.gpu") || (begins(op, "red.relaxed") && !adds_one(i, env))) {
      now.stage = std::min<int>(now.stage,
                                progress::acquired);  // counters of its own GPU put right: ahead of the flags
    } else if (begins(op, "red.relaxed") || begins(op, "atom.relaxed") || begins(op, "atom.acquire")) {
      if (now.stage < progress::released_to_gpu) return "an arrival that nothing releases";
      if (begins(op, "atom."))
        now.stage = begins(op, "atom.acquire") ? progress::acquired : progress::observed;
    } else if (begins(op, "st.relaxed.sys")) {
      stored = true;
      if (now.stage < (wanted_ == reach::gpu ? progress::released_to_gpu : progress::released_to_all))
        return "a flag that nothing releases";
    } else if (begins(op, "call")) {
      polled = true;
      now.stage = progress::observed;
    }
    if (i.text.find("// written") != std::string::npos)
      now.stage = std::min<int>(now.stage, progress::acquired);
    if (i.text.find("// payload") != std::string::npos) {
      paid = true;
      if (now.stage < progress::met) return "what is read behind the barrier is not acquired";
    }
    return {};
  }

  static bool adds_one(const ptx_instruction& i, const knowledge& env) {
    const known added = value_of(env, i.operands.back());
    return added.mask == all_bits && added.value == 1;
  }

  const ptx_code& code_;
  reach wanted_;
  std::vector<std::set<std::string>> live_;
  std::map<std::pair<int, int>, std::set<std::string>> changed_;
};

}  // namespace

std::map<std::string, ptx_code> read_ptx(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream by_line(text);
  for (std::string line; std::getline(by_line, line);) lines.push_back(line);
  std::map<std::string, ptx_code> all;
  ptx::text_reader reader(text);
  while (const auto function = reader.next()) {
    ptx_code& code = all[std::string(function->name)];
    for (const ptx::statement& one : function->statements) {
      code.push_back(instruction_of(one, lines.at(static_cast<std::size_t>(one.line) - 1)));
      if (one.opcode.starts_with("bra"))
        code.back().target = static_cast<int>(function->label(one.operands.at(0), one.braces).value());
    }
  }
  return all;
}

std::string what_is_wrong(const ptx_code& code, reach wanted, bool stores) {
  if (code.empty()) return "no such kernel";
  walk along(code, wanted);
  if (auto why = along.run(); !why.empty()) return why;
  if (stores && !along.stored) return "no flag is stored";
  if (!along.polled) return "nothing is polled";
  if (!along.paid) return "nothing is read behind the barrier";
  return {};
}

}  // namespace mgsync::test
