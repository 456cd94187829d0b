#include "src/app/options.hpp"

#include <gtest/gtest.h>

#include "src/base/errors.hpp"

namespace mgsync {
namespace {

options parse(std::vector<std::string> words) { return parse_options(words); }

std::string refusal(std::vector<std::string> words) {
  try {
    parse_options(words);
  } catch (const usage_error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(options, measures_by_default) {
  const auto o = parse({});
  EXPECT_EQ(o.command, command::measure);
  EXPECT_EQ(o.precision, 0.01);
  EXPECT_FALSE(o.max_time.has_value());
  EXPECT_EQ(o.timeout, std::chrono::seconds(30));
  EXPECT_EQ(o.check_rounds, 10'000u);
  EXPECT_TRUE(o.pin);
  EXPECT_TRUE(o.check);
  EXPECT_FALSE(o.seed.has_value());
}

TEST(options, reads_values_in_every_form) {
  const auto o = parse({"--backend", "mpi", "--members=2,4", "-s", "4x32", "--precision", "5%", "--max-time", "500ms",
                        "--timeout=2min", "--no-pin", "--seed", "7", "--json", "-", "measure"});
  EXPECT_EQ(o.command, command::measure);
  EXPECT_EQ(o.backends, "mpi");
  EXPECT_EQ(o.members, "2,4");
  EXPECT_EQ(o.shapes, "4x32");
  EXPECT_DOUBLE_EQ(o.precision, 0.05);
  EXPECT_EQ(o.max_time, std::chrono::milliseconds(500));
  EXPECT_EQ(o.timeout, std::chrono::minutes(2));
  EXPECT_FALSE(o.pin);
  EXPECT_EQ(o.seed, 7u);
  EXPECT_EQ(o.json, "-");
  EXPECT_EQ(parse({"--gpus", "1-3"}).members, "1-3");
}

TEST(options, keeps_the_numbers_of_a_placement_list_together) {
  const auto o = parse({"--placement", "near,list:0,3,5,far"});
  EXPECT_EQ(o.placements, (std::vector<std::string>{"near", "list:0,3,5", "far"}));
}

TEST(options, names_what_is_accepted) {
  EXPECT_EQ(refusal({"--precision", "2"}), "--precision is '2'; accepted: a share above 0 and up to 1, such as 0.01 or 1%");
  EXPECT_EQ(refusal({"--device", "tpu"}), "--device is 'tpu'; accepted: auto, host, gpu");
  EXPECT_NE(refusal({"--bakend", "x"}).find("did you mean --backend?"), std::string::npos);
  EXPECT_NE(refusal({"lst"}).find("did you mean 'list'?"), std::string::npos);
  EXPECT_NE(refusal({"--max-time", "soon"}).find("500ms, 2s, 5min"), std::string::npos);
  EXPECT_NE(refusal({"--timeout"}).find("TIME"), std::string::npos);
  EXPECT_NE(refusal({"--members", "0"}).find("1-4,8"), std::string::npos);
  EXPECT_NE(refusal({"--placement", "list:"}).find("list:0,3,5"), std::string::npos);
  EXPECT_NE(refusal({"--check-rounds", "-3"}).find("from 1 to"), std::string::npos);
  EXPECT_NE(refusal({"--resume"}).find("--store"), std::string::npos);
  EXPECT_NE(refusal({"--json", "-", "--csv", "-"}).find("stdout"), std::string::npos);
  EXPECT_NE(refusal({"list", "topology"}).find("one command"), std::string::npos);
}

TEST(options, refuses_every_kind_of_hostile_number) {
  for (const char* bad : {"", "nan", "inf", "1e999", "-1", "0", "1%%", "0x1", " 1", "1 "})
    EXPECT_NE(refusal({"--precision", bad}), "accepted") << "'" << bad << "'";
  for (const char* bad : {"", "-1s", "1d", "1e30h", "s", "0ms"})
    EXPECT_NE(refusal({"--timeout", bad}), "accepted") << "'" << bad << "'";
}

TEST(options, takes_a_list_of_work) {
  EXPECT_EQ(parse({"--work", "0,20"}).work, (std::vector<std::uint32_t>{0, 20}));
  EXPECT_NE(refusal({"--work", "0,,1"}).find("whole number"), std::string::npos);
}

TEST(options, shows_one_file) {
  const auto o = parse({"show", "results.json"});
  EXPECT_EQ(o.command, command::show);
  EXPECT_EQ(o.files, std::vector<std::string>{"results.json"});
  EXPECT_EQ(parse({"show", "results.json", "--by", "shape"}).by, "shape");
  EXPECT_EQ(parse({"show", "results.json", "--by", "load"}).by, "load");
  EXPECT_NE(refusal({"--by", "shape"}).find("mgsync show"), std::string::npos);
  EXPECT_NE(refusal({"show"}).find("one file"), std::string::npos);
  EXPECT_NE(refusal({"show", "a", "b"}).find("one file"), std::string::npos);
}

TEST(options, compares_and_merges_files) {
  const auto o = parse({"compare", "a.json", "b.json,c.json", "--fail-slower", "10%", "--noise", "0", "--across=hosts"});
  EXPECT_EQ(o.command, command::compare);
  EXPECT_EQ(o.files, (std::vector<std::string>{"a.json", "b.json,c.json"}));
  EXPECT_EQ(o.fail_slower, 0.1);
  EXPECT_EQ(o.noise, 0.0);
  EXPECT_EQ(o.across, across::hosts);
  const auto m = parse({"merge", "a", "b", "c", "--json", "all.json"});
  EXPECT_EQ(m.command, command::merge);
  EXPECT_EQ(m.files.size(), 3u);
  EXPECT_NE(refusal({"compare", "a.json"}).find("BASE and NEW"), std::string::npos);
  EXPECT_NE(refusal({"merge"}).find("--store or --json"), std::string::npos);
  EXPECT_NE(refusal({"compare", "a", "b", "--json", "c"}).find("mgsync compare does not take --json"), std::string::npos);
  EXPECT_NE(refusal({"compare", "a", "b", "--across", "planets"}).find("nothing, hosts, machines"), std::string::npos);
  for (const char* bad : {"", "-1%", "1100%", "nan", "ten"})
    EXPECT_NE(refusal({"compare", "a", "b", "--fail-slower", bad}).find("such as 0.1 or 10%"), std::string::npos) << bad;
  // Options of one command are not silently taken by another.
  EXPECT_NE(refusal({"--noise", "1%"}).find("compare"), std::string::npos);
  EXPECT_NE(refusal({"merge", "a", "--fail-slower", "1%"}).find("compare"), std::string::npos);
  EXPECT_TRUE(parse({"compare", "a", "b", "--fail-slower", "1%", "--allow-missing"}).allow_missing);
  EXPECT_NE(refusal({"compare", "a", "b", "--allow-missing"}).find("--fail-slower"), std::string::npos);
  EXPECT_NE(refusal({"--across", "hosts"}).find("merge"), std::string::npos);
  EXPECT_NE(refusal({"merge", "a", "--store", "b", "--resume"}).find("--resume"), std::string::npos);
}

TEST(options, that_a_command_does_not_use_are_refused_with_its_own_list) {
  const auto topology = refusal({"topology", "--backend", "nosuch"});
  EXPECT_NE(topology.find("mgsync topology does not take --backend (mgsync measure does)"), std::string::npos) << topology;
  EXPECT_NE(topology.find("--format"), std::string::npos) << topology;
  EXPECT_EQ(topology.find("--check-rounds"), std::string::npos) << topology;
  EXPECT_NE(refusal({"topology", "--json", "x"}).find("does not take --json"), std::string::npos);
  EXPECT_NE(refusal({"show", "f", "--store", "zz"}).find(" --by"), std::string::npos);
  EXPECT_EQ(parse({"show", "a", "b", "--figure", "ladder"}).files.size(), 2u);
  EXPECT_NE(refusal({"show", "a", "--svg", "x"}).find("--figure"), std::string::npos);
  EXPECT_NE(refusal({"report"}).find("takes files"), std::string::npos);
  EXPECT_NE(refusal({"compare", "a", "b", "--reference"}).find("one file"), std::string::npos);
  EXPECT_EQ(parse({"advise", "--work", "20us", "--gpus", "4"}).work.front(), 20u);
  EXPECT_NE(refusal({"list", "--resume"}).find("mgsync list does not take --resume"), std::string::npos);
  EXPECT_EQ(refusal({"list", "--members", "2"}), "accepted");
}

TEST(options, a_forgotten_file_name_is_not_the_next_option) {
  EXPECT_EQ(refusal({"--json", "--dry-run"}), "--json takes a file's name, not the option '--dry-run'; accepted: FILE, or ./--dry-run for a name that begins so");
  for (const auto* option : {"--csv", "--store", "--topology"}) EXPECT_NE(refusal({option, "--dry-run"}).find("takes a file's name, not the option"), std::string::npos) << option;
  EXPECT_NE(refusal({"study", "verify", "--figures", "--dry-run"}).find("accepted: DIR"), std::string::npos);
  EXPECT_EQ(parse({"--json", "./--dry-run"}).json, "./--dry-run");
  EXPECT_EQ(parse({"--json", "-"}).json, "-");
}

TEST(options, of_one_command_are_its_help) {
  EXPECT_EQ(parse({"merge", "--help"}).help_for, command::merge);
  EXPECT_FALSE(parse({"--help"}).help_for.has_value());
  const auto merge = help_text(command::merge);
  EXPECT_NE(merge.find("--over-processes"), std::string::npos);
  EXPECT_EQ(merge.find("--backend"), std::string::npos);
}

TEST(options, of_a_study_are_its_axes_and_its_own) {
  constexpr axis_declaration axes[] = {{"backend", "a", "words", "stands for --backend"}, {"argument_bytes", "0,8", "0 to 4096", "how many"}, {"as_well", "", "", "a switch", word_count::none}};
  const std::vector<std::string> words{"study", "--as-well", "launch", "--argument-bytes", "0,128", "--backend=x,y", "--seed", "3", "--figures", "f", "--dry-run"};
  const auto o = parse_options(words, axes);
  EXPECT_EQ(o.command, command::study);
  EXPECT_EQ(o.files, std::vector<std::string>{"launch"});
  EXPECT_EQ(o.axes.at("argument_bytes"), (std::vector<std::string>{"0", "128"}));
  EXPECT_EQ(o.axes.at("backend"), (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(o.axes.at("as_well"), std::vector<std::string>{"on"});
  EXPECT_EQ(o.given, (std::vector<std::string_view>{"seed", "figures", "dry-run"}));
  EXPECT_TRUE(o.backends.empty());
  EXPECT_EQ(o.figures, "f");
  EXPECT_TRUE(o.dry_run);
  const auto refused = [&](std::vector<std::string> typed) -> std::string {
    try {
      parse_options(typed, axes);
    } catch (const usage_error& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_NE(refused({"study", "launch", "--check-rounds", "5"}).find("mgsync study does not take --check-rounds (mgsync measure does); accepted: --backend --argument-bytes"),
            std::string::npos);
  EXPECT_NE(refused({"study", "launch", "--argument-byte", "5"}).find("did you mean --argument-bytes?"), std::string::npos);
  EXPECT_NE(refused({"study", "launch", "verify"}).find("one study at a time, or all"), std::string::npos);
  EXPECT_NE(refused({"study", "launch", "--resume"}).find("--store"), std::string::npos);
  EXPECT_NE(refusal({"--figures", "f"}).find("mgsync study does"), std::string::npos);
  const auto help = help_text(command::study, axes);
  EXPECT_NE(help.find("--argument-bytes LIST"), std::string::npos);
  EXPECT_NE(help.find("(default 0,8; accepted: 0 to 4096)"), std::string::npos);
  EXPECT_EQ(help.find("--check-rounds"), std::string::npos);
  EXPECT_NE(help.find("--as-well               a switch\n"), std::string::npos) << help;
  EXPECT_NE(refused({"study", "launch", "--as-well=5"}), "accepted");
}

TEST(options, are_all_explained_by_the_help) {
  const auto help = help_text();
  for (const auto name : option_names()) EXPECT_NE(help.find("--" + std::string(name)), std::string::npos) << name;
}

}  // namespace
}  // namespace mgsync
