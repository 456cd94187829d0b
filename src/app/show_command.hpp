// `mgsync show`: what the command printed that wrote a file, or the tables that --by asks for.
#pragma once

#include "src/app/options.hpp"

namespace mgsync {

int show_results(const options&);

}  // namespace mgsync
