// Points, samples and results as JSON: shared by the document and the store.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "src/results/result.hpp"

namespace mgsync {

// All members of the point, absent ones as null.
nlohmann::ordered_json to_json(const point&);
// The point as JSON with sorted keys and without blanks: equal for equal points only. The resume key.
std::string canonical_key(const point&);
// Sixteen hexadecimal digits of canonical_key.
std::string short_key(const point&);

// The result without its samples (their number is in it). Numbers that were not measured are null, as are those that
// are not finite, which a note then names.
nlohmann::ordered_json to_json(const result&);

// Both throw usage_error naming the field below `path` that is missing, unknown, of the wrong type or out of range.
// Members that belong to the document only ("raw_us", "raw") are passed over by result_from_json.
point point_from_json(const nlohmann::ordered_json& value, const std::string& path);
result result_from_json(const nlohmann::ordered_json& value, const std::string& path);

}  // namespace mgsync
