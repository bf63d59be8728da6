// Reads the keys of a section into a struct, by the struct's rows.
#pragma once

#include "config/yaml/yaml_value.h"
#include "fields/field.h"

namespace splitplane::app {

namespace detail {

void read_rows(const YamlMap& map, const fields::Rows& rows, void* into);

}  // namespace detail

// Overwrites what the file names. Throws Refusal.
template <class T>
void read_fields(const YamlMap& map, const fields::Fields<T>& rows, T& into) {
  detail::read_rows(map, rows, &into);
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
