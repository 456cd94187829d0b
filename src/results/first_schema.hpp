// Reading what earlier versions wrote: "mgsync-results/1" and "mgsync-store/1", which knew barriers only.
// Points, samples and results come out as the ones of today.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "src/results/result.hpp"

namespace mgsync::first_schema {

inline constexpr std::string_view results = "mgsync-results/1";
inline constexpr std::string_view store = "mgsync-store/1";

// All throw usage_error naming the field below `path`.
point point_from_json(const nlohmann::ordered_json& value, const std::string& path);
sample sample_from_json(const nlohmann::ordered_json& line, const std::string& path);
// Without its samples, as a store's line has it.
result result_from_json(const nlohmann::ordered_json& value, const std::string& path);
result result_with_samples(const nlohmann::ordered_json& value, const std::string& path);

}  // namespace mgsync::first_schema
