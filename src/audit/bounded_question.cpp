#include "src/audit/bounded_question.hpp"

#include <chrono>
#include <optional>

#include <fmt/format.h>

#include "src/base/demangled.hpp"
#include "src/base/errors.hpp"
#include "src/base/units.hpp"

#ifdef MGSYNC_WITH_Z3
#include "src/models/memory_order/model_check.hpp"
#include "src/models/ptx/stale_reads.hpp"
#endif

namespace mgsync::audit {

std::string to_string(const bound& b) {
  return fmt::format("{} x {} x {}", counted(b.gpus, "GPU"), counted(b.blocks, "block"),
                     counted(b.threads, "thread"));
}

#ifndef MGSYNC_WITH_Z3

bool has_model() { return false; }
std::vector<bounded_answer> ask_model(std::string_view) { return {}; }

#else

namespace {

using memory_order::verdict;
using kind = bounded_answer::kind;

constexpr std::chrono::seconds most_time{60};  // of one question
constexpr bound bounds[] = {{2, 1, 2}, {1, 2, 2}};
constexpr unsigned lanes = 2;  // of a warp
constexpr std::string_view entry = ".entry ", of_two_rounds = "asked_rounds<";

// What stands in the name of the kernel.
struct contract {
  std::string name;
  bool by_block = false;   // it orders blocks of equal number only
  bool host_says = false;  // it has start() or takes()
};

std::optional<contract> contract_of(const std::string& mangled) {
  const std::string said = demangled(mangled);
  const std::size_t begin = said.find(of_two_rounds), end = said.rfind(">(");
  if (begin == std::string::npos || end == std::string::npos) return std::nullopt;
  const std::string inner = said.substr(begin + of_two_rounds.size(), end - begin - of_two_rounds.size());
  const std::size_t last = inner.rfind(", "),
                    first = last == std::string::npos ? last : inner.rfind(", ", last - 1);
  if (first == std::string::npos) return std::nullopt;
  return contract{inner.substr(0, first), inner.substr(first + 2, last - first - 2) == "true",
                  inner.substr(last + 2) == "true"};
}

// Where what lies, of each GPU.
constexpr std::uint64_t part_of(unsigned gpu) { return (std::uint64_t{gpu} + 1) << 40; }
constexpr std::uint64_t words_at = std::uint64_t{1} << 51, own_words_at = std::uint64_t{1} << 52;

std::string name_of(std::uint64_t address) {
  if (address >= std::uint64_t{1} << 58) return fmt::format("shared word {}", address & 0xffffff);
  if (address >= own_words_at) return "a word of its own";
  if (address >= words_at) return "the word of the writer";
  return fmt::format("byte {} of member {}'s memory", address & 0xffffffffff, (address >> 40) - 1);
}

template <class Value>
void append(std::vector<std::uint8_t>& bytes, Value value) {
  for (std::size_t i = 0; i < sizeof value; ++i)
    bytes.push_back(static_cast<std::uint8_t>(std::uint64_t{value} >> (8 * i)));
}

struct question {
  ptx::position writer, reader;
};

std::string to_string(const ptx::position& p) {
  return fmt::format("GPU {} block {} thread {}", p.gpu, p.block, p.thread);
}
bool same(const ptx::position& a, const ptx::position& b) {
  return a.gpu == b.gpu && a.block == b.block && a.thread == b.thread;
}

std::vector<question> questions_at(const bound& b, bool by_block) {
  std::vector<ptx::position> all;
  for (unsigned gpu = 0; gpu < b.gpus; ++gpu)
    for (unsigned block = 0; block < b.blocks; ++block)
      for (unsigned thread = 0; thread < b.threads; ++thread) all.push_back({gpu, block, thread});
  std::vector<question> pairs;
  for (const auto& writer : all)
    for (const auto& reader : all)
      if (!same(writer, reader) && (!by_block || writer.block == reader.block))
        pairs.push_back({writer, reader});
  return pairs;
}

// asked_rounds(parts of up to 16 members, unsigned member, unsigned members, unsigned blocks, unsigned* mine,
// const unsigned* theirs)
constexpr std::size_t parameters = 6, last_at = 152;
constexpr unsigned most_members = 16;

ptx::launch launch_of(const ptx::kernel& kernel, const bound& b, const question& asked) {
  ptx::launch made;
  made.kernel = &kernel;
  made.gpus = b.gpus;
  made.blocks = b.blocks;
  made.threads = b.threads;
  made.warp = lanes;
  made.name_of = name_of;
  made.parameters = [b, asked](const ptx::position& p) {
    const std::uint64_t own = own_words_at + 4096 * p.gpu + 256 * p.block + 8 * p.thread;
    std::vector<std::uint8_t> bytes;
    for (unsigned gpu = 0; gpu < most_members; ++gpu)
      append(bytes, gpu < b.gpus ? part_of(gpu) : std::uint64_t{0});
    for (const unsigned word : {p.gpu, b.gpus, b.blocks, 0U}) append(bytes, word);
    append(bytes, same(p, asked.writer) ? words_at : own);
    append(bytes, same(p, asked.reader) ? words_at : own);
    return bytes;
  };
  return made;
}

verdict answer_of(memory_order::program program, memory_order::condition question,
                  std::vector<std::string>* story = nullptr) {
  program.question = std::move(question);
  auto found = memory_order::check(program, most_time);
  if (story != nullptr) *story = std::move(found.story);
  return found.verdict;
}

std::string no_answer(const std::string& of) {
  return fmt::format("not known: the solver had no answer in {} s, {}", most_time.count(), of);
}

void ask_at(const ptx::kernel& kernel, bool by_block, bounded_answer& answer) {
  const auto all = questions_at(answer.at, by_block);
  const auto first = ptx::record(launch_of(kernel, answer.at, all.front()));
  const verdict escapes = answer_of(first.program, first.unexplored), ends = answer_of(first.program, {});
  if (ends != verdict::allowed || escapes == verdict::unknown) {
    answer.said = ends == verdict::forbidden ? "not known: nobody comes to the end of two rounds"
                                             : no_answer("whether two rounds can be followed");
    return;
  }
  for (const question& one : all) {
    auto made = ptx::record(launch_of(kernel, answer.at, one));
    // An execution among those that were recorded is one, even if not all were.
    made.program.given.push_back(
        {.what = memory_order::condition::kind::negation, .parts = {made.unexplored}});
    const int reader = ptx::thread_number(launch_of(kernel, answer.at, one), one.reader);
    const std::string pair =
        fmt::format("what {} writes, read by {}", to_string(one.writer), to_string(one.reader));
    const verdict found = answer_of(made.program, ptx::stale_reads(made, reader, words_at), &answer.story);
    if (found == verdict::forbidden) continue;
    if (found == verdict::unknown) {
      answer.said = no_answer(pair);
      return;
    }
    answer.what = kind::an_execution;
    answer.said = fmt::format(
        "an execution in which a thread reads what another wrote a round ago, or ahead: {}", pair);
    return;
  }
  if (escapes == verdict::allowed) {
    answer.said =
        "not known: a read may get what no way was followed for, and of the rest no execution was found";
    return;
  }
  answer.what = kind::no_execution;
  answer.said =
      fmt::format("no execution at this bound in which a thread that passed reads what another wrote a round "
                  "ago, or ahead ({} of writer and reader, two rounds)",
                  counted(all.size(), "pair"));
}

bounded_answer ask(std::string_view text, const contract& of, const bound& at) {
  bounded_answer answer{of.name, at, kind::not_known, {}, {}};
  try {
    const auto kernels = ptx::read_kernels(text);
    const ptx::kernel& kernel = kernels.front();
    if (kernel.parameters.size() != parameters || kernel.parameters.back().offset != last_at)
      throw usage_error("its header is that of another mgsync");
    ask_at(kernel, of.by_block, answer);
  } catch (const usage_error& error) { answer.said = fmt::format("not known: {}", error.what()); }
  if (of.host_says)
    answer.said += ". Asked as if its memory began as zeros and it took this shape: its start() or takes(), "
                   "which PTX does not contain, may say otherwise";
  return answer;
}

// The text with all other kernels blanked out, so that lines keep their numbers.
std::string alone(std::string_view text, std::size_t begin) {
  std::string made;
  for (const char c : text.substr(0, begin)) made += c == '\n' ? '\n' : ' ';
  const std::size_t end = text.find(entry, begin + entry.size());
  made += text.substr(begin, end == std::string_view::npos ? end : end - begin);
  if (const std::size_t closed = made.rfind("\n}"); closed != std::string::npos)
    made.replace(closed, std::string::npos, "\n}\n");
  return made;
}

}  // namespace

bool has_model() { return true; }

std::vector<bounded_answer> ask_model(std::string_view ptx) {
  std::vector<bounded_answer> answers;
  for (std::size_t at = ptx.find(entry); at != std::string_view::npos; at = ptx.find(entry, at + 1)) {
    const std::size_t begin = at + entry.size();
    const auto of = contract_of(std::string(ptx.substr(begin, ptx.find_first_of("( \n", begin) - begin)));
    if (!of) continue;
    const std::string text = alone(ptx, at);
    for (const bound& one : bounds) {
      answers.push_back(ask(text, *of, one));
      if (answers.back().what != kind::no_execution) break;
    }
  }
  return answers;
}

#endif

}  // namespace mgsync::audit
