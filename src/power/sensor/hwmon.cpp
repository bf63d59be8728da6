#include "power/sensor/hwmon.h"

#include <fmt/format.h>

#include <set>

#include "base/text.h"
#include "power/sensor/read_value.h"

namespace splitplane::sensor {
namespace {

std::string name_of_chip(const std::string& chip) {
  for (const char* file : {"name", "device/name"}) {
    if (const auto name = read_text(fmt::format("{}/{}", chip, file))) return *name;
  }
  return "";
}

bool is_numbered(std::string_view file, std::string_view kind, std::string_view what) {
  if (!file.starts_with(kind) || !file.ends_with(what)) return false;
  file.remove_prefix(kind.size());
  const std::size_t digits = file.find_first_not_of("0123456789");
  return digits != 0 && digits != std::string_view::npos && file.substr(digits) == fmt::format("_{}", what);
}

}  // namespace

std::vector<std::string> hwmon_files(const std::string& root, std::string_view chip, std::string_view kind,
                                     std::string_view what) {
  std::vector<std::string> files;
  const std::string all = root + "/class/hwmon";
  for (const std::string& entry : entries_of(all)) {
    const std::string directory = fmt::format("{}/{}", all, entry);
    if (name_of_chip(directory) != chip) continue;
    for (const char* where : {"", "/device"}) {
      const std::size_t before = files.size();
      for (const std::string& file : entries_of(directory + where)) {
        if (is_numbered(file, kind, what)) files.push_back(fmt::format("{}{}/{}", directory, where, file));
      }
      if (files.size() != before) break;
    }
  }
  return files;
}

std::string hwmon_chips(const std::string& root) {
  std::set<std::string> names;
  const std::string all = root + "/class/hwmon";
  for (const std::string& entry : entries_of(all))
    names.insert(app::printable(name_of_chip(fmt::format("{}/{}", all, entry)), 32));
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace splitplane::sensor
