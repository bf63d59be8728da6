#include "cli/command/answer.h"

namespace splitplane::app {

const Json& nothing() {
  static const Json empty = Json::object();
  return empty;
}

const Json& member(const Json& object, const std::string& key) {
  if (!object.is_object()) return nothing();
  const auto at = object.find(key);
  return at == object.end() ? nothing() : *at;
}

std::uint64_t number(const Json& object, const std::string& key) {
  const Json& value = member(object, key);
  return value.is_number_unsigned() ? value.get<std::uint64_t>() : 0;
}

}  // namespace splitplane::app
