// Numbers with a unit of time or of memory, as people type them: "20us", "5ms", "64KiB".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace mgsync {

// `text` in `unit`: in_unit("20ms", "us") is 20000; a number without a unit is in `unit` already. Nothing for
// other text, and for a unit of another kind. Of time: ns, us, ms, s, min, h; of memory: B, kB (or KB), MB,
// GB, TB, PB, KiB, MiB, GiB, TiB, PiB.
std::optional<double> in_unit(std::string_view text, std::string_view unit);

// The same where it is a whole number. Without a unit it is digits only.
std::optional<std::uint64_t> whole_in_unit(std::string_view text, std::string_view unit);

}  // namespace mgsync
