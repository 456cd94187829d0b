// Every type with fields, through every way of them: what is written is read back, by files and by messages
// between ranks, and a file that differs in one place is refused with the path of that place.
#include "src/base/fields.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "made_up_results.hpp"
#include "src/base/json_fields.hpp"
#include "src/results/files/json_document.hpp"
#include "src/results/files/store.hpp"
#include "src/results/frame/recording.hpp"
#include "tests/unit/refused.hpp"

namespace mgsync { namespace {

using json = nlohmann::ordered_json;

// Empty where nothing was refused.
std::string sentence_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const usage_error& error) { return error.what(); }
  return "";
}

// A result in which nothing has its default.
result full_result() {
  auto r = test::measured(test::a_point("multigrid", "auto", 4), 0.3, 1, 30);
  r.point.study = "launch";
  r.point.ranks = 2;
  r.point.node = "n1";
  r.point.placement = "far";
  r.point.set("bytes", 65536.0, "B");
  test::add_metric(r, "bandwidth", "GB/s", better::more, 100);
  r.status = result_status::failed;
  r.reason = "member 1 left too early";
  r.verdict = {verdict_kind::sum,    verdict_scope::within_hosts, true, 7, 8, 9, true, 0.25,
               {{"finding", "none"}}};
  r.stopped = stop_reason::precision;
  r.attempt = 3;
  r.attachments = {{"timeline", "text/csv", "t,what\n1,\"begin\"\n"}};
  r.environment = {{"algorithm", "inbox"}};
  r.quantities = {{"clock", {"MHz", {1980, 345.5}}}};
  r.notes = {"oversubscribed"};
  r.doubts = {{"load", 2.5, "5 runnable threads for 2 hardware threads"}};
  r.facts = known_facts{
      {fact::origin::peer, fact::driver::host, fact::scope::nodes, fact::extent::gpu, fact::order::acquire},
      "NVIDIA",
      "a.sync()",
      "a launch"};
  return r;
}

json_document full_document() {
  auto machine = test::a_machine();
  auto& g = machine.gpus[0];
  g.id = 3;
  g.pci_bus_id = "0000:1b:00.0";
  g.numa = 1;
  g.compute_major = 9, g.compute_minor = 1, g.sm_count = 132, g.sm_clock_mhz = 1980;
  g.mig = true;
  return {.command = "mgsync --json 'a \"b\".json'",
          .seed = std::numeric_limits<std::uint64_t>::max(),
          .started = "2026-01-31T12:00:00Z",
          .ended = "failed",
          .machine = machine,
          .settings = {{"precision", "0.01"}},
          .results = {full_result()}};
}

recording full_recording() {
  return {.unit = "cycles",
          .worker_word = "warp",
          .workers = {"warp 0", "warp 1"},
          .kinds = {{"START"}, {"STOP", 0, "store, load"}},
          .events = {{1000.25, 1, 1, 2, 0xffffffffffffff01ULL, 1'700'000'000'123'456'789ULL, 5}},
          .uncertainty = 32,
          .lost = 4};
}

// What a value is in a file, in a file whose keys stand in another order, and in a message.
template <class Type>
void expect_there_and_back(const Type& value, Type empty, const char* name) {
  const auto written = to_json(value);
  const std::function<json(const json&)> turned = [&](const json& one) {
    if (!one.is_object()) return one;
    json other = json::object();
    for (auto it = one.rbegin(); it != one.rend(); ++it) other[it.key()] = turned(*it);
    return other;
  };
  for (const auto& text : {dumped(written), written.dump(2), dumped(turned(written))}) {
    Type read = empty;
    read_json(text, name, read);
    // As trees without an order: a map by name keeps the order of the file.
    EXPECT_EQ(nlohmann::json(to_json(read)), nlohmann::json(written)) << name << ": " << text;
  }
  Type told = empty;
  read_json(on_wire(value), name, told, {.to_the_letter = true});
  EXPECT_EQ(on_wire(told), on_wire(value)) << name;
  EXPECT_NE(on_wire(value), on_wire(empty)) << name << " is to differ from what it is read into";
}
template <class Type>
void expect_there_and_back(const Type& value, const char* name) {
  expect_there_and_back(value, Type{}, name);
}

TEST(fields, of_every_type_are_read_as_they_were_written) {
  const auto r = full_result();
  const auto document = full_document();
  expect_there_and_back(r.point, "point");
  expect_there_and_back(r.point.axes[0], "axis");
  expect_there_and_back(r.metrics[1], "metric");
  expect_there_and_back(metric_name{"bandwidth", "GB/s", better::more}, "metric_name");
  expect_there_and_back(r.verdict, "verdict");
  expect_there_and_back(r.attachments[0], "attachment");
  expect_there_and_back(r.quantities.at("clock"), "quantity");
  expect_there_and_back(r.doubts[0], "doubt");
  expect_there_and_back(*r.facts, unread(&*r.facts), "facts");
  expect_there_and_back(r, "result");
  expect_there_and_back(document.machine, "machine");
  expect_there_and_back(document, "document");
  expect_there_and_back(store_header{document.machine, "mgsync", 42, "now", {{"precision", "0.01"}}},
                        "header");
  expect_there_and_back(full_recording().kinds[1], "event_kind");
  expect_there_and_back(full_recording(), "recording");
}

// JSON alone could leave out a member both ways.
TEST(fields, hold_all_that_a_result_has) {
  const auto document = full_document();
  const auto read = parse_json(format_json(document), "f");
  EXPECT_TRUE(test::same(read.results.at(0), document.results[0]));
  EXPECT_EQ(read.machine, document.machine);
  EXPECT_EQ(from_json<recording>(dumped(to_json<recording>(full_recording())), "f"), full_recording());
  const auto metric = to_json(document.results[0].metrics[0]);
  for (const auto& [key, value] : metric.items())
    EXPECT_FALSE(value.is_null()) << key << " is to be full here";
}

// A message keeps a text to the letter, and a number that is none.
TEST(fields, of_messages_keep_every_letter) {
  result r = full_result();
  r.reason = "two\nlines \x1b[31m";
  r.metrics[0].spread = std::numeric_limits<double>::quiet_NaN();
  const auto told = from_wire<result>(on_wire(r));
  EXPECT_EQ(told.reason, r.reason);
  EXPECT_TRUE(std::isnan(told.metrics[0].spread));
  EXPECT_EQ(test::refused([] { from_wire<point>("{"); }),
            "a message between ranks: parse error at line 1, column 2: the text ends too early");
}

// Objects whose keys are names that a user or a study gave.
const std::set<std::string> free_names{"axes",        "metrics",    "samples", "settings",
                                       "environment", "quantities", "details"};

// Calls `at` with every place of a document and the path that sentences have for it; maps by free names are
// left alone.
void for_each_place(
    json& value, const std::string& path, bool by_free_name,
    const std::function<void(json& parent, const std::string& key, const std::string& path)>& at) {
  if (value.is_object()) {
    std::vector<std::string> keys;
    for (const auto& [key, one] : value.items()) keys.push_back(key);
    for (const auto& key : keys) {
      for_each_place(value[key], path + "." + key, free_names.contains(key), at);
      if (!by_free_name) at(value, key, path + "." + key);
    }
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i)
      for_each_place(value[i], fmt::format("{}[{}]", path, i), false, at);
  }
}

// What older files lack, and what is written only where it says something.
bool may_be_missing(const std::string& path) {
  const bool of_axis = path.find(".axes.") != path.npos;
  for (const char* end :
       {".ended",   ".machine.notes", ".verdict.rounds", ".observations", ".violations", ".control_flagged",
        ".bound",   ".details",       ".sigma",          ".p5",           ".p95",        ".method",
        ".stopped", ".attempt",       ".attachments",    ".environment",  ".quantities", "].notes",
        ".doubts",  ".facts",         ".maker",          ".call",         ".needs",      ".library"})
    if (path.ends_with(end)) return true;
  return of_axis && path.ends_with(".unit");
}

TEST(fields, of_a_document_are_refused_by_name_where_one_is_missing_or_of_another_type) {
  auto whole = json::parse(format_json(full_document()));
  const auto told = [&] { return sentence_of([&] { parse_json(dumped(whole), "f"); }); };
  ASSERT_EQ(told(), "");
  std::size_t places = 0;
  for_each_place(whole, "f", false, [&](json& parent, const std::string& key, const std::string& path) {
    ++places;
    const json before = parent;
    parent.erase(key);
    const auto missing = told();
    const auto none = "f: JSON of another kind, and no results (it has no \"schema\")";
    EXPECT_EQ(missing, path == "f.schema" ? none : may_be_missing(path) ? "" : path + ": missing");
    parent = before;
    // No field is true, and nothing is read as true, but for what is a bool.
    const bool is_bool = parent[key].is_boolean();
    parent[key] = is_bool ? json("yes") : json(true);
    EXPECT_EQ(told().rfind(path + ": expected ", 0), 0U) << path << ": " << told();
    parent = before;
    if (!parent[key].is_object()) return;
    parent[key]["from_tomorrow"] = {{"a", {1, "b", nullptr}}};
    if (free_names.contains(key)) parent = before;
    EXPECT_EQ(told(), "") << path << ": keys of later versions are passed over";
    parent = before;
  });
  EXPECT_GT(places, 90U);
}

TEST(fields, of_one_object_stand_there_once) {
  EXPECT_EQ(test::refused([] { from_json<doubt>(R"({"kind":"a","amount":1,"text":"b","kind":"a"})", "f"); }),
            "f: the key 'kind' stands twice in one object");
  EXPECT_EQ(
      test::refused([] { from_json<doubt>(R"({"new":1,"kind":"a","new":1,"amount":1,"text":"b"})", "f"); }),
      "f: the key 'new' stands twice in one object");
  auto text = format_json(full_document());
  text.insert(text.find("\"latency\": {"), R"("latency": {"unit": "us"}, )");
  EXPECT_EQ(
      sentence_of([&] { parse_json(text, "f"); }).rfind("f.results[0].metrics.latency.better: missing", 0),
      0U);
}

}}  // namespace mgsync
