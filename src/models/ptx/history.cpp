#include "src/models/ptx/history.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "src/base/errors.hpp"

namespace mgsync::ptx {

std::int64_t history::at_first(const word& of) const {
  std::uint64_t bits = 0;
  for (std::uint64_t i = 0; i < of.bytes; ++i) {
    const auto found = launch_->memory.find(of.address + i);
    if (found != launch_->memory.end()) bits |= std::uint64_t{found->second} << (8 * i);
  }
  return number_type{static_cast<unsigned>(8 * of.bytes), true}.extended(bits);
}

bool history::is_written(const word& of) const {
  bool written = false;
  // A write that begins up to 8 bytes before the word may overlap it.
  for (auto at = known_at_.lower_bound(of.address < 8 ? 0 : of.address - 7);
       at != known_at_.end() && at->first < of.address + of.bytes; ++at) {
    for (const known_write& one : at->second) {
      if (one.address + one.bytes <= of.address) continue;
      if (one.address != of.address || one.bytes != of.bytes)
        throw usage_error(
            fmt::format("the word at {:#x} is read and written in different sizes", of.address));
      written = true;
    }
  }
  return written;
}

std::vector<std::int64_t> history::of_own(const way& on, unsigned thread, const word& of, bool& first) const {
  std::vector<std::int64_t> values;
  const auto found = on.last_own.find({thread, of.address});
  first = found == on.last_own.end() || found->second.count(-1) != 0;
  if (found == on.last_own.end()) return values;
  for (const int number : found->second) {
    if (number < 0) continue;
    const auto& written = steps_[static_cast<std::size_t>(number)].event.value;
    if (written.read == memory_order::operand::none) values.push_back(written.plus);
    else
      for (const std::int64_t got : steps_[static_cast<std::size_t>(written.read)].candidates)
        values.push_back(got + written.plus);
  }
  return values;
}

std::vector<std::int64_t> history::candidates(const way& on, unsigned thread, int block,
                                              const word& of) const {
  bool first = true;
  std::set<std::int64_t> values;
  for (const std::int64_t own : of_own(on, thread, of, first)) values.insert(own);
  if (first) values.insert(at_first(of));
  if (const auto known = known_at_.find(of.address); known != known_at_.end()) {
    const auto seen = [&](const known_write& one) {
      return one.thread != static_cast<int>(thread) && !(one.block == block && one.phase > on.phase);
    };
    for (const known_write& one : known->second)
      if (seen(one) && !one.adds) values.insert(one.number);
    for (const known_write& one : known->second) {
      if (!seen(one) || !one.adds) continue;
      const std::set<std::int64_t> before = values;
      for (const std::int64_t base : before) values.insert(base + one.number);
    }
  }
  if (values.size() > 8 * sizeof(choice))
    throw usage_error(fmt::format("a read of the word at {:#x} may get {} values: 64 at most are looked at",
                                  of.address, values.size()));
  return {values.begin(), values.end()};
}

bool history::is_all(const decision& of) const {
  choice got = of.got;
  for (const refusal& one : refusals_)
    if (one.read == of.read) got |= one.values;
  const std::size_t count = steps_[static_cast<std::size_t>(of.read)].candidates.size();
  const choice all = count == 8 * sizeof(choice) ? ~choice{0} : (choice{1} << count) - 1;
  return (got & all) == all;
}

std::uint64_t history::place_of(const kernel& of, const std::string& name) {
  for (const parameter& one : of.parameters)
    if (one.name == name) return parameters_at + one.offset;
  for (const parameter& one : of.shared)
    if (one.name == name) return one.offset;
  throw usage_error(
      fmt::format("PTX: '{}' is no parameter and no word of shared memory of {}", name, of.name));
}

int history::add(step one) {
  steps_.push_back(std::move(one));
  return static_cast<int>(steps_.size()) - 1;
}

bool history::next_turn() {
  const bool grew = !settled();
  known_ = found_;
  known_at_.clear();
  for (const known_write& one : known_) known_at_[one.address].push_back(one);
  found_.clear();
  steps_.clear();
  refusals_.clear();
  in_vain_.clear();
  meetings_ = 0;
  return grew;
}

}  // namespace mgsync::ptx
