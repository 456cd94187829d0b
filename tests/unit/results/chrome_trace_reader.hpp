// Reads a trace as its viewers do and says what is wrong with it: the trace event format, and that no two
// events of one track overlap.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace mgsync {

inline std::vector<std::string> complaints_about_trace(const std::string& text) {
  const auto document = nlohmann::json::parse(text, nullptr, false);
  if (!document.is_object()) return {"no JSON object"};
  if (!document.contains("traceEvents") || !document["traceEvents"].is_array())
    return {"no array traceEvents"};
  if (document.contains("displayTimeUnit") && document["displayTimeUnit"] != "ns" &&
      document["displayTimeUnit"] != "ms")
    return {"displayTimeUnit is neither ns nor ms"};
  std::vector<std::string> found;
  std::map<std::pair<int, int>, double> ended;
  std::map<std::pair<int, int>, std::string> named;
  for (const auto& e : document["traceEvents"]) {
    const bool whole = e.is_object() && e.contains("ph") && e["ph"].is_string() && e.contains("name") &&
                       e["name"].is_string() && e.contains("pid") && e["pid"].is_number_integer() &&
                       e.contains("tid") && e["tid"].is_number_integer();
    if (!whole) {
      found.push_back("an event without ph, name, pid or tid: " + e.dump());
      continue;
    }
    const std::pair track{e["pid"].get<int>(), e["tid"].get<int>()};
    if (e["ph"] == "M") {
      if (!e.contains("args") || !e["args"].is_object()) found.push_back("metadata without args");
      else if (e["name"] == "thread_name") named[track] = e["args"].value("name", "");
      continue;
    }
    if (e["ph"] != "X") {
      found.push_back("an event of another phase than X or M");
      continue;
    }
    if (!e.contains("ts") || !e["ts"].is_number() || !e.contains("dur") || !e["dur"].is_number() ||
        e["dur"] < 0) {
      found.push_back("a complete event without ts and dur");
      continue;
    }
    const double begin = e["ts"], end = begin + e["dur"].get<double>();
    if (ended.contains(track) && begin < ended[track] - 1e-7)
      found.push_back("events of track " + std::to_string(track.second) + " overlap");
    ended[track] = end;
    if (!named.contains(track) || named[track].empty()) found.push_back("a track without a name");
  }
  if (ended.empty()) found.push_back("nothing in it");
  return found;
}

}  // namespace mgsync
