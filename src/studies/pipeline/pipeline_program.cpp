// The study as a small program of its own: the paper's question anywhere, its measurements where there is a GPU.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "src/base/errors.hpp"
#include "src/studies/pipeline/answer.hpp"
#include "src/studies/pipeline/evaluation.hpp"
#ifdef MGSYNC_WITH_CUDA
#include <cuda_runtime_api.h>

#include "src/studies/pipeline/measurements.hpp"
#endif

namespace {

using namespace mgsync;
using namespace mgsync::pipeline;

constexpr const char* usage =
    "usage: mgsync_pipeline --gemm MxNxK [--machine FILE]   which configuration, how long, why (paper 003; without a\n"
    "                                                       machine file: the paper's RTX A6000)\n"
    "       mgsync_pipeline evaluate FILE...                what measured rows say of the model\n"
    "       mgsync_pipeline machine FILE FAMILY             a machine file from measured rows of mma or wgmma\n"
    "       mgsync_pipeline measure WHAT                    rows of CSV from this machine's GPU; WHAT: synthetic,\n"
    "                                                       timelines, or mma|wgmma followed by check, rows or large\n";

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw usage_error(fmt::format("{}: the file cannot be read", path));
  return {std::istreambuf_iterator<char>(file), {}};
}

int ask(const std::vector<std::string>& words) {
  gemm_question question{{}, rtx_a6000(), paper_space()};
  bool has_size = false;
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    if (words[i] == "--gemm") {
      question.size = read_extent(words[i + 1]);
      has_size = true;
    } else if (words[i] == "--machine") {
      question.on = read_machine(text_of(words[i + 1]), words[i + 1]);
      question.space = wide_space();
    } else {
      throw usage_error(fmt::format("'{}' is no option here; accepted: --gemm, --machine", words[i]));
    }
  }
  if (!has_size || words.size() % 2 != 0) throw usage_error(usage);
  fmt::print("{}", to_text(question, answer(question)));
  return 0;
}

// The header says which of the three kinds of rows a file holds.
measured_study read_study(const std::vector<std::string>& paths) {
  measured_study study;
  const auto append = [](auto& to, auto&& from) { to.insert(to.end(), from.begin(), from.end()); };
  for (const std::string& path : paths) {
    const std::string csv = text_of(path);
    const auto take = [&](auto rows, auto& into) {
      study.facts.insert(rows.facts.begin(), rows.facts.end());
      append(into, rows.rows);
    };
    if (csv.find("\nfamily,") != std::string::npos) {
      take(read_product_rows(csv, path), study.products);
    } else if (csv.find("\ntimeline,") != std::string::npos) {
      take(read_stamp_rows(csv, path), study.stamps);
    } else if (csv.find("\nsemaphore,") != std::string::npos) {
      take(read_synthetic_rows(csv, path), study.synthetic);
    } else {
      throw usage_error(fmt::format("{}: none of the headers that 'mgsync_pipeline measure' writes", path));
    }
  }
  return study;
}

int evaluate(std::vector<std::string> words) {
  const bool wants_machine = words.front() == "machine";
  if (words.size() < 2 || (wants_machine && words.size() != 3)) throw usage_error(usage);
  const std::string family = wants_machine ? words.back() : "";
  words.erase(words.begin());
  if (wants_machine) words.pop_back();
  const measured_study study = read_study(words);
  if (!wants_machine) {
    fmt::print("{}", report(study));
    return 0;
  }
  const auto sms = study.facts.find("sms");
  std::vector<tile_profile> tiles;
  for (const auto& [key, profile] : profiles_of(study.products, sms == study.facts.end() ? 1 : std::stoi(sms->second)))
    if (std::get<0>(key) == family && std::get<2>(key) == 1) tiles.push_back(profile);
  if (tiles.size() < 2) throw usage_error(fmt::format("'{}' has no rows for calibration in {}; accepted: mma, wgmma", family, words.front()));
  fmt::print("{}", write_machine(fit_machine(tiles, study.facts).on));
  return 0;
}

int measure(const std::vector<std::string>& words) {
#ifdef MGSYNC_WITH_CUDA
  const std::string what = words.size() > 1 ? words[1] : "", part = words.size() > 2 ? words[2] : "";
  if (int gpus = 0; cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) {
    fmt::print(stderr, "mgsync_pipeline: waived: no GPU here\n");
    return static_cast<int>(exit_code::all_waived);
  }
  constexpr int random_settings = 240, random_sizes = 600, seed = 24;
  if (what == "synthetic" || what == "timelines") {
    print_machine(stdout);
    what == "synthetic" ? print_synthetic(stdout, random_settings, seed) : print_synthetic_timelines(stdout);
    return 0;
  }
  if ((what != "mma" && what != "wgmma") || (part != "check" && part != "rows" && part != "large")) throw usage_error(usage);
  const gemm_kernel& family = what == "mma" ? mma_kernel() : wgmma_kernel();
  if (const auto why = family.cannot_run()) {
    fmt::print(stderr, "mgsync_pipeline: waived: {}\n", *why);
    return static_cast<int>(exit_code::all_waived);
  }
  print_machine(stdout);
  if (part == "check") return print_product_checks(stdout, family) ? 0 : 1;
  part == "rows" ? print_products(stdout, family, random_sizes, seed) : print_large_products(stdout, family);
  return 0;
#else
  static_cast<void>(words);
  fmt::print(stderr, "mgsync_pipeline: waived: built without CUDA\n");
  return static_cast<int>(exit_code::all_waived);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (words.empty() || words.front() == "--help") {
      fmt::print("{}", usage);
      return words.empty() ? static_cast<int>(exit_code::usage) : 0;
    }
    if (words.front() == "evaluate" || words.front() == "machine") return evaluate(words);
    return words.front() == "measure" ? measure(words) : ask(words);
  } catch (const usage_error& error) {
    fmt::print(stderr, "mgsync_pipeline: {}\n", error.what());
    return static_cast<int>(exit_code::usage);
  } catch (const std::exception& error) {
    fmt::print(stderr, "mgsync_pipeline: {}\n", error.what());
    return static_cast<int>(exit_code::failure);
  }
}
