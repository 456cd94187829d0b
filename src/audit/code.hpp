// The audit's representation of a function, from PTX or machine code: what each instruction does to memory
// and with which order and scope, which registers it reads and writes, and which instructions may follow.
// Made by read_ptx() and read_machine_code().
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
  // What an update writes: depending on a comparison (CAS), a given value, the larger or smaller of two, or
  // nothing new.
  enum class change : std::uint8_t { other, swap_if, exchange, extreme, nothing };
  enum class comparison : std::uint8_t { none, equal, unequal, other };
  // What the bits of a result are: `number` and those of what it reads; of those no more than `number` has;
  // those of what it reads, `number` places higher; of what it reads and `number` the sum; one of what it
  // reads and `number`, as the last says.
  enum class pattern : std::uint8_t { unknown, joined, masked, moved, added, chosen };

  kind what = kind::other;
  bool global = false;       // load, store, update: of global memory, or of a generic address
  bool shared = false;       // load: of the block's shared memory
  bool strong = false;       // volatile, relaxed or more
  bool is_volatile = false;  // PTX: acts as relaxed.sys, although its author may have meant one GPU only
  bool read_only = false;    // a load through the read-only data path (ld.global.nc)
  bool acquires = false;     // a load, an update or a fence
  bool releases = false;
  bool several = false;  // a store of several words at once
  reach scope = reach::none;
  change changes = change::other;
  comparison compares = comparison::none;
  bool is_constant = false;     // its result is an immediate
  bool puts_zero = false;       // stores 0, or its result is 0
  bool puts_predicate = false;  // mov.pred
  bool copies = false;          // its result is the register that it reads, or an address that means the same
  bool computes = false;        // its result depends only on the registers that it reads
  pattern bits = pattern::unknown;
  std::int64_t number = 0;    // of the pattern; chosen: the bits of both, if both are numbers
  std::int64_t common = 0;    // chosen: the bits that both numbers have
  bool of_thread = false;     // reads the thread's index in its block
  bool meets_lanes = false;   // a shuffle or vote: lanes wait for each other there, and no memory is ordered
  bool reads_cycles = false;  // reads the SM's cycle counter, or half of it
  unsigned marks = 7;         // machine code: the scoreboard that is set until its result is there; 7: none
  unsigned waits_for = 0;     // machine code: bit mask of the scoreboards that it waits for
  bool is_leaving = false;    // end: leaves the kernel rather than returning to a caller

  std::vector<int> reads;  // registers, including the condition's
  std::vector<int> writes;
  std::vector<int> address;  // those of `reads` that form the address
  std::vector<int> data;     // those of `reads` that are stored, or compared with
  int condition = -1;  // the predicate register: executed only if it is true (if_not: false); -1: always
  bool if_not = false;
  std::vector<std::size_t> next;  // steps that may follow
  std::uint64_t at = 0;           // the line of the text, or the byte of the function's code
  std::string source;             // "flag.cu:7", where PTX says it
  std::string text;
};

struct function {
  std::string name;
  bool is_kernel = true;  // false: a device function
  bool is_text = true;    // PTX: `at` are lines; else machine code
  unsigned architecture = 0;
  int registers = 0;
  std::vector<step> steps;
  std::vector<std::string> not_known;  // a sentence for each part that could not be read
};

// A step as it is named in sentences: "line 69 (flag.cu:7): ld.global.u64 ...", "0x150: BRA".
std::string place(const function&, std::size_t at);

// The most instructions of a function, and the most functions of a file, that are examined.
inline constexpr std::size_t most_steps = 200'000, most_functions = 20'000;

// All functions of a text in PTX. Throws usage_error naming the line where it is not PTX.
std::vector<function> read_ptx(std::string_view text);
// All functions of a cubin. Throws usage_error where it is damaged.
std::vector<function> read_machine_code(std::span<const std::byte> cubin);

}  // namespace mgsync::audit
