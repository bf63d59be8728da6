#include "ue/config/fields.h"

#include <array>
#include <utility>

#include "runtime/config/loop_fields.h"

namespace splitplane::app {
namespace {

constexpr std::uint64_t kMaxCapacity = 1 << 20;
constexpr std::string_view kImpairmentsSchema = R"({"$ref": "#/$defs/impairments"})";

// clang-format off
constexpr std::array<fields::Field, 1> kFileRows{
    fields::by_hand<UeConfig>("ue", R"({"type": "object"})", {
        .help = "The UE side of `splitplane ue`; with `phy`, the UEs behind that air"}),
};
constexpr std::array<fields::Field, 5> kUpperRows{
    fields::socket<&UeUpperConfig::gnb_control>("gnb_control", {
        .help = "Control socket of the gNB, from which the UE side learns the bearers", .required = true}),
    fields::directory<&UeUpperConfig::key_file>("key_file", {
        .help = "File with the keys of secured bearers, as the gNB has it", .special = "absent: there are none",
        .more = "See [security.md](security.md)."}),
    fields::name<&UeUpperConfig::tun>("tun", 15, {.help = "TUN device that the UE side makes"}),
    fields::integer<&UeUpperConfig::tun_mtu>("tun_mtu", 576, 9000, {
        .help = "MTU of that device",
        .more = "In header mode a packet with 19 octets of headers must fit the port's MTU."}),
    fields::flag<&UeUpperConfig::default_route>("default_route", {
        .help = "Put the IPv4 and IPv6 default routes through that device"}),
};
constexpr std::array<fields::Field, 5> kUeRows{
    fields::text<&UeConfig::port>("port", "the name of a port", {
        .help = "Port towards the air", .more = "It is the only one of the file.", .required = true}),
    fields::mac<&UeConfig::peer_mac>("peer_mac", {.help = "Destination of uplink frames"}),
    fields::integer<&UeConfig::core>("core", 0, kMaxCore, {.help = "CPU that the loop runs on"}),
    policy_row<UeConfig>(),
    fields::by_hand<UeConfig>("air", R"({"$ref": "#/$defs/ue_air"})", {
        .help = "What the air does to frames between the port and the UE side", .special = "absent: nothing",
        .more = "See [air.md](air.md)."}),
};
constexpr std::array<fields::Field, 4> kAirRows{
    fields::integer<&UeAirConfig::seed>("seed", 0, ~std::uint64_t{0}, {
        .help = "Seed of the decisions", .more = "The same seed and frames give the same losses."}),
    fields::integer<&UeAirConfig::capacity>("capacity", 1, kMaxCapacity, {
        .help = "Frames held at most in each direction; more are lost", .more = "At most a third of `memory.mbufs`."}),
    fields::by_hand<UeAirConfig>("downlink", kImpairmentsSchema, {.help = "What happens to frames from the gNB"}),
    fields::by_hand<UeAirConfig>("uplink", kImpairmentsSchema, {.help = "What happens to frames to the gNB"}),
};
// clang-format on

template <std::size_t... I>
constexpr auto impairment_rows(std::index_sequence<I...>) {
  return std::array<fields::Field, sizeof...(I)>{
      fields::number<phy::kImpairments[I].field>(phy::kImpairments[I].name, phy::kImpairments[I].min,
                                                 phy::kImpairments[I].max, {.help = phy::kImpairments[I].help})...};
}
constexpr auto kImpairmentRows = impairment_rows(std::make_index_sequence<phy::kImpairments.size()>{});

constexpr fields::Fields<UeConfig> kFileFields(kFileRows);
constexpr fields::Fields<UeUpperConfig> kUpperFields(kUpperRows);
constexpr fields::Fields<UeConfig> kUeFields(kUeRows);
constexpr fields::Fields<UeAirConfig> kAirFields(kAirRows);
constexpr fields::Fields<phy::Impairments> kImpairmentFields(kImpairmentRows);

}  // namespace

fields::Fields<UeConfig> ue_file_fields() {
  return kFileFields;
}
fields::Fields<UeConfig> ue_fields() {
  return kUeFields;
}
fields::Fields<UeUpperConfig> ue_upper_fields() {
  return kUpperFields;
}
fields::Fields<UeAirConfig> ue_air_fields() {
  return kAirFields;
}
fields::Fields<phy::Impairments> impairment_fields() {
  return kImpairmentFields;
}

std::vector<fields::Section> ue_sections() {
  return {{"file", fields::keys_of(kFileFields)},
          {"ue", fields::keys_of(kUpperFields) + fields::keys_of(kUeFields)},
          {"ue_air", fields::keys_of(kAirFields)},
          {"impairments", fields::keys_of(kImpairmentFields)}};
}

}  // namespace splitplane::app
