#include "src/app/early_end.hpp"

#include <unistd.h>

#include <csignal>
#include <string>

#include <fmt/format.h>

#include "src/base/communicator.hpp"
#include "src/base/errors.hpp"
#include "src/base/standard_streams.hpp"

namespace mgsync {

namespace {

// Which ranks of the job were lost. If rank 0 is among them, the rank that stands by takes over writing.
std::string lost_now(outputs& written) {
  auto lost = communicator::lost_ranks();
  if (!lost.empty() && communicator::first_is_gone()) written.take_over();
  return lost;
}

void end_when_stuck(watchdog& dog, outputs& written, std::string why) {
  const auto lost = lost_now(written);
  auto blame = dog.leaving_with() == static_cast<int>(exit_code::barrier_failed) ? result_status::failed
                                                                                 : result_status::error;
  if (!lost.empty()) {
    why = communicator::has_word() ? lost : fmt::format("{}; {}", lost, why);
    dog.leave_with(static_cast<int>(exit_code::failure));
    blame = result_status::error;
  } else if (signal_received() != 0) {
    why = fmt::format("interrupted by {}; {}", signal_in_words(), why);
    blame = result_status::interrupted;
  }
  say("mgsync: {}\n", why);
  written.write_in_emergency(why, blame);
  if (lost.empty() || communicator::speaks_first()) return;
  communicator::leave_word(why);
  communicator::let_first_write(patience_of_a_failed_rank);
}

// After a lost rank, a launcher sends the others a signal and gives them about a second, so everything is
// written at once. After another signal the command ends by itself; as that may take too long, the results
// are written already now.
bool write_at_signal(outputs& written) {
  if (crash_received() != 0) {
    const auto rank = communicator::this_rank();
    const auto why = fmt::format("{} crashed: {}", rank.empty() ? "mgsync" : rank, signal_in_words());
    communicator::leave_word(why);
    say("mgsync: {}\n", why);
    if (!written.write_in_emergency(why, result_status::error)) return false;
    communicator::let_first_write(patience_of_a_failed_rank);
    return true;
  }
  if (signal_received() == 0)  // another rank has left word, and ends the job as soon as this is written
    return written.write_in_emergency(communicator::lost_ranks(), result_status::error);
  const auto lost = communicator::is_over() ? "" : lost_now(written);
  if (!communicator::speaks_first() && !written.has_files()) return true;
  if (lost.empty()) return written.write_meanwhile(fmt::format("interrupted by {}", signal_in_words()));
  const bool said = communicator::has_word();
  const auto why = said ? lost : fmt::format("{}; the launcher ended the job", lost);
  if (!written.write_in_emergency(why, result_status::error)) return false;
  if (!said) say("mgsync: {}\n", why);
  _exit(static_cast<int>(exit_code::failure));
}

}  // namespace

void watch_over(std::optional<watchdog>& dog, outputs& written) {
  take_note_of_signals();
  dog.emplace([](const std::string&) {}, [&](const std::string& why) { end_when_stuck(*dog, written, why); },
              [&] { return write_at_signal(written); });
}

}  // namespace mgsync
