#include "src/studies/pipeline/measured_rows.hpp"

#include <charconv>
#include <functional>

#include <fmt/format.h>

#include "src/base/errors.hpp"

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

// One line's cells by the header's names.
class cells {
 public:
  cells(const std::vector<std::string_view>& names, std::string_view line, std::string where)
      : names_(names), values_(split(line, ',')), where_(std::move(where)) {
    if (values_.size() != names_.size())
      throw usage_error(fmt::format("{}: {} cells, and the header has {}", where_, values_.size(), names_.size()));
  }

  std::string_view word(std::string_view name) const {
    for (std::size_t i = 0; i < names_.size(); ++i)
      if (names_[i] == name) return values_[i];
    throw usage_error(fmt::format("{}: there is no column '{}'", where_, name));
  }
  double number(std::string_view name) const {
    const std::string_view text = word(name);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
      throw usage_error(fmt::format("{}: '{}' in column '{}' is no number", where_, text, name));
    return value;
  }
  int whole(std::string_view name) const { return static_cast<int>(number(name)); }
  extent size(std::string_view m, std::string_view n, std::string_view k) const { return {whole(m), whole(n), whole(k)}; }

 private:
  const std::vector<std::string_view>& names_;
  std::vector<std::string_view> values_;
  std::string where_;
};

template <class Row>
measured<Row> read_rows(std::string_view csv, std::string_view source, const std::function<Row(const cells&)>& make) {
  measured<Row> found;
  std::vector<std::string_view> names;
  int number = 0;
  for (const std::string_view line : split(csv, '\n')) {
    ++number;
    if (line.empty()) continue;
    if (line.starts_with("# ")) {
      const std::size_t equal = line.find('=');
      if (equal != std::string_view::npos) found.facts.emplace(line.substr(2, equal - 2), line.substr(equal + 1));
    } else if (names.empty()) {
      names = split(line, ',');
    } else {
      found.rows.push_back(make(cells(names, line, fmt::format("{}, line {}", source, number))));
    }
  }
  return found;
}

}  // namespace

measured<product_row> read_product_rows(std::string_view csv, std::string_view source) {
  return read_rows<product_row>(csv, source, [](const cells& c) {
    return product_row{std::string(c.word("family")), c.whole("instance"), c.size("tm", "tn", "tk"), c.whole("consumers"),
                       c.whole("math_warps"), c.whole("buffers"), c.whole("producers"), c.whole("blocks"), c.size("m", "n", "k"),
                       c.whole("loads") != 0, c.whole("math") != 0, c.whole("epilogue") != 0, std::string(c.word("set")),
                       c.number("median_ns"), c.number("min_ns")};
  });
}

measured<synthetic_row> read_synthetic_rows(std::string_view csv, std::string_view source) {
  return read_rows<synthetic_row>(csv, source, [](const cells& c) {
    return synthetic_row{std::string(c.word("semaphore")), c.whole("producers"), c.whole("buffers"), c.whole("stages"),
                         c.number("load_a_cycles"), c.number("load_b_cycles"), c.number("math_cycles"), std::string(c.word("set")),
                         c.number("median_cycles")};
  });
}

measured<stamp_row> read_stamp_rows(std::string_view csv, std::string_view source) {
  return read_rows<stamp_row>(csv, source, [](const cells& c) {
    const std::string_view what = c.word("what");
    return stamp_row{c.whole("timeline"), std::string(c.word("semaphore")), c.whole("producers"), c.whole("buffers"),
                     c.whole("stages"), c.whole("agent"), what.empty() ? '?' : what.front(), c.whole("stage"), c.number("begin"), c.number("end")};
  });
}

}  // namespace mgsync::pipeline
