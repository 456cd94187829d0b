// Reads files that others wrote. How much of one is taken, and for how long, is bounded while it is read: a
// device or a pipe may have no end, and a pipe that nobody writes to never begins.
//   const std::string text = read_bounded_file(name, name, "a file of --json");
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace mgsync {

inline constexpr std::size_t largest_file_bytes = std::size_t{256} << 20;
inline constexpr std::chrono::seconds longest_reading{10};

// Throws usage_error beginning with `shown` where the file cannot be read, has more than `most` bytes, or has
// not come to its end in `within`; `accepted` is what the message names as acceptable (empty: nothing).
std::string read_bounded_file(const std::string& file, const std::string& shown, std::string_view accepted,
                              std::size_t most = largest_file_bytes,
                              std::chrono::milliseconds within = longest_reading);

}  // namespace mgsync
