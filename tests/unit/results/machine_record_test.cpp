#include "src/results/machine_record.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "made_up_results.hpp"
#include "src/base/errors.hpp"
#include "src/base/strict_json.hpp"

namespace mgsync { namespace {

TEST(machine_record, gives_back_what_was_written) {
  const machine_record machine = test::a_machine();
  EXPECT_EQ(machine_from_json(to_json(machine), "machine"), machine);
  EXPECT_EQ(machine_from_json(to_json(machine_record{}), "machine"), machine_record{});
}

TEST(machine_record, names_what_differs) {
  const machine_record was = test::a_machine();
  EXPECT_EQ(difference(was, was), "");
  machine_record is = was;
  is.host = "n7";
  is.allowed_cpus = {0};
  EXPECT_EQ(difference(was, is), "host is \"n7\", was \"n1\"; cpu_mask is \"0\", was \"0-3,8\"");
  is = was;
  is.gpus.clear();
  EXPECT_EQ(difference(was, is), "the number of GPUs is 0, was 1");
  is = was;
  is.gpus[0].uuid = "GPU-1";
  EXPECT_NE(difference(was, is).find("GPUs"), std::string::npos);
}

TEST(machine_record, refuses_missing_and_wrong_fields_by_name_and_passes_over_unknown_ones) {
  const auto message = [](auto change) {
    nlohmann::ordered_json value = to_json(test::a_machine());
    change(value);
    try {
      machine_from_json(value, "file.json.machine");
    } catch (const usage_error& error) { return std::string(error.what()); }
    return std::string("accepted");
  };
  EXPECT_EQ(message([](auto& v) { v.erase("cores"); }), "file.json.machine.cores: missing");
  EXPECT_EQ(message([](auto& v) { v["extra"] = 1; }), "accepted");
  EXPECT_EQ(message([](auto& v) { v["cores"] = "4"; }),
            "file.json.machine.cores: expected a whole number from -2147483648 to 2147483647");
  EXPECT_EQ(message([](auto& v) { v["cpu_mask"] = "1-"; }),
            "file.json.machine.cpu_mask: expected a list of processors, as in 0-3,8");
  EXPECT_EQ(message([](auto& v) { v["gpus"][0]["mig"] = 0; }),
            "file.json.machine.gpus[0].mig: expected true or false");
  EXPECT_EQ(message([](auto& v) { v = 3; }), "file.json.machine: expected an object");
}

TEST(strict_json, refuses_what_is_not_plain) {
  EXPECT_EQ(parse_strictly(R"({"a":[1,{"a":2}],"b":{"a":3}})", "f")["b"]["a"], 3);
  for (const char* text :
       {R"({"a":1,"a":2})", R"([{"x":{"b":1,"c":2,"b":3}}])", "", "{", "[1,]", "1e999", "NaN", "[1] 2"})
    EXPECT_THROW(parse_strictly(text, "f"), usage_error) << text;
  EXPECT_NO_THROW(parse_strictly(std::string(32, '[') + std::string(32, ']'), "f"));
  EXPECT_THROW(parse_strictly(std::string(40, '[') + std::string(40, ']'), "f"), usage_error);
  EXPECT_THROW(parse_strictly(std::string(2'000'000, '['), "f"), usage_error);
  std::string many = "{";
  for (int i = 0; i <= 1000; ++i) many += fmt::format("{}\"{}\": 0", i > 0 ? "," : "", i);
  EXPECT_THROW(parse_strictly(many + "}", "f"), usage_error);
  EXPECT_THROW(parse_strictly(std::string(largest_document_bytes + 1, ' '), "f"), usage_error);
}

}}  // namespace mgsync
