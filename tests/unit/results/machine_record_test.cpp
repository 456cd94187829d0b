#include "src/results/values/machine_record.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "made_up_results.hpp"
#include "src/base/errors.hpp"
#include "src/base/json_fields.hpp"

namespace mgsync { namespace {

TEST(machine_record, gives_back_what_was_written) {
  const machine_record machine = test::a_machine();
  for (const auto& one : {machine, machine_record{}})
    EXPECT_EQ(from_json<machine_record>(dumped(to_json(one)), "machine"), one);
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
      from_json<machine_record>(value.dump(), "file.json.machine");
    } catch (const usage_error& error) { return std::string(error.what()); }
    return std::string("accepted");
  };
  EXPECT_EQ(message([](auto& v) { v.erase("cores"); }), "file.json.machine.cores: missing");
  EXPECT_EQ(message([](auto& v) { v["extra"] = 1; }), "accepted");
  EXPECT_EQ(message([](auto& v) { v["cores"] = "4"; }),
            "file.json.machine.cores: expected a whole number from -2147483648 to 2147483647");
  EXPECT_EQ(
      message([](auto& v) { v["cpu_mask"] = "1-"; }),
      R"(file.json.machine.cpu_mask: expected a list in one text, as in "0-3,8", of numbers from 0 to 65535)");
  EXPECT_EQ(message([](auto& v) { v["gpus"][0]["mig"] = 0; }),
            "file.json.machine.gpus[0].mig: expected true or false");
  EXPECT_EQ(message([](auto& v) { v = 3; }), "file.json.machine: expected an object");
}

}}  // namespace mgsync
