#include "src/base/scratch_folder.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "src/base/errors.hpp"

namespace mgsync {
namespace {

// The body of the process that removes the folder once the parent has ended. It leaves the terminal's process
// group, so that Ctrl-C does not end it, and closes the standard streams, so that nobody who reads mgsync's
// output waits for it.
[[noreturn]] void remove_after(unique_descriptor alive, int until, const std::filesystem::path& folder) {
  alive = {};
  setsid();
  if (const int nowhere = open("/dev/null", O_RDWR); nowhere >= 0)
    for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nowhere, standard);
  char nothing = 0;
  while (read(until, &nothing, 1) < 0 && errno == EINTR) {}
  std::error_code failed;
  for (int i = 0; i < 50; ++i) {  // repeated, as a process that is just ending may still create a file there
    std::filesystem::remove_all(folder, failed);
    if (!std::filesystem::exists(folder, failed)) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  _exit(0);
}

}  // namespace

scratch_folder::scratch_folder() {
  const char* asked = std::getenv("TMPDIR");
  const std::string where = asked == nullptr || *asked == '\0' ? "/tmp" : asked;
  std::string name = where + "/mgsync-XXXXXX";
  if (mkdtemp(name.data()) == nullptr)
    throw usage_error(fmt::format("no folder for intermediate results can be made in '{}' ({}); accepted: "
                                  "TMPDIR naming a folder that can be written",
                                  where, std::generic_category().message(errno)));
  path_ = name;
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  const unique_descriptor until(ends[0]);
  alive_ = unique_descriptor(ends[1]);
  remover_ = fork();
  if (remover_ == 0) remove_after(std::move(alive_), until.get(), path_);
}

scratch_folder::~scratch_folder() {
  alive_ = {};
  if (remover_ > 0) waitpid(remover_, nullptr, 0);
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace mgsync
