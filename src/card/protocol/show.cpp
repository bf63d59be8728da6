#include "card/protocol/show.h"

namespace splitplane::app {
namespace {

std::string text(const Json& answer, const char* key) {
  const auto at = answer.find(key);
  return at != answer.end() && at->is_string() ? at->get<std::string>() : std::string{};
}

std::optional<unsigned> place(const Json& answer, const char* key) {
  const auto at = answer.find(key);
  if (at == answer.end() || !at->is_number_unsigned()) return std::nullopt;
  return at->get<unsigned>();
}

}  // namespace

void write_show(Json& answer, const CardShow& show) {
  answer["boot"] = show.boot;
  answer["program"] = show.program;
  answer["features"] = show.features.empty() ? Json(nullptr) : Json(show.features);
  answer["lookup"] = show.lookup;
  answer["max_bearers"] = show.max_bearers;
  answer["vfs"] = show.vfs;
  if (show.punt_n3) answer["punt_n3"] = *show.punt_n3;
  if (show.punt_air) answer["punt_air"] = *show.punt_air;
}

CardShow read_show(const Json& answer) {
  CardShow show{.boot = text(answer, "boot"),
                .program = text(answer, "program"),
                .features = text(answer, "features"),
                .lookup = text(answer, "lookup"),
                .max_bearers = place(answer, "max_bearers").value_or(0),
                .vfs = {},
                .punt_n3 = place(answer, "punt_n3"),
                .punt_air = place(answer, "punt_air")};
  if (const auto vfs = answer.find("vfs"); vfs != answer.end() && vfs->is_array()) {
    for (const Json& name : *vfs) show.vfs.push_back(name.is_string() ? name.get<std::string>() : std::string{});
  }
  return show;
}

std::optional<std::uint64_t> punts_shown(const Json& answer) {
  const auto punts = answer.find("punts");
  if (punts == answer.end() || !punts->is_object()) return std::nullopt;
  std::uint64_t sum = 0;
  for (const auto& [reason, packets] : punts->items())
    sum += packets.is_number_unsigned() ? packets.get<std::uint64_t>() : 0;
  return sum;
}

}  // namespace splitplane::app
