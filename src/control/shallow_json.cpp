#include "control/shallow_json.h"

namespace splitplane {

nlohmann::json parse_shallow_json(std::string_view text, int most) {
  using Json = nlohmann::json;
  bool deep = false;
  const auto keep = [&](int depth, Json::parse_event_t event, const Json&) {
    const bool begins = event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
    deep = deep || (begins && depth >= most);
    return !deep;
  };
  Json value = Json::parse(text, keep, false);
  return deep ? Json(Json::value_t::discarded) : value;
}

}  // namespace splitplane
