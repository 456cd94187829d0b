// What was asked for: one measurement, described by its study, its subject, its members and the study's own
// axes. It knows no barrier: what only some studies vary is an axis.
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

// One of the things that a study varies: a number with its unit, or a word.
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

// Names that several studies share. An axis that only matters where it is out of the ordinary is absent
// elsewhere.
namespace axes {
inline constexpr std::string_view blocks_per_sm =
    "blocks_per_sm";                                  // of a shape; host members: threads per member
inline constexpr std::string_view blocks = "blocks";  // per GPU in all, instead of blocks_per_sm
inline constexpr std::string_view threads_per_block = "threads_per_block";  // GPU members only
inline constexpr std::string_view load = "load";        // what goes on beside; "idle": nothing
inline constexpr std::string_view work = "work";        // in front of each round, in us
inline constexpr std::string_view late = "late";        // the last member beside the work of all, in us
inline constexpr std::string_view payload = "payload";  // what a reduction carries, in words of 32 bits
inline constexpr std::string_view pinned = "pinned";    // "no", where threads are left alone
inline constexpr std::string_view oversubscribed =
    "oversubscribed";  // "yes", with more threads than hardware threads
inline constexpr std::string_view mpi_threads =
    "mpi_threads";  // MPI's thread level, where it is not "single"
inline constexpr std::string_view peer_memory_asked = "peer_memory_asked";  // "ipc" or "vmm", where it was
}  // namespace axes

// What `mgsync` alone measures. Of a point of this study the subject goes without its study's name.
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

// All that describes the point, as JSON with sorted keys and without blanks: equal for the same points only,
// in whatever order their axes stand. The resume key and the join key.
std::string canonical_text(const point&);
// Sixteen hexadecimal digits of it.
std::string short_key(const point&);
bool operator==(const point&, const point&);

// "multigrid:inbox on 4 GPUs {0,1,2,3} in 2 ranks, shape 1x32, load streaming": the point's name wherever one
// is printed. Another study than barriers goes first: "launch/graph on 1 GPU {0}".
std::string name_of(const point&);
// "multigrid:inbox", "graph".
std::string subject_of(const point&);
// "4 GPUs", "1 host member".
std::string count_of_members(const point&);

// Of a GPU member blocks and their threads, of a host member its threads.
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
// With its name, for a reader: "work 20 us", "load streaming", "oversubscribed" (yes), "not pinned" (no).
std::string describe(const axis&);
// Whether it says only that nothing special was asked for ("idle", "none").
bool is_ordinary(const axis&);

}  // namespace mgsync
