// What the audit says of a function: where it waits on memory, and which of the rules of memory order that
// breaks.
//   for (const audit::function& f : audit::read_ptx(text)) {
//     const audit::report found = audit::audit_function(f, {.across_gpus = true});
//   }
// A rule is broken where no way through the code keeps it; where only some ways do, or where it depends on
// what the code does not say, that is a doubt. What was looked at without a finding is not thereby right.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/audit/code.hpp"

namespace mgsync::audit {

enum class severity : std::uint8_t { fault, doubt };

// One of the rules: the sentences are the same wherever it is broken.
struct rule {
  std::string_view name;
  std::string_view source;   // where it stands: a section of the PTX ISA, or what else
  std::string_view why;      // it matters
  std::string_view instead;  // what to write
};
std::span<const rule> all_rules();
const rule& rule_named(std::string_view name);  // which is one of them

struct finding {
  severity how = severity::fault;
  const rule* broken = nullptr;
  std::size_t step = 0;  // of the function
  std::string what;      // a sentence
};

// What the code does not say, or what was not followed.
struct open_question {
  std::string what;
  std::vector<std::size_t> at;  // steps that it is about
};

struct assumptions {
  bool across_gpus = false;  // every flag is polled by another GPU, or by the host
};

struct wait {
  std::size_t poll = 0;  // the step that reads
  std::size_t head = 0;  // of its loop
};

struct report {
  std::vector<wait> waits;
  std::size_t flags = 0;   // strong stores and updates that were looked at
  std::size_t clocks = 0;  // reads of the SM's cycle counter
  std::vector<finding> findings;
  std::vector<open_question> not_known;
};

report audit_function(const function&, const assumptions&);

// Whether what stands between two reads of the clock in PTX stands there in the machine code that was made of
// it, too. Adds to the report of the machine code.
void compare_clocks(const function& text, const function& machine, report&);

}  // namespace mgsync::audit
