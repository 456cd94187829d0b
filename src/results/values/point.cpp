#include "src/results/values/point.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/json_fields.hpp"
#include "src/base/units.hpp"
#include "src/results/values/checksum.hpp"

namespace mgsync {

const axis* point::find(std::string_view name) const {
  const auto found =
      std::find_if(axes.begin(), axes.end(), [name](const axis& one) { return one.name == name; });
  return found == axes.end() ? nullptr : &*found;
}

std::optional<double> point::number(std::string_view name) const {
  const axis* found = find(name);
  const double* value = found != nullptr ? std::get_if<double>(&found->value) : nullptr;
  return value != nullptr ? std::optional<double>(*value) : std::nullopt;
}

std::string point::word(std::string_view name, std::string_view otherwise) const {
  const axis* found = find(name);
  const std::string* value = found != nullptr ? std::get_if<std::string>(&found->value) : nullptr;
  return value != nullptr ? *value : std::string(otherwise);
}

void point::set(std::string_view name, std::variant<double, std::string> value, std::string_view unit) {
  axis one{std::string(name), std::move(value), std::string(unit)};
  const auto found =
      std::find_if(axes.begin(), axes.end(), [name](const axis& known) { return known.name == name; });
  if (found == axes.end()) axes.push_back(std::move(one));
  else *found = std::move(one);
}

void point::remove(std::string_view name) {
  std::erase_if(axes, [name](const axis& one) { return one.name == name; });
}

std::string canonical_text(const point& one) {
  const nlohmann::json sorted = to_json(one);
  return sorted.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string short_key(const point& one) { return hex(fnv1a_64(canonical_text(one))); }

bool operator==(const point& a, const point& b) {
  const auto plain = [](const point& p) {
    return std::tie(p.study, p.subject, p.variant, p.device, p.members, p.ranks, p.group, p.node,
                    p.placement);
  };
  return plain(a) == plain(b) && a.axes.size() == b.axes.size() &&
         std::all_of(a.axes.begin(), a.axes.end(), [&b](const axis& one) {
           const axis* other = b.find(one.name);
           return other != nullptr && *other == one;
         });
}

std::string subject_of(const point& one) {
  return one.variant.empty() ? one.subject : fmt::format("{}:{}", one.subject, one.variant);
}

std::string count_of_members(const point& one) {
  return counted(one.members, one.device == topology::device::gpu ? "GPU" : "host member");
}

std::string name_of(const point& one) {
  const std::string study = one.study == point{}.study ? "" : one.study + "/";
  std::string text = fmt::format("{}{} on {} {{{}}}", study, subject_of(one), count_of_members(one),
                                 fmt::join(one.group, ","));
  if (one.ranks > 1) text += fmt::format(" in {} ranks", one.ranks);
  if (!one.node.empty()) text += " on " + one.node;
  if (const auto shape = format_shape(one); !shape.empty()) text += ", shape " + shape;
  if (one.placement != point{}.placement) text += ", placement " + one.placement;
  for (const auto& each : one.axes)
    if (!is_of_shape(each.name) && !is_ordinary(each)) text += ", " + describe(each);
  return text;
}

bool is_of_shape(std::string_view name) {
  return name == axes::blocks_per_sm || name == axes::blocks || name == axes::threads_per_block;
}

std::optional<member_shape> shape_of(const point& one) {
  const auto blocks = one.number(axes::blocks), per_sm = one.number(axes::blocks_per_sm),
             threads = one.number(axes::threads_per_block);
  if (!blocks && !per_sm && !threads) return std::nullopt;
  return member_shape{blocks ? *blocks : per_sm.value_or(1), blocks.has_value(), threads};
}

std::string to_string(const member_shape& one) {
  if (!one.in_all && !one.threads) return fmt::format("{}", one.blocks);
  return fmt::format("{}{}x{}", one.in_all ? "b" : "", one.blocks, one.threads.value_or(1));
}

std::string format_shape(const point& one) {
  const auto shape = shape_of(one);
  return shape ? to_string(*shape) : "";
}

std::string text_of(const axis& one) {
  if (const double* number = std::get_if<double>(&one.value)) return fmt::format("{}", *number);
  return std::get<std::string>(one.value);
}

std::string describe(const axis& one) {
  const std::string value = text_of(one);
  if (one.name == axes::peer_memory_asked)
    return "memory shared by " + (value == "ipc" ? "CUDA IPC" : value == "vmm" ? "CUDA VMM" : value);
  if (value == "yes") return one.name;
  if (value == "no") return "not " + one.name;
  return fmt::format("{} {}{}{}", one.name, value, one.unit.empty() ? "" : " ", one.unit);
}

bool is_ordinary(const axis& one) {
  const std::string* word = std::get_if<std::string>(&one.value);
  return word != nullptr && (*word == "idle" || *word == "none");
}

}  // namespace mgsync
