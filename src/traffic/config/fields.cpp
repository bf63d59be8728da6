#include "traffic/config/fields.h"

#include <array>

#include "ran/bearer_fields.h"
#include "ran/bearer_table.h"

namespace splitplane::app {
namespace {

constexpr std::array<std::string_view, 2> kDirections{"uplink", "downlink"};
constexpr std::array<std::string_view, 2> kOrders{"in_turn", "random"};
constexpr std::array<std::string_view, 2> kRefusals{"retry", "give_up"};
constexpr std::array<std::string_view, 2> kFamilies{"ipv4", "ipv6"};
constexpr std::uint64_t kAny = ~std::uint64_t{0};

fields::Value on_refusal(const GenConfig& gen) {
  return std::string(kRefusals[gen.retry ? 0 : 1]);
}
void set_on_refusal(GenConfig& gen, const fields::Value& value) {
  gen.retry = std::get<std::string>(value) == kRefusals[0];
}

// clang-format off
constexpr std::array<fields::Field, 2> kFileRows{
    fields::by_hand<TrafficConfig>("gen", R"({"$ref": "#/$defs/gen"})", {.help = "The generator of `splitplane gen`"}),
    fields::by_hand<TrafficConfig>("sink", R"({"$ref": "#/$defs/sink"})", {
        .help = "The sink of `splitplane sink`, or beside gen: it checks stamped packets"}),
};
constexpr std::array<fields::Field, 22> kGenRows{
    fields::text<&GenConfig::port>("port", "the name of a port", {.help = "Port to send to", .required = true}),
    fields::integer<&GenConfig::core>("core", 0, kMaxCore, {
        .help = "CPU that the loop runs on", .more = "It polls without sleeping."}),
    fields::word<kDirections, &GenConfig::direction>("direction", {
        .help = "What is sent", .more = "`downlink`: GTP-U, as a UPF sends it. `uplink`: header mode on the air, as a UE sends it."}),
    fields::integer<&GenConfig::rate>("rate", 1, kMostRate, {
        .help = "Packets a second", .special = "absent, with replay only: in its own time"}),
    fields::by_hand<GenConfig>("arrivals", R"({"$ref": "#/$defs/arrivals"})", {
        .help = "When packets leave",
        .more = "`constant` is the default; `poisson`, `bursts`, or `{kind: bursts, packets: 32}`, `{kind: ramp, to: 200000, over_s: 10}`."}),
    fields::by_hand<GenConfig>("sizes", R"({"$ref": "#/$defs/sizes"})", {
        .help = "Octets of inner packets: one size, several with weights, or imix (80, 576, 1400 octets as 7:4:1)",
        .special = "absent: 128",
        .more = "A list has up to 1,000 `{bytes, weight}`, with weights of at most 65,536 together."}),
    fields::word<kOrders, &GenConfig::order>("order", {.help = "Which bearer is next"}),
    fields::integer<&GenConfig::seed>("seed", 0, kAny, {
        .help = "Seed of everything random", .more = "The same seed gives the same traffic."}),
    fields::integer<&GenConfig::packets>("packets", 1, kAny, {
        .help = "How many packets are sent", .special = "absent: no limit"}),
    fields::integer<&GenConfig::duration_s>("duration_s", 1, 1'000'000, {
        .help = "How long packets are sent", .special = "absent: no limit"}),
    fields::integer<&GenConfig::late_us>("late_us", 1, 10'000'000, {
        .help = "A packet that leaves later than this counts as late"}),
    fields::word_by_functions<kRefusals, GenConfig, on_refusal, set_on_refusal>("on_refusal", {
        .help = "What becomes of a packet that the port does not take"}),
    fields::word<kFamilies, &GenConfig::inner_ipv6>("inner", {.help = "Family of the inner packets"}),
    fields::mac<&GenConfig::peer_mac>("peer_mac", {.help = "Destination of the frames"}),
    fields::ipv4<&GenConfig::gnb_ipv4>("gnb_ipv4", {.help = "downlink: the gNB's N3 address, for bearers whose upf is IPv4"}),
    fields::ipv6<&GenConfig::gnb_ipv6>("gnb_ipv6", {.help = "downlink: the gNB's N3 address, for bearers whose upf is IPv6"}),
    fields::ipv4<&GenConfig::server_ipv4>("server_ipv4", {.help = "The inner packets' other end"}),
    fields::ipv6<&GenConfig::server_ipv6>("server_ipv6", {.help = "The inner packets' other end"}),
    fields::by_hand<GenConfig>("bearers", R"({"type": "array", "items": {"$ref": "#/$defs/gen_bearers"}})", {
        .help = "The flows"}),
    fields::socket<&GenConfig::gnb_control>("gnb_control", {
        .help = "Control socket of a gNB: all bearers that it has, instead of or beside the list"}),
    fields::text<&GenConfig::replay>("replay", "the path of a capture", {
        .help = "A capture to send instead, in its own time, or at `rate`"}),
    fields::integer<&GenConfig::speed_percent>("speed_percent", 1, 100'000, {.help = "Speed of a replay in its own time"}),
};
constexpr std::array<fields::Field, 2> kGenSizeRows{
    fields::integer<&GenSizeConfig::bytes>("bytes", 60, 9500, {
        .help = "Octets of the inner IP packet; at least 60 with IPv4, 80 with IPv6", .required = true}),
    fields::integer<&GenSizeConfig::weight>("weight", 1, 1000, {.help = "How often, beside the other sizes"}),
};
constexpr std::array<fields::Field, 4> kGenBearersRows{
    fields::integer<&GenBearersConfig::first, &ran::BearerConfig::id>(
        "id", 1, 0xffffffff,
        {.help = "Identity of the first bearer, which is its downlink TEID",
         .more = "`splitplane ctl bearer list` shows it.",
         .required = true}),
    fields::integer<&GenBearersConfig::count>(
        "count", 1, std::uint64_t{1} << 24,
        {.help = "How many", .special = "identities and UE addresses go up by one each"}),
    fields::integer<&GenBearersConfig::shards>("shards", 1, ran::kShards,
                                               {.help = "Spread the identities over this number of shards",
                                                .special = "256: as the gNB does with a group",
                                                .more = "Uplink: no identity stands here twice."}),
    fields::ip<&GenBearersConfig::first, &ran::BearerConfig::upf>(
        "upf", {.help = "Downlink: address that the packets come from"}),
};
constexpr std::array<fields::Field, 6> kSinkRows{
    fields::text<&SinkConfig::port>("port", "the name of a port", {
        .help = "Port to receive from: the air or N3", .required = true}),
    fields::integer<&SinkConfig::core>("core", 0, kMaxCore, {
        .help = "CPU that the loop runs on", .more = "With that of `gen` one thread does both."}),
    fields::integer<&SinkConfig::flows>("flows", 1, std::uint64_t{1} << 24, {
        .help = "Flows at most, which count from 0",
        .more = "Each takes 72 octets with the window below. With a `gen` that makes packets there are as many as that has."}),
    fields::power_of_two<&SinkConfig::window>("window", 6, 16, {
        .help = "Sequence numbers of a flow within which a late packet is told from a copy"}),
    fields::text<&SinkConfig::hlog>("hlog", "the path of a file to write", {
        .help = "File for the latency histogram, in HdrHistogram's log format"}),
    fields::integer<&SinkConfig::idle_s>("idle_s", 1, 86400, {
        .help = "Time without a packet after which the sink ends",
        .special = "absent: it does not end, or beside gen 0.3 s after that is done"}),
};
// clang-format on
constexpr fields::Fields<TrafficConfig> kFileFields(kFileRows);
constexpr fields::Fields<GenConfig> kGenFields(kGenRows);
constexpr fields::Fields<GenSizeConfig> kGenSizeFields(kGenSizeRows);
constexpr fields::Fields<GenBearersConfig> kGenBearersFields(kGenBearersRows);
constexpr fields::Fields<SinkConfig> kSinkFields(kSinkRows);

}  // namespace

fields::Fields<TrafficConfig> traffic_fields() {
  return kFileFields;
}
fields::Fields<GenConfig> gen_fields() {
  return kGenFields;
}
fields::Fields<GenSizeConfig> gen_size_fields() {
  return kGenSizeFields;
}
fields::Fields<GenBearersConfig> gen_bearers_fields() {
  return kGenBearersFields;
}
fields::Fields<SinkConfig> sink_fields() {
  return kSinkFields;
}

std::vector<fields::Section> traffic_sections() {
  return {{"file", fields::keys_of(kFileFields)},
          {"gen", fields::keys_of(kGenFields)},
          {"gen_size", fields::keys_of(kGenSizeFields)},
          {"gen_bearers", fields::keys_of(kGenBearersFields) + fields::keys_of(ran::bearer_fields(ran::kAtGenerator))},
          {"sink", fields::keys_of(kSinkFields)}};
}

}  // namespace splitplane::app
