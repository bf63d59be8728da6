// The value of a key as JSON, for the control protocol and for the schema, whose objects keep their order.
#pragma once

#include <type_traits>
#include <variant>

#include "fields/field.h"

namespace splitplane::fields {

template <class Json>
[[nodiscard]] Json json_of(const Value& value) {
  return std::visit(
      [](const auto& v) -> Json {
        using V = std::remove_cvref_t<decltype(v)>;
        if constexpr (std::is_same_v<V, std::monostate>) {
          return nullptr;
        } else if constexpr (std::is_same_v<V, IpAddress> || std::is_same_v<V, MacAddress>) {
          return v.to_string();
        } else {
          return v;
        }
      },
      value);
}

}  // namespace splitplane::fields
