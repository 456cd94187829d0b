#include "src/base/errors.hpp"

#include <cerrno>
#include <system_error>

#include <fmt/format.h>

namespace mgsync {

api_error::api_error(std::string_view library, std::string_view error, std::string_view action,
                     source_location where)
    : std::runtime_error(
          fmt::format("{}: {} while {} ({}:{})", library, error, action, where.file_name(), where.line())) {}

int check_errno(int result, std::string_view action, source_location where) {
  if (result < 0) throw api_error("system", std::generic_category().message(errno), action, where);
  return result;
}

}  // namespace mgsync
