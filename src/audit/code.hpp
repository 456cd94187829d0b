// Code as the audit reads it, of whichever language: what each instruction does to memory and to whom it
// orders that, which registers it reads and writes, and where it goes on. read_ptx() and read_machine_code()
// make it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mgsync::audit {

// How far an access or a fence reaches, in PTX's words: cta, cluster, gpu, sys.
enum class reach : std::uint8_t { none, block, cluster, gpu, system };
std::string_view to_string(reach);

struct step {
  enum class kind : std::uint8_t {
    other,
    load,
    store,
    update,  // an atomic operation, whether or not it returns something
    fence,
    warp_barrier,
    block_barrier,
    clock,
    call,
    branch,
    end,  // of the function
  };
  // What an update does with what it finds.
  enum class change : std::uint8_t { other, swap_if, exchange, nothing };
  enum class comparison : std::uint8_t { none, equal, unequal, other };

  kind what = kind::other;
  bool global = false;       // load, store, update: of global memory, or of an address that does not say
  bool strong = false;       // volatile, relaxed or more
  bool is_volatile = false;  // PTX: as relaxed.sys, though whoever wrote it may have meant one GPU
  bool read_only = false;    // a load by the path for data that nobody writes
  bool acquires = false;     // a load, an update or a fence
  bool releases = false;
  reach scope = reach::none;
  change changes = change::other;
  comparison compares = comparison::none;
  bool is_constant = false;   // its result is a number of the text
  bool puts_zero = false;     // stores 0, or makes 0
  bool computes = false;      // its result follows from what it reads, and from nothing else
  bool of_thread = false;     // reads which thread of its block this is
  bool reads_cycles = false;  // the SM's cycle counter, all of it or a half
  unsigned marks = 7;         // machine code: the scoreboard that is set until its result is there; 7: none
  unsigned waits_for = 0;     // machine code: by bit, scoreboards that it waits for
  bool is_leaving = false;    // end: of the kernel, and not back to a caller

  std::vector<int> reads;  // registers, the condition's among them
  std::vector<int> writes;
  std::vector<int> address;  // of `reads`: those that the address is made of
  std::vector<int> data;     // of `reads`: what is stored, or compared with
  int condition = -1;        // takes place only if this register holds (or does not: if_not)
  bool if_not = false;
  std::vector<std::size_t> next;  // steps that may follow
  std::uint64_t at = 0;           // the line of the text, or the byte of the function's code
  std::string text;
};

struct function {
  std::string name;
  bool is_kernel = true;  // else others call it
  bool is_text = true;    // PTX: `at` are lines; else machine code
  unsigned architecture = 0;
  int registers = 0;
  std::vector<step> steps;
  std::vector<std::string> not_known;  // what of it could not be read: sentences
};

// Of this many instructions at most a function is looked at, and of this many functions a file.
inline constexpr std::size_t most_steps = 200'000, most_functions = 20'000;

// All functions of a text in PTX. Throws usage_error naming the line where it is none.
std::vector<function> read_ptx(std::string_view text);
// All functions of a cubin. Throws usage_error where it is damaged.
std::vector<function> read_machine_code(std::span<const std::byte> cubin);

}  // namespace mgsync::audit
