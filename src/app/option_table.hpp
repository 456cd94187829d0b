// The table of all commands, and that of all options: what each is called, who takes it, what its value is.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/app/options.hpp"

namespace mgsync {

class command_set {
 public:
  constexpr command_set(std::initializer_list<command> all) {
    for (const auto one : all) bits_ |= 1U << static_cast<unsigned>(one);
  }
  constexpr bool contains(command one) const { return (bits_ >> static_cast<unsigned>(one) & 1U) != 0; }

 private:
  unsigned bits_ = 0;
};

struct described_option {
  std::string_view name;
  char letter;  // of the short form; 0: none
  command_set used_by;
  std::string_view value;  // what --help calls it; empty: a switch
  std::string_view help;
  // Puts the value, read as its type, where it belongs; throws usage_error for one that is none.
  void (*set)(options&, std::string_view name, std::string_view value);
  // What the value may be, where that is one of some words.
  std::vector<std::string> (*words)() = nullptr;
};
std::span<const described_option> all_options();

struct described_command {
  command what;
  std::string_view name;   // as it is typed
  std::string_view words;  // what follows it, for --help
  std::string_view help;
};
std::span<const described_command> all_commands();

}  // namespace mgsync
