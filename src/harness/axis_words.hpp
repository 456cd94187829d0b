// Words of a study's axes, held against what each axis declares that it takes: in one place for all studies,
// before anything is planned, so that a wrong word is refused wherever it is typed, with or without a GPU.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/harness/study.hpp"

namespace mgsync {

// Fills in the words of every axis: those that were typed, or the defaults, less what only members of the
// other kind take. Throws usage_error for a typed word that the axis does not take, or that means nothing for
// the request's members, and names the accepted ones; and whatever the axes' own readers find.
void settle_axes(study_request&, std::span<const axis_declaration>, const typed_words&);

// What an axis takes, for people: with the unit of its numbers.
std::string accepted_text(const axis_declaration&);

// Whether these words ask the study's model, and nothing is to be measured: one of them is of an axis that
// has no default.
bool asks_for_answer(const study&, const typed_words&);

// For readers: `option` as it is typed, without the dashes.
void check_words(std::string_view option, std::span<const std::string> words,
                 std::span<const std::string_view> accepted);

}  // namespace mgsync
