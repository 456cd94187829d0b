// Twelve barriers that are right, in twelve ways: none may be accused of anything.
#include "lines.hpp"

namespace mgsync::known { namespace {

// One counter, which only grows; the epoch near its wrap makes it wrap too.
struct central_counter : of_lines<central_counter> {
  static constexpr const char* name = "central-counter";
  static unsigned lines(unsigned) { return 2; }
  using of_lines::of_lines;
  static void start(void* part, unsigned member, const shape& s) {
    of_lines::start(part, member, s);
    static_cast<word*>(part)[32] = s.epoch * s.workers;
  }
  bool arrive_and_wait() {
    const word all = next() * at.workers;
    add(line(0, 1), 1);
    return wait_until([&] { return reached(load(line(0, 1)), all); });
  }
};

// A counter that the last one sets back, and a sense that it turns round.
struct sense_reversing : of_lines<sense_reversing> {
  static constexpr const char* name = "sense-reversing";
  static unsigned lines(unsigned) { return 3; }
  using of_lines::of_lines;
  static void start(void* part, unsigned, const shape& s) { std::memset(part, 0, bytes(s)); }
  bool arrive_and_wait() {
    const word mine = next() % 2;
    if (add(line(0, 1), 1) + 1 != at.workers) return wait_until([&] { return load(line(0, 2)) == mine; });
    store(line(0, 1), 0);
    store(line(0, 2), mine);
    return true;
  }
};

// Everybody tells everybody.
struct inbox : of_lines<inbox> {
  static constexpr const char* name = "inbox";
  static unsigned lines(unsigned workers) { return 1 + workers; }
  using of_lines::of_lines;
  bool arrive_and_wait() {
    const word now = next();
    for (unsigned to = 0; to < at.workers; ++to) store(line(to, 1 + self()), now);
    for (unsigned from = 0; from < at.workers; ++from)
      if (!wait_until([&] { return reached(load(line(self(), 1 + from)), now); })) return false;
    return true;
  }
};

template <unsigned Radix>
struct dissemination : of_lines<dissemination<Radix>> {
  static unsigned lines(unsigned workers) {
    unsigned count = 1;
    for (unsigned distance = 1; distance < workers; distance *= Radix) count += Radix - 1;
    return count;
  }
  using of_lines<dissemination>::of_lines;
  bool arrive_and_wait() {
    const word now = this->next();
    const unsigned all = this->at.workers, me = this->self();
    unsigned step = 1;
    for (unsigned distance = 1; distance < all; distance *= Radix, step += Radix - 1) {
      for (unsigned j = 1; j < Radix; ++j) store(this->line((me + j * distance) % all, step + j - 1), now);
      for (unsigned j = 1; j < Radix; ++j)
        if (!this->wait_until([&] { return reached(load(this->line(me, step + j - 1)), now); })) return false;
    }
    return true;
  }
};
struct dissemination_2 : dissemination<2> {
  static constexpr const char* name = "dissemination";
  using dissemination::dissemination;
};
struct dissemination_4 : dissemination<4> {
  static constexpr const char* name = "dissemination-4";
  using dissemination::dissemination;
};

// Worker 0 hears all and tells all.
struct hub : of_lines<hub> {
  static constexpr const char* name = "hub";
  static unsigned lines(unsigned) { return 3; }
  using of_lines::of_lines;
  bool arrive_and_wait() {
    const word now = next();
    store(line(self(), 1), now);
    if (self() != 0) return wait_until([&] { return reached(load(line(self(), 2)), now); });
    for (unsigned from = 0; from < at.workers; ++from)
      if (!wait_until([&] { return reached(load(line(from, 1)), now); })) return false;
    for (unsigned to = 0; to < at.workers; ++to) store(line(to, 2), now);
    return true;
  }
};

// A tree: children first, then up, then down again.
struct tree : of_lines<tree> {
  static constexpr const char* name = "tree";
  static unsigned lines(unsigned) { return 3; }
  using of_lines::of_lines;
  bool arrive_and_wait() {
    const word now = next();
    const unsigned first = 2 * self() + 1;
    for (unsigned child = first; child < first + 2 && child < at.workers; ++child)
      if (!wait_until([&] { return reached(load(line(child, 1)), now); })) return false;
    store(line(self(), 1), now);
    if (self() != 0 && !wait_until([&] { return reached(load(line(self(), 2)), now); })) return false;
    for (unsigned child = first; child < first + 2 && child < at.workers; ++child) store(line(child, 2), now);
    return true;
  }
};

// Signal pads, as PyTorch's symmetric memory has them: from 0 to 1 at the peer, from 1 to 0 on one's own.
struct signal_pads : of_lines<signal_pads> {
  static constexpr const char* name = "signal-pads";
  static unsigned lines(unsigned workers) { return 1 + workers; }
  using of_lines::of_lines;
  static void start(void* part, unsigned, const shape& s) { std::memset(part, 0, bytes(s)); }
  bool arrive_and_wait() {
    for (unsigned i = 1; i < at.workers; ++i) {
      const unsigned peer = (self() + i) % at.workers;
      if (!wait_until([&] { return swap_if(line(peer, 1 + self()), 0, 1); })) return false;
    }
    for (unsigned i = 1; i < at.workers; ++i) {
      const unsigned peer = (self() + i) % at.workers;
      if (!wait_until([&] { return swap_if(line(self(), 1 + peer), 1, 0); })) return false;
    }
    return true;
  }
};

// Two slots in turn, compared for equality, between blocks of one number: vLLM's form.
struct two_slots : of_lines<two_slots> {
  static constexpr const char* name = "two-slots";
  static constexpr auto orders = check::extent::equal_blocks;
  static unsigned lines(unsigned workers) { return 1 + 2 * workers; }
  using of_lines::of_lines;
  bool arrive_and_wait() {
    const word now = next();
    const unsigned slot = 1 + now % 2 * at.members;
    for (unsigned to = 0; to < at.members; ++to)
      store(line(to * at.blocks + at.block, slot + at.member), now);
    for (unsigned from = 0; from < at.members; ++from)
      if (!wait_until([&] { return load(line(self(), slot + from)) == now; })) return false;
    return true;
  }
};

// An exchange of words, each beside its epoch, so that no word of the user's means anything to the barrier.
struct pairs : of_lines<pairs> {
  static constexpr const char* name = "pairs";
  static unsigned lines(unsigned workers) { return 1 + 2 * workers; }
  using of_lines::of_lines;
  static void start(void* part, unsigned, const shape& s) {
    auto* words = static_cast<std::uint64_t*>(part);
    for (std::size_t i = 0; i < bytes(s) / sizeof words[0]; ++i) words[i] = s.epoch;
  }
  std::uint64_t& pair(unsigned worker, unsigned from, word now) const {
    return reinterpret_cast<std::uint64_t&>(line(worker, 1 + 2 * from + now % 2));
  }
  std::uint32_t exchange(std::uint32_t mine, unsigned from) {
    const word now = next();
    const std::uint64_t both = std::uint64_t{mine} << 32 | now;
    for (unsigned to = 0; to < at.workers; ++to)
      __atomic_store_n(&pair(to, self(), now), both, __ATOMIC_RELEASE);
    std::uint32_t wanted = 0;
    for (unsigned w = 0; w < at.workers; ++w) {
      std::uint64_t seen = 0;
      wait_until([&] {
        seen = __atomic_load_n(&pair(self(), w, now), __ATOMIC_ACQUIRE);
        return static_cast<word>(seen) == now;
      });
      if (w / at.blocks == from) wanted = static_cast<std::uint32_t>(seen >> 32);
    }
    return wanted;
  }
};

// In two calls, and for grids of different sizes: it counts workers, not blocks of its own.
struct in_two_calls {
  static constexpr const char* name = "in-two-calls";
  static bool takes(const shape&) { return true; }
  static std::size_t bytes(const shape& s) { return 128 * (1 + std::size_t{s.blocks}); }
  static void start(void* part, unsigned, const shape& s) {
    auto* words = static_cast<word*>(part);
    words[0] = s.epoch * s.workers;
    for (unsigned b = 1; b <= s.blocks; ++b) words[b * 32] = s.epoch;
  }
  explicit in_two_calls(const position& where) : at(where), epoch(load_relaxed(own())) {}
  word& own() const { return at.part<word>(at.member)[(1 + at.block) * 32]; }
  void arrive() {
    store_relaxed(own(), ++epoch);
    for (unsigned to = 0; to < at.members; ++to) add(*at.part<word>(to), 1);
  }
  bool wait() {
    while (!reached(load(*at.part<word>(at.member)), epoch * at.workers))
      if (!at.go_on()) return false;
    return true;
  }
  position at;
  word epoch;
};

// Two launches at once, each with flags of its own.
struct flags_of_each_stream {
  static constexpr const char* name = "flags-of-each-stream";
  static constexpr unsigned streams = 2;
  static std::size_t bytes(const shape& s) {
    return 128 * std::size_t{s.streams} * (1 + std::size_t{s.blocks});
  }
  static void start(void* part, unsigned, const shape& s) {
    auto* words = static_cast<word*>(part);
    for (unsigned stream = 0; stream < s.streams; ++stream)
      for (unsigned l = 0; l <= s.blocks; ++l)
        words[(stream * (1 + s.blocks) + l) * 32] = l == 0 ? s.epoch * s.workers : s.epoch;
  }
  explicit flags_of_each_stream(const position& where)
      : at(where), epoch(load_relaxed(line(at.member, 1 + at.block))) {}
  word& line(unsigned member, unsigned l) const {
    return at.part<word>(member)[(at.stream * (1 + at.blocks) + l) * 32];
  }
  bool arrive_and_wait() {
    store_relaxed(line(at.member, 1 + at.block), ++epoch);
    add(line(0, 0), 1);
    while (!reached(load(line(0, 0)), epoch * at.workers))
      if (!at.go_on()) return false;
    return true;
  }
  position at;
  word epoch;
};

}}  // namespace mgsync::known

using namespace mgsync::known;
MGSYNC_CHECK_BARRIER(central_counter, sense_reversing, inbox, dissemination_2, dissemination_4, hub, tree,
                     signal_pads, two_slots, pairs, in_two_calls, flags_of_each_stream)
