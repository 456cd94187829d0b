// Executes one block along all its paths, lane by lane, from barrier to barrier.
#pragma once

#include "src/models/ptx/history.hpp"

namespace mgsync::ptx {

// Static properties of a kernel: labels, and live registers.
class kernel_facts {
 public:
  explicit kernel_facts(const kernel&);

  const kernel& code() const { return *kernel_; }
  std::size_t behind(const std::string& label, const instruction&) const;
  bool is_label(std::size_t at) const { return labelled_[at]; }
  // Whether some instruction from `at` on may read the register before it is written.
  bool is_live(std::size_t at, int reg) const { return live_[at][static_cast<std::size_t>(reg)]; }
  static bool has_result(const instruction&);

 private:
  void find_live();

  const kernel* kernel_;
  std::map<std::string, std::size_t> labels_;
  std::vector<bool> labelled_;
  std::vector<std::vector<bool>> live_;
};

class block_run {
 public:
  block_run(const launch&, const kernel_facts&, history&, unsigned gpu, unsigned block);

  // Executes all paths to the kernel's end; returns how many there are.
  std::size_t run_all();

 private:
  // A read whose value decides how to go on: each part of its candidates is a path of its own.
  struct split {
    int read = -1;
    std::vector<choice> parts;
  };
  enum class moved { on, lost };  // lost: a poll that failed

  way begin() const;
  void run_on(way, std::vector<way>& reached);
  void go_each_way(const way& from, const split&, std::vector<way>& reached);
  std::vector<way> met(std::vector<way>) const;
  bool meets(way&, const way& other) const;
  void join_dependencies(way&, const way& other, std::size_t differs) const;
  bool ends_a_poll(const decision&, const way&) const;

  std::optional<split> move(way&, unsigned thread, moved&);
  bool polls_in_vain(const way&, lane&, const instruction&);
  bool may_turn(const way&, lane&, std::size_t steps_before) const;
  std::optional<split> execute(way&, unsigned thread, const instruction&);
  std::optional<split> compute(way&, unsigned thread, const instruction&);
  std::optional<split> load(way&, unsigned thread, const instruction&);
  std::optional<split> store(way&, unsigned thread, const instruction&);
  std::optional<split> atomic(way&, unsigned thread, const instruction&);
  void fence(way&, unsigned thread, const instruction&);

  // Executes an instruction that all lanes of a warp, or of the block, have reached together.
  std::optional<split> meet_warp(way&, unsigned first, unsigned last);
  std::optional<split> vote(way&, unsigned first, unsigned last, const instruction&);
  std::optional<split> shuffle(way&, unsigned first, unsigned last, const instruction&);
  std::optional<split> add_up(way&, unsigned first, unsigned last, const instruction&);
  std::optional<split> meet_block(way&);
  // Whether all, or any, of the lanes' values are true. Nothing: the path must first be split by `part`.
  std::optional<value> agreed(const way&, const std::vector<value>& said, bool all,
                              std::optional<split>& part) const;
  static reads behind(const std::vector<value>& said);
  void meet(way&, unsigned first, unsigned last, const char* name);
  void step_over(way&, unsigned first, unsigned last);

  value read(const way&, unsigned thread, const operand&) const;
  value settled(const way&, value) const;
  std::optional<split> decide(const way&, const value&) const;
  choice left(const way&, int read) const;
  void set(way&, unsigned thread, const operand&, value) const;
  std::uint64_t special(way&, unsigned thread, const std::string& name, const instruction&) const;
  std::optional<split> address_of(const way&, unsigned thread, const instruction&, const operand&,
                                  std::uint64_t& found) const;

  step begun(const way&, unsigned thread, const instruction&, memory_order::event_kind) const;
  step access(const way&, unsigned thread, const instruction&, memory_order::event_kind, const word&) const;
  reads behind_address(const way&, unsigned thread, const operand&) const;
  value read_word(way&, unsigned thread, const instruction&, const word&, int* number);
  value read_parameter(unsigned thread, const instruction&, const word&) const;
  void write_word(way&, unsigned thread, step, bool adds);
  std::optional<split> written_as(const way&, const value&, const word&, memory_order::operand&) const;
  [[noreturn]] void refuse(const instruction&, const char* why) const;

  const launch& launch_;
  const kernel_facts& facts_;
  history& history_;
  unsigned gpu_, block_;
  int number_;         // of the block among all
  bool lost_ = false;  // the instruction that is being executed is a poll again, after one that failed
  std::vector<std::vector<std::uint8_t>> parameters_;
};

}  // namespace mgsync::ptx
