#include "src/studies/pipeline/measured_rows.hpp"

#include <charconv>
#include <functional>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/errors.hpp"
#include "src/results/statistics.hpp"

namespace mgsync::pipeline {

namespace {

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> words;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(at, begin);
    words.push_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return words;
    begin = end + 1;
  }
}

std::optional<double> number_of(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

// One line's cells by the header's names.
class cells {
 public:
  cells(const std::vector<std::string_view>& names, std::string_view line, std::string where)
      : names_(names), values_(split(line, ',')), where_(std::move(where)) {
    if (values_.size() != names_.size())
      throw usage_error(
          fmt::format("{}: {} cells, and the header has {}", where_, values_.size(), names_.size()));
  }

  std::string_view word(std::string_view name) const {
    for (std::size_t i = 0; i < names_.size(); ++i)
      if (names_[i] == name) return values_[i];
    throw usage_error(fmt::format("{}: there is no column '{}'", where_, name));
  }
  double number(std::string_view name) const {
    const std::string_view text = word(name);
    if (const auto value = number_of(text)) return *value;
    throw usage_error(fmt::format("{}: '{}' in column '{}' is no number", where_, text, name));
  }
  double number_or_0(std::string_view name) const {  // where there is no such column
    const auto all = numbers(name);
    return all.empty() ? 0 : all.front();
  }
  // Numbers that blanks separate; none where there is no such column.
  std::vector<double> numbers(std::string_view name) const {
    std::vector<double> all;
    for (std::size_t i = 0; i < names_.size(); ++i)
      if (names_[i] == name)
        for (const std::string_view text : split(values_[i], ' '))
          if (const auto value = number_of(text)) all.push_back(*value);
    return all;
  }
  int whole(std::string_view name) const { return static_cast<int>(number(name)); }
  extent size(std::string_view m, std::string_view n, std::string_view k) const {
    return {whole(m), whole(n), whole(k)};
  }

 private:
  const std::vector<std::string_view>& names_;
  std::vector<std::string_view> values_;
  std::string where_;
};

void set(machine_facts& facts, std::string_view key, std::string_view value, std::string_view source) {
  if (key == "name") {
    facts.name = value;
  } else if (key == "sms" || key == "shared_bytes") {
    const auto number = number_of(value);
    if (!number) throw usage_error(fmt::format("{}: '# {}={}' is no number", source, key, value));
    (key == "sms" ? facts.sms : facts.shared_bytes) = static_cast<int>(*number);
  } else {
    facts.others.emplace(key, value);
  }
}

template <class Row>
measured<Row> read_rows(std::string_view csv, std::string_view source,
                        const std::function<Row(const cells&)>& make) {
  measured<Row> found;
  std::vector<std::string_view> names;
  int number = 0;
  for (const std::string_view line : split(csv, '\n')) {
    ++number;
    if (line.empty()) continue;
    if (line.starts_with("# ")) {
      const std::size_t equal = line.find('=');
      if (equal != std::string_view::npos)
        set(found.facts, line.substr(2, equal - 2), line.substr(equal + 1), source);
    } else if (names.empty()) {
      names = split(line, ',');
    } else {
      found.rows.push_back(make(cells(names, line, fmt::format("{}, line {}", source, number))));
    }
  }
  return found;
}

std::string head(const machine_facts& facts, std::string_view columns) {
  std::string out;
  if (!facts.name.empty())
    out += fmt::format("# name={}\n# sms={}\n# shared_bytes={}\n", facts.name, facts.sms, facts.shared_bytes);
  for (const auto& [key, value] : facts.others) out += fmt::format("# {}={}\n", key, value);
  return out + fmt::format("{}\n", columns);
}

}  // namespace

void set_times(product_row& row, std::vector<double> raw_ns) {
  row.median_ns = median(raw_ns);
  row.min_ns = minimum(raw_ns);
  row.raw_ns = std::move(raw_ns);
}

void set_times(synthetic_row& row, std::vector<double> raw_cycles) {
  row.median_cycles = median(raw_cycles);
  row.raw_cycles = std::move(raw_cycles);
}

std::string to_csv(std::span<const product_row> rows, const machine_facts& facts) {
  std::string out = head(facts, "family,instance,tm,tn,tk,consumers,math_warps,buffers,producers,blocks,m,n,"
                                "k,loads,math,epilogue,set,median_ns,min_ns,raw_ns");
  for (const product_row& r : rows)
    out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{:d},{:d},{:d},{},{:.1f},{:.1f},{:.1f}\n",
                       r.family, r.instance, r.tile.m, r.tile.n, r.tile.k, r.consumers, r.math_warps,
                       r.buffers, r.producers, r.blocks, r.size.m, r.size.n, r.size.k, r.loads, r.math,
                       r.epilogue, r.set, r.median_ns, r.min_ns, fmt::join(r.raw_ns, " "));
  return out;
}

std::string to_csv(std::span<const synthetic_row> rows, const machine_facts& facts) {
  std::string out = head(facts, "semaphore,producers,buffers,stages,load_a_cycles,load_b_cycles,math_cycles,"
                                "set,median_cycles,raw_cycles");
  for (const synthetic_row& r : rows)
    out += fmt::format("{},{},{},{},{},{},{},{},{},{}\n", r.semaphore, r.producers, r.buffers, r.stages,
                       r.load_a_cycles, r.load_b_cycles, r.math_cycles, r.set, r.median_cycles,
                       fmt::join(r.raw_cycles, " "));
  return out;
}

std::string to_csv(std::span<const stamp_row> rows, const machine_facts& facts) {
  std::string out = head(facts, "timeline,semaphore,producers,buffers,stages,load_a_cycles,load_b_cycles,"
                                "math_cycles,agent,what,stage,begin,end");
  for (const stamp_row& r : rows)
    out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}\n", r.timeline, r.semaphore, r.producers,
                       r.buffers, r.stages, r.load_a_cycles, r.load_b_cycles, r.math_cycles, r.agent, r.what,
                       r.stage, r.begin, r.end);
  return out;
}

measured<product_row> read_product_rows(std::string_view csv, std::string_view source) {
  return read_rows<product_row>(csv, source, [](const cells& c) {
    return product_row{std::string(c.word("family")),
                       c.whole("instance"),
                       c.size("tm", "tn", "tk"),
                       c.whole("consumers"),
                       c.whole("math_warps"),
                       c.whole("buffers"),
                       c.whole("producers"),
                       c.whole("blocks"),
                       c.size("m", "n", "k"),
                       c.whole("loads") != 0,
                       c.whole("math") != 0,
                       c.whole("epilogue") != 0,
                       std::string(c.word("set")),
                       c.number("median_ns"),
                       c.number("min_ns"),
                       c.numbers("raw_ns")};
  });
}

measured<synthetic_row> read_synthetic_rows(std::string_view csv, std::string_view source) {
  return read_rows<synthetic_row>(csv, source, [](const cells& c) {
    return synthetic_row{std::string(c.word("semaphore")),
                         c.whole("producers"),
                         c.whole("buffers"),
                         c.whole("stages"),
                         c.number("load_a_cycles"),
                         c.number("load_b_cycles"),
                         c.number("math_cycles"),
                         std::string(c.word("set")),
                         c.number("median_cycles"),
                         c.numbers("raw_cycles")};
  });
}

measured<stamp_row> read_stamp_rows(std::string_view csv, std::string_view source) {
  return read_rows<stamp_row>(csv, source, [](const cells& c) {
    const std::string_view what = c.word("what");
    return stamp_row{c.whole("timeline"),
                     std::string(c.word("semaphore")),
                     c.whole("producers"),
                     c.whole("buffers"),
                     c.whole("stages"),
                     c.whole("agent"),
                     what.empty() ? '?' : what.front(),
                     c.whole("stage"),
                     c.number("begin"),
                     c.number("end"),
                     c.number_or_0("load_a_cycles"),
                     c.number_or_0("load_b_cycles"),
                     c.number_or_0("math_cycles")};
  });
}

}  // namespace mgsync::pipeline
