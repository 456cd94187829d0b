// Barriers that are wrong, as some that were in use are: known_wrong.csv has their numbers, where they were
// seen, and what catches them. Those that only a GPU shows are in gpu_barriers.cu.
#include "lines.hpp"

namespace mgsync::known { namespace {

// 1. Dissemination whose distance is shifted by the step, where it is to be multiplied by the radix. Right
// for few.
struct wrong_stride : of_lines<wrong_stride> {
  static constexpr const char* name = "wrong-stride";
  static constexpr unsigned radix = 4;
  static unsigned lines(unsigned workers) {
    unsigned count = 1;
    for (unsigned reach = 1; reach < workers; reach *= radix) count += radix - 1;
    return count;
  }
  using of_lines::of_lines;
  bool arrive_and_wait() {
    const word now = next();
    unsigned step = 0;
    for (unsigned reach = 1; reach < at.workers; reach *= radix, ++step) {
      const unsigned first = 1 + step * (radix - 1);
      for (unsigned j = 1; j < radix; ++j)
        store(line((self() + (j << step)) % at.workers, first + j - 1), now);
      for (unsigned j = 1; j < radix; ++j)
        if (!wait_until([&] { return reached(load(line(self(), first + j - 1)), now); })) return false;
    }
    return true;
  }
};

// 2. A butterfly over a number of members that is no power of two: who has no partner leaves the step out.
struct butterfly_skips_peers : of_lines<butterfly_skips_peers> {
  static constexpr const char* name = "butterfly-skips-peers";
  static unsigned lines(unsigned workers) {
    unsigned count = 1;
    for (unsigned distance = 1; distance < workers; distance *= 2) ++count;
    return count;
  }
  using of_lines::of_lines;
  bool arrive_and_wait() {
    const word now = next();
    unsigned step = 1;
    for (unsigned distance = 1; distance < at.workers; distance *= 2, ++step) {
      const unsigned peer = self() ^ distance;
      if (peer >= at.workers) continue;
      store(line(peer, step), now);
      if (!wait_until([&] { return reached(load(line(self(), step)), now); })) return false;
    }
    return true;
  }
};

// 3. One is added to everybody's counter; who sees it full takes that off its own. A fast one's next arrival
// comes before a slow one has looked, which then never sees the number that it waits for.
struct equality_and_reset : of_lines<equality_and_reset> {
  static constexpr const char* name = "equality-and-reset";
  static unsigned lines(unsigned) { return 2; }
  using of_lines::of_lines;
  static void start(void* part, unsigned, const shape& s) { std::memset(part, 0, bytes(s)); }
  bool arrive_and_wait() {
    for (unsigned to = 0; to < at.workers; ++to) add(line(to, 1), 1);
    if (!wait_until([&] { return load(line(self(), 1)) == at.workers; })) return false;
    add(line(self(), 1), 0u - at.workers);
    return true;
  }
};

// 4. Flags that are cleared once all have been seen: an early next arrival is cleared with them.
struct cleared_after_the_wait : of_lines<cleared_after_the_wait> {
  static constexpr const char* name = "cleared-after-the-wait";
  static unsigned lines(unsigned workers) { return 1 + workers; }
  using of_lines::of_lines;
  static void start(void* part, unsigned, const shape& s) { std::memset(part, 0, bytes(s)); }
  bool arrive_and_wait() {
    for (unsigned to = 0; to < at.workers; ++to) store(line(to, 1 + self()), 1);
    for (unsigned from = 0; from < at.workers; ++from)
      if (!wait_until([&] { return load(line(self(), 1 + from)) == 1; })) return false;
    for (unsigned from = 0; from < at.workers; ++from) store(line(self(), 1 + from), 0);
    return true;
  }
};

// 5. A counter that is compared with the number of members, and never set back.
struct second_use_passes : of_lines<second_use_passes> {
  static constexpr const char* name = "second-use-passes";
  static unsigned lines(unsigned) { return 2; }
  using of_lines::of_lines;
  static void start(void* part, unsigned, const shape& s) { std::memset(part, 0, bytes(s)); }
  bool arrive_and_wait() {
    add(line(0, 1), 1);
    return wait_until([&] { return load(line(0, 1)) >= at.workers; });
  }
};

// 6. The data are the flag: what is not -0.0 has arrived. Three buffers in turn, each emptied a round later.
struct sentinel_in_the_data : of_lines<sentinel_in_the_data> {
  static constexpr const char* name = "sentinel-in-the-data";
  static constexpr word empty = 0x80000000u;
  static unsigned lines(unsigned workers) { return 1 + 3 * workers; }
  using of_lines::of_lines;
  static void start(void* part, unsigned member, const shape& s) {
    of_lines::start(part, member, s);
    auto* words = static_cast<word*>(part);
    for (unsigned b = 0; b < s.blocks; ++b)
      for (unsigned l = 1; l < lines(s.workers); ++l) words[(b * lines(s.workers) + l) * 32] = empty;
  }
  word& slot(unsigned to, unsigned from, word buffer) const {
    return line(to, 1 + buffer * at.workers + from);
  }
  std::uint32_t exchange(std::uint32_t mine, unsigned from) {
    const word now = next() % 3, last = (now + 2) % 3;
    for (unsigned w = 0; w < at.workers; ++w) store(slot(self(), w, last), empty);
    for (unsigned to = 0; to < at.workers; ++to) store(slot(to, self(), now), mine);
    std::uint32_t wanted = 0;
    for (unsigned w = 0; w < at.workers; ++w) {
      std::uint32_t seen = empty;
      wait_until([&] { return (seen = load(slot(self(), w, now))) != empty; });
      if (w / at.blocks == from) wanted = seen;
    }
    return wanted;
  }
};

// 7. The epoch comes from the host as an argument, which a graph repeats.
struct epoch_of_the_launch : of_lines<epoch_of_the_launch> {
  static constexpr const char* name = "epoch-of-the-launch";
  static unsigned lines(unsigned workers) { return 1 + workers; }
  explicit epoch_of_the_launch(const position& where) : of_lines(where) { epoch = where.epoch; }
  bool arrive_and_wait() {
    const word now = ++epoch;
    for (unsigned to = 0; to < at.workers; ++to) store(line(to, 1 + self()), now);
    for (unsigned from = 0; from < at.workers; ++from)
      if (!wait_until([&] { return reached(load(line(self(), 1 + from)), now); })) return false;
    return true;
  }
};

// Counts the rounds of a member in one word of its memory; its blocks' flags follow.
template <class Barrier>
struct with_an_epoch_per_member : of_lines<Barrier> {
  static unsigned lines(unsigned workers) { return 2 + workers; }
  using of_lines<Barrier>::of_lines;
  word& of_the_member() const { return this->line(this->at.member * this->at.blocks, 1); }
  bool meet(word now) {
    for (unsigned to = 0; to < this->at.workers; ++to) store(this->line(to, 2 + this->self()), now);
    for (unsigned from = 0; from < this->at.workers; ++from)
      if (!this->wait_until([&] { return reached(load(this->line(this->self(), 2 + from)), now); }))
        return false;
    return true;
  }
};

// 8. Every block reads its member's epoch as it begins; block 0 raises it as it arrives. A block that begins
// late reads the next one.
struct epoch_read_late : with_an_epoch_per_member<epoch_read_late> {
  static constexpr const char* name = "epoch-read-late";
  explicit epoch_read_late(const position& where) : with_an_epoch_per_member(where) {
    epoch = load(of_the_member());
  }
  bool arrive_and_wait() {
    ++epoch;
    if (at.block == 0) store(of_the_member(), epoch);
    return meet(epoch);
  }
};

// 9. Nothing is released and nothing acquired. x86 does it all the same.
struct relaxed_start : of_lines<relaxed_start> {
  static constexpr const char* name = "relaxed-start";
  static unsigned lines(unsigned workers) { return 1 + workers; }
  using of_lines::of_lines;
  bool arrive_and_wait() {
    const word now = next();
    for (unsigned to = 0; to < at.workers; ++to) store_relaxed(line(to, 1 + self()), now);
    for (unsigned from = 0; from < at.workers; ++from)
      if (!wait_until([&] { return reached(load_relaxed(line(self(), 1 + from)), now); })) return false;
    return true;
  }
};

// 10. Block 0 speaks for its member and acquires what the others wrote; the member's other blocks only see
// that it has gone on.
struct only_the_poller_acquires : of_lines<only_the_poller_acquires> {
  static constexpr const char* name = "only-the-poller-acquires";
  static unsigned lines(unsigned) { return 4; }
  using of_lines::of_lines;
  static void start(void* part, unsigned member, const shape& s) {
    of_lines::start(part, member, s);
    static_cast<word*>(part)[32] = s.epoch * s.blocks;
    static_cast<word*>(part)[64] = s.epoch * s.members;
  }
  bool arrive_and_wait() {
    const word now = next();
    const unsigned speaker = at.member * at.blocks;
    add(line(speaker, 1), 1);
    if (at.block != 0) return wait_until([&] { return reached(load_relaxed(line(speaker, 3)), now); });
    if (!wait_until([&] { return reached(load(line(speaker, 1)), now * at.blocks); })) return false;
    add(line(0, 2), 1);
    if (!wait_until([&] { return reached(load(line(0, 2)), now * at.members); })) return false;
    store_relaxed(line(speaker, 3), now);
    return true;
  }
};

// 12. Counts on grids of one size: it waits for as many of everybody's blocks as it has itself.
struct same_grid_everywhere {
  static constexpr const char* name = "same-grid-everywhere";
  static bool takes(const shape&) { return true; }
  static std::size_t bytes(const shape& s) { return 128 * (1 + std::size_t{s.blocks}); }
  static void start(void* part, unsigned, const shape& s) { std::memset(part, 0, bytes(s)); }
  bool arrive_and_wait() {
    word& mine = at.part<word>(at.member)[(1 + at.block) * 32];
    store_relaxed(mine, load_relaxed(mine) + 1);
    add(*at.part<word>(0), 1);
    while (!reached(load(*at.part<word>(0)), load_relaxed(mine) * at.members * at.blocks))
      if (!at.go_on()) return false;
    return true;
  }
  position at;
};

// 13. May run in two streams at once, and has one set of flags.
struct one_workspace : of_lines<one_workspace> {
  static constexpr const char* name = "one-workspace";
  static constexpr unsigned streams = 2;
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

// 14. The epoch of a member is raised by each of its blocks, where one is to do it.
struct epoch_raised_by_all : with_an_epoch_per_member<epoch_raised_by_all> {
  static constexpr const char* name = "epoch-raised-by-all";
  using with_an_epoch_per_member::with_an_epoch_per_member;
  bool arrive_and_wait() {
    const word before = load_relaxed(of_the_member());
    store_relaxed(of_the_member(), before + 1);
    return meet(before + 1);
  }
};

// 15. Compares counts as numbers with a sign: the largest is followed by the smallest.
struct signed_counts : of_lines<signed_counts> {
  static constexpr const char* name = "signed-counts";
  static unsigned lines(unsigned workers) { return 1 + workers; }
  using of_lines::of_lines;
  bool arrive_and_wait() {
    const word now = next();
    for (unsigned to = 0; to < at.workers; ++to) store(line(to, 1 + self()), now);
    for (unsigned from = 0; from < at.workers; ++from)
      if (!wait_until([&] {
            return static_cast<std::int32_t>(load(line(self(), 1 + from))) >= static_cast<std::int32_t>(now);
          }))
        return false;
    return true;
  }
};

// 16. Does nothing, and says nothing.
struct silent_no_op {
  static constexpr const char* name = "silent-no-op";
  static constexpr std::size_t bytes = 128;
  position at;
  void arrive_and_wait() {}
};

// 17. Room for one block's flags, used by several.
struct too_few_flags : of_lines<too_few_flags> {
  static constexpr const char* name = "too-few-flags";
  static unsigned lines(unsigned workers) { return 1 + workers; }
  static std::size_t bytes(const shape& s) { return (1 + std::size_t{s.workers}) * 128; }
  static void start(void* part, unsigned, const shape& s) {
    for (std::size_t i = 0; i < bytes(s) / sizeof(word); ++i) static_cast<word*>(part)[i] = s.epoch;
  }
  using of_lines::of_lines;
  bool arrive_and_wait() {
    const word now = next();
    for (unsigned to = 0; to < at.workers; ++to) store(line(to, 1 + self()), now);
    for (unsigned from = 0; from < at.workers; ++from)
      if (!wait_until([&] { return reached(load(line(self(), 1 + from)), now); })) return false;
    return true;
  }
};

// 18. Each empties its own flags as it begins, when others may have arrived at them.
struct emptied_as_it_begins : of_lines<emptied_as_it_begins> {
  static constexpr const char* name = "emptied-as-it-begins";
  static unsigned lines(unsigned workers) { return 1 + workers; }
  explicit emptied_as_it_begins(const position& where) : of_lines(where) {
    for (unsigned from = 0; from < at.workers; ++from) store(line(self(), 1 + from), 0);
  }
  bool arrive_and_wait() {
    for (unsigned to = 0; to < at.workers; ++to)
      if (!wait_until([&] { return swap_if(line(to, 1 + self()), 0, 1); })) return false;
    for (unsigned from = 0; from < at.workers; ++from)
      if (!wait_until([&] { return swap_if(line(self(), 1 + from), 1, 0); })) return false;
    return true;
  }
};

// 19. Instructions of its own without "memory" among what they clobber: the compiler carries ordinary loads
// past them. It spins without yielding, which a call would be that the compiler respects; so it is for two.
struct missing_clobber : of_lines<missing_clobber> {
  static constexpr const char* name = "missing-clobber";
  static bool takes(const shape& s) { return s.workers == 2 && s.members == 2; }
  static unsigned lines(unsigned workers) { return 1 + workers; }
  using of_lines::of_lines;
  static void put(word* where, word v) {
#if defined(__aarch64__)
    asm volatile("stlr %w0, [%1]" ::"r"(v), "r"(where));
#else
    asm volatile("movl %0, (%1)" ::"r"(v), "r"(where));
#endif
  }
  static word get(const word* where) {
    word v;
#if defined(__aarch64__)
    asm volatile("ldar %w0, [%1]" : "=r"(v) : "r"(where));
#else
    asm volatile("movl (%1), %0" : "=r"(v) : "r"(where));
#endif
    return v;
  }
  void arrive_and_wait() {
    const word now = ++epoch;
    put(&line(self(), 0), now);
    for (unsigned to = 0; to < at.workers; ++to) put(&line(to, 1 + self()), now);
    for (unsigned from = 0; from < at.workers; ++from)
      while (!reached(get(&line(self(), 1 + from)), now)) {}
  }
};

// 21. Each stores a byte of a word, and the word is polled as a whole: no store that is seen in it is the one
// that the load synchronizes with.
struct bytes_of_one_word {
  static constexpr const char* name = "bytes-of-one-word";
  static constexpr std::size_t bytes = 256;
  static bool takes(const shape& s) { return s.members <= 8 && s.blocks == 1; }
  bool arrive_and_wait() {
    auto* const count = at.part<std::uint8_t>(at.member) + 128;
    const std::uint8_t now = *count = static_cast<std::uint8_t>(*count + 1);
    const unsigned slot = now % 2 * 8;
    for (unsigned to = 0; to < at.members; ++to)
      __atomic_store_n(at.part<std::uint8_t>(to) + slot + at.member, now, __ATOMIC_RELEASE);
    std::uint64_t all = 0;
    for (unsigned m = 0; m < at.members; ++m) all |= std::uint64_t{now} << (8 * m);
    while (__atomic_load_n(reinterpret_cast<std::uint64_t*>(at.part<std::uint8_t>(at.member) + slot),
                           __ATOMIC_ACQUIRE) != all)
      if (!at.go_on()) return false;
    return true;
  }
  position at;
};

}}  // namespace mgsync::known

using namespace mgsync::known;
MGSYNC_CHECK_BARRIER(wrong_stride, butterfly_skips_peers, equality_and_reset, cleared_after_the_wait,
                     second_use_passes, sentinel_in_the_data, epoch_of_the_launch, epoch_read_late,
                     relaxed_start, only_the_poller_acquires, same_grid_everywhere, one_workspace,
                     epoch_raised_by_all, signed_counts, silent_no_op, too_few_flags, emptied_as_it_begins,
                     missing_clobber, bytes_of_one_word)
