#include "src/base/errors.hpp"

#include <cerrno>
#include <system_error>

#include "src/base/filled.hpp"

namespace mgsync { inline namespace v1 {

api_error::api_error(std::string_view library, std::string_view failure, std::string_view action,
                     source_location where, int code)
    : mgsync::error(
          filled("{}: {} while {} ({}:{})", library, failure, action, where.file_name(), where.line())),
      code_(code) {}

int check_errno(int result, std::string_view action, source_location where) {
  if (result < 0) throw api_error("system", std::generic_category().message(errno), action, where, errno);
  return result;
}

}}  // namespace mgsync::v1
