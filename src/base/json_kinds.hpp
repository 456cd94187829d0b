// Which way a type takes to JSON and back: what the writer and the reader of fields ask of it.
#pragma once

#include <chrono>
#include <set>
#include <vector>

namespace mgsync { namespace json_fields {

template <class Type, template <class...> class Template>
inline constexpr bool is_a = false;
template <class... Parts, template <class...> class Template>
inline constexpr bool is_a<Template<Parts...>, Template> = true;
template <class Type>
inline constexpr bool is_duration = false;
template <class Rep, class Period>
inline constexpr bool is_duration<std::chrono::duration<Rep, Period>> = true;
template <class Type>
concept listed = is_a<Type, std::vector> || is_a<Type, std::set>;
template <class Type>
concept with_a_bare_value = requires(Type& thing) {
  bare(thing);
};

}}  // namespace mgsync::json_fields
