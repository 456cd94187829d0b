// Axes of every study, on host members and on GPUs: what is accepted is planned, and any other word is
// refused in a sentence that names the axis and what it takes.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "src/base/errors.hpp"
#include "src/harness/axis_words.hpp"
#include "tests/unit/refused.hpp"
#include "topology/description.hpp"

namespace mgsync { namespace {

using test::refused;

topology::rank_view four_gpus() {
  std::ifstream in(MGSYNC_MACHINES "/h200x4.machine");
  return {0,
          0,
          topology::read_description(std::string(std::istreambuf_iterator<char>(in), {}), "h200x4.machine"),
          {}};
}

// What a study makes of such words: its answer, or its plan.
std::vector<measurement> planned(const study& s, topology::device device, const typed_words& typed) {
  static const std::vector<topology::rank_view> ranks{four_gpus()};
  study_request asked;
  asked.ranks = ranks;
  asked.device = device;
  asked.with_cuda = true;
  asked.planning = true;
  settle_axes(asked, s.axes, typed);
  if (!asks_for_answer(s, typed)) return s.points(asked);
  EXPECT_FALSE(s.answer(asked).text.empty());
  return {};
}

constexpr topology::device devices[] = {topology::device::host, topology::device::gpu};

// Some words of a declaration, of whomever they are: a range's two ends.
std::vector<std::string> words_in(std::string_view accepted) {
  std::vector<std::string> words;
  const std::string text(accepted);
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find_first_of(",;", begin), text.size());
    std::string item = text.substr(begin, end - begin);
    begin = end + 2;
    if (const auto whose = item.find(": "); whose != std::string::npos) item.erase(0, whose + 2);
    item = item.substr(0, item.find(" in steps of "));
    if (const auto to = item.find(" to "); to != std::string::npos)
      words.push_back(item.substr(to + 4)), item.resize(to);
    words.push_back(item);
  }
  return words;
}

TEST(study_axes, a_word_that_is_none_is_refused_on_every_device) {
  for (const auto* s : studies())
    for (const auto device : devices) {
      EXPECT_FALSE(planned(*s, device, {}).empty()) << s->name << ": the defaults are accepted";
      for (const auto& axis : s->axes)
        for (const std::string wrong : {"no-such-word", "-256", "99999999999999999999", "0x0"}) {
          if (axis.counts == word_count::none) continue;  // a switch takes no word
          const auto said = refused([&] { planned(*s, device, {{std::string(axis.name), {wrong}}}); });
          EXPECT_NE(said.find("accepted"), std::string::npos)
              << s->name << " --" << axis.name << " " << wrong << ": " << said;
        }
    }
}

TEST(study_axes, every_word_that_is_declared_is_planned_or_is_for_the_other_kind_of_members) {
  for (const auto* s : studies())
    for (const auto& axis : s->axes) {
      if (axis.read != nullptr || axis.counts == word_count::none) continue;  // words of its own, or none
      for (const auto& word : words_in(axis.accepted)) {
        int taken = 0;
        for (const auto device : devices) try {
            study_request asked;
            asked.device = device;
            settle_axes(asked, s->axes, {{std::string(axis.name), {word}}});
            ++taken;
          } catch (const usage_error& error) {
            EXPECT_NE(std::string(error.what()).find("the members here are"), std::string::npos)
                << s->name << ": " << error.what();
          }
        EXPECT_GT(taken, 0) << s->name << " --" << axis.name << " " << word;
      }
    }
}

constexpr axis_declaration made_up[] = {
    {"how_many", "4,all", "all; host members: 1 to 8; GPUs: 8 to 32 in steps of 8", "a number"},
    {"shape", "1x32", "GPUs: 1x1 to 4x1024", "of GPUs"},
    {"once", "no", "no, yes", "one word", word_count::one}};

typed_words settled(topology::device device, const typed_words& typed) {
  study_request asked;
  asked.device = device;
  settle_axes(asked, made_up, typed);
  return asked.words;
}

TEST(study_axes, default_words_of_the_other_kind_are_dropped_and_typed_ones_refused) {
  using words = std::vector<std::string>;
  const auto gpu = topology::device::gpu, host = topology::device::host;
  EXPECT_EQ(settled(host, {}).at("how_many"), (words{"4", "all"}));
  EXPECT_EQ(settled(gpu, {}).at("how_many"), words{"all"});
  EXPECT_EQ(settled(host, {}).at("shape"), words{});
  EXPECT_EQ(settled(gpu, {{"how_many", {"16", "all"}}}).at("how_many"), (words{"16", "all"}));
  EXPECT_EQ(settled(gpu, {{"shape", {"4x1024"}}}).at("shape"), words{"4x1024"});
  EXPECT_EQ(refused([&] {
              settled(gpu, {{"how_many", {"12"}}});
            }),
            "--how-many is '12'; accepted: all; host members: 1 to 8; GPUs: 8 to 32 in steps of 8");
  EXPECT_EQ(refused([&] {
              settled(gpu, {{"how_many", {"7"}}});
            }),
            "--how-many 7 is for host threads, and the members here are GPUs; accepted for them: all, 8 to "
            "32 in steps of 8");
  EXPECT_EQ(refused([&] {
              settled(host, {{"shape", {"1x32"}}});
            }),
            "--shape 1x32 is for GPUs, and the members here are host threads; accepted for them: no --shape");
  for (const char* wrong : {"", "1", "1x", "x32", "1x32x1", "5x32", "1x1025", "-1x32", " 1x32", "1 to 4"})
    EXPECT_NE(refused([&] {
                settled(gpu, {{"shape", {wrong}}});
              }).find("accepted: GPUs: 1x1 to 4x1024"),
              std::string::npos)
        << wrong;
  EXPECT_EQ(refused([&] {
              settled(gpu, {{"once", {"no", "yes"}}});
            }),
            "--once takes one word; accepted: no, yes");
}

TEST(study_axes, numbers_of_a_unit_may_be_typed_with_another) {
  using words = std::vector<std::string>;
  constexpr axis_declaration with_units[] = {
      {"late", "5", "0 to 1000", "a time", word_count::list, nullptr, "us"},
      {"bytes", "default", "default, 4096 to 1048576 in steps of 4096", "a size", word_count::list, nullptr,
       "B"}};
  const auto of = [&](const typed_words& typed) {
    study_request asked;
    settle_axes(asked, with_units, typed);
    return asked.words;
  };
  EXPECT_EQ(of({{"late", {"20", "20us", "1ms", "0.1ms"}}}).at("late"), (words{"20", "20", "1000", "100"}));
  EXPECT_EQ(of({{"bytes", {"default", "64KiB", "1MiB"}}}).at("bytes"),
            (words{"default", "65536", "1048576"}));
  EXPECT_EQ(refused([&] {
              of({{"late", {"2ms"}}});
            }),
            "--late is '2ms'; accepted: 0 to 1000, in us or with a unit of its own");
  EXPECT_EQ(refused([&] {
              of({{"late", {"1KiB"}}});
            }),
            "--late is '1KiB'; accepted: 0 to 1000, in us or with a unit of its own");
}

}}  // namespace mgsync
