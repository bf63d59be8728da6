// The objects of the control protocol as JSON, with the same key names as the configuration file.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "app/config.h"
#include "app/control_backend.h"
#include "base/expected.h"

namespace splitplane::app {

using Json = nlohmann::json;

[[nodiscard]] Json to_json(const ran::BearerConfig& bearer);
[[nodiscard]] Json to_json(const BearerView& view);
[[nodiscard]] Expected<ran::BearerConfig> bearer_from_json(const Json& json);

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
  const Json* list(std::string_view key, std::size_t max);  // of at most so many items; null if absent
  void require(std::string_view key);
  void refuse(std::string_view key, const std::string& text);
  // Call last: refuses members that nobody asked for. The sentence, or nothing if all was well.
  [[nodiscard]] std::optional<std::string> fault();

 private:
  const Json* find(std::string_view key);
  const Json* json_;
  std::vector<std::string_view> known_;
  std::optional<std::string> fault_;
};

// The members of a bearer: upf, ul_teid, qfi, rlc, pdcp_sn, sdap, poll_pdu, require_psc, n3_reorder, dl_teid, on,
// ue_ipv4, ue_ipv6 and id.
[[nodiscard]] ran::BearerConfig read_bearer(Params& params);
[[nodiscard]] BearerPatch read_patch(Params& params);

}  // namespace splitplane::app
