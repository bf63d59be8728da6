// Rows for readers outside the program: properties of config/schema.json, and a table of keys in Markdown.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "fields/field.h"

namespace splitplane::fields {

// A row and the value that the key has if it is absent.
struct Key {
  const Field* field;
  bool required;
  Value usual;
  std::vector<Key> members;
};
using Keys = std::vector<Key>;

namespace detail {

// `fresh` is a struct of the rows' type as it is made; groups become there in it.
[[nodiscard]] Keys keys_of(const Rows& rows, void* fresh);

}  // namespace detail

template <class T>
[[nodiscard]] Keys keys_of(const Fields<T>& rows) {
  T fresh{};
  return detail::keys_of(rows, &fresh);
}
[[nodiscard]] Keys operator+(Keys first, const Keys& second);

// The keys of one kind of object: an entry of $defs in config/schema.json, a table of docs/reference/configuration.md.
struct Section {
  std::string name;
  Keys keys;
  std::string_view refused;  // a key that is known here only to be refused with a reason: no line of the table
};

// The members `required`, if there are some, and `properties` of the section's JSON schema.
[[nodiscard]] nlohmann::ordered_json schema_of(const Section& section);

// | key | default | meaning |, a line for each key; those of a group follow it as `group.key`.
[[nodiscard]] std::string table_of(const Section& section);

}  // namespace splitplane::fields
