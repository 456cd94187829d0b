// Parses the names of PTX instructions, and what each does to memory.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "src/audit/code.hpp"
#include "src/models/ptx/text.hpp"

namespace mgsync::audit {

// "ld.relaxed.sys.global.u32" in its parts; a part may be "shared::cta".
class opcode {
 public:
  explicit opcode(std::string_view name) : parts_(ptx::at_dots(name)) {}
  std::string_view first() const { return parts_.front(); }
  std::string_view second() const { return parts_.size() > 1 ? parts_[1] : std::string_view(); }
  bool has(std::string_view word) const {
    return std::find(parts_.begin(), parts_.end(), word) != parts_.end();
  }
  bool begins(std::string_view word) const {
    return std::any_of(parts_.begin(), parts_.end(),
                       [&](auto p) { return p.substr(0, word.size()) == word; });
  }
  reach scope() const {
    return has("sys")                ? reach::system
           : has("gpu") || has("gl") ? reach::gpu
           : has("cluster")          ? reach::cluster
           : has("cta")              ? reach::block
                                     : reach::none;
  }

 private:
  std::vector<std::string_view> parts_;
};

// Fills in everything that the name tells: not the registers, the successors, nor whether it is a branch, a
// call or an end.
void describe_ptx(step&, const opcode&, const std::vector<std::string_view>& operands);

}  // namespace mgsync::audit
