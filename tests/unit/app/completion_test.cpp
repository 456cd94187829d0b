#include "src/app/completion.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "src/app/help.hpp"
#include "src/app/option_table.hpp"
#include "src/app/study_command.hpp"
#include "src/base/errors.hpp"

namespace mgsync { namespace {

using words = std::vector<std::string>;

words completed(const words& typed) {
  words all;
  for (const auto& one : completions(typed).words) all.push_back(one.word);
  return all;
}

bool offers(const words& typed, const std::string& word) {
  const auto all = completed(typed);
  return std::ranges::find(all, word) != all.end();
}

TEST(completion, begins_with_commands) {
  EXPECT_EQ(completed({"comp"}), (words{"compare", "completion"}));
  EXPECT_EQ(completed({"help", "mer"}), words{"merge"});
  EXPECT_EQ(completed({"completion", ""}), (words{"bash", "zsh", "fish"}));
  EXPECT_EQ(completed({"nothing", ""}), words{});
  EXPECT_EQ(completed({}), words{});
}

TEST(completion, knows_what_a_study_varies) {
  EXPECT_TRUE(offers({"study", ""}, "all"));
  EXPECT_TRUE(offers({"help", "study", "la"}, "launch"));
  EXPECT_TRUE(offers({"study", "launch", "--arg"}, "--argument-bytes"));
  EXPECT_FALSE(offers({"--arg"}, "--argument-bytes")) << "that is no axis of barriers";
  EXPECT_EQ(completed({"study", "launch", "--argument-bytes", "4"}), words{"4096"});
  EXPECT_EQ(completed({"study", "launch", "verify", ""}), words{});
}

TEST(completion, completes_the_last_word_of_a_list) {
  EXPECT_EQ(completed({"--placement", "near,sp"}), words{"near,spread"});
  EXPECT_EQ(completed({"--placement=near,sp"}), words{"--placement=near,spread"});
  EXPECT_TRUE(offers({"-b", "multigrid:au"}, "multigrid:auto"));
  EXPECT_TRUE(offers({"--backend", "mpi,openmp:"}, "mpi,openmp:*"));
  EXPECT_EQ(completed({"compare", "a", "b", "--across", "m"}), words{"machines"});
}

TEST(completion, leaves_names_of_files_to_the_shell) {
  for (const words& typed : {words{"--json", ""},
                             {"--figures", "f"},
                             {"show", ""},
                             {"compare", "a.json", ""},
                             {"report", "--html=x"}})
    EXPECT_TRUE(completions(typed).files) << typed.back();
  EXPECT_FALSE(completions(words{"--seed", ""}).files);
  EXPECT_FALSE(completions(words{"topology", ""}).files);
}

// Every word that is offered for an option is accepted there.
TEST(completion, offers_nothing_that_is_refused) {
  for (const auto& option : all_options()) {
    if (option.words == nullptr) continue;
    ASSERT_FALSE(option.words().empty()) << option.name;
    for (const auto& word : option.words()) {
      options read;
      EXPECT_NO_THROW(option.set(read, option.name, word)) << option.name << " " << word;
    }
  }
  for (const auto* s : studies())
    for (const auto* axis : s->axes)
      for (const auto& word : axis->known_words()) {
        const auto means_something = [&](topology::device kind) {
          try {
            axis->values_of({&word, 1}, kind);
            return true;
          } catch (const usage_error&) { return false; }
        };
        EXPECT_TRUE(means_something(topology::device::host) || means_something(topology::device::gpu))
            << s->name << " --" << axis->option() << " " << word;
      }
}

TEST(completion, has_a_script_for_each_shell) {
  for (const auto shell : shell_names())
    EXPECT_NE(completion_script(shell).find("completion answer --"), std::string::npos) << shell;
  EXPECT_THROW(completion_script("tcsh"), usage_error);
}

TEST(help, of_a_command_is_asked_for_in_two_ways) {
  EXPECT_EQ(as_parsed({"help", "show"}), (words{"show", "--help"}));
  EXPECT_EQ(as_parsed({"help", "study", "launch"}), (words{"study", "launch", "--help"}));
  EXPECT_EQ(as_parsed({"help"}), words{"help"});
  EXPECT_EQ(as_parsed({"help", "--man"}), (words{"help", "--man"}));
  EXPECT_EQ(as_parsed({"show", "help"}), (words{"show", "help"}));
}

TEST(manual_page, has_every_command_option_and_study) {
  const auto page = manual_page({}, "0.0", "2026-02-03");
  EXPECT_NE(page.find(".Dd February 3, 2026\n"), std::string::npos);
  for (const auto& c : all_commands())
    EXPECT_NE(page.find(".It Cm " + std::string(c.name)), std::string::npos) << c.name;
  for (const auto* s : studies())
    EXPECT_NE(page.find(".Ss " + std::string(s->name) + "\n"), std::string::npos) << s->name;
  EXPECT_NE(page.find("Fl \\-\\&check\\-rounds Ar \\&N\n"), std::string::npos);
  EXPECT_NE(manual_page({}, "0.0", "").find(".Dd January 1, 1970\n"), std::string::npos);
}

}}  // namespace mgsync
