// A user's file, looked at and tried from outside: whatever its code does, it does in a child of this
// process, so that a crash or an endless loop costs one answer and nothing else.
//
//   const auto of = user::look_into("./mine.so");                             // usage_error: no such
//   barriers for (const auto& s : user::host_scenarios(10'000)) user::try_in_child(of, of.barriers.front(),
//   s);
#pragma once

#include <string>
#include <vector>

#include "barriers/user/host_trial.hpp"

namespace mgsync::user {

// What a file says of a barrier.
struct told_barrier {
  std::string name;
  bool on_gpu = false;
  bool equal_blocks = false;  // joins the blocks of equal number only
  bool exchanges = false;
  bool ends_itself = false;
  unsigned streams = 1;
};
void fields(auto& way, told_barrier& b) {
  way.needs("name", b.name);
  way.needs("on_gpu", b.on_gpu);
  way.needs("equal_blocks", b.equal_blocks);
  way.needs("exchanges", b.exchanges);
  way.needs("ends_itself", b.ends_itself);
  way.needs("streams", b.streams);
}

struct told_file {
  std::string path;
  std::string compiler;  // that made it
  std::vector<told_barrier> barriers;
};
void fields(auto& way, told_file& f) {
  way.needs("path", f.path);
  way.needs("compiler", f.compiler);
  way.needs("barriers", f.barriers);
}

// "./mine.so" is all barriers of the file, "./mine.so:counted" one of them.
struct file_word {
  std::string path, barrier;
};
file_word read_file_word(std::string_view word);
// Whether a word can only be such a file: it has a slash, or ends with ".so" (before a barrier's name).
bool is_file_word(std::string_view word);

// The barriers of the file, or the one that the word names. Throws usage_error, whose sentence says what is
// wrong with the file, also where its code crashes, or does not come back, as it is loaded.
told_file look_into(std::string_view word);

// Why no barrier of GPUs can be tried here; empty: one can.
std::string why_no_gpus();

// What came of this scenario. Where the file's code takes the process along, that is an ending of this
// scenario.
tried try_in_child(const told_file&, const told_barrier&, const scenario&);

}  // namespace mgsync::user
