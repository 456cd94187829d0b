// The barriers of known_wrong.cpp must be caught by the means that known_wrong.csv names for each, and those
// of sound.cpp by none. A barrier that is wrong may show it in one way or another, according to who is late:
// what must be is that it is caught in its scenario, within most_rounds. Usage: known_wrong_test WRONG SOUND
// TABLE one NAME | sound ROUNDS [NAME]
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "barriers/user/host_trial.hpp"

namespace {

using namespace mgsync;
using user::ending;

constexpr std::uint64_t most_rounds = 4096;
using user::finds_races;

struct known {
  std::string number, name, seen_in, means, scenario, ending;
};

std::vector<known> read_table(const char* path) {
  std::ifstream in(path);
  std::vector<known> all;
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::istringstream words(line);
    known k;
    for (auto* field : {&k.number, &k.name, &k.seen_in, &k.means, &k.scenario, &k.ending})
      std::getline(words, *field, ',');
    all.push_back(k);
  }
  return all;
}

// 0: caught as the table says, or nothing for this program to catch (77).
int try_wrong(const user::barrier_file& file, const known& k) {
  const bool by_races = k.means == "ThreadSanitizer";
  if ((!by_races && k.means != "rounds") || by_races != finds_races) {
    std::printf("%s %s: by %s, not here\n", k.number.c_str(), k.name.c_str(), k.means.c_str());
    return 77;
  }
  for (auto s : user::host_scenarios(10'000)) {
    if (s.name != k.scenario) continue;
    s.patience = std::chrono::seconds(2);
    const auto seen = user::try_on_host(file.barrier(k.name), s);
    std::printf("%s %s in %s: round %llu: %s\n", k.number.c_str(), k.name.c_str(), s.name.c_str(),
                static_cast<unsigned long long>(seen.rounds), seen.sentence.c_str());
    const bool expected = k.ending == "overran" ? seen.how == ending::overran
                                                : seen.how == ending::violated || seen.how == ending::stuck;
    return expected && seen.rounds <= most_rounds ? 0 : 1;
  }
  std::printf("no scenario %s\n", k.scenario.c_str());
  return 1;
}

int try_sound(const user::barrier_file& file, std::uint32_t rounds, const std::string& name) {
  int wrong = 0;
  for (const auto* b : file.barriers()) {
    if (!name.empty() && name != b->name) continue;
    std::uint64_t sum = 0;
    for (auto s : user::host_scenarios(rounds)) {
      if (finds_races && s.fault == round_loop::host_run::arrive_early) continue;  // races on purpose
      if (s.patience > std::chrono::seconds(1)) s.patience = std::chrono::seconds(60);
      const auto seen = user::try_on_host(*b, s);
      sum += seen.rounds;
      if (seen.how == ending::passed || seen.how == ending::refused) continue;
      ++wrong;
      std::printf("%s in %s: round %llu: %s\n", b->name, s.name.c_str(),
                  static_cast<unsigned long long>(seen.rounds), seen.sentence.c_str());
    }
    std::printf("%s: %llu rounds\n", b->name, static_cast<unsigned long long>(sum));
  }
  return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** words) try {
  if (count < 6) return 2;
  const std::string what = words[4], which = words[5];
  if (what == "sound")
    return try_sound(*user::barrier_file::open(words[2]), static_cast<std::uint32_t>(std::stoul(which)),
                     count > 6 ? words[6] : "");
  const auto file = user::barrier_file::open(words[1]);
  for (const auto& k : read_table(words[3]))
    if (k.name == which) return try_wrong(*file, k);
  std::printf("no barrier %s in the table\n", which.c_str());
  return 1;
} catch (const std::exception& error) {
  std::printf("%s\n", error.what());
  return 1;
}
