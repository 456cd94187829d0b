// A point: one measurement, described by its study, its subject, its members and the study's own axes. What
// only some studies vary is an axis, so nothing here is specific to barriers.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "src/base/enum_words.hpp"
#include "src/base/fields.hpp"
#include "topology/group.hpp"

namespace mgsync {

template <>
struct enum_words<topology::device> {
  static constexpr std::pair<topology::device, std::string_view> list[] = {{topology::device::host, "host"},
                                                                           {topology::device::gpu, "gpu"}};
};

// A point's value of one axis: a number with its unit, or a word.
struct axis {
  std::string name;  // lower case, words joined by '_'
  std::variant<double, std::string> value;
  std::string unit;  // empty: a count, or a word
  bool operator==(const axis&) const = default;
};
void fields(auto& way, axis& a) {
  way.needs("value", a.value);
  way.may("unit", a.unit);
}

// Names of axes that several studies share. Most of them are absent from points that have their ordinary
// value.
namespace axes {
inline constexpr std::string_view blocks_per_sm =
    "blocks_per_sm";                                  // of a shape; host members: threads per member
inline constexpr std::string_view blocks = "blocks";  // per GPU in all, instead of blocks_per_sm
inline constexpr std::string_view threads_per_block = "threads_per_block";  // GPU members only
inline constexpr std::string_view load = "load";  // the load beside the barrier; "idle": none
inline constexpr std::string_view work = "work";  // before each round, in us
inline constexpr std::string_view late = "late";  // what the last member computes more than the others, in us
inline constexpr std::string_view payload = "payload";  // of a reduction, in words of 32 bits
inline constexpr std::string_view pinned = "pinned";    // "no", where threads are not pinned
inline constexpr std::string_view oversubscribed =
    "oversubscribed";  // "yes", with more threads than hardware threads
inline constexpr std::string_view mpi_threads =
    "mpi_threads";  // MPI's thread level, where it is not "single"
inline constexpr std::string_view peer_memory_asked =
    "peer_memory_asked";  // "ipc" or "vmm", where one was requested
}  // namespace axes

// The study that `mgsync` alone measures. Names of its points omit the study.
inline constexpr std::string_view default_study = "barriers";

struct point {
  std::string study{default_study};
  std::string subject;  // what was timed; of barriers: the backend
  std::string variant;  // may be empty
  topology::device device = topology::device::host;
  int members = 0;
  int ranks = 1;           // that own these members
  std::vector<int> group;  // member ids, in order
  std::string node;        // the host, where each node is measured by itself; else empty
  std::string placement = "near";
  std::vector<axis> axes;  // in the study's order; no name twice

  const axis* find(std::string_view name) const;  // nullptr: this point has no such axis
  std::optional<double> number(std::string_view name) const;
  std::string word(std::string_view name, std::string_view otherwise = "") const;
  void set(std::string_view name, std::variant<double, std::string> value, std::string_view unit = "");
  void remove(std::string_view name);
};
void fields(auto& way, point& p) {
  way.needs("study", p.study);
  way.needs("subject", p.subject);
  way.needs("variant", p.variant);
  way.needs("device", p.device);
  way.needs("members", p.members);
  way.needs("ranks", p.ranks);
  way.needs("group", p.group);
  way.needs("node", p.node);
  way.needs("placement", p.placement);
  way.needs("axes", by_name{p.axes});
}

// The whole point as JSON with sorted keys and without blanks: equal for equal points only, whatever the
// order of their axes. The key by which --resume and comparisons match points.
std::string canonical_text(const point&);
// A hash of canonical_text() as sixteen hexadecimal digits.
std::string short_key(const point&);
bool operator==(const point&, const point&);

// "multigrid:inbox on 4 GPUs {0,1,2,3} in 2 ranks, shape 1x32, load streaming": the point's name wherever one
// is printed. Studies other than barriers are named first: "launch/graph on 1 GPU {0}".
std::string name_of(const point&);
// "multigrid:inbox", "graph".
std::string subject_of(const point&);
// "4 GPUs", "1 host member".
std::string count_of_members(const point&);

// The shape of a GPU member (blocks and threads) or of a host member (threads).
struct member_shape {
  double blocks = 1;              // per SM; of a host member its threads
  bool in_all = false;            // blocks per GPU, not per SM
  std::optional<double> threads;  // per block; a host member has no blocks
  auto operator<=>(const member_shape&) const = default;
};
std::optional<member_shape> shape_of(const point&);  // nothing: it has none of these axes
// "1x32", "b1x32", "2".
std::string to_string(const member_shape&);
std::string format_shape(const point&);  // empty for a point without a shape
bool is_of_shape(std::string_view axis_name);

// The value alone: "20", "streaming". Whole numbers have no point.
std::string text_of(const axis&);
// With the axis's name, for people: "work 20 us", "load streaming", "oversubscribed" (yes), "not pinned"
// (no).
std::string describe(const axis&);
// Whether this is the ordinary value, such as "idle" or "none".
bool is_ordinary(const axis&);

}  // namespace mgsync
