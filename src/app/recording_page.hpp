// A recording (mgsync/timeline.hpp) as a picture and as a page: what each worker did when, and how long it
// took.
#pragma once

#include <string>
#include <string_view>

#include "src/report/page.hpp"
#include "src/results/frame/recording.hpp"

namespace mgsync {

inline constexpr std::string_view figure_of_recordings = "timeline";

// Whether this is a file, no pipe, with a recording: it can be read again.
bool is_recording_file(const std::string& name);

timeline picture_of(const recording&, const std::string& name);

// By what the bars are called: how many there are, and how long they took.
table durations_of(const timeline&);

report::page page_of(const recording&, const std::string& name);

}  // namespace mgsync
