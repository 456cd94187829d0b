#include "src/results/store_reading.hpp"

#include <algorithm>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include "src/base/errors.hpp"
#include "src/results/checksum.hpp"
#include "src/results/result_json.hpp"
#include "src/results/strict_json.hpp"

namespace mgsync {

using nlohmann::ordered_json;

namespace {

constexpr std::uintmax_t largest_store_bytes = std::uintmax_t{1} << 30;
constexpr std::size_t most_sentences = 20;
constexpr std::uint64_t largest_u32 = 0xffffffffU;
constexpr std::string_view header_start = R"({"t":"header","schema":"mgsync-store/)";

sample sample_of(object_reader& in) {
  sample one;
  one.batch = static_cast<std::uint32_t>(in.count("batch", largest_u32));
  one.short_us = in.number("short_us");
  one.long_us = in.number("long_us");
  one.rounds_short = static_cast<std::uint32_t>(in.count("rounds_short", largest_u32));
  one.rounds_long = static_cast<std::uint32_t>(in.count("rounds_long", largest_u32));
  if (one.rounds_short == 0 || one.rounds_long <= one.rounds_short)
    throw usage_error(in.path_of("rounds_long") + ": must be more than rounds_short");
  in.finish();
  return one;
}

class reading {
 public:
  explicit reading(const std::filesystem::path& file) : file_(file.string()) {}

  void take_header(const std::string& line) {
    const auto object = unseal(line);
    if (!line.starts_with(header_start)) throw usage_error(fmt::format("'{}' is no mgsync store", file_));
    if (!object)
      throw usage_error(fmt::format("the first line of the store '{}' is damaged: nothing of it can be used", file_));
    const ordered_json value = parse_strictly(*object, file_);
    object_reader in(value, file_);
    in.text("t");
    if (const std::string schema = in.text("schema"); schema != store_schema)
      throw usage_error(fmt::format("'{}' is a store of schema {}; this mgsync knows {}", file_, schema, store_schema));
    store_header& header = scan_.contents.header;
    header.machine = machine_from_json(in.member("machine"), in.path_of("machine"));
    header.command = in.text("command");
    header.seed = in.count("seed");
    header.started = in.text("started");
    const ordered_json& listed = in.member("settings");
    object_reader settings(listed, in.path_of("settings"));
    for (const auto& [key, setting] : listed.items()) header.settings[key] = settings.text(key);
    in.finish();
    scan_.begun = true;
  }

  void take(const std::string& line) {
    const auto object = unseal(line);
    if (!object) return damaged("damaged, skipped");
    try {
      take_intact(parse_strictly(*object, "line"));
    } catch (const usage_error& error) {
      damaged(fmt::format("skipped: {}", error.what()));
    }
  }

  void next_line() { ++line_; }

  void damaged(const std::string& how) { damage_.push_back(fmt::format("'{}' line {}: {}", file_, line_, how)); }

  store_scan result(std::uint64_t whole_bytes) {
    scan_.whole_bytes = whole_bytes;
    for (const std::string& key : finishing_order_) hand_over_finished(points_.at(key));
    for (const std::string& key : sample_order_) hand_over_unfinished(key);
    auto& told = scan_.contents.damage;
    const std::size_t count = std::min(damage_.size(), most_sentences);
    told.assign(damage_.begin(), damage_.begin() + static_cast<std::ptrdiff_t>(count));
    if (damage_.size() > count) told.push_back(fmt::format("'{}': {} more such lines", file_, damage_.size() - count));
    return std::move(scan_);
  }

 private:
  struct entry {
    mgsync::point point;
    std::vector<sample> samples;
    std::optional<mgsync::result> result;
    std::uint64_t samples_written = 0;
  };

  void take_intact(const ordered_json& value) {
    object_reader in(value, "line");
    const std::string type = in.text("t");
    if (type == "sample") return take_sample(in);
    if (type == "point") return take_point(in);
    if (type == "result") return take_result(in);
    if (type == "end") {
      scan_.contents.ended = in.text("why");
      scan_.contents.complete = true;
      return in.finish();
    }
    if (type == "resumed") {
      scan_.contents.ended.clear();
      scan_.contents.complete = false;
      return;
    }
    throw usage_error(fmt::format("'{}' is no kind of line", type));
  }

  entry& entry_of(const mgsync::point& one, const std::string& key) {
    if (short_key(one) != key) throw usage_error("the key is not that of the point");
    entry& found = points_[key];
    found.point = one;
    return found;
  }

  void take_point(object_reader& in) {
    const std::string key = in.text("key");
    entry_of(point_from_json(in.member("point"), in.path_of("point")), key);
    in.finish();
    scan_.described.insert(key);
  }

  void take_sample(object_reader& in) {
    const std::string key = in.text("key");
    const sample one = sample_of(in);
    const auto found = points_.find(key);
    if (found == points_.end()) throw usage_error("a sample of a point that no line describes");
    if (found->second.samples.empty()) sample_order_.push_back(key);
    found->second.samples.push_back(one);
  }

  void take_result(object_reader& in) {
    const std::string key = in.text("key");
    const ordered_json& value = in.member("result");
    mgsync::result one = result_from_json(value, in.path_of("result"));
    in.finish();
    entry& found = entry_of(one.point, key);
    if (found.result && found.result->stopped != interrupted) throw usage_error("a second result of the same point");
    found.samples_written = value.at("samples").get<std::uint64_t>();
    if (one.stopped != interrupted) finishing_order_.push_back(key);
    found.result = std::move(one);
  }

  void hand_over_finished(entry& one) {
    if (one.samples_written != one.samples.size())
      damage_.push_back(fmt::format(
          "'{}': {} of the {} samples of {}:{} with {} members are left; its summary is of all", file_,
          one.samples.size(), one.samples_written, one.point.backend, one.point.variant, one.point.members));
    one.result->samples = std::move(one.samples);
    scan_.contents.finished.push_back(std::move(*one.result));
  }

  void hand_over_unfinished(const std::string& key) {
    entry& one = points_.at(key);
    if (one.result && (one.result->stopped != interrupted)) return;
    std::uint32_t next_batch = 0;
    for (const sample& each : one.samples) next_batch = std::max(next_batch, each.batch + 1);
    scan_.contents.unfinished.push_back({one.point, std::move(one.samples), next_batch});
  }

  static constexpr std::string_view interrupted = "interrupted";
  std::string file_;
  std::uint64_t line_ = 1;
  store_scan scan_;
  std::map<std::string, entry> points_;  // by short key
  std::vector<std::string> sample_order_, finishing_order_;
  std::vector<std::string> damage_;
};

}  // namespace

store_scan scan_store(const std::filesystem::path& file) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(file, error);
  std::ifstream in(file, std::ios::binary);
  if (error) throw usage_error(fmt::format("cannot read the store '{}': {}", file.string(), error.message()));
  if (!in) throw usage_error(fmt::format("cannot read the store '{}'", file.string()));
  if (size > largest_store_bytes)
    throw usage_error(fmt::format("'{}' has {} bytes; at most {} are read", file.string(), size, largest_store_bytes));

  reading all(file);
  std::uint64_t whole_bytes = 0;
  std::string line;
  while (std::getline(in, line)) {
    const bool first = whole_bytes == 0;
    if (in.eof()) {  // no newline: the write was cut short
      const std::string_view common = std::string_view(line).substr(0, header_start.size());
      if (first && !header_start.starts_with(common))
        throw usage_error(fmt::format("'{}' is no mgsync store", file.string()));
      all.damaged(fmt::format("torn after {} bytes, the last to be written", line.size()));
      break;
    }
    whole_bytes += line.size() + 1;
    if (first)
      all.take_header(line);
    else
      all.take(line);
    all.next_line();
  }
  if (in.bad()) throw usage_error(fmt::format("cannot read the store '{}' to its end", file.string()));
  return all.result(whole_bytes);
}

store_contents read_store(const std::filesystem::path& file) {
  store_scan scan = scan_store(file);
  if (!scan.begun) throw usage_error(fmt::format("'{}' is empty: no store was begun in it", file.string()));
  return std::move(scan.contents);
}

}  // namespace mgsync
