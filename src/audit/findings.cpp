#include "src/audit/findings.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "src/audit/arrivals.hpp"
#include "src/audit/clocks.hpp"
#include "src/audit/lone_threads.hpp"
#include "src/audit/walk.hpp"

namespace mgsync::audit {
namespace {

using kind = step::kind;

// Of the machine code in between it is known how far accesses reach.
constexpr unsigned first_architecture = 80, last_architecture = 90;

constexpr std::string_view about_gpus = "whether another GPU takes part in these, which reach less than the "
                                        "system, or have a fence that does: they are right "
                                        "only if none does (--across-gpus looks at them as if one did)";

class orders {
 public:
  orders(const flow& code, const assumptions& a, report& r) : code_(code), assumed_(a), report_(r) {}

  void look() {
    for (const auto& [at, read] : endless_branches(code_))
      say(severity::fault, "endless-loop", at,
          fmt::format(
              "this branch goes by what {} read before the loop, and nothing in the loop reads it again",
              place(read)));
    waits_ = waiting_loops(code_);
    for (const waiting_loop& w : waits_) {
      if (w.looks_beside) continue;
      report_.waits.push_back({w.poll, w.of->head, w.has_bound});
      if (!code_[w.poll].strong)
        say(severity::fault, "ordinary-poll", w.poll, "the loop waits by an ordinary load");
      held_back(w);
      if (w.by_equality)
        say(severity::doubt, "equality", w.poll, "the loop around this ends at one value alone");
    }
    if (waits_.empty()) return;
    polls();
    flags();
    speakers();
    scopes();
    std::sort(report_.findings.begin(), report_.findings.end(),
              [](const auto& a, const auto& b) { return a.step < b.step; });
  }

 private:
  void say(severity how, std::string_view which, std::size_t at, std::string what) {
    report_.findings.push_back({how, &rule_named(which), at, std::move(what)});
  }
  bool is_poll(std::size_t at) const {
    code_.spend(waits_.size());
    return std::any_of(waits_.begin(), waits_.end(), [&](const auto& w) { return w.poll == at; });
  }
  bool is_flag(std::size_t at) const {
    const step& s = code_[at];
    if (!s.global || !s.strong || is_poll(at) || !code_.is_reached(at)) return false;
    for (const waiting_loop& w : waits_)
      if (w.looks_beside && !s.address.empty() && s.address == code_[w.poll].address) return false;
    if (s.what == kind::store) return !s.puts_zero && !(s.data.size() == 1 && code_.is_zero(s.data.front()));
    return s.what == kind::update && s.changes != step::change::nothing;
  }
  // The scope that the ordering of this access must have. A volatile access acts as one of system scope, but
  // may be meant for one GPU; machine code does not distinguish the two.
  reach wanted(const step& s) const {
    if (assumed_.across_gpus) return reach::system;
    return s.scope == reach::system && (s.is_volatile || !code_.of().is_text) ? reach::gpu : s.scope;
  }

  // Walks backwards from this access to fences, or to the writes (its own or other threads') that it
  // publishes.
  walk ways_to(std::size_t at) const {
    const auto collects = [&](std::size_t b) {
      const step& o = code_[b];
      return o.what == kind::block_barrier || o.what == kind::warp_barrier || o.what == kind::call ||
             (o.what == kind::store && o.global && !o.strong);
    };
    const auto back = [&](std::size_t b) { return code_.before(b); };
    return walk_along(code_, code_.before(at), back, order_half::release, wanted(code_[at]), collects);
  }

  // Checks that flags are released. An unreleased one is a fault if it surely is a flag: it is an arrival, or
  // no flag of the function is released, and none behind it publishes what it wrote.
  void flags() {
    const arrivals purposes(code_, waits_);
    std::vector<std::pair<std::size_t, walk>> unreleased;
    bool any_released = false;
    for (std::size_t at = 0; at < code_.size() && !code_.is_tired(); ++at) {
      if (!is_flag(at)) continue;
      ++report_.flags;
      if (code_[at].releases) {  // its scope is checked with that of all flags, in scopes()
        any_released = true;
        released_.push_back(at);
        continue;
      }
      walk w = ways_to(at);
      const bool all_released = w.ends.empty() && !w.came_to_its_beginning;
      any_released = any_released || !w.fences.empty();
      ask_about_gpus(at, w);
      if (!all_released) unreleased.emplace_back(at, std::move(w));
      else if (!w.fences.empty()) released_.push_back(at);
    }
    for (const auto& [at, w] : unreleased) {
      std::string from = "the beginning of the function";
      if (!w.ends.empty()) from = place(*w.ends.rbegin());
      if (!w.fences.empty())
        doubt("whether all ways to these flags have a release: some do, and which is taken is not followed",
              at);
      else if (code_[at].several)
        doubt("whether these bring along what is read behind them: they store several words at once", at);
      else if (purposes.is_ticket(at) ||
               (!purposes.is_arrival(at) &&
                (purposes.is_published(at, wanted(code_[at])) || (any_released && w.narrow.empty()))))
        doubt("whether somebody waits for these, which nothing releases", at);
      else if (!w.narrow.empty())
        too_narrow("release-scope", at, *w.narrow.rbegin(), "in front of this flag");
      else
        say(severity::fault, "release", at, fmt::format("nothing releases between {} and this flag", from));
    }
  }
  // A volatile access says nothing of who takes part: a fence of the block beside it may say that its threads
  // alone do.
  void too_narrow(std::string_view which, std::size_t at, std::size_t fence, std::string_view where) {
    const bool may_be_meant =
        wanted(code_[at]) < code_[at].scope && code_[fence].scope == reach::block && !assumed_.across_gpus;
    say(may_be_meant ? severity::doubt : severity::fault, which, at,
        fmt::format("{} {} reaches the {} only{}", place(fence), where, to_string(code_[fence].scope),
                    may_be_meant ? ": does another block take part?" : ""));
  }
  // Adds a place to an open question; equal questions are listed once with all their places.
  void doubt(std::string_view what, std::size_t at) {
    auto known = std::find_if(report_.not_known.begin(), report_.not_known.end(),
                              [&](const auto& o) { return o.what == what; });
    if (known == report_.not_known.end()) known = report_.not_known.insert(known, {std::string(what), {}});
    known->at.push_back(at);
  }

  // Walks from the poll through the branches that leave the loop because of its value, and onwards.
  walk ways_from(const waiting_loop& w) const {
    // Where the poll's result is used: by other threads after a barrier of the block or the warp, by this
    // thread's next ordinary load, or by a caller.
    const auto uses = [&](std::size_t at) {
      const step& s = code_[at];
      if (w.of->has(at)) return false;
      return s.what == kind::block_barrier || (s.what == kind::warp_barrier && code_.of().is_text) ||
             s.what == kind::call || (s.what == kind::load && s.global && !s.strong) ||
             (s.what == kind::end && !s.is_leaving);
    };
    const auto on = [&](std::size_t at) {
      std::vector<std::size_t> next = code_[at].next;
      const bool decides = std::find(w.deciding.begin(), w.deciding.end(), at) != w.deciding.end();
      if (w.of->has(at) && !decides)
        next.erase(std::remove_if(next.begin(), next.end(), [&](std::size_t n) { return !w.of->has(n); }),
                   next.end());
      return next;
    };
    return walk_along(code_, code_[w.poll].next, on, order_half::acquire, wanted(code_[w.poll]), uses);
  }

  // Asks about a flag of system scope whose fence only has the scope of one GPU, as the flag may be meant for
  // one GPU.
  void ask_about_gpus(std::size_t at, const walk& w) {
    const auto reaches_less = [&](std::size_t fence) { return code_[fence].scope < reach::system; };
    if (code_[at].scope == reach::system && std::any_of(w.fences.begin(), w.fences.end(), reaches_less))
      doubt(about_gpus, at);
  }

  void polls() {
    struct judged {
      const waiting_loop* of;
      walk found;
    };
    std::vector<judged> bad;
    std::set<const loop*> acquired;
    for (const waiting_loop& w : waits_) {
      const step& p = code_[w.poll];
      if (w.looks_beside || !p.strong) continue;
      // An update that waits until it can set a flag, and is the flag itself, needs no acquire: no data is
      // read after it.
      if (p.acquires || (p.what == kind::update && (p.releases || !ways_to(w.poll).fences.empty()))) {
        acquired.insert(w.of);
        continue;
      }
      walk found = ways_from(w);
      ask_about_gpus(w.poll, found);
      if (found.ends.empty()) acquired.insert(w.of);
      else bad.push_back({&w, std::move(found)});
    }
    for (const auto& [w, found] : bad) {
      const auto use = place(*found.ends.begin());
      if (!found.fences.empty())
        doubt(
            "whether all ways from these polls have an acquire: some do, and which is taken is not followed",
            w->poll);
      else if (acquired.count(w->of) != 0)
        doubt("whether these polls, which nothing acquires, are of flags: their loop waits for another one, "
              "too",
              w->poll);
      else if (!found.narrow.empty())
        too_narrow("acquire-scope", w->poll, *found.narrow.begin(), "behind this poll");
      else
        say(severity::fault, "acquire", w->poll,
            fmt::format("{}nothing acquires between this poll and {}",
                        code_[w->poll].what == kind::update ? "nothing releases ahead of this update, and "
                                                            : "",
                        use));
    }
  }

  void held_back(const waiting_loop& w) {
    if (const auto who = who_passes_by(code_, w))
      say(who->is_sure ? severity::fault : severity::doubt, "poller-alone", w.poll,
          fmt::format("threads that {} leads around this loop come to {} {}", place(who->branch),
                      place(who->access), held_by(*who)));
  }
  // Of flags that are to publish something: those that are released. Of all behind one branch one is told of.
  void speakers() {
    const guards by_number(code_);
    std::set<std::size_t> told;
    for (const std::size_t at : released_) {
      const auto who = who_is_not_spoken_for(code_, by_number, at);
      if (!who || !told.insert(who->branch).second) continue;
      say(who->is_sure ? severity::fault : severity::doubt, "speaker-alone", at,
          fmt::format("more threads store at {} than {} lets set this flag, and come there {}",
                      place(who->access), place(who->branch), held_by(*who)));
    }
  }
  static std::string_view held_by(const unheld& who) {
    return who.is_sure ? "without a barrier of the block"
                       : "with a shuffle or vote at most, which orders nothing, or have a barrier on some "
                         "ways only";
  }

  // Compares the scopes of all flags and polls of a function with each other and with the assumptions.
  void scopes() {
    std::vector<std::size_t> narrow;
    bool any_wide = false;
    for (std::size_t at = 0; at < code_.size() && !code_.is_tired(); ++at) {
      if (!is_flag(at) && !is_poll(at)) continue;
      const step& s = code_[at];
      if (s.strong && s.scope < reach::system) narrow.push_back(at);
      any_wide = any_wide || (s.scope == reach::system && !s.is_volatile);
    }
    if (narrow.empty()) return;
    if (!assumed_.across_gpus) {
      for (const std::size_t at : narrow) doubt(about_gpus, at);
      return;
    }
    for (const std::size_t at : narrow)
      say(any_wide ? severity::doubt : severity::fault, "flag-scope", at,
          fmt::format(
              "this {} reaches the {} only{}", is_poll(at) ? "poll" : "flag", to_string(code_[at].scope),
              any_wide ? ", where others of the function reach the system: is it for one GPU's blocks?"
                       : ""));
  }

  std::string place(std::size_t at) const { return audit::place(code_.of(), at); }

  const flow& code_;
  const assumptions& assumed_;
  report& report_;
  std::vector<waiting_loop> waits_;
  std::vector<std::size_t> released_;  // flags that are so on all ways
};

}  // namespace

report audit_function(const function& f, const assumptions& a) {
  report made;
  const flow code(f);
  for (const auto* sentences : {&f.not_known, &code.not_known()})
    for (const auto& one : *sentences) made.not_known.push_back({one, {}});
  if (f.is_text || f.architecture >= first_architecture) orders(code, a, made).look();
  else
    made.not_known.push_back(
        {fmt::format("everything: how far accesses reach is not read from machine code of compute "
                     "capability {}.{}; audit its PTX",
                     f.architecture / 10, f.architecture % 10),
         {}});
  if (!f.is_text && f.architecture > last_architecture)
    made.not_known.push_back(
        {fmt::format("instructions of compute capability {}.{} that 9.0 does not have; audit its PTX, too",
                     f.architecture / 10, f.architecture % 10),
         {}});
  look_at_clocks(f, made);
  if (!made.has_judged()) made.not_judged = why_none_waits(code);
  if (code.is_tired()) made.not_known.push_back({"the rest of this function: it goes too many ways", {}});
  return made;
}

}  // namespace mgsync::audit
