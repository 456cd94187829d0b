// Study blocking: whom does a barrier hold, and who may be absent from it (paper 000, section VIII, figures
// 17 and 18)?
#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <unistd.h>

#include <fmt/format.h>

#include "src/base/communicator.hpp"
#include "src/harness/methods/outcome.hpp"
#include "src/harness/study.hpp"
#include "src/studies/blocking/blocking_evaluation.hpp"
#include "src/studies/blocking/case_subject.hpp"
#include "src/studies/blocking/host_cases.hpp"

namespace mgsync {
namespace blocking { namespace {

enum class question { holds, absent };
constexpr std::pair<question, std::string_view> question_words[] = {{question::holds, "holds"},
                                                                    {question::absent, "absent"}};
constexpr axis_of<question> questions({.name = "question",
                                       .help = "does it hold everybody, and what if some stay away?"},
                                      question_words);

// The levels, or the names (`Part`), of a device's barriers.
template <topology::device Device, auto Part>
std::set<std::string_view> words_of_methods() {
  std::set<std::string_view> all;
  for (const auto& m : methods())
    if (m.device == Device) all.insert(m.*Part);
  return all;
}
using topology::device;
constexpr axis_of<std::string_view> levels(
    {.name = "level", .help = "whose barriers"},
    names_in<words_of_methods<device::host, &method::level>>{.of = only_hosts},
    names_in<words_of_methods<device::gpu, &method::level>>{.of = only_gpus});
constexpr axis_of<std::string_view> barriers(
    {.name = "method", .help = "which barriers"},
    names_in<words_of_methods<device::host, &method::name>>{.of = only_hosts},
    names_in<words_of_methods<device::gpu, &method::name>>{.of = only_gpus});

constexpr axis_of<absence> absences({.name = "how", .help = "what the absent do instead"},
                                    words_in<absence>{
                                        .table = std::span(enum_words<absence>::list).subspan(1)});
constexpr std::string_view who_words[] = {"first", "last", "half"};
constexpr axis_of<std::string_view> absentees_asked({.name = "who", .help = "who is absent"}, who_words);

constexpr std::string_view form_words[] = {"branch", "predicated"};
constexpr axis_of<std::string_view> forms({.name = "form", .help = "how the code leaves the absent out"},
                                          words_in<std::string_view>{.of = only_gpus, .table = form_words});

constexpr axis_of<unsigned> members({.name = "members",
                                     .help = "threads, team members or ranks",
                                     .counts = word_count::one},
                                    numbers_in{.of = only_hosts, .least = 2, .most = 64, .defaults = "4"});
constexpr axis_of<unsigned> bound({.name = "bound",
                                   .help = "how long all may wait once everybody has done what he does",
                                   .unit = "ms",
                                   .counts = word_count::one},
                                  numbers_in{.least = 50, .most = 4000, .defaults = "500"});
constexpr axis_of<unsigned> runs({.name = "runs",
                                  .help = "how often each case is tried",
                                  .counts = word_count::one},
                                 numbers_in{.least = 1, .most = 100, .defaults = "1"});

constexpr std::pair<bool, std::string_view> no_or_yes[] = {{false, "no"}, {true, "yes"}};
constexpr axis_of<bool> gpu_is_mine(
    {.name = "gpu_is_mine",
     .help = "whether nothing else uses the GPUs: the cases end kernels by traps",
     .counts = word_count::one},
    words_in<bool>{.of = only_gpus, .defaults = "no", .table = no_or_yes});

constexpr const axis_declaration* axes[] = {&questions, &levels,  &barriers, &absences, &absentees_asked,
                                            &forms,     &members, &bound,    &runs,     &gpu_is_mine};

constexpr refused_option refused[] = {
    {"check-rounds", "a case is itself a check, of who is held"},
    {"no-check", "a case is itself a check, of who is held"},
    {"precision", "a case has an outcome and no figure, and is tried --runs times"},
    {"max-time", "a case has an outcome and no figure, and is tried --runs times"},
    {"no-pin", "its members are pinned to no processor"},
    {"oversubscribe", "its members may share processors as they are"},
};

// The barriers of this device that were asked for.
std::vector<const method*> methods_of(const study_request& asked) {
  const auto has = [](const auto& all, std::string_view one) {
    return std::ranges::find(all, one) != all.end();
  };
  std::vector<const method*> some;
  for (const auto& m : methods())
    if (m.device == asked.device && has(asked.values(levels), m.level) && has(asked.values(barriers), m.name))
      some.push_back(&m);
  return some;
}

// The ordinals of the machine's GPUs that CUDA reports; all GPUs where CUDA was not asked, since a described
// machine is planned for.
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
    if (!asked.one(gpu_is_mine))
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
  return {};
}

class planner {
 public:
  explicit planner(const study_request& asked)
      : asked_(&asked), crew_(std::make_shared<case_crew>(starter_here())) {}

  std::vector<measurement> plan() {
    std::vector<measurement> all;
    for (const auto what : asked_->values(questions))
      for (const auto* m : methods_of(*asked_)) {
        if (what == question::holds) add_rounds(*m, all);
        else add_cases(*m, all);
      }
    return all;
  }

 private:
  // Adds part 1: on GPUs the lanes of a warp only, as in the paper; on the host every barrier.
  void add_rounds(const method& m, std::vector<measurement>& all) {
    if (m.device == topology::device::gpu && m.level != "lane") return;
    auto c = base(m);
    c.rounds = m.device == topology::device::gpu ? 1'000'000 : 2000;
    all.push_back(planned(m, c, question::holds));
  }

  void add_cases(const method& m, std::vector<measurement>& all) {
    const std::vector<std::string_view> none{""};
    for (const auto form : m.has_forms ? asked_->values(forms) : none)
      for (const auto how : asked_->values(absences))
        for (const auto who : asked_->values(absentees_asked)) {
          auto c = base(m);
          c.how = how;
          c.who = who;
          c.form = form;
          if (c.how == absence::drop && !m.may_drop) continue;
          if (m.level == "guard" && (c.how != absence::spin || c.who != "last"))
            continue;  // it asks one thing
          all.push_back(planned(m, c, question::absent));
        }
  }

  blocking_case base(const method& m) {
    blocking_case c;
    c.level = m.level;
    c.method = m.name;
    c.bound_ms = asked_->one(bound);
    c.members = m.device == topology::device::host ? asked_->one(members) : participants_of(m.level);
    if (m.device == topology::device::gpu) {
      const auto here = gpus_of(*asked_);
      if (m.level.starts_with("multigrid"))
        c.gpus.assign(here.begin(), here.begin() + std::min(here.size(), std::size_t{2}));
      else if (!here.empty()) c.gpus = {here[gpu_++ % here.size()]};  // all GPUs at once
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

  measurement planned(const method& m, const blocking_case& c, question what) {
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
    set(all.point, levels, m.level);
    set(all.point, questions, what);
    if (!c.form.empty()) set(all.point, forms, c.form);
    if (what == question::absent) {
      set(all.point, absences, c.how);
      set(all.point, absentees_asked, c.who);
      set(all.point, bound, c.bound_ms);
    } else {
      all.point.set("rounds", static_cast<double>(c.rounds));
    }
    all.waived = why_not_here(*asked_, m, crew_->by());
    const auto times = what == question::holds ? 1 : asked_->one(runs);
    if (all.waived.empty()) {
      const auto [ability, first] = plan_runs(c, times);
      all.create = [crew = crew_, ability = ability, first = first] {
        return make_case_subject(crew, ability, first);
      };
    }
    all.method = [times] { return std::make_unique<outcome_of_runs>(times); };
    all.checker = [c] { return make_outcome_checker(c); };
    return all;
  }

  // The numbers of a case in which all come, one for each barrier, and of the first of the case's runs.
  std::pair<std::size_t, std::size_t> plan_runs(blocking_case c, unsigned times) {
    const auto of = c.level + " " + c.method;
    if (!abilities_.contains(of)) abilities_[of] = crew_->plan_ability(c, next_units(c));
    std::size_t first = 0;
    for (c.seed = 1; c.seed <= times; ++c.seed) {
      const auto number = crew_->plan(c, next_units(c), abilities_[of]);
      if (c.seed == 1) first = number;
    }
    return {abilities_[of], first};
  }

  // What the next case occupies. Two may share a GPU, one of which runs while the other's process starts. On
  // the host one in turn of the shares of the processors, as many as there are processors for its members, or
  // two where waiting takes most of the time; rounds, which measure, all of them.
  std::vector<int> next_units(const blocking_case& c) {
    std::vector<int> units;
    for (const int gpu : c.gpus) units.push_back(2 * gpu + seats_[gpu]++ % 2);
    if (!units.empty()) return units;
    const auto processors = asked_->machine().allowed_cpus.size();
    const int shares = static_cast<int>(std::clamp<std::size_t>(processors / c.members, 2, 16));
    for (int i = 0; i < shares; ++i)
      if (c.rounds > 0 || i == next_ % shares) units.push_back(i);
    ++next_;
    return units;
  }

  const study_request* asked_;
  std::shared_ptr<case_crew> crew_;
  std::map<std::string, std::size_t> abilities_;
  int next_ = 0;              // cases of the host planned so far
  std::map<int, int> seats_;  // cases planned so far, by GPU
  std::size_t gpu_ = 0;       // GPUs given to cases of one GPU so far
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
    .in_child = blocking::carry_out_in_child,
    .refuses = blocking::refused};

}  // namespace mgsync
