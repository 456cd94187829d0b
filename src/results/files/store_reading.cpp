#include "src/results/files/store_reading.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "src/base/bounded_file.hpp"
#include "src/base/errors.hpp"
#include "src/base/json_fields.hpp"
#include "src/base/printable.hpp"
#include "src/results/files/numbers_in_text.hpp"
#include "src/results/values/checksum.hpp"

namespace mgsync {

namespace {

constexpr std::size_t most_sentences = 20;
constexpr std::string_view here = "line";  // the beginning of paths in messages about a line
constexpr std::string_view header_start = R"({"t":"header","schema":"mgsync-store/)";

class reading {
 public:
  explicit reading(const std::string& name) : file_(name) {}

  void take_header(const std::string& line) {
    const auto object = unseal(line);
    if (!line.starts_with(header_start)) throw usage_error(fmt::format("'{}' is no mgsync store", file_));
    if (!object)
      throw usage_error(
          fmt::format("the first line of the store '{}' is damaged: nothing of it can be used", file_));
    const auto schema = text_under("schema", *object, file_).value_or("");
    if (schema != store_schema)
      throw usage_error(fmt::format("'{}' is a store of schema '{}', which is not read; accepted: '{}'",
                                    file_, schema, store_schema));
    read_json(*object, file_, scan_.contents.header);
    scan_.begun = true;
  }

  void take(const std::string& line) {
    const auto object = unseal(line);
    if (!object) return damaged("damaged, skipped");
    try {
      take_intact(*object);
    } catch (const usage_error& error) { damaged(fmt::format("skipped: {}", error.what())); }
  }

  void next_line() { ++line_; }

  void damaged(const std::string& how) {
    damage_.push_back(fmt::format("'{}' line {}: {}", file_, line_, how));
  }

  store_scan result(std::uint64_t whole_bytes) {
    scan_.whole_bytes = whole_bytes;
    for (const std::string& key : order_) hand_over(points_.at(key));
    auto& told = scan_.contents.damage;
    const std::size_t count = std::min(damage_.size(), most_sentences);
    told.assign(damage_.begin(), damage_.begin() + static_cast<std::ptrdiff_t>(count));
    if (damage_.size() > count)
      told.push_back(fmt::format("'{}': {} more such lines", file_, damage_.size() - count));
    return std::move(scan_);
  }

 private:
  // What the lines read so far say about one point.
  struct entry {
    mgsync::point point;
    std::vector<metric_name> metrics;
    std::string method;
    std::vector<sample> samples;           // of the attempt under way
    std::optional<mgsync::result> result;  // of the last attempt that ended
    std::uint32_t next_batch = 0;
    std::string before;  // how the attempt before the last one ended
  };

  void take_intact(std::string_view line) {
    const auto kind = text_under("t", line, here).value_or("");
    if (kind == "sample") return take_sample(line);
    if (kind == "point") return take_point(line);
    if (kind == "result") return take_result(line);
    if (kind != "end" && kind != "resumed") throw usage_error(fmt::format("'{}' is no kind of line", kind));
    auto& ended = scan_.contents.ended;
    ended.clear();
    scan_.contents.complete = kind == "end";
    if (kind == "end") read_json(line, here, told_by{[&](auto& way) { way.needs("why", ended); }});
  }

  entry& entry_of(const mgsync::point& one, const std::string& key) {
    if (short_key(one) != key) throw usage_error("the key is not that of the point");
    const auto [found, fresh] = points_.try_emplace(key);
    if (fresh) {
      order_.push_back(key);
      found->second.point = one;
    } else if (!(found->second.point == one)) {
      throw usage_error("another point has this key");
    }
    return found->second;
  }

  void take_point(std::string_view line) {
    std::string key;
    entry told;
    read_json(line, here, told_by{[&](auto& way) {
                way.needs("key", key);
                way.needs("point", told.point);
                way.needs("metrics", by_name{told.metrics});
                way.needs("method", told.method);
              }});
    entry& found = entry_of(told.point, key);
    found.method = told.method;
    found.metrics = told.metrics;
    scan_.described.insert(key);
  }

  void take_sample(std::string_view line) {
    std::string key;
    sample one;
    read_json(line, here, told_by{[&](auto& way) {
                way.needs("key", key);
                way.needs("batch", one.batch);
                way.needs("values", by_name{one.values});
              }});
    std::erase_if(one.values, [](const named_value& each) { return std::isnan(each.value); });
    const auto found = points_.find(key);
    if (found == points_.end()) throw usage_error("a sample of a point that no line describes");
    found->second.next_batch = std::max(found->second.next_batch, one.batch + 1);
    found->second.samples.push_back(std::move(one));
  }

  void take_result(std::string_view line) {
    std::string key;
    mgsync::result one;
    read_json(line, here, told_by{[&](auto& way) {
                way.needs("key", key);
                way.needs("result", one);
              }});
    take_numbers_from_text(one);
    entry& found = entry_of(one.point, key);
    if (found.result) {
      const mgsync::result& last = *found.result;
      if (!is_to_be_tried_again(last)) throw usage_error("a second result of a point that was done");
      if (one.attempt > last.attempt) found.before = what_became_of(last);
    }
    // Samples of a failed attempt do not count for the next one.
    if (one.status == result_status::failed) one.samples = std::exchange(found.samples, {});
    found.result = std::move(one);
  }

  static bool is_to_be_tried_again(const mgsync::result& one) {
    return one.status == result_status::failed || one.status == result_status::error ||
           one.status == result_status::interrupted;
  }

  static std::string what_became_of(const mgsync::result& one) {
    return fmt::format("attempt {} {}: {}", one.attempt,
                       one.status == result_status::failed ? "failed" : "met an error", one.reason);
  }

  // A point that ended has a result. A point to be continued or tried again is unfinished; it may be both.
  void hand_over(entry& one) {
    if (one.result ? is_to_be_tried_again(*one.result) : !one.samples.empty()) {
      unfinished_point next{one.point, one.samples, one.next_batch, one.metrics, one.method, 1, one.before};
      if (one.result) next.attempt = one.result->attempt;
      if (one.result && one.result->status != result_status::interrupted) {
        ++next.attempt;
        next.before = what_became_of(*one.result);
      }
      scan_.contents.unfinished.push_back(std::move(next));
    }
    if (!one.result || one.result->status == result_status::interrupted) return;
    mgsync::result& done = *one.result;
    if (done.status != result_status::failed) done.samples = std::move(one.samples);
    if (done.has_metrics() && done.metrics.front().samples != done.samples.size())
      damage_.push_back(fmt::format("'{}': {} of the {} samples of {} are left; its summary is of all", file_,
                                    done.samples.size(), done.metrics.front().samples, name_of(done.point)));
    scan_.contents.finished.push_back(std::move(done));
  }

  std::string file_;
  std::uint64_t line_ = 1;
  store_scan scan_;
  std::map<std::string, entry> points_;  // by short key
  std::vector<std::string> order_;       // of their first line
  std::vector<std::string> damage_;
};

}  // namespace

store_scan scan_store(const std::filesystem::path& file) {
  return scan_store_text(read_bounded_file(file.string(), fmt::format("the store '{}'", file.string()), ""),
                         file.string());
}

store_scan scan_store_text(std::string_view text, const std::string& name) {
  reading all(one_line(name));
  std::uint64_t whole_bytes = 0;
  while (whole_bytes < text.size()) {
    const bool first = whole_bytes == 0;
    const auto end = text.find('\n', whole_bytes);
    const std::string line(text.substr(whole_bytes, end == text.npos ? end : end - whole_bytes));
    if (end == text.npos) {  // no newline: the write was cut short
      const std::string_view common = std::string_view(line).substr(0, header_start.size());
      if (first && !header_start.starts_with(common))
        throw usage_error(fmt::format("'{}' is no mgsync store", name));
      all.damaged(fmt::format("torn after {} bytes, the last to be written", line.size()));
      break;
    }
    whole_bytes += line.size() + 1;
    if (first) all.take_header(line);
    else all.take(line);
    all.next_line();
  }
  return all.result(whole_bytes);
}

store_contents read_store(const std::filesystem::path& file) {
  return contents_of(scan_store(file), file.string());
}

store_contents contents_of(store_scan scan, const std::string& name) {
  if (!scan.begun) throw usage_error(fmt::format("'{}' is empty: no store was begun in it", name));
  return std::move(scan.contents);
}

}  // namespace mgsync
