#include "control/params.h"

#include <algorithm>

#include "base/text.h"

namespace splitplane::app {
namespace {

const Json kEmptyObject = Json::object();

}  // namespace

Params::Params(const Json& json) : json_(&json) {
  if (json.is_null()) json_ = &kEmptyObject;
  if (!json_->is_object()) {
    fault_ = "params: allowed is an object";
    json_ = &kEmptyObject;
  }
}

const Json* Params::find(std::string_view key) {
  known_.push_back(key);
  const auto at = json_->find(key);
  return at == json_->end() || fault_ ? nullptr : &*at;
}

void Params::refuse(std::string_view key, const std::string& text) {
  if (!fault_) fault_ = fmt::format("{}: {}", key, text);
}

std::optional<std::uint64_t> Params::integer(std::string_view key, std::uint64_t min, std::uint64_t max) {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number_unsigned() || value->get<std::uint64_t>() < min || value->get<std::uint64_t>() > max) {
    refuse(key, fmt::format("allowed is an integer from {} to {}", min, max));
    return std::nullopt;
  }
  return value->get<std::uint64_t>();
}

std::optional<double> Params::number(std::string_view key, double min, double max) {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_number() && value->get<double>() >= min && value->get<double>() <= max) return value->get<double>();
  refuse(key, fmt::format("allowed is a number from {} to {}", min, max));
  return std::nullopt;
}

std::optional<bool> Params::boolean(std::string_view key) {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_boolean()) return value->get<bool>();
  refuse(key, "allowed is true or false");
  return std::nullopt;
}

std::optional<std::string> Params::text(std::string_view key) {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) return value->get<std::string>();
  refuse(key, "allowed is a text");
  return std::nullopt;
}

std::optional<IpAddress> Params::address(std::string_view key) {
  const auto value = text(key);
  if (!value) return std::nullopt;
  const auto parsed = IpAddress::parse(*value);
  if (parsed && value->find('\0') == std::string::npos) return *parsed;
  refuse(key, fmt::format("'{}' is no IP address; allowed are forms such as 10.0.0.1 or fd00::1", printable(*value)));
  return std::nullopt;
}

std::optional<MacAddress> Params::mac(std::string_view key) {
  const auto value = text(key);
  if (!value) return std::nullopt;
  if (const auto parsed = MacAddress::parse(*value)) return *parsed;
  refuse(key, fmt::format("'{}' is no MAC address; allowed is a form such as 02:00:00:00:00:01", printable(*value)));
  return std::nullopt;
}

const Json* Params::list(std::string_view key, std::size_t max) {
  const Json* value = find(key);
  if (value == nullptr || (value->is_array() && value->size() <= max)) return value;
  refuse(key, fmt::format("allowed is a list of at most {} items", max));
  return nullptr;
}

std::optional<Params> Params::object(std::string_view key) {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_object()) return Params(*value);
  refuse(key, "allowed is an object");
  return std::nullopt;
}

void Params::require(std::string_view key) {
  if (!json_->contains(key)) refuse(key, "is missing");
}

std::optional<std::string> Params::fault() {
  if (fault_) return fault_;
  for (const auto& [key, value] : json_->items()) {
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    const auto near = closest(key, known_);
    return fmt::format("{}: unknown{}; allowed: {}", printable(key),
                       near ? fmt::format(", did you mean '{}'?", *near) : "",
                       known_.empty() ? "nothing" : comma_list(known_));
  }
  return std::nullopt;
}

}  // namespace splitplane::app
