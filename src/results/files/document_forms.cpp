#include "src/results/files/document_forms.hpp"

#include "src/results/files/csv_document.hpp"

namespace mgsync {

std::span<const document_form> document_forms() {
  static constexpr document_form forms[] = {
      {"csv", "write the results as CSV to this file; - is stdout, and then the table goes to stderr",
       format_csv},
  };
  return forms;
}

}  // namespace mgsync
