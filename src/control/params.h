// Reads the members of a request of the control protocol.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"
#include "base/ip_address.h"
#include "base/types.h"

namespace splitplane::app {

using Json = nlohmann::json;

// Reads the members of a request's params; the first fault is kept and ends in one sentence.
class Params {
 public:
  explicit Params(const Json& json);
  // Each returns nothing if the key is absent, or after a fault.
  std::optional<std::uint64_t> integer(std::string_view key, std::uint64_t min, std::uint64_t max);
  std::optional<double> number(std::string_view key, double min, double max);
  std::optional<bool> boolean(std::string_view key);
  std::optional<std::string> text(std::string_view key);
  std::optional<IpAddress> address(std::string_view key);
  std::optional<MacAddress> mac(std::string_view key);
  std::optional<Params> object(std::string_view key);
  const Json* list(std::string_view key, std::size_t max);  // of at most `max` items; null if absent
  void require(std::string_view key);
  void refuse(std::string_view key, const std::string& text);
  // Call last: refuses members that no call before asked for. The sentence, or nothing if all was well.
  [[nodiscard]] std::optional<std::string> fault();

 private:
  const Json* find(std::string_view key);
  const Json* json_;
  std::vector<std::string_view> known_;
  std::optional<std::string> fault_;
};

}  // namespace splitplane::app
