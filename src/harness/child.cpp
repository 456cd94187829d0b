#include "src/harness/child.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <csignal>

#include "src/base/errors.hpp"
#include "src/base/standard_streams.hpp"
#include "src/harness/study.hpp"

namespace mgsync {
namespace {

constexpr std::string_view in_child = "in-child";

}  // namespace

std::vector<std::string> words_of_child(std::string_view study, std::string asked) {
  return {std::string(in_child), std::string(study), std::move(asked)};
}

std::optional<int> run_as_child(std::span<const study* const> all, std::span<const std::string> words) {
  if (words.size() != 3 || words[0] != in_child) return std::nullopt;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const auto one = std::ranges::find(all, words[1], &study::name);
  if (one == all.end() || (*one)->in_child == nullptr) return std::nullopt;
  try {
    (*one)->in_child(words[2]);
    return 0;
  } catch (const usage_error& error) {
    say("mgsync in-child: {}\n", error.what());
    return static_cast<int>(exit_code::usage);
  }
}

}  // namespace mgsync
