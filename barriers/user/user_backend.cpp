#include "barriers/user/user_backend.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "barriers/backend.hpp"
#include "barriers/parts/round_loop/host_crew.hpp"
#include "barriers/user/barrier_file.hpp"
#if MGSYNC_WITH_CUDA
#include "barriers/user/gpu_barrier.hpp"
#endif
#include "barriers/user/tried_file.hpp"
#include "src/base/errors.hpp"
#include "src/base/worker_pool.hpp"

namespace mgsync::user {

namespace {

using round_loop::host_crew;
using round_loop::host_findings;
using round_loop::host_run;
using round_loop::worker_page;

check::shape shape_of(const check::barrier_table& of, const topology::group& group, unsigned blocks) {
  const auto members = static_cast<std::uint32_t>(group.members.size());
  return {members, blocks, members * blocks, 1, of.has_start != 0 ? round_loop::first_epoch : 0};
}

check::loop loop_of(run_mode mode) {
  return mode == run_mode::time    ? check::loop::time
         : mode == run_mode::check ? check::loop::check
                                   : check::loop::record;
}

// A user's barrier as the harness sees any other.
class host_barrier final : public barrier {
 public:
  host_barrier(std::shared_ptr<const barrier_file> file, const check::barrier_table& of,
               const topology::group& group, unsigned blocks, session& where,
               std::unique_ptr<symmetric_memory> memory, std::unique_ptr<symmetric_memory> board)
      : file_(std::move(file)),
        of_(of),
        shape_(shape_of(of, group, blocks)),
        memory_(std::move(memory)),
        // Not bounded: its waits need not give up, so the watchdog ends the process if it hangs.
        crew_(group, blocks, where, std::move(board), false, of.name),
        pool_(crew_.cpus()) {
    for (unsigned m = 0; m < shape_.members; ++m) parts_.push_back(memory_->part(m));
    pool_.run([&](unsigned i) {
      const auto& w = crew_.workers()[i];
      if (w.block == 0) of_.start(parts_[w.member], w.member, &shape_);
    });
    where.ranks().barrier("writing the first values of a barrier");
  }

  trial run(const run_request& request) override {
    return crew_.run_loops(
        request,
        [&](unsigned local, const round_loop::wait_limits&, const host_run& all, host_crew::ring& ring,
            host_findings& found) { return run_one(request.mode, local, all, ring, found); },
        [this](const auto& work) { pool_.run(work); });
  }

 private:
  bool run_one(run_mode mode, unsigned local, const host_run& all, host_crew::ring& ring,
               host_findings& found) const {
    const auto& me = crew_.workers()[local];
    check::host_order order{};
    order.run = all;
    std::vector<worker_page*> pages;  // of those that it waits for
    const bool by_block = of_.orders == check::extent::equal_blocks;
    if (by_block) {
      for (unsigned m = 0; m < shape_.members; ++m) pages.push_back(all.pages[m * shape_.blocks + me.block]);
      order.run.pages = pages.data();
      order.run.self = me.member;
      order.run.workers = shape_.members;
      if (all.fault_worker % shape_.blocks != me.block) order.run.fault = host_run::no_fault;
      order.run.fault_worker /= shape_.blocks;
      order.run.blocks = 1;
    }
    order.at.member = me.member;
    order.at.members = shape_.members;
    order.at.block = me.block;
    order.at.blocks = shape_.blocks;
    order.at.workers = shape_.workers;
    order.at.streams = 1;
    order.at.epoch = shape_.epoch + static_cast<std::uint32_t>(all.rounds_done);
    order.at.parts = parts_.data();
    order.at.abort = all.abort;
    order.at.yields = all.yields;
    order.what = loop_of(mode);
    order.ring = ring.data();
    order.kept = static_cast<std::uint32_t>(ring.size());
    const bool through = of_.run(&order, &found) != 0;
    if (by_block)
      for (auto* worker : {&found.reader, &found.offender}) *worker = *worker * shape_.blocks + me.block;
    return through;
  }

  std::shared_ptr<const barrier_file> file_;
  const check::barrier_table& of_;
  check::shape shape_;
  std::unique_ptr<symmetric_memory> memory_;
  host_crew crew_;
  worker_pool pool_;
  std::vector<void*> parts_;
};

support can_run(const check::barrier_table& of, const topology::group& group, const configuration& asked) {
  const bool on_gpu = group.device == topology::device::gpu;
  if (on_gpu != (of.on_gpu != 0))
    return support::never(fmt::format("'{}' is a barrier of {}", of.name, on_gpu ? "host threads" : "GPUs"));
  if (on_gpu) return support::yes();  // how many blocks its GPUs have is found out as it is made
  const auto shape = shape_of(of, group, asked.blocks_per_sm.value_or(1));
  if (of.takes(&shape) == 0)
    return support::never(
        fmt::format("'{}' is not meant for {} members of {} threads", of.name, shape.members, shape.blocks));
  return support::yes();
}

creation create(std::shared_ptr<const barrier_file> file, const check::barrier_table& of,
                const topology::group& group, const configuration& asked, session& where) {
#if MGSYNC_WITH_CUDA
  if (of.on_gpu != 0) return create_on_gpus(std::move(file), of, group, asked, where);
#else
  if (of.on_gpu != 0) return creation::none(without_cuda);
#endif
  const unsigned blocks = asked.blocks_per_sm.value_or(1);
  const auto shape = shape_of(of, group, blocks);
  auto memory = allocate_host_memory(group, std::max<std::size_t>(of.bytes(&shape), 1), reach::group, where);
  if (!memory.memory) return creation::none(memory.reason);
  auto board = allocate_host_memory(group, host_crew::board_bytes(blocks), reach::group, where);
  std::string provider(memory.memory->provider());
  auto made = std::make_unique<host_barrier>(std::move(file), of, group, blocks, where,
                                             std::move(memory.memory), std::move(board.memory));
  return {std::move(made), {}, of.name, std::move(provider)};
}

class variant_of_users_file final : public variant_of_file {
 public:
  variant_of_users_file(std::shared_ptr<const barrier_file> file, const check::barrier_table& of)
      : file_(std::move(file)), of_(of) {}
  support can_run(const topology::group& group, const configuration& asked) const override {
    return user::can_run(of_, group, asked);
  }
  creation make(const topology::group& group, const configuration& asked, session& where) const override {
    return user::create(file_, of_, group, asked, where);
  }

 private:
  std::shared_ptr<const barrier_file> file_;
  const check::barrier_table& of_;
};

// What a file says of its barriers holds for all shapes; so each is said to join all its workers, or those of
// equal number.
facts facts_of(const check::barrier_table& of) {
  return {.origin = fact::origin::user,
          .driver = fact::driver::device,
          .scope = fact::scope::node,
          .extent =
              of.orders == check::extent::everything ? fact::extent::everything : fact::extent::equal_threads,
          .order = fact::order::both};
}

// A name for results: letters, digits, '-', '_' and '.'.
std::string name_for(const std::string& path) {
  auto name = std::filesystem::path(path).filename().string();
  const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.'; };
  for (char& c : name)
    if (!fits(static_cast<unsigned char>(c))) c = '-';
  return name;
}

class file_backend {
 public:
  explicit file_backend(const std::string& path)
      : path_(std::filesystem::absolute(path).string()), name_(name_for(path)) {
    look_into(path);  // what its code does as it is loaded is tried elsewhere first
    const auto file = barrier_file::open(path);
    for (const auto* of : file->barriers()) {
      makers_.push_back(std::make_unique<variant_of_users_file>(file, *of));
      calls_.push_back(fmt::format("{} of {}", of->name, name_));
    }
    for (std::size_t i = 0; i < makers_.size(); ++i) {
      const auto& of = *file->barriers()[i];
      const bool on_gpu = of.on_gpu != 0;
      const user_call call{.maker = "the user", .call = calls_[i], .needs = "what the file was made from"};
      variants_.push_back({.name = of.name,
                           .summary = "a barrier of yours",
                           .facts = facts_of(of),
                           .make = makers::of_file(*makers_[i], on_gpu),
                           .call = on_gpu ? call : user_call{},
                           .host_call = on_gpu ? user_call{} : call});
    }
    record_ = {.name = name_, .summary = "barriers of yours, from this file", .variants = variants_};
  }
  file_backend(const file_backend&) = delete;
  file_backend& operator=(const file_backend&) = delete;

  const std::string& path() const { return path_; }
  const std::string& name() const { return name_; }
  const backend& record() const { return record_; }

 private:
  std::string path_, name_;
  std::vector<std::unique_ptr<variant_of_users_file>> makers_;
  std::vector<std::string> calls_;
  std::vector<barrier_variant> variants_;
  backend record_{};
};

std::vector<std::unique_ptr<file_backend>>& loaded() {
  static std::vector<std::unique_ptr<file_backend>> all;
  return all;
}

}  // namespace

const backend& backend_of_file(const std::string& path) {
  auto& all = loaded();
  const auto whole = std::filesystem::absolute(path).string();
  for (const auto& one : all) {
    if (one->path() == whole) return one->record();
    if (one->name() == name_for(path))
      throw usage_error(
          fmt::format("'{}' and '{}' would have the same name in results; accepted: files whose "
                      "names differ",
                      one->path(), path));
  }
  return all.emplace_back(std::make_unique<file_backend>(path))->record();
}

std::vector<const backend*> loaded_backends() {
  std::vector<const backend*> all;
  for (const auto& one : loaded()) all.push_back(&one->record());
  return all;
}

}  // namespace mgsync::user
