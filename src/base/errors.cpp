#include "src/base/errors.hpp"

#include <cerrno>
#include <system_error>

#include "src/base/filled.hpp"

namespace mgsync { inline namespace v1 {

api_error::api_error(std::string_view library, std::string_view error, std::string_view action,
                     source_location where)
    : std::runtime_error(
          filled("{}: {} while {} ({}:{})", library, error, action, where.file_name(), where.line())) {}

int check_errno(int result, std::string_view action, source_location where) {
  if (result < 0) throw api_error("system", std::generic_category().message(errno), action, where);
  return result;
}

}}  // namespace mgsync::v1
