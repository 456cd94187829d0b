#include "src/results/first_schema.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "src/base/errors.hpp"
#include "src/base/strict_json.hpp"
#include "src/results/statistics.hpp"

namespace mgsync::first_schema {
namespace {

using nlohmann::ordered_json;

void set_if_any(point& one, std::string_view name, std::optional<double> value) {
  if (value) one.set(name, *value);
}

verdict verdict_of(const ordered_json& value, const std::string& path,
                   const std::vector<std::string>& notes) {
  const object_reader in(value, path);
  verdict one;
  one.rounds = in.get<std::uint64_t>("rounds");
  one.observations = in.get<std::uint64_t>("observations");
  one.violations = in.get_or<std::uint64_t>("violations", 0);
  one.control_flagged = in.get<bool>("control_flagged");
  const bool rounds = one.violations > 0 || (one.rounds > 0 && one.control_flagged);
  one.kind = in.get<bool>("trivial") ? verdict_kind::trivial
             : rounds                ? verdict_kind::rounds
                                     : verdict_kind::unchecked;
  one.passed = one.kind != verdict_kind::unchecked && one.violations == 0;
  if (one.rounds > 0) one.bound = in.get_or<std::optional<double>>("bound", std::nullopt);
  if (std::find(notes.begin(), notes.end(), "checked within each host, not between hosts") != notes.end())
    one.scope = verdict_scope::within_hosts;
  return one;
}

metric latency_of(const ordered_json& value, const std::string& path, const object_reader& outer) {
  const object_reader in(value, path);
  metric one{{"latency", "us"}};
  one.max = std::numeric_limits<double>::quiet_NaN();
  one.median = in.get<double>("median");
  one.ci95_low = in.get<double>("ci95_low");
  one.ci95_high = in.get<double>("ci95_high");
  one.confidence = in.get<double>("confidence");
  one.min = in.get<double>("min");
  one.spread = in.get<double>("spread");
  one.sigma = in.get_or<std::optional<double>>("sigma", std::nullopt);
  one.p5 = in.get_or<std::optional<double>>("p5", std::nullopt);
  one.p95 = in.get_or<std::optional<double>>("p95", std::nullopt);
  one.samples = outer.get<std::size_t>("samples");
  return one;
}

// Was "measured" with stopped "interrupted", or "waived" with a reason that says so.
result_status status_of(const object_reader& in, stop_reason stopped, const std::string& reason) {
  const auto status = in.get<result_status>("status");
  if (status == result_status::error || status == result_status::interrupted)
    expected(in.path_of("status"), "measured, waived or failed");
  const bool early = (status == result_status::measured && stopped == stop_reason::interrupted) ||
                     (status == result_status::waived && reason == "interrupted before it was measured");
  return early ? result_status::interrupted : status;
}

}  // namespace

point point_from_json(const ordered_json& value, const std::string& path) {
  const object_reader in(value, path);
  point one;
  one.subject = in.get<std::string>("backend");
  one.variant = in.get<std::string>("variant");
  one.device = in.get<topology::device>("device");
  one.members = in.get<int>("members");
  one.ranks = in.get<int>("ranks");
  one.group = in.get<std::vector<int>>("group");
  one.node = in.get_or<std::string>("node", "");
  one.placement = in.get<std::string>("placement");
  for (const auto name : {axes::blocks_per_sm, axes::blocks, axes::threads_per_block})
    set_if_any(one, name, in.get<std::optional<unsigned>>(name));
  one.set(axes::load, in.get<std::string>("load"));
  if (const auto us = in.get<std::uint32_t>("work_units"); us > 0)
    one.set(axes::work, static_cast<double>(us), "us");
  if (const auto words = in.get<std::uint32_t>("payload_words"); words > 1)
    one.set(axes::payload, static_cast<double>(words), "words");
  if (!in.get<bool>("pinned")) one.set(axes::pinned, "no");
  if (in.get<bool>("oversubscribed")) one.set(axes::oversubscribed, "yes");
  if (const auto asked = in.get<std::string>("peer_memory_asked"); !asked.empty())
    one.set(axes::peer_memory_asked, asked);
  return one;
}

sample sample_from_json(const ordered_json& line, const std::string& path) {
  const object_reader in(line, path);
  const auto rounds_short = in.get<std::uint32_t>("rounds_short"),
             rounds_long = in.get<std::uint32_t>("rounds_long");
  if (rounds_short == 0 || rounds_long <= rounds_short)
    expected(in.path_of("rounds_long"), "more than rounds_short");
  return difference_sample(in.get<std::uint32_t>("batch"), in.get<double>("short_us"),
                           in.get<double>("long_us"), rounds_short, rounds_long);
}

result result_from_json(const ordered_json& value, const std::string& path) {
  const object_reader in(value, path);
  result one;
  one.point = first_schema::point_from_json(value, path);
  one.stopped = in.get_or("stopped", stop_reason::none);
  one.reason = in.get<std::string>("reason");
  one.status = status_of(in, one.stopped, one.reason);
  one.notes = in.get<std::vector<std::string>>("notes");
  std::erase_if(one.notes, [](const std::string& note) {
    return note == "oversubscribed" || note == "not pinned";
  });  // axes
  one.verdict = verdict_of(in.member("check"), in.path_of("check"), one.notes);
  if (in.get<result_status>("status") == result_status::measured)
    one.metrics.push_back(latency_of(in.member("latency_us"), in.path_of("latency_us"), in));
  one.method = in.get<std::string>("method");
  for (const auto* key : {"algorithm", "peer_memory"})
    if (const auto text = in.get_or<std::string>(key, ""); !text.empty()) one.environment[key] = text;
  if (const auto slowest = in.get<std::optional<int>>("slowest_member"))
    one.environment["slowest_member"] = std::to_string(*slowest);
  return one;
}

result result_with_samples(const ordered_json& value, const std::string& path) {
  result one = first_schema::result_from_json(value, path);
  const object_reader outer(value, path);
  const object_reader raw(outer.member("raw"), outer.path_of("raw"));
  const auto batch = raw.get<std::vector<std::uint32_t>>("batch");
  const auto short_us = raw.get<std::vector<double>>("short_us"),
             long_us = raw.get<std::vector<double>>("long_us");
  const auto rounds_short = raw.get<std::vector<std::uint32_t>>("rounds_short"),
             rounds_long = raw.get<std::vector<std::uint32_t>>("rounds_long");
  for (const auto size : {short_us.size(), long_us.size(), rounds_short.size(), rounds_long.size(),
                          outer.get<std::size_t>("samples")})
    if (size != batch.size())
      throw usage_error(fmt::format("{}: the samples differ in number: {} and {}", path, size, batch.size()));
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (rounds_short[i] == 0 || rounds_long[i] <= rounds_short[i])
      expected(raw.path_of("rounds_long"), "more than rounds_short, and that more than 0");
    one.samples.push_back(
        difference_sample(batch[i], short_us[i], long_us[i], rounds_short[i], rounds_long[i]));
  }
  if (!one.metrics.empty() && !one.samples.empty()) {
    const metric again = summarize(one.metrics[0], one.samples);
    one.metrics[0].max = again.max;
    one.metrics[0].raw = again.raw;
  }
  return one;
}

}  // namespace mgsync::first_schema
