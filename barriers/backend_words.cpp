#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "barriers/user/tried_file.hpp"
#include "barriers/user/user_backend.hpp"
#include "barriers/words.hpp"
#include "src/base/errors.hpp"

namespace mgsync {

std::vector<std::string> backend_words() {
  std::vector<std::string> all{"all", "default"};
  for (const auto* one : backends()) {
    all.emplace_back(one->name);
    if (one->variants.size() > 1) all.push_back(fmt::format("{}:*", one->name));
    for (const auto& each : one->variants) all.push_back(to_string(backend_choice{one, &each}));
  }
  return all;
}

std::size_t read_backend_or_file(std::span<const std::string> words, std::vector<backend_choice>& into) {
  const auto& word = words.front();
  if (!user::is_file_word(word)) return read_backend(words, into);
  const auto [path, barrier] = user::read_file_word(word);
  const backend& of = user::backend_of_file(path);
  std::vector<std::string_view> names;
  bool found = false;
  for (const auto& each : of.variants) {
    names.push_back(each.name);
    if (!barrier.empty() && barrier != "*" && barrier != each.name) continue;
    found = true;
    const backend_choice one{&of, &each};
    if (std::find(into.begin(), into.end(), one) == into.end()) into.push_back(one);
  }
  if (!found)
    throw usage_error(fmt::format("--backend: '{}' has no barrier '{}'; accepted: {}", path, barrier,
                                  fmt::join(names, ", ")));
  return 1;
}

std::vector<const backend*> backends_and_files() {
  std::vector<const backend*> all(backends().begin(), backends().end());
  for (const auto* one : user::loaded_backends()) all.push_back(one);
  return all;
}

}  // namespace mgsync
