#include "ran/bearer_config.h"

#include <fmt/format.h>

#include <array>

namespace splitplane::ran {
namespace {

struct RlcForm {
  RlcMode mode;
  std::uint8_t sn_bits;
};
constexpr std::array<RlcForm, kRlcNames.size()> kRlcForms{
    {{RlcMode::kAm, 18}, {RlcMode::kAm, 12}, {RlcMode::kUm, 12}, {RlcMode::kUm, 6}, {RlcMode::kTm, 0}}};

// A bearer's marks need a delay to know, and a STATUS that comes often enough to tell it.
std::optional<std::string> refuse_ecn(const BearerConfig& config) {
  if (!config.ecn) return std::nullopt;
  if (config.rlc_mode != RlcMode::kAm) {
    return fmt::format("ecn: rlc {} does not say what waits below PDCP; allowed: am18, am12",
                       rlc_name(config.rlc_mode, config.rlc_sn_bits));
  }
  if (!config.card.empty()) {
    return "ecn: a card marks no packets; allowed: without card, so that the host serves the bearer";
  }
  const std::uint32_t lowest = config.arq.t_status_prohibit_ms * 1000U;
  if (config.ecn->target_us < lowest) {
    return fmt::format(
        "ecn.target_us: is {}, and a STATUS may come am.t_status_prohibit_ms = {} late; allowed: at least {}, or a "
        "shorter t_status_prohibit_ms",
        config.ecn->target_us, config.arq.t_status_prohibit_ms, lowest);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> refuse(const BearerConfig& config) {
  if (rlc_name(config.rlc_mode, config.rlc_sn_bits).empty()) return "rlc: allowed are am18, am12, um12, um6, tm";
  if (config.pdcp_sn_bits != 12 && config.pdcp_sn_bits != 18) return "pdcp_sn_bits: allowed are 12 and 18";
  if (config.qfi.value > 63) return "qfi: allowed is 0 to 63";
  if (config.ue_ipv4 && config.ue_ipv4->is_v6()) return "ue_ipv4: allowed is an IPv4 address";
  if (config.ue_ipv6 && !config.ue_ipv6->is_v6()) return "ue_ipv6: allowed is an IPv6 address";
  if (auto refused = refuse_ecn(config)) return refused;
  if (!config.security) return std::nullopt;
  if (config.security->key == 0)
    return "security.key: must be there; allowed: 1 to 4294967295, a number in the key file";
  if (config.rlc_mode == RlcMode::kTm) return "security: a bearer with rlc tm has none; allowed: am18, am12, um12, um6";
  if (!config.card.empty()) {
    return "security: a card neither ciphers nor reorders; allowed: without card, so that the host serves the bearer";
  }
  return std::nullopt;
}

std::string rlc_name(RlcMode mode, std::uint8_t sn_bits) {
  for (std::size_t i = 0; i < kRlcForms.size(); ++i) {
    if (kRlcForms[i].mode == mode && kRlcForms[i].sn_bits == sn_bits) return std::string(kRlcNames[i]);
  }
  return {};
}

bool parse_rlc_name(const std::string& name, RlcMode& mode, std::uint8_t& sn_bits) {
  for (std::size_t i = 0; i < kRlcForms.size(); ++i) {
    if (name != kRlcNames[i]) continue;
    mode = kRlcForms[i].mode;
    sn_bits = kRlcForms[i].sn_bits;
    return true;
  }
  return false;
}

}  // namespace splitplane::ran
