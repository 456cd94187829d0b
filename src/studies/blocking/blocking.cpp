// Study blocking: who is held by a barrier, and who may be absent from it (paper 000, section VIII, figures
// 17 and 18).
#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/communicator.hpp"
#include "src/base/errors.hpp"
#include "src/harness/axis_words.hpp"
#include "src/harness/methods/outcome.hpp"
#include "src/harness/study.hpp"
#include "src/studies/blocking/blocking_evaluation.hpp"
#include "src/studies/blocking/case_subject.hpp"

namespace mgsync {
namespace blocking { namespace {

bool asks_for(const study_request& asked, std::string_view axis, std::string_view one) {
  return std::ranges::any_of(asked.list(axis),
                             [one](const std::string& word) { return word == "all" || word == one; });
}

// The barriers of this device that were asked for.
std::vector<const method*> chosen(const study_request& asked) {
  std::vector<const method*> all;
  for (const auto& m : methods())
    if (m.device == asked.device && asks_for(asked, "level", m.level) && asks_for(asked, "method", m.name))
      all.push_back(&m);
  return all;
}

void read_methods(const study_request& asked) {
  std::set<std::string_view> names{"all"};
  for (const auto& m : methods())
    if (m.device == asked.device) names.insert(m.name);
  check_words("method", asked.list("method"), std::vector(names.begin(), names.end()));
}

constexpr std::array<axis_declaration, 10> axes{{
    {"question", "holds,absent", "holds, absent", "does it hold everybody, and what if some stay away?"},
    {"level", "all",
     "all; host members: member, rank, thread; GPUs: guard, lane, warp, cluster, grid, multigrid-blocks, "
     "multigrid-gpus",
     "whose barriers"},
    {"method", "all",
     "all, or names of barriers: std-barrier, pthread-barrier, openmp, mpi-barrier, ours, ...",
     "which barriers", word_count::list, read_methods},
    {"how", "exit-before,exit-late,spin,elsewhere,late,drop",
     "exit-before, exit-late, spin, elsewhere, late, drop", "what the absent do instead"},
    {"who", "first,last,half", "first, last, half", "who is absent"},
    {"form", "branch,predicated", "GPUs: branch, predicated", "how the code leaves the absent out"},
    {"members", "4", "host members: 2 to 64", "threads, team members or ranks", word_count::one},
    {"bound", "500", "50 to 4000", "how long all may wait once everybody has done what he does",
     word_count::one, nullptr, "ms"},
    {"runs", "1", "1 to 100", "how often each case is tried", word_count::one},
    {"gpu_is_mine", "no", "GPUs: no, yes",
     "whether nothing else uses the GPUs: the cases end kernels by traps", word_count::one},
}};

constexpr refused_option refused[] = {
    {"check-rounds", "a case is itself a check, of who is held"},
    {"no-check", "a case is itself a check, of who is held"},
    {"precision", "a case has an outcome and no figure, and is tried --runs times"},
    {"max-time", "a case has an outcome and no figure, and is tried --runs times"},
    {"no-pin", "its members are pinned to no processor"},
    {"oversubscribe", "its members may share processors as they are"},
};

unsigned number(const study_request& asked, std::string_view axis) {
  return static_cast<unsigned>(std::stoul(asked.list(axis).front()));
}

// What CUDA shows of the machine's GPUs, as it calls them; all, where nobody asked CUDA: planning on a
// machine that was described.
std::vector<int> gpus_of(const study_request& asked) {
  std::vector<int> shown, all;
  for (const auto& gpu : asked.machine().gpus) {
    all.push_back(static_cast<int>(all.size()));
    if (gpu.cuda_ordinal) shown.push_back(*gpu.cuda_ordinal);
  }
  return shown.empty() ? all : shown;
}

std::string why_not_here(const study_request& asked, const method& m, const case_starter& by) {
  if (asked.device == topology::device::gpu) {
    if (!asked.with_cuda) return "this mgsync was built without CUDA";
    if (asked.list("gpu_is_mine").front() != "yes")
      return "its cases end kernels by traps: say --gpu-is-mine yes where nothing else uses the GPUs";
    if (std::getenv("CUDA_MPS_PIPE_DIRECTORY") != nullptr || access("/tmp/nvidia-mps/control", F_OK) == 0)
      return "a trap would end the work of all who share the GPU by MPS";
    const unsigned needed = m.level == "multigrid-gpus" ? 2 : 1;
    if (const auto here = gpus_of(asked).size(); here < needed)
      return fmt::format("{} GPUs are needed, and {} are here", needed, here);
  }
  if (asked.planning) return {};
  if (m.level == "rank" && by.launcher.empty()) return "no mpirun and no mpiexec in PATH";
  if (m.level == "rank" && geteuid() == 0 && communicator::library_version().starts_with("Open MPI") &&
      (std::getenv("OMPI_ALLOW_RUN_AS_ROOT") == nullptr ||
       std::getenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM") == nullptr))
    return "Open MPI starts nothing for root unless OMPI_ALLOW_RUN_AS_ROOT=1 and "
           "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1";
  if (access(by.program.c_str(), X_OK) != 0)
    return fmt::format("{} is not there: its cases run in it", by.program);
  return {};
}

class planner {
 public:
  explicit planner(const study_request& asked)
      : asked_(&asked),
        by_(starter_here()),
        bound_ms_(number(asked, "bound")),
        runs_(number(asked, "runs")) {}

  std::vector<measurement> plan() const {
    std::vector<measurement> all;
    for (const auto& question : asked_->list("question"))
      for (const auto* m : chosen(*asked_)) {
        if (question == "holds") add_rounds(*m, all);
        else add_cases(*m, all);
      }
    return all;
  }

 private:
  // Part 1: of GPUs the lanes of a warp only, as in the paper; on the host every barrier.
  void add_rounds(const method& m, std::vector<measurement>& all) const {
    if (m.device == topology::device::gpu && m.level != "lane") return;
    auto c = base(m);
    c.rounds = m.device == topology::device::gpu ? 1'000'000 : 2000;
    all.push_back(planned(m, c, "holds"));
  }

  void add_cases(const method& m, std::vector<measurement>& all) const {
    const std::vector<std::string> none{""};
    for (const auto& form : m.has_forms ? asked_->list("form") : none)
      for (const auto& how : asked_->list("how"))
        for (const auto& who : asked_->list("who")) {
          auto c = base(m);
          c.how = *from_word<absence>(how);
          c.who = who;
          c.form = form;
          if (c.how == absence::drop && !m.may_drop) continue;
          if (m.level == "guard" && (c.how != absence::spin || c.who != "last"))
            continue;  // it asks one thing
          all.push_back(planned(m, c, "absent"));
        }
  }

  blocking_case base(const method& m) const {
    blocking_case c;
    c.level = m.level;
    c.method = m.name;
    c.bound_ms = bound_ms_;
    c.members = m.device == topology::device::host ? number(*asked_, "members") : participants_of(m.level);
    if (m.device == topology::device::gpu) {
      c.gpus = gpus_of(*asked_);
      c.gpus.resize(
          std::min(c.gpus.size(), m.level.starts_with("multigrid") ? std::size_t{2} : std::size_t{1}));
    }
    return c;
  }

  // Lanes of a warp; warps of a block, blocks of a cluster, of a grid and of each GPU; GPUs.
  unsigned participants_of(std::string_view level) const {
    const auto gpus = static_cast<unsigned>(std::clamp<std::size_t>(gpus_of(*asked_).size(), 1, 2));
    if (level == "lane") return 32;
    if (level == "guard" || level == "multigrid-gpus") return 2;
    return level == "multigrid-blocks" ? 4 * gpus : 4;
  }

  measurement planned(const method& m, const blocking_case& c, const std::string& question) const {
    measurement all;
    all.point.study = "blocking";
    all.point.subject = m.name;
    all.point.device = m.device;
    all.point.members = static_cast<int>(c.members);
    if (m.level == "rank") all.point.ranks = static_cast<int>(c.members);
    if (m.device == topology::device::gpu) {
      all.point.members = static_cast<int>(c.gpus.size());
      all.point.group = c.gpus;
      all.point.set("participants", static_cast<double>(c.members));
    } else {
      for (unsigned i = 0; i < c.members; ++i) all.point.group.push_back(static_cast<int>(i));
    }
    all.point.set("level", std::string(m.level));
    all.point.set("question", question);
    if (!c.form.empty()) all.point.set("form", c.form);
    if (question == "absent") {
      all.point.set("how", std::string(to_string(c.how)));
      all.point.set("who", c.who);
      all.point.set("bound", static_cast<double>(c.bound_ms), "ms");
    } else {
      all.point.set("rounds", static_cast<double>(c.rounds));
    }
    all.waived = why_not_here(*asked_, m, by_);
    const auto runs = question == "holds" ? 1 : runs_;
    all.create = [by = by_, c] { return make_case_subject(by, c); };
    all.method = [runs] { return std::make_unique<outcome_of_runs>(runs); };
    all.prover = [c] { return make_outcome_prover(c); };
    return all;
  }

  const study_request* asked_;
  case_starter by_;
  unsigned bound_ms_, runs_;
};

std::vector<measurement> points(const study_request& asked) { return planner(asked).plan(); }

}}  // namespace blocking

extern const study blocking_study;
const study blocking_study{
    .name = "blocking",
    .summary = "who is held by a barrier, and who may be absent from it without hanging the others",
    .axes = blocking::axes,
    .points = blocking::points,
    .evaluate = blocking::evaluate,
    .refuses = blocking::refused};

}  // namespace mgsync
