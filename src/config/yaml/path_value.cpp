#include "config/yaml/path_value.h"

#include <fmt/format.h>

#include "base/text.h"

namespace splitplane::app {
namespace {

constexpr std::size_t kMaxControlPath = 107;  // sockaddr_un::sun_path less its NUL

}  // namespace

std::string read_path(const YamlValue& value) {
  const std::string allowed = fmt::format("a path of 1 to {} octets", kMaxControlPath);
  std::string path = value.text(allowed);
  if (path.empty() || path.size() > kMaxControlPath) value.refuse(fmt::format("has {} octets", path.size()), allowed);
  return path;
}

std::string read_directory(const YamlValue& value) {
  const std::string allowed = "the path of a directory from / on, of at most 200 octets";
  std::string path = value.text(allowed);
  if (!path.starts_with('/') || path.size() > 200)
    value.refuse(fmt::format("'{}' is no such path", printable(path)), allowed);
  return path;
}

}  // namespace splitplane::app
