#include "phy/config/fields.h"

#include <array>
#include <utility>

#include "ue/config/fields.h"

namespace splitplane::app {
namespace {

constexpr std::string_view kLossSchema = R"({"$ref": "#/$defs/block_loss"})";
constexpr std::size_t kMostPath = 4000;
constexpr unsigned kMostTunUes = 512;  // the kernel answers for 1024 addresses of a TUN device, two of a UE

// clang-format off
constexpr std::array<fields::Field, 1> kPhyFileRows{
    fields::by_hand<PhyProgramConfig>("phy", R"({"$ref": "#/$defs/emulated_phy"})", {
        .help = "The PHY and the air of `splitplane phy`"}),
};
constexpr std::array<fields::Field, 14> kEmulatedPhyRows{
    fields::ip<&EmulatedPhyConfig::local>("local", {.help = "Our address towards the gNB"}),
    fields::integer<&EmulatedPhyConfig::local_p5_port>("local_p5_port", 1, 65535, {.help = "Our UDP port for P5"}),
    fields::integer<&EmulatedPhyConfig::local_p7_port>("local_p7_port", 1, 65535, {.help = "Our UDP port for P7"}),
    fields::ip<&EmulatedPhyConfig::address>("address", {
        .help = "Address of the gNB, of the same family", .more = "The kernel drops what comes from elsewhere."}),
    fields::integer<&EmulatedPhyConfig::p5_port>("p5_port", 1, 65535, {.help = "Its UDP port for P5"}),
    fields::integer<&EmulatedPhyConfig::p7_port>("p7_port", 1, 65535, {.help = "Its UDP port for P7"}),
    fields::integer<&EmulatedPhyConfig::phy_id>("phy_id", 0, 65535, {
        .help = "PHY ID in the header of each nFAPI message, as the gNB has it"}),
    fields::integer<&EmulatedPhyConfig::max_datagram>("max_datagram", 256, 65507, {
        .help = "Longest UDP datagram of P7: the MTU less 28 octets for IPv4, 48 for IPv6"}),
    fields::integer<&EmulatedPhyConfig::core>("core", 0, kMaxCore, {.help = "CPU that the loop runs on"}),
    fields::integer<&EmulatedPhyConfig::seed>("seed", 0, ~std::uint64_t{0}, {
        .help = "Seed of what the air loses", .more = "The same seed and blocks give the same losses."}),
    fields::by_hand<EmulatedPhyConfig>("downlink", kLossSchema, {.help = "What the air does to the gNB's transport blocks"}),
    fields::by_hand<EmulatedPhyConfig>("uplink", kLossSchema, {.help = "What the air does to the UEs' transport blocks"}),
    fields::number<&EmulatedPhyConfig::loss, &phy::AirLoss::dci_loss_percent>(phy::kDciLossName, 0, 100, {
        .help = phy::kDciLossHelp}),
    fields::by_hand<EmulatedPhyConfig>("capture", R"({"$ref": "#/$defs/block_capture"})", {
        .help = "Transport blocks into a pcapng file", .special = "absent: none"}),
};
constexpr std::array<fields::Field, 4> kBlockCaptureRows{
    fields::with_most_octets(fields::text<&BlockCaptureConfig::file>("file", "the path of a file", {
        .help = "pcapng file; a relative path begins where `splitplane phy` was started", .required = true}), kMostPath),
    fields::flag<&BlockCaptureConfig::lost>("lost", {.help = "Also blocks with a wrong CRC"}),
    fields::integer<&BlockCaptureConfig::max_mb>("max_mb", 1, 1U << 20, {
        .help = "MiB to which a file grows", .special = "absent: no limit"}),
    fields::integer<&BlockCaptureConfig::files>("files", 1, 1000, {
        .help = "How many files are kept, the newest", .special = "1: the capture ends at max_mb"}),
};
constexpr std::array<fields::Field, 2> kTerminalsRows{
    fields::integer<&TerminalsConfig::gnb_worker>("gnb_worker", 0, 255, {
        .help = "Only UEs of this worker of the gNB, by number as in `bearer.show`", .special = "absent: all UEs",
        .more = "Each worker in full mode has a PHY of its own."}),
    fields::integer<&TerminalsConfig::tun_ues>("tun_ues", 0, kMostTunUes, {
        .help = "How many UEs have their addresses at the TUN device, the first ones",
        .more = "What other UEs receive is counted (`sunk`) and freed."}),
};
// clang-format on

template <std::size_t... I>
constexpr auto block_loss_rows(std::index_sequence<I...>) {
  return std::array<fields::Field, sizeof...(I)>{
      fields::number<phy::kBlockLosses[I].field>(phy::kBlockLosses[I].name, phy::kBlockLosses[I].min,
                                                 phy::kBlockLosses[I].max, {.help = phy::kBlockLosses[I].help})...};
}
constexpr auto kBlockLossRows = block_loss_rows(std::make_index_sequence<phy::kBlockLosses.size()>{});

constexpr fields::Fields<PhyProgramConfig> kPhyFileFields(kPhyFileRows);
constexpr fields::Fields<EmulatedPhyConfig> kEmulatedPhyFields(kEmulatedPhyRows);
constexpr fields::Fields<phy::BlockLoss> kBlockLossFields(kBlockLossRows);
constexpr fields::Fields<BlockCaptureConfig> kBlockCaptureFields(kBlockCaptureRows);
constexpr fields::Fields<TerminalsConfig> kTerminalsFields(kTerminalsRows);

}  // namespace

fields::Fields<PhyProgramConfig> phy_file_fields() {
  return kPhyFileFields;
}
fields::Fields<EmulatedPhyConfig> emulated_phy_fields() {
  return kEmulatedPhyFields;
}
fields::Fields<phy::BlockLoss> block_loss_fields() {
  return kBlockLossFields;
}
fields::Fields<BlockCaptureConfig> block_capture_fields() {
  return kBlockCaptureFields;
}
fields::Fields<TerminalsConfig> terminals_fields() {
  return kTerminalsFields;
}

std::vector<fields::Section> phy_sections() {
  return {{"file", fields::keys_of(kPhyFileFields)},
          {"emulated_phy", fields::keys_of(kEmulatedPhyFields)},
          {"block_loss", fields::keys_of(kBlockLossFields)},
          {"block_capture", fields::keys_of(kBlockCaptureFields)},
          {"terminals", fields::keys_of(ue_upper_fields()) + fields::keys_of(kTerminalsFields)}};
}

}  // namespace splitplane::app
