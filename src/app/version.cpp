#include "mgsync/version.hpp"

#include "mgsync/commit.hpp"
#include "mgsync/source_digest.hpp"

namespace mgsync {

const char* const version_with_commit = built::version_with_commit;
const char* const commit_date = built::commit_date;
const char* const source_digest = built::source_digest;

}  // namespace mgsync
