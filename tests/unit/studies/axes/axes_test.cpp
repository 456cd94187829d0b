// Axes of every study, on host members and on GPUs: what is accepted is planned, and any other word is
// refused in a sentence that names the axis and what it takes.
#include <gtest/gtest.h>

#include <variant>

#include <fmt/format.h>

#include "src/base/errors.hpp"
#include "tests/unit/refused.hpp"
#include "tests/unit/studies/planned.hpp"

namespace mgsync { namespace {

using test::refused;

// What a study makes of such words: its answer, or its plan.
std::vector<measurement> planned(const study& s, topology::device device, const typed_words& typed) {
  const auto asked = test::request_of(s, device, typed);
  if (!asks_for_answer(s, typed)) return s.points(asked);
  EXPECT_FALSE(s.answer(asked).text.empty());
  return {};
}

constexpr topology::device devices[] = {topology::device::host, topology::device::gpu};

std::string name_of(const study& s, const axis_declaration& axis) {
  return fmt::format("mgsync study {} --{}", s.name, axis.option());
}

TEST(study_axes, a_default_is_accepted_by_its_own_axis_and_a_word_that_is_none_is_not) {
  for (const auto* s : studies())
    for (const auto device : devices) {
      EXPECT_FALSE(planned(*s, device, {}).empty()) << s->name << ": the defaults are accepted";
      for (const auto* axis : s->axes) {
        if (axis->counts == word_count::none) continue;  // a switch takes no word
        const auto words = axis->default_words(device);
        EXPECT_NO_THROW(axis->values_of(words, device)) << name_of(*s, *axis);
        if (!words.empty()) { EXPECT_FALSE(axis->defaults().empty()) << name_of(*s, *axis); }
        const auto refusal = [&](const std::string& word) {
          return refused([&] { planned(*s, device, {{std::string(axis->name), {word}}}); });
        };
        // An axis of names that users give takes any word that begins with a letter.
        const bool of_names =
            refusal("-256").find("accepted: a name that begins with a letter") != std::string::npos;
        // And one of a file any that is neither empty nor an option.
        const bool of_a_file = refusal("-256").find("accepted: a file") != std::string::npos;
        for (const std::string wrong : {"no-such-word", "-256", "99999999999999999999", "0x0", ""}) {
          if (of_names && wrong == "no-such-word") continue;
          if (of_a_file && !wrong.empty() && wrong != "-256") continue;
          const auto said = refusal(wrong);
          EXPECT_NE(said.find("accepted"), std::string::npos)
              << name_of(*s, *axis) << " " << wrong << ": " << said;
        }
      }
    }
}

bool takes(const axis_declaration& axis, const std::string& word, topology::device device) {
  try {
    axis.values_of(std::vector{word}, device);
    return true;
  } catch (const usage_error&) { return false; }
}

// Every form of every axis, on the members that it is for and on the others.
TEST(study_axes, what_is_declared_is_taken_and_what_is_beside_it_refused_with_what_is_accepted) {
  int bounds = 0, of_one_kind = 0, words = 0;
  for (const auto* s : studies())
    for (const auto* axis : s->axes)
      for (const auto& form : axis->forms())
        for (const auto device : devices) {
          const bool mine = form.of.include(device);
          const auto refused_here = [&](const std::string& word) {
            const auto said = refused([&] { axis->values_of(std::vector{word}, device); });
            EXPECT_NE(said.find(fmt::format("--{} ", axis->option())), std::string::npos) << said;
            EXPECT_NE(said.find("accepted"), std::string::npos) << said;
            return said;
          };
          std::vector<std::string> some = form.names;
          if (form.range && !form.range->only.empty())
            for (const auto one : form.range->only) some.push_back(std::to_string(one));
          if (form.range && form.range->only.empty()) {
            const auto& [of, least, most, step, defaults, ranges, only] = *form.range;
            some = {std::to_string(least), std::to_string(most)};
            bounds += mine;
            const auto outside = {std::to_string(least - 1), std::to_string(most + 1),
                                  std::to_string(least + step + 1)};
            for (const auto& word : outside)
              if (mine && (word != *(outside.begin() + 2) || step > 1)) {
                EXPECT_NE(refused_here(word).find(fmt::format("{} to {}", least, most)), std::string::npos)
                    << name_of(*s, *axis);
              }
          }
          for (const auto& word : some) {
            ++words;
            if (mine) { EXPECT_TRUE(takes(*axis, word, device)) << name_of(*s, *axis) << " " << word; }
            if (mine || takes(*axis, word, device)) continue;
            ++of_one_kind;
            const bool gpus = form.of.device == topology::device::gpu;
            EXPECT_NE(refused_here(word).find(gpus ? "is for GPUs, and the members here are host threads"
                                                   : "is for host threads, and the members here are GPUs"),
                      std::string::npos)
                << name_of(*s, *axis) << " " << word;
          }
        }
  EXPECT_GT(bounds, 20);
  EXPECT_GT(of_one_kind, 50);
  EXPECT_GT(words, 400);
}

constexpr std::pair<int, std::string_view> once_words[] = {{0, "no"}, {1, "yes"}};
constexpr axis_of<unsigned> how_many({.name = "how_many", .help = "a number"},
                                     numbers_in{.of = only_hosts, .least = 1, .most = 8, .defaults = "4"},
                                     numbers_in{.of = only_gpus, .least = 8, .most = 32, .step = 8});
constexpr axis_of<unsigned> in_ranges({.name = "in_ranges", .help = "numbers"},
                                      numbers_in{.least = 1, .most = 65536, .ranges = true});
constexpr axis_of<unsigned> of_gpus({.name = "of_gpus",
                                     .help = "the same of GPUs",
                                     .another_name_of = &in_ranges},
                                    numbers_in{.of = only_gpus, .least = 1, .most = 4, .ranges = true});
constexpr axis_of<unsigned> late({.name = "late", .help = "a time", .unit = "us"},
                                 numbers_in{.most = 1000, .defaults = "5"});
constexpr axis_of<int> once({.name = "once", .help = "one word", .counts = word_count::one},
                            words_in<int>{.defaults = "no", .table = once_words});
constexpr axis_of<bool> as_well({.name = "as_well", .help = "a switch", .counts = word_count::none});
// A word of two tables means the value of each.
using number_or_text = std::variant<int, std::string_view>;
constexpr std::string_view texts[] = {"yes", "perhaps"};
constexpr axis_of<number_or_text> both({.name = "both", .help = "of two types"},
                                       words_in<int>{.table = once_words},
                                       words_in<std::string_view>{.of = only_gpus, .table = texts});
// Words that belong to the one before them.
constexpr axis_of<std::string> joined({.name = "joined", .help = "words of its own"},
                                      read_by<std::string>{.accepted = "any, and + behind it",
                                                           .read = [](auto words, auto& into) -> std::size_t {
                                                             if (words.front() != "any") return 0;
                                                             std::size_t took = 1;
                                                             while (took < words.size() && words[took] == "+")
                                                               ++took;
                                                             into.push_back(fmt::format("{}", took));
                                                             return took;
                                                           }});
constexpr const axis_declaration* made_up[] = {&how_many, &in_ranges, &of_gpus, &late,
                                               &once,     &as_well,   &both,    &joined};

constexpr auto gpu = topology::device::gpu, host = topology::device::host;

study_request settled_for(topology::device device, const typed_words& typed) {
  study_request asked;
  asked.device = device;
  asked.settle(made_up, typed);
  return asked;
}

TEST(study_axes, have_values_of_their_type_typed_or_by_default) {
  using several = std::vector<unsigned>;
  EXPECT_EQ(settled_for(host, {}).values(how_many), several{4});
  EXPECT_EQ(settled_for(gpu, {}).values(how_many), several{});
  EXPECT_EQ(settled_for(gpu, {}).find(how_many), nullptr);
  const auto asked =
      settled_for(gpu, {{"how_many", {"16", "8", "16"}}, {"once", {"yes"}}, {"as_well", {"on"}}});
  EXPECT_EQ(asked.values(how_many), (several{16, 8})) << "each once, in the order they were typed in";
  EXPECT_EQ(asked.one(once), 1);
  EXPECT_EQ(asked.words_of(how_many), (std::vector<std::string>{"16", "8", "16"}));
  EXPECT_TRUE(asked.typed(as_well) && asked.typed(once) && !asked.typed(late));
  EXPECT_EQ(settled_for(host, {}).values<int>(both), (std::vector{0, 1}));
  EXPECT_EQ(settled_for(host, {}).values<std::string_view>(both).size(), 0U);
  const auto yes = settled_for(gpu, {{"both", {"yes"}}});
  EXPECT_EQ(yes.values<int>(both), std::vector{1});
  EXPECT_EQ(yes.values<std::string_view>(both), std::vector<std::string_view>{"yes"});
  EXPECT_EQ(settled_for(host, {{"joined", {"any", "+", "+", "any"}}}).values(joined),
            (std::vector<std::string>{"3", "1"}));
  constexpr axis_of<int> of_another_study({.name = "once", .help = "one word"}, once_words);
  EXPECT_THROW(settled_for(host, {}).values(of_another_study), std::logic_error);
}

TEST(study_axes, numbers_come_in_ranges_and_in_other_units) {
  const auto counts = [](std::vector<std::string> words) {
    return settled_for(host, {{"in_ranges", std::move(words)}}).values(in_ranges);
  };
  EXPECT_EQ(counts({"1-4", "8"}), (std::vector{1U, 2U, 3U, 4U, 8U}));
  EXPECT_EQ(counts({"4", "2", "1-3"}), (std::vector{4U, 2U, 1U, 3U}));
  EXPECT_EQ(counts({"7-7"}), (std::vector{7U}));
  EXPECT_EQ(counts({"1-65536"}).size(), 65536U);
  for (const char* wrong :
       {"", "0", "-1", "4-1", "1-", "a", "1.5", "1-2-3", "99999999999", "65537", "1 2", "+1"})
    EXPECT_NE(refused([&] { counts({wrong}); }).find("as in 1-4,8"), std::string::npos) << wrong;
  const auto times = [](std::vector<std::string> words) {
    return settled_for(host, {{"late", std::move(words)}}).values(late);
  };
  EXPECT_EQ(times({"20", "20us", "1ms", "0.1ms"}), (std::vector{20U, 1000U, 100U}));
  for (const char* wrong : {"2ms", "1KiB", "0.5", "1500ns", "1e2"})
    EXPECT_EQ(
        refused([&] { times({wrong}); }),
        fmt::format("--late is '{}'; accepted: 0 to 1000, in whole us, with a unit of its own or without",
                    wrong));
}

TEST(study_axes, refuse_in_a_sentence_that_says_what_is_taken) {
  const auto said = [](topology::device device, const typed_words& typed) {
    return refused([&] { settled_for(device, typed); });
  };
  EXPECT_EQ(said(gpu, {{"how_many", {"12"}}}),
            "--how-many is '12'; accepted: host members: 1 to 8; GPUs: 8 to 32 in steps of 8");
  EXPECT_EQ(said(gpu, {{"how_many", {"7"}}}), "--how-many 7 is for host threads, and the members here are "
                                              "GPUs; accepted for them: 8 to 32 in steps of 8");
  EXPECT_EQ(
      said(host, {{"of_gpus", {"2"}}}),
      "--of-gpus 2 is for GPUs, and the members here are host threads; accepted for them: --in-ranges 2");
  EXPECT_EQ(said(gpu, {{"of_gpus", {"2"}}, {"in_ranges", {"2"}}}),
            "--in-ranges and --of-gpus are two names for one number; accepted: one of them");
  EXPECT_EQ(settled_for(gpu, {{"of_gpus", {"2-3"}}}).values(in_ranges), (std::vector{2U, 3U}));
  EXPECT_EQ(said(gpu, {{"once", {"no", "yes"}}}), "--once takes one word; accepted: no, yes");
  EXPECT_EQ(said(host, {{"both", {"perhap"}}}),
            "--both is 'perhap' (did you mean 'perhaps'?); accepted: all, no, yes; GPUs: yes, perhaps");
  EXPECT_EQ(said(host, {{"joined", {"+"}}}), "--joined is '+'; accepted: any, and + behind it");
}

TEST(study_axes, name_themselves_in_points) {
  point p;
  set(p, late, 20);
  set(p, once, 1);
  set(p, both, std::string_view("perhaps"));
  EXPECT_EQ(p.axes, (std::vector<axis>{{"late", 20.0, "us"}, {"once", "yes", ""}, {"both", "perhaps", ""}}));
}

}}  // namespace mgsync
