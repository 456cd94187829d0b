#include "src/results/files/json_document.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "made_up_results.hpp"
#include "scratch_folder.hpp"
#include "src/base/errors.hpp"
#include "src/base/json_fields.hpp"

namespace mgsync { namespace {

json_document a_document() {
  json_document document;
  document.command = "mgsync --backend all --json 'a \"b\".json'";
  document.seed = std::numeric_limits<std::uint64_t>::max();
  document.started = "2026-01-31T12:00:00Z";
  document.machine = test::a_machine();
  document.settings = {{"precision", "0.01"}, {"max-time", "2"}};
  auto& results = document.results;
  results.push_back(test::measured(test::a_point("multigrid", "auto", 4), 0.3));
  results.back().environment["algorithm"] = "inbox: few members";
  results.back().environment["peer_memory"] = "threads";
  results.back().attempt = 2;
  results.back().notes = {"oversubscribed"};
  results.push_back(test::measured(test::a_point("openmp", "runtime", 4), 0.5, 1, 30));  // with percentiles
  point gpu = test::a_point("nccl", "stream", 8);
  gpu.device = topology::device::gpu;
  gpu.set(axes::threads_per_block, 256.0);
  gpu.remove(axes::blocks_per_sm);
  gpu.set(axes::blocks, 1.0);
  gpu.set(axes::load, "peer-stores:16x512@others");
  results.push_back(test::waived(gpu, "no GPU here"));
  results.push_back(test::failed(test::a_point("mpi", "default", 2), "member 1 left too early"));
  results.push_back(test::an_error(test::a_point("mpi", "default", 4), "not tried: CUDA: out of memory"));
  // Of another study: other axes, two metrics, one of which is to be more, another check, something to look
  // at.
  result copy = test::measured(test::a_point("copy", "", 1), 4);
  copy.point.study = "bandwidth";
  copy.point.axes = {{"bytes", 65536.0, "B"}, {"ratio", 0.5, ""}, {"direction", "both", ""}};
  test::add_metric(copy, "bandwidth", "GB/s", better::more, 100);
  copy.samples[3].values.pop_back();  // one sample without it
  copy.metrics[1] = summarize(copy.metrics[1], copy.samples);
  copy.verdict = {};
  copy.verdict.kind = verdict_kind::sum;
  copy.verdict.passed = true;
  copy.verdict.details = {{"architecture", "sm_90"}};
  copy.quantities = {{"clock", {"MHz", {1979.8}}}, {"begin", {"ns", {0, 10.5, 20}}}, {"named", {"", {}}}};
  copy.attachments = {{"timeline", "text/csv", "t,what\n1,\"begin\"\n"}};
  results.push_back(copy);
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
  for (const char* key : {"schema", "command", "seed", "started", "ended", "machine", "settings", "results"})
    EXPECT_TRUE(all.contains(key)) << key;
  const auto& one = all["results"][0];
  for (const char* key :
       {"study",  "subject",   "variant", "device",      "members",     "ranks",   "group",
        "node",   "placement", "axes",    "status",      "reason",      "verdict", "metrics",
        "method", "stopped",   "attempt", "attachments", "environment", "notes",   "samples"})
    EXPECT_TRUE(one.contains(key)) << key;
  const auto& latency = one["metrics"]["latency"];
  EXPECT_EQ(latency["unit"], "us");
  EXPECT_EQ(latency["better"], "less");
  for (const char* key : {"median", "ci95_low", "ci95_high", "min", "max", "sigma", "spread"})
    EXPECT_TRUE(latency[key].is_number()) << key;
  EXPECT_EQ(latency["raw"].size(), 10U) << "a value for each batch";
  EXPECT_EQ(one["samples"]["latency"].size(), latency["samples"].get<std::size_t>());
  EXPECT_EQ(one["samples"]["batch"].back(), 9);
  EXPECT_EQ(one["samples"]["rounds_long"].back(), 1010);
  EXPECT_EQ(one["axes"]["blocks_per_sm"]["value"], 1);
  EXPECT_EQ(one["axes"]["load"]["value"], "idle");
  EXPECT_EQ(one["environment"]["algorithm"], "inbox: few members");
  EXPECT_TRUE(all["results"][2]["metrics"].empty());
  EXPECT_EQ(all["results"][2]["reason"], "no GPU here");
  EXPECT_EQ(all["results"][2]["verdict"]["kind"], "unchecked");
  EXPECT_EQ(all["results"][3]["verdict"]["violations"], 17);
  EXPECT_EQ(all["results"][4]["status"], "error");
  const auto& copy = all["results"][5];
  EXPECT_EQ(copy["axes"]["bytes"], (nlohmann::ordered_json{{"value", 65536}, {"unit", "B"}}));
  EXPECT_EQ(copy["metrics"]["bandwidth"]["better"], "more");
  EXPECT_EQ(copy["metrics"]["bandwidth"]["samples"], 49);
  EXPECT_TRUE(copy["samples"]["bandwidth"][3].is_null());
  EXPECT_EQ(copy["verdict"]["details"]["architecture"], "sm_90");
  EXPECT_EQ(copy["quantities"]["clock"], (nlohmann::ordered_json{{"unit", "MHz"}, {"values", {1979.8}}}));
  EXPECT_EQ(copy["quantities"]["begin"]["values"].size(), 3U);
  EXPECT_FALSE(one.contains("quantities")) << "only where there are any";
  EXPECT_EQ(copy["attachments"][0]["media_type"], "text/csv");
}

// Files of before there were quantities: their numbers are the same numbers, and their words stay words.
TEST(json_document, numbers_that_older_files_hold_as_words_are_quantities) {
  result old = test::measured(test::a_point("copy", "", 1), 4);
  old.environment = {{"mhz", "1979.8"},
                     {"cycles", "16=387*90,391*6 32=771*96"},
                     {"theory_gbps", "unknown"},
                     {"slowest_member", "0"}};
  old.verdict.details = {{"seconds", "0.25"},    {"named", "1,3"},    {"absent", ""},
                         {"begin", "0 10 20.5"}, {"end", "21 22 23"}, {"stamp_unit", "ns"},
                         {"rounds", "1000140"},  {"outcome", "held"}, {"expected", "1.04499e+06"}};
  json_document document;
  document.results = {old};
  const auto one = parse_json(format_json(document), "f").results.at(0);
  using list = std::vector<double>;
  EXPECT_EQ(one.quantities, (quantities_by_name{{"clock", {"MHz", {1979.8}}},
                                                {"links", {"", {16, 16, 32}}},
                                                {"cycles", {"cycles", {387, 391, 771}}},
                                                {"times", {"", {90, 6, 96}}},
                                                {"duration", {"s", {0.25}}},
                                                {"named", {"", {1, 3}}},
                                                {"absent", {"", {}}},
                                                {"begin", {"ns", {0, 10, 20.5}}},
                                                {"end", {"ns", {21, 22, 23}}},
                                                {"rounds", {"", {1000140}}},
                                                {"expected", {"", {1044990}}}}));
  EXPECT_EQ(one.environment,
            (std::map<std::string, std::string>{{"theory_gbps", "unknown"}, {"slowest_member", "0"}}));
  EXPECT_EQ(one.verdict.details, (std::map<std::string, std::string>{{"outcome", "held"}}));
  EXPECT_EQ(one.number("clock"), 1979.8);
  EXPECT_EQ(one.numbers("begin"), (list{0, 10, 20.5}));
  EXPECT_FALSE(one.number("absent") || one.number("nothing"));
}

TEST(json_document, what_is_no_histogram_or_no_number_stays_a_word) {
  for (const char* wrong : {"16=387*90,391", "16=x*2", "=1*2", "16=387*90 32", "lots", "1;2"}) {
    result old = test::measured(test::a_point("copy", "", 1), 4);
    old.environment = {{"cycles", wrong}, {"mhz", wrong}};
    json_document document;
    document.results = {old};
    const auto one = parse_json(format_json(document), "f").results.at(0);
    EXPECT_TRUE(one.quantities.empty()) << wrong;
    EXPECT_EQ(one.environment, old.environment) << wrong;
  }
}

TEST(json_document, writes_null_and_a_note_for_what_is_no_number) {
  json_document document = a_document();
  document.results[0].metrics[0].spread = std::numeric_limits<double>::quiet_NaN();
  document.results[0].metrics[0].min = -std::numeric_limits<double>::infinity();
  const std::string text = format_json(document);
  const auto all = nlohmann::ordered_json::parse(text);
  EXPECT_TRUE(all["results"][0]["metrics"]["latency"]["spread"].is_null());
  EXPECT_TRUE(all["results"][0]["metrics"]["latency"]["min"].is_null());
  EXPECT_NE(text.find("latency.spread is no finite number"), std::string::npos);
  EXPECT_TRUE(std::isnan(parse_json(text, "f").results[0].metrics[0].spread));
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
    } catch (const usage_error& error) { return std::string(error.what()); }
    return std::string("accepted");
  };
  EXPECT_EQ(message([](auto& v) { v["schema"] = "mgsync-results/3", v.erase("machine"); }),
            "f.json: its schema is 'mgsync-results/3', which is not read; accepted: 'mgsync-results/2'");
  EXPECT_EQ(message([](auto& v) { v["schema"] = "mgsync-results/1", v.erase("machine"); }),
            "f.json: its schema is 'mgsync-results/1', which is not read; accepted: 'mgsync-results/2'");
  EXPECT_EQ(message([](auto& v) { v.erase("schema"); }),
            "f.json: JSON of another kind, and no results (it has no \"schema\")");
  EXPECT_EQ(message([](auto& v) { v["results"][1]["metrics"]["latency"]["median"] = "1"; }),
            "f.json.results[1].metrics.latency.median: expected a number");
  EXPECT_EQ(
      message([](auto& v) { v["results"][0]["status"] = "fine"; }),
      "f.json.results[0].status: expected one of measured, waived, failed, error, interrupted, not 'fine'");
  EXPECT_EQ(message([](auto& v) { v["results"][0]["axes"]["load"]["value"] = true; }),
            "f.json.results[0].axes.load.value: expected a number or a word");
  EXPECT_EQ(message([](auto& v) { v["results"][0]["metrics"]["latency"]["better"] = "bigger"; }),
            "f.json.results[0].metrics.latency.better: expected one of less, more, neither, not 'bigger'");
  EXPECT_NE(message([](auto& v) { v["results"][0]["samples"]["batch"].erase(0); }).find("differ in number"),
            std::string::npos);
  EXPECT_NE(message([](auto& v) { v["results"][0]["samples"]["latency"].erase(0); }).find("differ in number"),
            std::string::npos);
  EXPECT_NE(message([](auto& v) { v["results"][0]["members"] = 1e300; }).find("members"), std::string::npos);
  EXPECT_NE(message([](auto& v) { v["results"][0]["samples"]["batch"][0] = -1; }).find("batch"),
            std::string::npos);
  EXPECT_THROW(parse_json("", "f"), usage_error);
  EXPECT_THROW(parse_json("[]", "f"), usage_error);
  EXPECT_THROW(parse_json(good.substr(0, good.size() / 2), "f"), usage_error);
  EXPECT_THROW(parse_json(R"({"schema":"mgsync-results/2","schema":"mgsync-results/2"})", "f"), usage_error);
}

TEST(json_document, passes_over_keys_that_it_does_not_know) {
  auto value = nlohmann::ordered_json::parse(format_json(a_document()));
  value["more"] = 1;
  value["machine"]["more"] = {1, 2};
  value["results"][0]["more"] = {{"even", "more"}};
  value["results"][0]["metrics"]["latency"]["more"] = nullptr;
  expect_same(parse_json(value.dump(), "f"), a_document());
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
  const int status = std::system(fmt::format("python3 '{0}/check.py' '{1}' '{0}/document.json'",
                                             folder.string(), MGSYNC_RESULTS_JSON_SCHEMA)
                                     .c_str());
  if (!WIFEXITED(status) || WEXITSTATUS(status) == 127) return no_checker;
  return WEXITSTATUS(status);
}

TEST(json_document, is_valid_by_the_schema_in_docs) {
  const test::scratch_folder folder;
  const std::string good = format_json(a_document());
  const int first = checked(folder.path(), good);
  if (first == no_checker)
    GTEST_SKIP()
        << "python3 with jsonschema 4 was not found (Debian: python3-jsonschema): the schema was not tried";
  EXPECT_EQ(first, valid);
  EXPECT_EQ(checked(folder.path(), format_json(parse_json(good, "f"))), valid);

  // The schema is no rubber stamp.
  const auto changed = [&](auto change) {
    auto value = nlohmann::ordered_json::parse(good);
    change(value);
    return checked(folder.path(), value.dump());
  };
  EXPECT_EQ(changed([](auto& v) { v["results"][0].erase("samples"); }), invalid);
  EXPECT_EQ(changed([](auto& v) { v["machine"]["gpus"][0].erase("uuid"); }), invalid);
  EXPECT_EQ(changed([](auto& v) { v["results"][2]["reason"] = ""; }), invalid);
  EXPECT_EQ(changed([](auto& v) { v["results"][0]["reason"] = "why"; }), invalid);
  EXPECT_EQ(changed([](auto& v) { v["results"][0]["metrics"] = nlohmann::ordered_json::object(); }), invalid);
  EXPECT_EQ(changed([](auto& v) { v["results"][0]["metrics"]["latency"].erase("raw"); }), invalid);
  EXPECT_EQ(changed([](auto& v) { v["results"][0]["axes"]["load"] = "idle"; }), invalid);
  EXPECT_EQ(changed([](auto& v) { v["results"][0]["verdict"]["kind"] = "hope"; }), invalid);
  EXPECT_EQ(changed([](auto& v) { v["schema"] = "mgsync-results/1"; }), invalid);
  EXPECT_EQ(changed([](auto& v) {
              v["results"][0]["metrics"] = nlohmann::ordered_json::object();
              v["results"][0]["verdict"]["kind"] = "outcome";
            }),
            valid);
  // What a later version may add is no fault.
  EXPECT_EQ(changed([](auto& v) { v["results"][0]["extra"] = 1; }), valid);
}

TEST(facts, come_back_as_they_were_and_may_be_absent) {
  auto one = test::measured(test::hub, 1.0);
  EXPECT_FALSE(to_json(one).contains("facts"));
  EXPECT_FALSE(from_json<result>(dumped(to_json(one)), "r").facts);
  one.facts = known_facts{{.origin = fact::origin::peer,
                           .driver = fact::driver::kernel_boundary,
                           .scope = fact::scope::nodes,
                           .extent = fact::extent::equal_threads,
                           .order = fact::order::release},
                          "somebody",
                          "meet()",
                          "#include <meet.h>"};
  const auto again = from_json<result>(dumped(to_json(one)), "r").facts;
  ASSERT_TRUE(again);
  EXPECT_EQ(again->scope, fact::scope::nodes);
  EXPECT_EQ(again->maker + again->call + again->needs, "somebodymeet()#include <meet.h>");
  EXPECT_EQ(to_json(one)["facts"]["extent"], "equal threads");
  auto wrong = to_json(one);
  wrong["facts"]["order"] = "some";
  EXPECT_THROW(from_json<result>(dumped(wrong), "r"), usage_error);
}

TEST(json_document, of_several_files_names_each_command_once) {
  json_document one;
  one.command = "mgsync merge a.json b.json c.json --json d.json";
  EXPECT_EQ(measuring_commands(one), std::vector{one.command});
  one.settings = {{"merged_1", "a.json: mgsync study model"},
                  {"merged_2", "PATH mgsync --gpus 2"},
                  {"merged_3", "c.json: mgsync study model"}};
  EXPECT_EQ(measuring_commands(one), (std::vector<std::string>{"mgsync study model", "mgsync --gpus 2"}));
}

}}  // namespace mgsync
