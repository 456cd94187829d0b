// Points, samples and results as JSON: one form of each, shared by the document and the store.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "src/results/result.hpp"

namespace mgsync {

nlohmann::ordered_json to_json(const point&);
// The values of a sample, by name; its batch stands beside them.
nlohmann::ordered_json to_json(const sample&);
// What makes a metric, without its numbers: unit and direction.
nlohmann::ordered_json to_json(const metric_name&);
// The result without its samples. Numbers that are not finite are null, and a note
// names them.
nlohmann::ordered_json to_json(const result&);

// All throw usage_error naming the field below `path` that is missing, of the wrong type or out of range.
point point_from_json(const nlohmann::ordered_json& value, const std::string& path);
sample sample_from_json(std::uint32_t batch, const nlohmann::ordered_json& values, const std::string& path);
metric_name metric_name_from_json(const std::string& name, const nlohmann::ordered_json& value,
                                  const std::string& path);
result result_from_json(const nlohmann::ordered_json& value, const std::string& path);

// The result with its samples, a column for each of their names and one for the batches. Both throw as above.
nlohmann::ordered_json with_samples(const result&);
result result_with_samples(const nlohmann::ordered_json& value, const std::string& path);

}  // namespace mgsync
