#include "src/results/json_document.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "made_up_results.hpp"
#include "scratch_folder.hpp"
#include "src/base/errors.hpp"

namespace mgsync {
namespace {

json_document a_document() {
  json_document document;
  document.command = "mgsync --backend all --json 'a \"b\".json'";
  document.seed = std::numeric_limits<std::uint64_t>::max();
  document.started = "2026-01-31T12:00:00Z";
  document.machine = test::a_machine();
  document.settings = {{"precision", "0.01"}, {"max-time", "2"}};
  auto& results = document.results;
  results.push_back(test::measured(test::a_point("multigrid", "auto", 4), 0.3));
  results.back().algorithm = "inbox: few members";
  results.back().peer_memory = "threads";
  results.back().notes = {"oversubscribed"};
  results.push_back(test::measured(test::a_point("openmp", "runtime", 4), 0.5, 1, 30));  // with percentiles
  point gpu = test::a_point("nccl", "stream", 8);
  gpu.device = topology::device::gpu;
  gpu.threads_per_block = 256;
  gpu.blocks_per_sm.reset();
  gpu.blocks = 1;
  results.push_back(test::waived(gpu, "no GPU here"));
  results.push_back(test::failed(test::a_point("mpi", "default", 2), "member 1 left too early"));
  return document;
}

void expect_same(const json_document& a, const json_document& b) {
  EXPECT_EQ(a.command, b.command);
  EXPECT_EQ(a.seed, b.seed);
  EXPECT_EQ(a.started, b.started);
  EXPECT_EQ(a.machine, b.machine);
  EXPECT_EQ(a.settings, b.settings);
  ASSERT_EQ(a.results.size(), b.results.size());
  for (std::size_t i = 0; i < a.results.size(); ++i) EXPECT_TRUE(test::same(a.results[i], b.results[i])) << i;
}

TEST(json_document, gives_back_what_was_written) {
  const json_document document = a_document();
  const std::string text = format_json(document);
  expect_same(parse_json(text, "f"), document);
  EXPECT_EQ(format_json(parse_json(text, "f")), text);
  expect_same(parse_json(format_json({}), "f"), {});
}

TEST(json_document, holds_the_promised_fields) {
  const auto all = nlohmann::ordered_json::parse(format_json(a_document()));
  EXPECT_EQ(all.begin().key(), "schema");
  for (const char* key : {"schema", "command", "seed", "started", "machine", "results"})
    EXPECT_TRUE(all.contains(key)) << key;
  const auto& one = all["results"][0];
  for (const char* key :
       {"backend", "variant", "device",     "members", "ranks",        "blocks_per_sm", "threads_per_block", "status",
        "reason",  "check",   "latency_us", "samples", "rounds_short", "rounds_long",   "stopped",           "raw_us",
        "method",  "group",   "placement",  "load",    "algorithm",    "peer_memory"})
    EXPECT_TRUE(one.contains(key)) << key;
  for (const char* key : {"median", "ci95_low", "ci95_high", "min", "sigma", "spread"})
    EXPECT_TRUE(one["latency_us"][key].is_number()) << key;
  EXPECT_EQ(one["raw_us"].size(), one["samples"].get<std::size_t>());
  EXPECT_EQ(one["raw"]["batch"].back(), 9);
  EXPECT_TRUE(all["results"][2]["latency_us"]["median"].is_null());
  EXPECT_EQ(all["results"][2]["reason"], "no GPU here");
  EXPECT_TRUE(all["results"][2]["check"]["violations"].is_null());
  EXPECT_EQ(all["results"][3]["check"]["violations"], 17);
}

TEST(json_document, writes_null_and_a_note_for_what_is_no_number) {
  json_document document = a_document();
  document.results[0].latency_us->sigma = std::numeric_limits<double>::quiet_NaN();
  document.results[0].latency_us->min = -std::numeric_limits<double>::infinity();
  const std::string text = format_json(document);
  const auto all = nlohmann::ordered_json::parse(text);
  EXPECT_TRUE(all["results"][0]["latency_us"]["sigma"].is_null());
  EXPECT_TRUE(all["results"][0]["latency_us"]["min"].is_null());
  EXPECT_NE(text.find("latency_us.sigma is no finite number"), std::string::npos);
  EXPECT_TRUE(std::isnan(parse_json(text, "f").results[0].latency_us->sigma));
}

TEST(json_document, text_that_is_no_utf8_is_written_readably) {
  json_document document = a_document();
  document.command = "mgsync --store \xff\xfe";
  EXPECT_NO_THROW(parse_json(format_json(document), "f"));
}

TEST(json_document, reads_strictly) {
  const std::string good = format_json(a_document());
  const auto message = [&good](auto change) {
    auto value = nlohmann::ordered_json::parse(good);
    change(value);
    try {
      parse_json(value.dump(), "f.json");
    } catch (const usage_error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(message([](auto& v) { v["schema"] = "mgsync-results/2", v.erase("machine"); }),
            "f.json: schema 'mgsync-results/2'; this mgsync reads 'mgsync-results/1'");
  EXPECT_EQ(message([](auto& v) { v.erase("schema"); }), "f.json.schema: missing");
  EXPECT_EQ(message([](auto& v) { v["more"] = 1; }), "f.json.more: not known here");
  EXPECT_EQ(message([](auto& v) { v["results"][1]["median"] = 1; }), "f.json.results[1].median: not known here");
  EXPECT_EQ(message([](auto& v) { v["results"][1]["latency_us"]["median"] = "1"; }),
            "f.json.results[1].latency_us.median: expected a number");
  EXPECT_EQ(message([](auto& v) { v["results"][0]["status"] = "fine"; }),
            "f.json.results[0].status: 'fine'; accepted: measured, waived, failed");
  EXPECT_EQ(message([](auto& v) { v["results"][2]["latency_us"]["median"] = 1; }),
            "f.json.results[2].latency_us.median: a number that was not measured");
  EXPECT_NE(message([](auto& v) { v["results"][0]["raw"]["batch"].erase(0); }).find("differ in number"),
            std::string::npos);
  EXPECT_NE(message([](auto& v) { v["results"][0]["raw"]["rounds_long"][0] = 10; }).find("rounds_long"),
            std::string::npos);
  EXPECT_NE(message([](auto& v) { v["results"][0]["members"] = 1e300; }).find("members"), std::string::npos);
  EXPECT_THROW(parse_json("", "f"), usage_error);
  EXPECT_THROW(parse_json("[]", "f"), usage_error);
  EXPECT_THROW(parse_json(good.substr(0, good.size() / 2), "f"), usage_error);
  EXPECT_THROW(parse_json(R"({"schema":"mgsync-results/1","schema":"mgsync-results/1"})", "f"), usage_error);
}

// Exit codes of the checking script below.
constexpr int valid = 0, invalid = 1, no_checker = 77;

int checked(const std::filesystem::path& folder, const std::string& document) {
  test::write_to(folder / "document.json", document);
  test::write_to(folder / "check.py", R"(import json, sys
try:
    import jsonschema
    checker = jsonschema.Draft202012Validator
except (ImportError, AttributeError):
    sys.exit(77)
schema = json.load(open(sys.argv[1]))
checker.check_schema(schema)
errors = list(checker(schema).iter_errors(json.load(open(sys.argv[2]))))
for error in errors[:5]:
    print(error.json_path, error.message)
sys.exit(1 if errors else 0)
)");
  const int status = std::system(
      fmt::format("python3 '{0}/check.py' '{1}' '{0}/document.json'", folder.string(), MGSYNC_RESULTS_JSON_SCHEMA)
          .c_str());
  if (!WIFEXITED(status) || WEXITSTATUS(status) == 127) return no_checker;
  return WEXITSTATUS(status);
}

TEST(json_document, is_valid_by_the_schema_in_docs) {
  const test::scratch_folder folder;
  const std::string good = format_json(a_document());
  const int first = checked(folder.path(), good);
  if (first == no_checker)
    GTEST_SKIP() << "python3 with jsonschema 4 was not found (Debian: python3-jsonschema): the schema was not tried";
  EXPECT_EQ(first, valid);
  EXPECT_EQ(checked(folder.path(), format_json(parse_json(good, "f"))), valid);

  // The schema is no rubber stamp.
  const auto changed = [&](auto change) {
    auto value = nlohmann::ordered_json::parse(good);
    change(value);
    return checked(folder.path(), value.dump());
  };
  EXPECT_EQ(changed([](auto& v) { v["results"][0]["extra"] = 1; }), invalid);
  EXPECT_EQ(changed([](auto& v) { v["results"][0].erase("raw_us"); }), invalid);
  EXPECT_EQ(changed([](auto& v) { v["machine"]["gpus"][0]["extra"] = 1; }), invalid);
  EXPECT_EQ(changed([](auto& v) { v["results"][2]["reason"] = ""; }), invalid);
  EXPECT_EQ(changed([](auto& v) { v["results"][3]["latency_us"]["median"] = 1.5; }), invalid);
  EXPECT_EQ(changed([](auto& v) { v["schema"] = "mgsync-results/2"; }), invalid);
}

}  // namespace
}  // namespace mgsync
