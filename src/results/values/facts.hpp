// The properties of a subject that do not depend on where it runs: its origin, its driver, its scope, and
// what it orders. Declared once beside the subject's code and written into each result, so that tables,
// advice and pictures need not know subjects by name:
//     constexpr facts of_the_hardware{.origin = fact::origin::vendor, .driver = fact::driver::device,
//                                     .scope = fact::scope::block, .extent = fact::extent::everything,
//                                     .order = fact::order::both};
#pragma once

#include <string>
#include <utility>

#include "src/base/enum_words.hpp"

namespace mgsync {

namespace fact {

// vendor: the maker of the GPU. runtime: a language or its run-time library, such as OpenMP. peer: an
// algorithm that another project published, implemented here. user: from a file of whoever measures.
enum class origin { vendor, nccl, mpi, runtime, peer, ours, user };

// What takes GPU members from one round to the next: device: the threads of a kernel that keeps running;
// host: the host, which waits for the kernels and launches the next ones; kernel_boundary: the end of a
// kernel, after which the next one in the stream starts by itself. Host threads are driven by the host.
enum class driver { device, host, kernel_boundary };

// The widest set of workers that it synchronizes. converged_lanes: lanes that are already converged when it
// is timed, so that it needs no instruction.
enum class scope { converged_lanes, lanes, block, cluster, grid, node, nodes };

// Which workers' rounds it orders with each other: none; those of equal number on each member; those within
// each block, or within each GPU; or all of them, as a barrier does.
enum class extent { nothing, equal_threads, block, gpu, everything };

// both: what was stored before the barrier is visible after it. release and acquire are the two halves of
// this. inside_nodes: both inside each node; between nodes, which share no memory, only execution is ordered
// and what the barrier's own messages carry. Nothing that meets over several nodes orders more.
enum class order { none, release, acquire, inside_nodes, both };

}  // namespace fact

template <>
struct enum_words<fact::origin> {
  static constexpr std::pair<fact::origin, std::string_view> list[] = {
      {fact::origin::vendor, "vendor"},   {fact::origin::nccl, "NCCL"}, {fact::origin::mpi, "MPI"},
      {fact::origin::runtime, "runtime"}, {fact::origin::peer, "peer"}, {fact::origin::ours, "ours"},
      {fact::origin::user, "user"}};
};
template <>
struct enum_words<fact::driver> {
  static constexpr std::pair<fact::driver, std::string_view> list[] = {
      {fact::driver::device, "device"},
      {fact::driver::host, "host"},
      {fact::driver::kernel_boundary, "kernel boundary"}};
};
template <>
struct enum_words<fact::scope> {
  static constexpr std::pair<fact::scope, std::string_view> list[] = {
      {fact::scope::converged_lanes, "converged lanes"},
      {fact::scope::lanes, "lanes"},
      {fact::scope::block, "block"},
      {fact::scope::cluster, "cluster"},
      {fact::scope::grid, "grid"},
      {fact::scope::node, "node"},
      {fact::scope::nodes, "nodes"}};
};
template <>
struct enum_words<fact::extent> {
  static constexpr std::pair<fact::extent, std::string_view> list[] = {
      {fact::extent::nothing, "nothing"},
      {fact::extent::equal_threads, "equal threads"},
      {fact::extent::block, "a block"},
      {fact::extent::gpu, "a GPU"},
      {fact::extent::everything, "everything"}};
};
template <>
struct enum_words<fact::order> {
  static constexpr std::pair<fact::order, std::string_view> list[] = {
      {fact::order::none, "none"},
      {fact::order::release, "release"},
      {fact::order::acquire, "acquire"},
      {fact::order::inside_nodes, "inside nodes"},
      {fact::order::both, "both"}};
};

// A member of an aggregate that must be initialized: otherwise the code does not compile.
template <class Value>
class said {
 public:
  constexpr said(Value value) : value_(value) {}  // implicit, so that the value can be written directly
  constexpr operator Value() const { return value_; }
  friend constexpr Value& bare(said& one) { return one.value_; }

 private:
  Value value_;
};

struct facts {
  said<fact::origin> origin;
  said<fact::driver> driver;
  said<fact::scope> scope;
  said<fact::extent> extent;
  said<fact::order> order;

  // Whether it synchronizes all workers that take part.
  constexpr bool joins_all() const { return extent == fact::extent::everything; }
  // Whether it orders less than a barrier, so that its time cannot be compared with a barrier's.
  constexpr bool orders_less() const {
    return !joins_all() || (order != fact::order::both && order != fact::order::inside_nodes);
  }
  // Whether it meets over at least a member's whole grid. What stays within a block or a cluster is another
  // thing, even where the grid has one block.
  constexpr bool joins_grids() const { return scope >= fact::scope::grid; }
  // The same subject where it meets over several nodes.
  constexpr facts over_nodes() const {
    auto all = *this;
    if (order == fact::order::both) all.order = fact::order::inside_nodes;
    return all;
  }
};

// The facts of a result's subject, and the call by which a user's program gets it; empty: it cannot.
struct known_facts : facts {
  std::string maker{};  // the name of its maker: "NVIDIA", "OpenMP"
  std::string call{};
  std::string needs{};  // what the call needs: an include, a way to launch
  std::string
      library{};  // the library that provided it in this measurement, with its version: "libgomp (GOMP_5.1)"
  bool ranked_anyway =
      false;  // rank it although it orders less, as this command was asked to; not written to files
};
void fields(auto& way, known_facts& f) {
  way.needs("origin", f.origin);
  way.needs("driver", f.driver);
  way.needs("scope", f.scope);
  way.needs("extent", f.extent);
  way.needs("order", f.order);
  way.may("maker", f.maker);
  way.may("call", f.call);
  way.may("needs", f.needs);
  way.may("library", f.library);
}
// The object that is read into (src/base/fields.hpp).
inline known_facts unread(const known_facts*) {
  return {{fact::origin{}, fact::driver{}, fact::scope{}, fact::extent{}, fact::order{}}};
}

}  // namespace mgsync
