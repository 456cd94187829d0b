#include "src/studies/blocking/case_board.hpp"

#include <unistd.h>

#include "src/base/child_process.hpp"
#include "src/base/json_fields.hpp"

namespace mgsync::blocking {
namespace {

constexpr auto look_every = std::chrono::milliseconds(1);
// How long the others have already been waiting when the late ones come, or the last ones exit.
constexpr auto well_waited = std::chrono::milliseconds(30);
constexpr auto longest_start = std::chrono::seconds(30);

bool absent(const case_run& run, unsigned i) { return is_absent(*run.asked, i, run.participants); }

// Waits until all absent, or all present, participants have that stamp. Unbounded here: the watcher ends the
// process.
template <class Stamp>
void wait_for(const case_run& run, bool absentees_only, Stamp stamp) {
  for (unsigned i = 0; i < run.participants; ++i)
    if (absent(run, i) == absentees_only)
      while (stamp(run.board->places[i]).load() == 0) std::this_thread::sleep_for(look_every);
}

void put(std::atomic<std::int64_t>& stamp, std::optional<std::int64_t> participant::*which,
         const stamp_listener& say) {
  participant now;
  now.*which = now_ns();
  stamp.store(*(now.*which));
  if (say) say(now);
}

void come(const case_run& run, unsigned me, const stamp_listener& say) {
  auto& mine = run.board->places[me];
  put(mine.arrived, &participant::arrived, say);
  if (run.barrier->meet(me)) put(mine.left, &participant::left, say);
  else mine.gave_up.store(1);
}

void stay_away(const case_run& run, unsigned me, const stamp_listener& say,
               const std::function<void()>& exit) {
  auto& mine = run.board->places[me];
  const auto how = run.asked->how;
  if (how == absence::late || how == absence::exit_late) {
    wait_for(
        run, false, [](case_board::place & p) -> auto& { return p.arrived; });
    std::this_thread::sleep_for(well_waited);
  }
  if (how == absence::late) return come(run, me, say);
  put(mine.acted, &participant::acted, say);
  switch (how) {
  case absence::exit_before:
  case absence::exit_late: mine.done.store(now_ns()); return exit();
  case absence::spin:
    for (volatile std::uint64_t turns = 0;;) turns = turns + 1;
  case absence::elsewhere:
    put(mine.arrived, &participant::arrived, say);
    run.barrier->wait_elsewhere(me);
    return put(mine.left, &participant::left, say);
  case absence::drop: return run.barrier->drop(me);
  case absence::late:
  case absence::nobody: return;
  }
}

}  // namespace

void take_part(const case_run& run, unsigned me, const stamp_listener& say,
               const std::function<void()>& exit) {
  const auto how = run.asked->how;
  if (absent(run, me)) {
    stay_away(run, me, say, exit);
  } else {
    if (how == absence::exit_before || how == absence::spin || how == absence::elsewhere ||
        how == absence::drop)
      wait_for(
          run, true, [](case_board::place & p) -> auto& { return p.acted; });
    come(run, me, say);
  }
}

bool settled(const case_run& run) {
  for (unsigned i = 0; i < run.participants; ++i) {
    const auto& p = run.board->places[i];
    if ((absent(run, i) && run.asked->how != absence::late ? p.acted : p.arrived).load() == 0) return false;
  }
  return true;
}

bool finished(const case_run& run) {
  const auto how = run.asked->how;
  for (unsigned i = 0; i < run.participants; ++i) {
    if (absent(run, i) && (how == absence::spin || how == absence::elsewhere)) continue;
    if (run.board->places[i].done.load() == 0) return false;
  }
  return settled(run);
}

std::string watch(const case_run& run) {
  // Waits of our barrier time out after the bound, so they get twice as long.
  const auto bound = std::chrono::milliseconds(run.asked->bound_ms) * (run.asked->method == "ours" ? 2 : 1);
  const auto begin = std::chrono::steady_clock::now();
  auto since = begin;
  bool waiting = false;
  for (;; std::this_thread::sleep_for(look_every)) {
    if (finished(run)) {
      for (unsigned i = 0; i < run.participants; ++i)
        if (run.board->places[i].gave_up.load() != 0) return "time-out";
      return "itself";
    }
    const auto now = std::chrono::steady_clock::now();
    if (!waiting && settled(run)) {
      waiting = true;
      since = now;
    }
    if (waiting && now - since > bound) return "bound";
    if (now - begin > bound + longest_start) return "bound";
  }
}

void tell(const case_seen& part) {
  if (!write_all(STDOUT_FILENO, on_wire(part) + "\n")) _exit(4);  // the parent has closed the pipe
}

void tell_found(const std::string& key, const std::string& text) { tell({.found = {{key, text}}}); }

}  // namespace mgsync::blocking
