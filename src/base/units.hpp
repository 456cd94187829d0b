// Numbers with a unit of time or of memory, read as people type them ("20us", "5ms", "64KiB") and written for
// people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mgsync {

// `text` converted to `unit`: in_unit("20ms", "us") is 20000. A number without a unit is taken to be in
// `unit`. Nothing for other text, and for a unit of another kind. Units of time: ns, us, ms, s, min, h; of
// memory: B, kB (or KB), MB, GB, TB, PB, KiB, MiB, GiB, TiB, PiB.
std::optional<double> in_unit(std::string_view text, std::string_view unit);

// The same where the result is a whole number. Without a unit the text must be digits only.
std::optional<std::uint64_t> whole_in_unit(std::string_view text, std::string_view unit);

// As {:.3g} of three digits, but never with an exponent for what is large: "12.3", "1340", "1000000".
std::string in_digits(double value, int digits);

// "64 KiB", "1.5 GiB", "76 B".
std::string size_in_words(double bytes);

// "1 GPU", "2 GPUs"; counted(n, "process", "es").
std::string counted(std::uint64_t count, std::string_view what, std::string_view more = "s");

}  // namespace mgsync
