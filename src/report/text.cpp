#include "src/report/text.hpp"

namespace mgsync::report {

std::string to_text(const evaluation& e) {
  std::string text;
  for (const auto& t : e.tables) text += to_text(t) + "\n";
  for (const auto& sentence : e.sentences) text += sentence + "\n";
  return text;
}

}  // namespace mgsync::report
