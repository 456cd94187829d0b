// A text in PTX as its functions and their statements. Everything with the syntax of PTX is read, and nothing
// is taken to mean anything: kernel.hpp makes of it what can be run, src/audit what can be judged.
//   text_reader text(ptx);
//   text.next()->statements.at(0).operands    {"%rd1", "[kernel_param_0]"}
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mgsync::ptx {

struct statement {
  std::string_view whole;      // "@!%p1 bra $L__1"
  std::string_view text;       // the same without its predicate
  std::string_view condition;  // "%p1": executed only if it is true; empty: always
  bool if_not = false;
  std::string_view opcode;                 // "bra"
  std::vector<std::string_view> operands;  // "$L__1"
  int line = 0;
  int file = 0, source_line = 0;  // of the source, by the last .loc; 0: there was none
  int braces = 0;                 // in which it stands: index of function_text::scopes
};

// A pair of braces, and what is declared in them.
struct braces {
  int outside = -1;                                // those around them
  std::unordered_map<std::string, int> registers;  // by name, those that were asked for of the ranges too
  std::vector<std::pair<std::string_view, std::uint64_t>> ranges;  // "%r", 582
  std::map<std::string_view, std::size_t> labels;                  // and the statement behind each
};

struct function_text {
  std::string_view name;
  bool is_kernel = true;                     // false: a device function
  int line = 0;                              // where its body begins
  std::vector<std::string_view> parameters;  // ".param .u64 kernel_param_0"
  std::vector<statement> shared;             // ".shared .u32 word"
  std::vector<statement> statements;
  bool is_cut = false;  // there are more statements than were asked for
  std::vector<braces> scopes;
  int registers = 0;

  // The register of that name as a statement in these braces sees it, numbered when it is first asked for: a
  // name in two scopes is two registers. Nothing: there is no such register, or label.
  std::optional<int> reg(std::string_view named, int in);
  std::optional<std::size_t> label(std::string_view named, int in) const;
};

// Reads one function after the other. What it returns refers to the text inside of the reader.
class text_reader {
 public:
  explicit text_reader(std::string_view text, std::size_t most_statements = SIZE_MAX);
  text_reader(const text_reader&) = delete;
  // Nothing: there are no more. Throws usage_error, naming the line, where it is not PTX.
  std::optional<function_text> next();

 private:
  std::string text_;
  std::size_t most_statements_;
  std::size_t at_ = 0;
  int line_ = 1;
};

// The files that .loc numbers, without their folders.
std::map<int, std::string> source_files(std::string_view text);

bool is_word(char);
// Splits at commas outside of brackets; an empty text has no parts.
std::vector<std::string_view> at_commas(std::string_view);
// "ld.relaxed.sys" in its parts; at least one, which may be empty.
std::vector<std::string_view> at_dots(std::string_view opcode);
// The beginning of the text, with one space for any blanks.
std::string in_one_line(std::string_view text, std::size_t longest = SIZE_MAX);

}  // namespace mgsync::ptx
