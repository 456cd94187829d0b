// The table of all commands, and that of all options: their names, the commands that accept them, and their
// values.
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
  char letter;  // the short form; 0: none
  command_set used_by;
  std::string_view value;  // the name of its value in --help; empty: a switch
  std::string_view help;
  // Parses the value and stores it in the options; throws usage_error for a wrong one.
  void (*set)(options&, std::string_view name, std::string_view value);
  // The accepted words, where the value is one of a fixed set.
  std::vector<std::string> (*words)() = nullptr;
};
std::span<const described_option> all_options();

struct described_command {
  command what;
  std::string_view name;   // as it is typed
  std::string_view words;  // its arguments, for --help
  std::string_view help;
};
std::span<const described_command> all_commands();

}  // namespace mgsync
