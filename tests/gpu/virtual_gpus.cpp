#include "tests/gpu/virtual_gpus.hpp"

#include <algorithm>
#include <atomic>

#include "barriers/parts/algorithm/layout.hpp"

namespace mgsync::test {

namespace {

template <class T>
void copy_to(const cuda::memory& memory, const std::vector<T>& values, std::size_t at = 0) {
  cuda::check(cudaMemcpy(memory.get() + at, values.data(), values.size() * sizeof(T), cudaMemcpyDefault),
              "setting up virtual GPUs");
}

std::uint32_t* word_of(const cuda::memory& memory, std::size_t bytes) {
  return reinterpret_cast<std::uint32_t*>(memory.get() + bytes);
}

}  // namespace

virtual_gpus::virtual_gpus(unsigned blocks, std::vector<unsigned> team, std::chrono::milliseconds patience,
                           unsigned all)
    : blocks_(blocks), team_(std::move(team)), patience_(patience) {
  const auto choice = choose_multigrid(size(), blocks_, static_cast<unsigned>(cuda::sm_count(0)));
  const auto image = image_of(choice, blocks_);
  part_bytes_ = image.size() * sizeof image[0];
  parts_ = cuda::memory::on_gpu(0, size() * part_bytes_);
  records_ = cuda::memory::on_gpu(0, size() * blocks_ * sizeof(multi_grid_block));
  stops_ = cuda::memory::on_gpu(0, size() * algorithm::line_bytes);
  stop_lists_ = cuda::memory::on_gpu(0, size() * size() * sizeof(std::uint32_t*));
  told_ = cuda::memory::on_host(sizeof(multi_grid_report) * size() + sizeof(std::uint32_t));
  std::vector<std::uint32_t*> parts;
  for (unsigned m = 0; m < size(); ++m) {
    copy_to(parts_, image, m * part_bytes_);
    parts.push_back(word_of(parts_, m * part_bytes_));
  }
  table_ = cuda::memory::on_gpu(0, parts.size() * sizeof parts[0]);
  copy_to(table_, parts);
  std::vector<multi_grid_handle> handles(std::max(all, 1 + *std::max_element(team_.begin(), team_.end())));
  for (unsigned m = 0; m < size(); ++m) {
    auto& handle = handles[team_[m]];
    handle = describe(choice, parts.data(), m, size(), blocks_);
    if (size() > multi_grid_handle::gpus_inside) handle.table = table_.as<std::uint32_t*>();
    handle.records = records_.as<multi_grid_block>() + std::size_t{m} * blocks_;
    handle.generation = 1;
  }
  handles_ = cuda::memory::on_gpu(0, handles.size() * sizeof handles[0]);
  copy_to(handles_, handles);
  copy_to(records_, records());
}

virtual_gpus::~virtual_gpus() {
  if (file_) cudaHostUnregister(file_->begin());
}

std::vector<multi_grid_block> virtual_gpus::records() const {
  std::vector<multi_grid_block> records;
  for (unsigned m = 0; m < size(); ++m) {
    std::vector<std::uint32_t*> stops{word_of(stops_, m * algorithm::line_bytes)};
    for (unsigned o = 0; o < size(); ++o)
      if (o != m) stops.push_back(word_of(stops_, o * algorithm::line_bytes));
    const std::size_t at = std::size_t{m} * size() * sizeof stops[0];
    copy_to(stop_lists_, stops, at);
    auto record = fresh_block();
    record.patience = record.first_patience = static_cast<std::uint32_t>(patience_.count());  // of 1.05 ms
    record.generation = 1;
    record.report = told_.as<multi_grid_report>() + m;
    record.told = word_of(told_, sizeof(multi_grid_report) * size());
    record.stops = reinterpret_cast<std::uint32_t* const*>(stop_lists_.get() + at);
    record.watched = stops.front();
    record.stop_count = static_cast<std::uint16_t>(size());
    if (file_) record.trace = traces_.as<wait_trace>() + m;
    records.insert(records.end(), blocks_, record);
  }
  return records;
}

bool virtual_gpus::given_up() const {
  return std::atomic_ref<std::uint32_t>(*word_of(told_, sizeof(multi_grid_report) * size())).load() != 0;
}

void virtual_gpus::trace() {
  std::vector<wait_gpu> gpus;
  for (unsigned m = 0; m < size(); ++m) gpus.push_back({m, 0, team_[m]});
  wait_file_head head{};
  head.group[0] = 'v';
  head.processes = 1;
  head.gpus = size();
  head.blocks = blocks_;
  head.first_epoch = algorithm::first_gpu_epoch;
  file_ = std::make_unique<wait_file>(head, gpus);
  cuda::check(cudaHostRegister(file_->begin(), file_->bytes(), cudaHostRegisterMapped), "mapping the notes");
  std::vector<wait_trace> traces(size());
  for (unsigned m = 0; m < size(); ++m) {
    traces[m].notes = file_->notes(m);
    traces[m].told = file_->late(m);
    traces[m].members = size();
  }
  traces_ = cuda::memory::on_gpu(0, traces.size() * sizeof traces[0]);
  copy_to(traces_, traces);
  copy_to(records_, records());
}

std::vector<late_round> virtual_gpus::rounds_seen_by(unsigned rank) const {
  wait_trace trace;
  cuda::check(cudaMemcpy(&trace, traces_.as<wait_trace>() + rank, sizeof trace, cudaMemcpyDefault),
              "reading rounds");
  std::vector<late_round> rounds;
  const unsigned first = trace.rounds > wait_trace::most_rounds ? trace.rounds - wait_trace::most_rounds : 0;
  for (unsigned i = first; i < trace.rounds; ++i) rounds.push_back(trace.last[i % wait_trace::most_rounds]);
  return rounds;
}

}  // namespace mgsync::test
