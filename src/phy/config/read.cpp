#include "phy/config/read.h"

#include <fmt/format.h>

#include <map>
#include <tuple>

#include "config/yaml_fields.h"
#include "phy/config/fields.h"
#include "runtime/config/read.h"
#include "ue/config/fields.h"

namespace splitplane::app {
namespace {

constexpr unsigned kProgramKeys = kServed;

void read_loss(const YamlMap& map, std::string_view key, phy::BlockLoss& loss) {
  if (const auto v = map.find(key)) read_fields(v->map(block_loss_fields().names()), block_loss_fields(), loss);
}

void read_emulated_phy(const YamlValue& value, EmulatedPhyConfig& phy) {
  const YamlMap map = value.map(emulated_phy_fields().names());
  read_fields(map, emulated_phy_fields(), phy);
  read_loss(map, "downlink", phy.loss.downlink);
  read_loss(map, "uplink", phy.loss.uplink);
  if (const auto v = map.find("capture"))
    read_fields(v->map(block_capture_fields().names()), block_capture_fields(), phy.capture.emplace());
}

void read_phy_file(const YamlValue& top, PhyProgramConfig& config) {
  const YamlMap map = top.map(phy_keys());
  read_program(map, kProgramKeys, config);
  read_emulated_phy(map.required("phy"), config.phy);
  const YamlMap ue = map.required("ue").map(names_of(ue_upper_fields(), terminals_fields()));
  read_fields(ue, ue_upper_fields(), config.ue);
  read_fields(ue, terminals_fields(), config.ue);
}

// The four ends of P5 and P7 are different ones, of one address family.
std::optional<Finding> check_ends(const EmulatedPhyConfig& phy) {
  if (phy.address.is_v6() != phy.local.is_v6()) {
    return Finding{"phy.local", fmt::format("{} is of another family than the gNB's address {}; allowed: one of its "
                                            "family",
                                            phy.local.to_string(), phy.address.to_string())};
  }
  std::map<std::pair<std::string, unsigned>, std::string> taken;
  for (const auto& [key, address, port] : {std::tuple{"phy.local_p5_port", phy.local, phy.local_p5_port},
                                           {"phy.local_p7_port", phy.local, phy.local_p7_port},
                                           {"phy.p5_port", phy.address, phy.p5_port},
                                           {"phy.p7_port", phy.address, phy.p7_port}}) {
    const auto [at, free] = taken.emplace(std::pair{address.to_string(), unsigned{port}}, key);
    if (free) continue;
    return Finding{key,
                   fmt::format("{} port {} is {}, too; allowed: another port", address.to_string(), port, at->second)};
  }
  return std::nullopt;
}

std::optional<Finding> check_phy(const PhyProgramConfig& config) {
  if (auto finding = check_room(config, memory_needs(config))) return finding;
  if (auto finding = check_ends(config.phy)) return finding;
  constexpr unsigned kHeaders = 3 + 4 + 1;  // PDCP with MAC-I, SDAP: RLC segments what is behind them
  if (config.ue.tun_mtu + kHeaders > config.memory.mbuf_data_bytes) {
    return Finding{
        "ue.tun_mtu",
        fmt::format("is {}, and does not fit memory.mbuf_data_bytes = {} with {} octets of headers; allowed: "
                    "at most {}",
                    config.ue.tun_mtu, config.memory.mbuf_data_bytes, kHeaders,
                    config.memory.mbuf_data_bytes - kHeaders)};
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string_view> phy_keys() {
  return names_of(program_fields(kProgramKeys), phy_file_fields(), ue_file_fields());
}

MemoryNeeds memory_needs(const PhyProgramConfig& /*config*/) {
  return {.pools = 1, .owner = "the UEs"};
}

Expected<PhyProgramConfig> read_phy(const Document& document) {
  return make_config<PhyProgramConfig>(document, read_phy_file, check_phy);
}

}  // namespace splitplane::app
