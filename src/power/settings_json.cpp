#include "power/settings_json.h"

#include <cmath>

#include "power/settings_table.h"

namespace splitplane::app {

nlohmann::json to_json(const power::Settings& settings) {
  nlohmann::json json{{"kind", power::kKindNames[static_cast<std::size_t>(settings.kind)]}};
  for (const auto& row : power::settings_of(settings.kind)) {
    const double value = row.get(settings);
    json[std::string(row.name)] = row.whole ? nlohmann::json(static_cast<std::uint64_t>(value)) : nlohmann::json(value);
  }
  return json;
}

}  // namespace splitplane::app
