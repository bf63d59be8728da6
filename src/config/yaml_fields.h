// Reads the keys of a section into a struct, by the struct's rows.
#pragma once

#include <type_traits>
#include <vector>

#include "config/yaml/yaml_value.h"
#include "fields/field.h"

namespace splitplane::app {

namespace detail {

void read_rows(const YamlMap& map, const fields::Rows& rows, void* into);

}  // namespace detail

// Overwrites what the file names. `into` may be of a type that is made from T. Throws Refusal.
template <class T>
void read_fields(const YamlMap& map, const fields::Fields<T>& rows, std::type_identity_t<T>& into) {
  detail::read_rows(map, rows, &into);
}
// A list of maps.
template <class T>
[[nodiscard]] std::vector<T> read_list(const YamlValue& value, const fields::Fields<T>& rows) {
  std::vector<T> list;
  for (const auto& entry : value.list()) read_fields(entry.map(rows.names()), rows, list.emplace_back());
  return list;
}

// The names of several tables' keys, for YamlValue::map().
template <class... T>
std::vector<std::string_view> names_of(const fields::Fields<T>&... rows) {
  std::vector<std::string_view> all;
  const auto add = [&all](const std::vector<std::string_view>& names) {
    for (const auto name : names) all.push_back(name);
  };
  (add(rows.names()), ...);
  return all;
}

}  // namespace splitplane::app
