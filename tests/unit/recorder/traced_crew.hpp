// Members of a relay that are threads, whose waits are traced: some may be late, or never come.
#pragma once

#include <sched.h>
#include <stdlib.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "barriers/library/traced_waits.hpp"
#include "barriers/parts/algorithm/relay.hpp"
#include "barriers/parts/recorder/late_blocks.hpp"
#include "tests/race/thread_policy.hpp"

namespace mgsync::test {

// Waits until the crew is told to end.
class ending_policy : public race::thread_policy {
 public:
  explicit ending_policy(const std::atomic<bool>& ends) : thread_policy(race::weakness::none), ends_(&ends) {}
  template <class Condition>
  bool wait_until(word, Condition holds) const {
    while (!holds()) {
      if (ends_->load()) return false;
      sched_yield();
    }
    return true;
  }

 private:
  const std::atomic<bool>* ends_;
};

struct steady_ns {
  static std::uint64_t ns() {
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  }
};

using traced_policy = algorithm::traced<ending_policy, steady_ns>;

// A folder of waits of its own.
class own_folder {
 public:
  own_folder() {
    char name[] = "/tmp/waits_XXXXXX";
    folder_ = mkdtemp(name);
    setenv("MGSYNC_WHO", folder_.c_str(), 1);
  }
  ~own_folder() { std::filesystem::remove_all(folder_); }
  own_folder(const own_folder&) = delete;
  own_folder& operator=(const own_folder&) = delete;

 private:
  std::string folder_;
};

class traced_crew {
 public:
  static constexpr std::uint32_t start = 0xfffffff0u;  // the epochs wrap
  static constexpr std::uint32_t never = ~0u;

  struct lateness {
    unsigned member, block;
    std::chrono::milliseconds by{};  // after each block 0 waits for this member alone (all_wait_for())
    bool comes = true;
    // Of three members of one block: the member behind comes so long after the third has noted that it waits
    // for these two.
    std::chrono::milliseconds next_by{};
  };

  // A file for every member, as if each were of a process of its own.
  traced_crew(unsigned members, unsigned blocks) : members_(members), blocks_(blocks), traces_(members) {
    const algorithm::relay_layout lines{};
    memory_.resize(members, std::vector<std::uint32_t>(lines.lines() * words_of_line));
    for (unsigned m = 0; m < members; ++m) {
      parts_.push_back(memory_[m].data());
      memory_[m][lines.counter(0) * words_of_line] = algorithm::counter_start(blocks, start);
      for (unsigned from = 0; from < members; ++from)
        memory_[m][lines.inbox(0) * words_of_line + from] = start;
      wait_file_head head{};
      head.group[0] = 'c';
      head.process = m;
      head.processes = head.gpus = members;
      head.blocks = blocks;
      head.first_epoch = start;
      files_.emplace_back(head, std::vector<wait_gpu>{{m, 0, m}});
    }
    for (unsigned m = 0; m < members; ++m) {
      traces_[m].notes = files_[m].notes(0);
      traces_[m].told = files_[m].late(0);
      traces_[m].members = members;
    }
  }
  ~traced_crew() { end(); }
  traced_crew(const traced_crew&) = delete;
  traced_crew& operator=(const traced_crew&) = delete;

  // All blocks of all members pass as many rounds as planned, each with its late block.
  void begin(std::vector<lateness> plan) {
    plan_ = std::move(plan);
    for (unsigned w = 0; w < members_ * blocks_; ++w)
      threads_.emplace_back([this, w] { work(w / blocks_, w % blocks_); });
  }
  void join() {
    for (auto& t : threads_) t.join();
    threads_.clear();
  }
  // Waits end as by a time-out.
  void end() {
    ends_ = true;
    join();
  }
  const wait_trace& trace(unsigned member) const { return traces_[member]; }
  std::vector<group_waits> waits() const {
    std::vector<wait_file> files;
    for (const auto& name : wait_files(wait_folder())) files.emplace_back(name);
    return waits_of(files);
  }

 private:
  static constexpr unsigned words_of_line = algorithm::line_bytes / sizeof(std::uint32_t);

  // As block 0 of every member sees it: by its note, or where it is the late block, by its inbox.
  bool all_wait_for(unsigned late, unsigned block, std::uint32_t epoch) const {
    for (unsigned m = 0; m < members_; ++m) {
      const wait_note& note = traces_[m].notes[0];
      if (m == late && block == 0) {
        if (!all_told(late, epoch)) return false;
      } else if (get_shared(note.state) != wait_note::waits || get_shared(note.epoch) != epoch ||
                 get_shared(note.missing) != std::uint64_t{1} << late) {
        return false;
      }
    }
    return true;
  }
  bool all_told(unsigned member, std::uint32_t epoch) const {
    const std::uint32_t* inbox = parts_[member] + algorithm::relay_layout{}.inbox(0) * words_of_line;
    for (unsigned from = 0; from < members_; ++from)
      if (from != member && get_shared(inbox[from]) != epoch) return false;
    return true;
  }
  void work(unsigned member, unsigned block) {
    traced_policy policy(ending_policy(ends_), traces_[member], member, block);
    algorithm::host_lines memory{parts_.data()};
    algorithm::relay<traced_policy, algorithm::host_lines> barrier(
        policy, memory, algorithm::position{member, members_, block, blocks_}, algorithm::relay_shape{1, 1});
    std::uint32_t epoch = start;
    for (const auto& late : plan_) {
      ++epoch;
      if (late.member == member && late.block == block) {
        if (!late.comes) return;
        while (!all_wait_for(member, block, epoch) && !ends_) sched_yield();
        std::this_thread::sleep_for(late.by);
      }
      if (late.next_by.count() != 0 && member == (late.member + 1) % members_) {
        const wait_note& third = traces_[(late.member + 2) % members_].notes[0];
        const std::uint64_t both = std::uint64_t{1} << member | std::uint64_t{1} << late.member;
        while ((get_shared(third.epoch) != epoch || get_shared(third.missing) != both) && !ends_)
          sched_yield();
        std::this_thread::sleep_for(late.next_by);
      }
      if (!barrier.arrive_and_wait(epoch)) return;
    }
  }

  unsigned members_, blocks_;
  std::vector<std::vector<std::uint32_t>> memory_;
  std::vector<std::uint32_t*> parts_;
  std::vector<wait_file> files_;
  std::vector<wait_trace> traces_;
  std::vector<lateness> plan_;
  std::vector<std::thread> threads_;
  std::atomic<bool> ends_{false};
};

}  // namespace mgsync::test
