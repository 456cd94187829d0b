// Who had not arrived at the barriers of a group and of its teams.
#include <algorithm>

#include "barriers/library/barrier_flags.hpp"
#include "src/base/filled.hpp"

namespace mgsync::library {

namespace {

void copy(void* to, const void* from, std::size_t bytes) {
  const auto stream = cuda::make_stream();
  cuda::check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream.get()), "reading who arrived");
  cuda::check(cudaStreamSynchronize(stream.get()), "reading who arrived");
}

}  // namespace

std::optional<unsigned> team_flags::rank_of(unsigned grid) const {
  const auto at = std::find(ranks.begin(), ranks.end(), grid);
  if (at == ranks.end()) return std::nullopt;
  return static_cast<unsigned>(at - ranks.begin());
}

std::string team_flags::name() const {
  std::string text = "the team of grids ";
  for (const unsigned r : ranks) text += (&r == &ranks.front() ? "" : ", ") + std::to_string(r);
  return text;
}

std::vector<multi_grid_block> barrier_flags::records_of(const grid_flags& grid, unsigned local) const {
  const cuda::device_scope scope(members_.places[local_[local]].ordinal);
  std::vector<multi_grid_block> records(grid.handles[local].blocks);
  copy(records.data(), grid.records[local].get(), records.size() * sizeof records[0]);
  return records;
}

absence barrier_flags::missing_in(const team_flags& team, unsigned blocks) const {
  const auto found = team.grids.find(blocks);
  if (found == team.grids.end()) return library::who_is_missing({});
  const grid_flags& grid = found->second;
  std::vector<arrivals> all;
  std::optional<unsigned> own;  // the first local GPU of the team
  for (unsigned l = 0; l < local_.size(); ++l) {
    if (!team.rank_of(local_[l])) continue;
    if (!own) own = l;
    all.push_back({local_[l], filled("GPU {} (grid {})", members_.places[local_[l]].ordinal, local_[l]), {}});
    for (const auto& r : records_of(grid, l)) all.back().epochs.push_back(r.epoch);
  }
  if (!members_.one_process() && own) {
    constexpr unsigned line = algorithm::line_bytes / sizeof(std::uint32_t);
    const auto last = static_cast<unsigned>(team.ranks.size()) - 1;
    std::vector<std::uint32_t> inbox((algorithm::relay_layout::lines_ahead(last, line) + 2) * line);
    const unsigned self = local_[*own];
    const cuda::device_scope scope(members_.places[self].ordinal);
    const auto first = std::size_t{algorithm::relay_layout{}.inbox(0)} * algorithm::line_bytes;
    copy(inbox.data(), grid.memory->part(self, *own) + first, inbox.size() * sizeof inbox[0]);
    const auto spoken_by = [&](unsigned rank) {
      const auto at = algorithm::relay_layout::lines_ahead(rank, line) * line + rank % line;
      return spoken{inbox[at], inbox[at + line]};
    };
    const auto& epochs = all.front().epochs;
    const std::uint32_t least = *std::min_element(
        epochs.begin(), epochs.end(), [](auto one, auto other) { return !algorithm::reached(one, other); });
    for (unsigned rank = 0; rank < team.ranks.size(); ++rank)
      if (const auto& at = members_.places[team.ranks[rank]]; at.process != members_.process)
        all.push_back({team.ranks[rank],
                       filled("GPU {} of process {} (grid {})", at.ordinal, at.process, team.ranks[rank]),
                       {epoch_of_other(least, spoken_by(*team.rank_of(self)), spoken_by(rank))},
                       false});
  }
  return library::who_is_missing(all);
}

absence barrier_flags::who_is_missing() const {
  const std::uint32_t most = report().what;
  absence sum;
  for (const auto& team : teams_) {
    const auto told = report_of(team);
    if (told.what != most) continue;
    auto its = missing_in(team, told.made_for);
    const bool whole = &team == &teams_.front();
    sum.text += (sum.text.empty() ? "" : "; ") + (whole ? its.text : "in " + team.name() + ": " + its.text);
    sum.who.insert(sum.who.end(), its.who.begin(), its.who.end());
    sum.first = sum.first || its.first;
  }
  return sum;
}

}  // namespace mgsync::library
