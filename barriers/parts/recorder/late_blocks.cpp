#include "barriers/parts/recorder/late_blocks.hpp"

#include <algorithm>
#include <map>

namespace mgsync {

namespace {

// What is written meanwhile is copied once.
wait_note copied(const wait_note& note) {
  wait_note copy{};
  copy.state = get_shared(note.state);
  copy.epoch = get_shared(note.epoch);
  copy.since_ns = get_shared(note.since_ns);
  copy.seen_ns = get_shared(note.seen_ns);
  copy.missing = get_shared(note.missing);
  return copy;
}

bool is_stuck(const wait_note& note) {
  return note.state == wait_note::waits || note.state == wait_note::gave_up;
}
bool came_to(const wait_note& note, std::uint32_t epoch) {
  return note.state != wait_note::none && note.state != wait_note::late &&
         static_cast<std::int32_t>(note.epoch - epoch) >= 0;
}

void add(late_member& to, const late_member& more) {
  to.times += more.times;
  for (unsigned k = 0; k < late_member::most_bits; ++k) to.by[k] += more.by[k];
  if (more.worst_ns < to.worst_ns) return;
  to.worst_ns = more.worst_ns;
  to.worst_epoch = more.worst_epoch;
}

group_waits waits_of_one(const std::vector<const wait_file*>& files) {
  const auto& first = files.front()->head();
  group_waits found{first.group, first.node, first.processes, first.gpus, first.blocks, first.team};
  found.late.resize(first.gpus);
  std::map<std::uint32_t, std::vector<wait_note>> notes;  // by GPU
  const wait_note* furthest = nullptr;
  for (const auto* f : files)
    for (unsigned l = 0; l < f->head().own; ++l) {
      auto& its = notes[f->gpu(l).rank];
      for (unsigned b = 0; b < first.blocks; ++b) its.push_back(copied(f->notes(l)[b]));
      for (unsigned m = 0; m < first.gpus; ++m) add(found.late[m], f->late(l)[m]);
      for (const auto& n : its)
        if (is_stuck(n) && (furthest == nullptr || came_to(n, furthest->epoch))) furthest = &n;
    }
  for (std::uint32_t r = 0; r < first.gpus; ++r)
    if (notes.count(r) == 0) found.unheard.push_back(r);
  if (furthest == nullptr) return found;
  const std::uint32_t epoch = furthest->epoch;
  found.round = epoch - first.first_epoch;
  for (const auto* f : files)
    for (unsigned l = 0; l < f->head().own; ++l) {
      absent_gpu gpu{f->head().node, f->head().process, f->head().pid,    f->has_owner(),
                     f->gpu(l).rank, f->gpu(l).grid,    f->gpu(l).ordinal};
      const auto& its = notes[gpu.rank];
      for (unsigned b = 0; b < its.size(); ++b) {
        if (!came_to(its[b], epoch)) gpu.blocks.push_back(b);
        if (!is_stuck(its[b]) || its[b].epoch != epoch) continue;
        ++found.waiting;
        found.given_up = found.given_up || its[b].state == wait_note::gave_up;
        found.seconds = std::max(found.seconds, static_cast<double>(its[b].seen_ns - its[b].since_ns) * 1e-9);
      }
      if (!gpu.blocks.empty()) found.absent.push_back(std::move(gpu));
    }
  std::sort(found.absent.begin(), found.absent.end(),
            [](const auto& a, const auto& b) { return a.rank < b.rank; });
  return found;
}

}  // namespace

std::vector<group_waits> waits_of(const std::vector<wait_file>& files) {
  std::map<std::string, std::vector<const wait_file*>> groups;
  for (const auto& f : files) groups[f.head().group].push_back(&f);
  std::vector<group_waits> all;
  for (const auto& [group, its] : groups) all.push_back(waits_of_one(its));
  return all;
}

}  // namespace mgsync
