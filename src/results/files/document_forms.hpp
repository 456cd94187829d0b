// The forms, beside JSON, in which a command writes its results. Each is an option that names a file: --csv
// FILE. A form is a function that makes a text of a document, and a line in document_forms.cpp
// (docs/extending.md); the options, their help, the checks of the files and the writing follow from that
// line.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "src/results/files/json_document.hpp"

namespace mgsync {

struct document_form {
  std::string_view option;  // without its dashes: "csv"
  std::string_view help;    // for --help
  std::string (*text)(const json_document&) = nullptr;
};
std::span<const document_form> document_forms();

}  // namespace mgsync
