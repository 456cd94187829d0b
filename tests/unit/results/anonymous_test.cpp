#include "src/results/files/anonymous.hpp"

#include <gtest/gtest.h>

#include "made_up_results.hpp"
#include "src/base/hosts.hpp"

namespace mgsync { namespace {

constexpr const char* uuid = "GPU-01234567-89ab-cdef-0123-456789abcdef";

json_document a_telling_document() {
  json_document document;
  document.command = "mgsync --json /home/ada/secret/run.json --store=/scratch/ada/run.jsonl --members 2";
  document.machine = test::a_machine();
  document.machine.host = "node7.cluster.edu";
  document.machine.hosts = {"node7.cluster.edu", "node8"};
  document.machine.notes = {"node8 has one GPU less."};
  document.machine.gpus.resize(1);
  document.machine.gpus[0].uuid = uuid;
  document.settings = {
      {"precision", "0.01"}, {"environment OMP_PLACES", "ada"}, {std::string(uuid) + " before", "1980 MHz"}};
  document.results.push_back(test::failed(test::a_point("mpi", "default", 2),
                                          "rank 1 (process 12 on node8) is gone; node80 is not."));
  document.results.back().point.node = "node8";
  return document;
}

TEST(anonymous, tells_neither_hosts_nor_paths_nor_values) {
  json_document document = a_telling_document();
  make_anonymous(document);
  const std::string text = format_json(document);
  for (const char* telling :
       {"node7", "node8 ", "node8)", "\"node8\"", "ada", "secret", "scratch", "89ab-cdef"})
    EXPECT_EQ(text.find(telling), std::string::npos) << telling << " in\n" << text;
  EXPECT_EQ(document.command, "mgsync --json PATH --store=PATH --members 2");
  EXPECT_EQ(document.settings.at("precision"), "0.01");
  EXPECT_EQ(document.results[0].reason,
            "rank 1 (process 12 on " + pseudonym_of("node8") + ") is gone; node80 is not.");
}

TEST(anonymous, hosts_and_gpus_are_still_told_apart) {
  json_document document = a_telling_document();
  make_anonymous(document);
  const auto& machine = document.machine;
  EXPECT_EQ(machine.host, machine.hosts[0]);
  EXPECT_NE(machine.hosts[0], machine.hosts[1]);
  EXPECT_EQ(document.results[0].point.node, machine.hosts[1]);
  EXPECT_EQ(document.settings.count(machine.gpus[0].uuid + " before"), 1U);
  EXPECT_NE(document.settings.at("environment OMP_PLACES"), "");
  json_document other = a_telling_document();
  other.settings["environment OMP_PLACES"] = "grace";
  make_anonymous(other);
  EXPECT_NE(other.settings.at("environment OMP_PLACES"), document.settings.at("environment OMP_PLACES"));
}

TEST(anonymous, what_is_anonymous_stays_as_it_is) {
  json_document document = a_telling_document();
  make_anonymous(document);
  const std::string once = format_json(document);
  make_anonymous(document);
  EXPECT_EQ(format_json(document), once);
}

}}  // namespace mgsync
