#include "src/app/options.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "src/app/advise_command.hpp"
#include "src/app/help.hpp"
#include "src/app/option_table.hpp"
#include "src/app/study_command.hpp"
#include "src/base/errors.hpp"

namespace mgsync { namespace {

// As the program does it: with the axes of the studies that the words are about.
options parse(std::vector<std::string> words) {
  return parse_options(words, axes_asked(studies_asked(words), words));
}

std::string refusal(std::vector<std::string> words) {
  try {
    parse(words);
  } catch (const usage_error& error) { return error.what(); }
  return "accepted";
}

TEST(options, measures_by_default) {
  const auto o = parse({});
  EXPECT_EQ(o.command, command::measure);
  EXPECT_FALSE(o.precision.has_value());
  EXPECT_FALSE(o.max_time.has_value());
  EXPECT_EQ(o.timeout, std::chrono::seconds(30));
  EXPECT_EQ(o.check_rounds, 10'000u);
  EXPECT_TRUE(o.pin);
  EXPECT_FALSE(o.seed.has_value());
}

TEST(options, reads_values_in_every_form) {
  const auto o = parse({"--backend", "mpi", "--members=2,4", "-s", "4x32", "--precision", "5%", "--max-time",
                        "500ms", "--timeout=2min", "--no-pin", "--seed", "7", "--json", "-", "measure"});
  EXPECT_EQ(o.command, command::measure);
  EXPECT_EQ(o.axes.at("backend"), std::vector<std::string>{"mpi"});
  EXPECT_EQ(o.axes.at("members"), (std::vector<std::string>{"2", "4"}));
  EXPECT_EQ(o.axes.at("shape"), std::vector<std::string>{"4x32"});
  EXPECT_DOUBLE_EQ(o.precision.value(), 0.05);
  EXPECT_EQ(o.max_time, std::chrono::milliseconds(500));
  EXPECT_EQ(o.timeout, std::chrono::minutes(2));
  EXPECT_FALSE(o.pin);
  EXPECT_EQ(o.seed, 7u);
  EXPECT_EQ(o.json, "-");
}

TEST(options, names_what_is_accepted) {
  EXPECT_EQ(refusal({"--precision", "2"}),
            "--precision is '2'; accepted: a share above 0 and up to 1, such as 0.01 or 1%");
  EXPECT_EQ(refusal({"--device", "tpu"}), "--device is 'tpu'; accepted: auto, host, gpu");
  EXPECT_NE(refusal({"--bakend", "x"}).find("did you mean --backend?"), std::string::npos);
  EXPECT_NE(refusal({"lst"}).find("did you mean 'list'?"), std::string::npos);
  EXPECT_NE(refusal({"--max-time", "soon"}).find("500ms, 2s, 5min"), std::string::npos);
  EXPECT_NE(refusal({"--timeout"}).find("TIME"), std::string::npos);
  EXPECT_NE(refusal({"--check-rounds", "3", "--no-check"}).find("accepted: one of them"), std::string::npos);
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

TEST(options, times_and_sizes_have_units) {
  EXPECT_EQ(parse({"--max-time", "2500us"}).max_time, std::chrono::microseconds(2500));
  EXPECT_EQ(refusal({"--timeout", "500us"}), "--timeout is '500us'; accepted: a time from 1ms to 24h, such "
                                             "as 500ms, 2s, 5min (seconds without a unit)");
}

// What advise is asked about is typed like an axis of a study.
TEST(options, of_a_step_are_one_value_each) {
  const auto of = [](std::vector<std::string> words) {
    words.insert(words.begin(), "advise");
    return step_asked(parse(words));
  };
  const auto refused = [&](std::vector<std::string> words) -> std::string {
    try {
      of(std::move(words));
    } catch (const usage_error& error) { return error.what(); }
    return "accepted";
  };
  const auto step = of({"--gpus", "4", "--shape", "4x256", "--work", "20ms", "--bytes", "1MiB"});
  EXPECT_EQ(step.members, 4);
  EXPECT_EQ(step.shape, (member_shape{4, false, 256}));
  EXPECT_EQ(step.work_us, 20'000);
  EXPECT_EQ(step.bytes, 1 << 20);
  EXPECT_EQ(of({"-m", "2", "-s", "b1x32"}).shape, (member_shape{1, true, 32}));
  EXPECT_EQ(of({}).members, 0);
  EXPECT_FALSE(of({}).shape.has_value());
  // What is refused names the limit, and the unit that a bare number has.
  EXPECT_EQ(refused({"--work", "2s"}),
            "--work is '2s'; accepted: 0 to 1000000, in whole us, with a unit of its own or without");
  for (const char* no_whole_number : {"0.5", "0.5us", "500ns"})
    EXPECT_NE(refused({"--work", no_whole_number}).find("0 to 1000000, in whole us"), std::string::npos);
  EXPECT_NE(refused({"--bytes", "2PiB"}).find("in whole B, with a unit of its own or without"),
            std::string::npos);
  EXPECT_EQ(refused({"--members", "1000000"}), "--members is '1000000'; accepted: 1 to 65536");
  EXPECT_EQ(refused({"--gpus", "0"}), "--gpus is '0'; accepted: 1 to 65536");
  EXPECT_EQ(refused({"--members", "2,4"}), "--members takes one word; accepted: 1 to 65536");
  EXPECT_NE(refused({"--shape", "1x32,4x256"}).find("--shape takes one word; accepted: BxT"),
            std::string::npos);
  EXPECT_NE(refused({"--shape", "all"}).find("--shape is 'all'; accepted: BxT"), std::string::npos);
}

TEST(options, gpus_are_never_host_threads) {
  const auto o = parse({"--gpus", "1-3"});
  EXPECT_EQ(o.gpus, "1-3");
  EXPECT_EQ(parse({"advise", "--gpus", "2"}).device, "gpu");
  EXPECT_EQ(o.device, "gpu");
  EXPECT_EQ(parse({"--gpus", "2", "--device", "auto"}).device, "gpu");
  EXPECT_EQ(parse({"--members", "2"}).device, "auto");
  EXPECT_EQ(refusal({"--gpus", "2", "--device", "host"}),
            "--gpus 2 and --device host contradict each other; accepted: --members 2 for host threads");
  EXPECT_NE(refusal({"--gpus", "2", "--members", "4"}).find("accepted: one of them"), std::string::npos);
  // As an axis of a study it means the same.
  static constexpr axis_of<int> members({.name = "members", .help = "how many"},
                                        numbers_in{.least = 1, .most = 8, .defaults = "1"});
  static constexpr axis_of<int> gpus({.name = "gpus", .help = "of GPUs alone", .another_name_of = &members},
                                     numbers_in{.of = only_gpus, .least = 1, .most = 8});
  constexpr const axis_declaration* axes[] = {&members, &gpus};
  const auto of_a_study = [&](std::vector<std::string> typed) { return parse_options(typed, axes); };
  EXPECT_EQ(of_a_study({"study", "launch", "--gpus", "2"}).device, "gpu");
  EXPECT_THROW(of_a_study({"study", "launch", "--gpus", "2", "--device", "host"}), usage_error);
  EXPECT_THROW(of_a_study({"study", "launch", "--gpus", "2", "--members", "2"}), usage_error);
}

// `--json "$FILE"` of a script that does not set it.
TEST(options, an_empty_word_is_no_file_name) {
  const auto command_with = [](const std::string& option) {
    for (const auto& one : all_options())
      if ("--" + std::string(one.name) == option)
        for (const auto& c : all_commands())
          if (one.used_by.contains(c.what)) return std::string(c.name);
    return std::string("measure");
  };
  std::size_t files = 0;
  std::istringstream help(help_text());
  for (std::string line; std::getline(help, line);) {
    std::istringstream words(line);
    std::string option, value;
    words >> option >> value;
    if (!option.starts_with("--") || (value != "FILE" && value != "DIR")) continue;
    ++files;
    EXPECT_NE(refusal({command_with(option), option, ""})
                  .find(option + " is followed by an empty word; accepted: " + value),
              std::string::npos)
        << refusal({command_with(option), option, ""});
  }
  EXPECT_GE(files, 8u) << "the options that take a file, as the help has them";
  EXPECT_NE(refusal({"--backend", ""}).find("is followed by an empty word"), std::string::npos);
  for (const char* option : {"--where", "--by", "--figure", "--tables"})
    EXPECT_NE(refusal({"show", "a", option, ""}).find("is followed by an empty word"), std::string::npos)
        << option;
  for (const char* command : {"show", "report", "merge", "advise"})
    EXPECT_EQ(refusal({command, ""}),
              fmt::format("mgsync {} is followed by an empty word; accepted: names of files", command));
  EXPECT_NE(refusal({"compare", "", "b"}), "accepted");
}

TEST(options, a_picture_is_svg) {
  const auto to = [](const char* file) { return refusal({"show", "a", "--figure", "f", "--svg", file}); };
  EXPECT_EQ(to("a.png"), "--svg a.png: the picture is written as SVG, and not as .png; accepted: a name that "
                         "ends in .svg, or -");
  for (const char* file : {"a.svg", "a.SVG", "-", "picture", "/dev/stdout"})
    EXPECT_EQ(to(file), "accepted") << file;
}

TEST(options, shows_one_file) {
  const auto o = parse({"show", "results.json"});
  EXPECT_EQ(o.command, command::show);
  EXPECT_EQ(o.files, std::vector<std::string>{"results.json"});
  EXPECT_EQ(parse({"show", "results.json", "--by", "shape"}).pivot.by, "shape");
  EXPECT_EQ(parse({"show", "results.json", "--by", "load"}).pivot.by, "load");
  const auto over = parse({"show", "results.json", "--by", "load", "--relative-to", "hop:relaxed", "--value",
                           "ci95", "--summary"})
                        .pivot;
  EXPECT_EQ(over.relative_to, "hop:relaxed");
  EXPECT_EQ(over.value, "ci95");
  EXPECT_TRUE(over.summary);
  EXPECT_EQ(refusal({"show", "results.json", "--value", "ci95"}),
            "--value is about the table of --by: shapes, members, file, or an axis such as load");
  EXPECT_NE(refusal({"--by", "shape"}).find("mgsync show"), std::string::npos);
  EXPECT_NE(refusal({"show"}).find("one file"), std::string::npos);
  EXPECT_NE(refusal({"show", "a", "b"}).find("one file"), std::string::npos);
}

TEST(options, compares_and_merges_files) {
  const auto o =
      parse({"compare", "a.json", "b.json,c.json", "--fail-slower", "10%", "--noise", "0", "--across=hosts"});
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
  EXPECT_NE(refusal({"compare", "a", "b", "--json", "c"}).find("mgsync compare does not take --json"),
            std::string::npos);
  EXPECT_NE(refusal({"compare", "a", "b", "--across", "planets"}).find("nothing, hosts, machines"),
            std::string::npos);
  for (const char* bad : {"", "-1%", "1100%", "nan", "ten"})
    EXPECT_NE(refusal({"compare", "a", "b", "--fail-slower", bad}).find("such as 0.1 or 10%"),
              std::string::npos)
        << bad;
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
  EXPECT_NE(topology.find("mgsync topology does not take --backend (mgsync study barriers, mgsync"),
            std::string::npos)
      << topology;
  EXPECT_NE(topology.find("--format"), std::string::npos) << topology;
  EXPECT_EQ(topology.find("--check-rounds"), std::string::npos) << topology;
  EXPECT_NE(refusal({"topology", "--json", "x"}).find("does not take --json"), std::string::npos);
  EXPECT_NE(refusal({"show", "f", "--store", "zz"}).find(" --by"), std::string::npos);
  EXPECT_EQ(parse({"show", "a", "b", "--figure", "ladder"}).files.size(), 2u);
  EXPECT_NE(refusal({"show", "a", "--svg", "x"}).find("--figure"), std::string::npos);
  EXPECT_NE(refusal({"report"}).find("takes files"), std::string::npos);
  EXPECT_NE(refusal({"compare", "a", "b", "--reference"}).find("one file"), std::string::npos);
  EXPECT_NE(refusal({"advise", "--backend", "mpi"}).find("mgsync advise does not take --backend"),
            std::string::npos);
  EXPECT_NE(refusal({"list", "--resume"}).find("mgsync list does not take --resume"), std::string::npos);
  EXPECT_EQ(refusal({"list", "--members", "2"}), "accepted");
}

TEST(options, a_forgotten_file_name_is_not_the_next_option) {
  EXPECT_EQ(refusal({"--json", "--dry-run"}), "--json takes a file's name, not the option '--dry-run'; "
                                              "accepted: FILE, or ./--dry-run for a name that begins so");
  for (const auto* option : {"--csv", "--store", "--topology"})
    EXPECT_NE(refusal({option, "--dry-run"}).find("takes a file's name, not the option"), std::string::npos)
        << option;
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
  EXPECT_NE(help_text(command::accept).find("Exit codes: 0 measured and correct"), std::string::npos);
  const auto foo = refusal({"accept", "foo"});
  EXPECT_TRUE(foo.starts_with("mgsync accept takes options and no other words, not 'foo'; accepted: --"))
      << foo;
  EXPECT_NE(foo.find(" --against "), std::string::npos) << foo;
}

TEST(options, of_a_study_are_its_axes_and_its_own) {
  static constexpr std::string_view letters[] = {"x", "y"};
  static constexpr axis_of<std::string_view> backend({.name = "backend", .help = "stands for --backend"},
                                                     letters);
  static constexpr axis_of<int> argument_bytes({.name = "argument_bytes", .help = "how many"},
                                               numbers_in{.most = 4096, .defaults = "0,8"});
  static constexpr axis_of<bool> as_well({.name = "as_well", .help = "a switch", .counts = word_count::none});
  constexpr const axis_declaration* axes[] = {&backend, &argument_bytes, &as_well};
  const std::vector<std::string> words{"study",         "--as-well", "launch", "--argument-bytes", "0,128",
                                       "--backend=x,y", "--seed",    "3",      "--figures",        "f",
                                       "--dry-run"};
  const auto o = parse_options(words, axes);
  EXPECT_EQ(o.command, command::study);
  EXPECT_EQ(o.files, std::vector<std::string>{"launch"});
  EXPECT_EQ(o.axes.at("argument_bytes"), (std::vector<std::string>{"0", "128"}));
  EXPECT_EQ(o.axes.at("backend"), (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(o.axes.at("as_well"), std::vector<std::string>{"on"});
  EXPECT_EQ(o.given, (std::map<std::string, std::string, std::less<>>{
                         {"dry-run", ""}, {"figures", "f"}, {"seed", "3"}}));
  EXPECT_EQ(o.figures, "f");
  EXPECT_TRUE(o.dry_run);
  const auto refused = [&](std::vector<std::string> typed) -> std::string {
    try {
      parse_options(typed, axes);
    } catch (const usage_error& error) { return error.what(); }
    return "accepted";
  };
  EXPECT_NE(refused({"study", "launch", "--noise", "5"})
                .find("mgsync study does not take --noise (mgsync compare does); accepted: --backend "
                      "--argument-bytes"),
            std::string::npos);
  EXPECT_NE(refused({"study", "launch", "--argument-byte", "5"}).find("did you mean --argument-bytes?"),
            std::string::npos);
  EXPECT_NE(refused({"study", "launch", "verify"}).find("one study at a time, or all"), std::string::npos);
  EXPECT_NE(refused({"study", "launch", "--resume"}).find("--store"), std::string::npos);
  EXPECT_EQ(refusal({"--figures", "f"}), "accepted");
  const auto help = help_text(command::study, axes);
  EXPECT_NE(help.find("--argument-bytes LIST"), std::string::npos);
  EXPECT_NE(help.find("(default 0,8; accepted: 0 to 4096)"), std::string::npos);
  EXPECT_EQ(help.find("--noise"), std::string::npos);
  EXPECT_NE(help.find("--as-well               a switch\n"), std::string::npos) << help;
  EXPECT_NE(refused({"study", "launch", "--as-well=5"}), "accepted");
}

TEST(options, are_all_explained_by_the_help) {
  const auto help = help_text();
  for (const auto& option : all_options())
    EXPECT_NE(help.find("--" + std::string(option.name)), std::string::npos) << option.name;
}

TEST(options, that_studies_refuse_are_options_of_theirs) {
  for (const auto* s : studies())
    for (const auto& refused : s->refuses) {
      const auto known = std::ranges::find(all_options(), refused.option, &described_option::name);
      ASSERT_NE(known, all_options().end()) << s->name << ": " << refused.option;
      EXPECT_TRUE(known->used_by.contains(command::study)) << refused.option;
      EXPECT_FALSE(refused.why.empty());
    }
}

TEST(options, words_that_are_no_options_are_found_wherever_they_stand) {
  using words = std::vector<std::string>;
  EXPECT_EQ(plain_words(words{"--device", "host", "study", "verify", "--dry-run"}),
            (words{"study", "verify"}));
  EXPECT_EQ(plain_words(words{"--json", "study", "-s4x32", "-m", "2", "--no-check", "measure"}),
            words{"measure"});
  EXPECT_EQ(plain_words(words{"--bakend", "x"}), words{}) << "the option is to be blamed, not its value";
  EXPECT_EQ(plain_words(words{"--dri-run", "list"}), words{"list"});
}

}}  // namespace mgsync
