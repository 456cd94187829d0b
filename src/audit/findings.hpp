// Audits a function: where it waits on memory, and which rules of memory order it breaks there.
//   for (const audit::function& f : audit::read_ptx(text)) {
//     const audit::report found = audit::audit_function(f, {.across_gpus = true});
//   }
// It is a fault where no path through the code keeps a rule; a doubt or an open question where only some
// paths do, or where it depends on what the code does not say. Code without findings is not thereby correct.
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
  std::string_view source;   // where the rule is from: a section of the PTX ISA, or another document
  std::string_view why;      // why it matters
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

// Something that the code does not say, or that the audit did not follow.
struct open_question {
  std::string what;
  std::vector<std::size_t> at;  // the steps that it concerns
};

struct assumptions {
  bool across_gpus = false;  // assume that every flag is polled by another GPU, or by the host
};

struct wait {
  std::size_t poll = 0;    // the step that reads
  std::size_t head = 0;    // of its loop
  bool has_bound = false;  // false: nothing but the polled word ends it
};

struct report {
  std::vector<wait> waits;
  std::size_t flags = 0;   // strong stores and updates that were examined
  std::size_t clocks = 0;  // reads of the SM's cycle counter
  std::vector<finding> findings;
  std::vector<open_question> not_known;
  std::string not_judged;  // why nothing was judged; empty: something was

  bool has_judged() const { return !waits.empty() || clocks > 1 || !findings.empty(); }
};

report audit_function(const function&, const assumptions&);

// Checks that what stands between two clock reads in PTX also stands between them in the machine code
// compiled from it. Adds findings to the report of the machine code.
void compare_clocks(const function& text, const function& machine, report&);

}  // namespace mgsync::audit
