// What is true of a subject wherever it runs: whose it is, who drives it, whom it joins, and what it orders.
// Declared in one record beside the code, written into each result, and read by tables, advice and pictures,
// which know no subject by its name:
//     constexpr facts of_the_hardware{.origin = fact::origin::vendor, .driver = fact::driver::device,
//                                     .scope = fact::scope::block, .extent = fact::extent::everything,
//                                     .order = fact::order::both};
#pragma once

#include <string>
#include <utility>

#include "src/base/enum_words.hpp"

namespace mgsync {

namespace fact {

// vendor: the GPU's maker's. runtime: of a language or its run-time library, as OpenMP. peer: another
// project's form, written anew here.
enum class origin { vendor, nccl, mpi, runtime, peer, ours };

// Of GPU members, who takes them from one round to the next: threads of a kernel that goes on running; the
// host, which waits for their kernels and starts the next; or the end of a kernel, behind which the next one
// starts by itself. Host threads are driven by the host.
enum class driver { device, host, kernel_boundary };

// The widest group that it joins. converged_lanes: lanes that are together, as they are when it is timed, and
// need no instruction for it.
enum class scope { converged_lanes, lanes, block, cluster, grid, node, nodes };

// Whose rounds it orders among all that take part: nobody's; those of workers of one number on each member;
// those of each block, or of each GPU, by themselves; or everybody's with everybody's, as a barrier does.
enum class extent { nothing, equal_threads, block, gpu, everything };

// What is stored before it is there for whoever comes behind it (both); release and acquire are the halves.
enum class order { none, release, acquire, both };

}  // namespace fact

template <>
struct enum_words<fact::origin> {
  static constexpr std::pair<fact::origin, std::string_view> list[] = {
      {fact::origin::vendor, "vendor"},   {fact::origin::nccl, "NCCL"}, {fact::origin::mpi, "MPI"},
      {fact::origin::runtime, "runtime"}, {fact::origin::peer, "peer"}, {fact::origin::ours, "ours"}};
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
  static constexpr std::pair<fact::order, std::string_view> list[] = {{fact::order::none, "none"},
                                                                      {fact::order::release, "release"},
                                                                      {fact::order::acquire, "acquire"},
                                                                      {fact::order::both, "both"}};
};

// A member of a record that must be said: without it the record does not compile.
template <class Value>
class said {
 public:
  constexpr said(Value value) : value_(value) {}  // implicit: the record reads as if it held the value
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

  // It joins everybody that takes part.
  constexpr bool joins_all() const { return extent == fact::extent::everything; }
  // It promises less than a barrier does: no faster one by what it takes.
  constexpr bool orders_less() const { return !joins_all() || order != fact::order::both; }
};

// The facts of what a result timed, and what a program writes to have it; without a call it cannot.
struct known_facts : facts {
  std::string maker{};  // whose it is, by name: "NVIDIA", "OpenMP"
  std::string call{};
  std::string needs{};    // of the call: an include, a way to launch
  std::string library{};  // what provided it where it was measured, and its version: "libgomp (GOMP_5.1)"
  bool ranked_anyway = false;  // although it orders less: as this command was asked; not written
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
// What is read into.
inline known_facts unread(const known_facts*) {
  return {{fact::origin{}, fact::driver{}, fact::scope{}, fact::extent{}, fact::order{}}};
}

}  // namespace mgsync
