#include "src/base/launcher.hpp"

#include <unistd.h>

#include <charconv>
#include <cstdlib>

#include <fmt/format.h>

namespace mgsync {

namespace {

struct known_launcher {
  const char* name;
  const char* local_rank;  // variable
  const char* local_size;  // variable; nullptr: it sets none
  const char* sign;        // the rank in the job: a variable that only a process manager for MPI sets
  const char* size;        // how many ranks the job has
};

// The first whose `sign` is set is taken. Slurm is last, since the others also run inside its steps.
constexpr known_launcher launchers[] = {
    {"Open MPI", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_RANK",
     "OMPI_COMM_WORLD_SIZE"},
    {"MVAPICH", "MVP_COMM_WORLD_LOCAL_RANK", "MVP_COMM_WORLD_LOCAL_SIZE", "MVP_COMM_WORLD_RANK",
     "MVP_COMM_WORLD_SIZE"},
    {"MVAPICH2", "MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE", "MV2_COMM_WORLD_RANK",
     "MV2_COMM_WORLD_SIZE"},
    {"PALS", "PALS_LOCAL_RANKID", "PALS_LOCAL_SIZE", "PALS_RANKID", "PMI_SIZE"},
    {"Flux", "FLUX_TASK_LOCAL_ID", nullptr, "FLUX_TASK_RANK", "FLUX_JOB_SIZE"},
    {"Intel MPI or MPICH", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "PMI_RANK", "PMI_SIZE"},
    {"Slurm", "SLURM_LOCALID", nullptr, "PMIX_RANK", "SLURM_STEP_NUM_TASKS"},
};

std::optional<int> number(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  int value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size() || value < 0) return std::nullopt;
  return value;
}

// "8" or "8(x2)": as many on every node. Anything else differs from node to node.
std::optional<int> tasks_of_node(std::optional<std::string> text) {
  if (!text || text->find(',') != std::string::npos) return std::nullopt;
  return number(text->substr(0, text->find('(')));
}

}  // namespace

launch read_launch(const std::function<std::optional<std::string>(const char*)>& variable) {
  for (const auto& known : launchers) {
    if (!variable(known.sign)) continue;
    launch found{known.name,   number(variable(known.sign)), number(variable(known.local_rank)),
                 std::nullopt, number(variable(known.size)), true};
    if (known.local_size != nullptr) found.local_size = number(variable(known.local_size));
    // srun with PMI-2 sets PMI_RANK; only Slurm's own variable tells the local rank then.
    if (!found.local_rank) found.local_rank = number(variable("SLURM_LOCALID"));
    if (!found.local_size) found.local_size = tasks_of_node(variable("SLURM_STEP_TASKS_PER_NODE"));
    if (variable("SLURM_STEP_ID") && !variable(known.local_rank)) found.launcher = "Slurm";
    return found;
  }
  // srun without a process manager for MPI. A batch script that srun did not start has no such variable.
  if (const auto tasks = number(variable("SLURM_STEP_NUM_TASKS")); tasks > 1)
    return {"Slurm", number(variable("SLURM_PROCID")), number(variable("SLURM_LOCALID")), std::nullopt, tasks,
            false};
  return {"none", std::nullopt, std::nullopt, std::nullopt, std::nullopt, false};
}

std::string why_apart(const launch& told, int mpi_ranks, std::string_view library) {
  if (!told.size || *told.size == mpi_ranks) return {};
  const bool slurm = told.launcher == "Slurm";
  const auto started = fmt::format("{} started {} processes", slurm ? "srun" : told.launcher, *told.size);
  if (!told.under_mpi)
    return fmt::format(
        "{} and told none of them how to meet the others: each would measure by itself, and write over the "
        "others' files; accepted: srun --mpi=pmix or --mpi=pmi2 (srun --mpi=list shows which there are), "
        "mpirun in the place of srun, or srun --ntasks=1",
        started);
  return fmt::format(
      "{} and MPI ({}) counts {}: they do not meet, and would write over each other's files; accepted: {}",
      started, library, mpi_ranks,
      slurm ? "the srun --mpi=... which this MPI understands (srun --mpi=list shows which there are), or "
              "its own mpirun"
            : "the mpirun of the MPI that this mgsync was built with");
}

launch read_launch() {
  return read_launch([](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  });
}

namespace {

pid_t launcher_of_this_rank() {
  const auto told = read_launch();
  return told.under_mpi && told.size > 1 ? getppid() : 0;
}

const pid_t launcher_at_start = launcher_of_this_rank();

}  // namespace

bool ask_launcher_to_end_job(int code) {
  const auto descriptor = std::getenv("HYDI_CONTROL_FD") == nullptr ? nullptr : std::getenv("PMI_FD");
  const auto to = number(descriptor == nullptr ? std::nullopt : std::optional<std::string>(descriptor));
  const auto words = fmt::format("cmd=abort exitcode={}\n", code);
  return to && write(*to, words.data(), words.size()) == static_cast<ssize_t>(words.size());
}

bool launcher_is_gone() { return launcher_at_start != 0 && getppid() != launcher_at_start; }

}  // namespace mgsync
