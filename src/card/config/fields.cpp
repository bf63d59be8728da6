#include "card/config/fields.h"

#include <algorithm>

#include "runtime/config/lookup.h"
#include "runtime/config/loop_fields.h"

namespace splitplane::app {
namespace {

constexpr unsigned kGnb = bit(CardConfig::Program::kGnb), kP4wire = bit(CardConfig::Program::kP4wire);
// As in datapath::FeatureSet, without l2fwd: on a card that is a program.
constexpr std::array<std::string_view, 6> kFeatures{"drop", "decap", "headers", "mat", "clone_drop", "clone"};
constexpr std::array<std::string_view, 2> kLookups{"teid", "ue_address"};  // as in CardConfig
constexpr std::string_view kPort = "the name of a port";

fields::Value features(const CardConfig& card) {
  return std::string(datapath::name_of(card.features));
}
void set_features(CardConfig& card, const fields::Value& value) {
  const auto at = std::ranges::find(datapath::kFeatureSetNames, std::get<std::string>(value));
  card.features = static_cast<datapath::FeatureSet>(at - datapath::kFeatureSetNames.begin());
}

// clang-format off
constexpr std::array<fields::Field, 1> kFileRows{
    fields::by_hand<CardConfig>("card", R"({"$ref": "#/$defs/card"})", {.help = "The card of `splitplane card`"}),
};
constexpr std::array<fields::Field, 22> kRows{
    fields::name<&CardConfig::name>("name", 20, {.help = "Name of the card"}),
    fields::word<kProgramNames, &CardConfig::program>("program", {
        .help = "What the card does",
        .more = "`gnb`: header mode. `l2fwd`: swap MAC addresses. `p4wire`: the paper's reference, packets go from wire to wire.",
        .required = true}),
    fields::word_by_functions<kFeatures, CardConfig, features, set_features>("features", {
        .help = "gnb: the amount of work done on each packet", .in = kGnb}),
    fields::word<kLookups, &CardConfig::lookup>("lookup", {
        .help = "gnb: what of a downlink packet names its bearer", .more = "`ue_address` with features `clone` only.", .in = kGnb}),
    fields::integer<&CardConfig::marks>("marks", 0, kMarkCount, {
        .help = "gnb: downlink packets whose outer Identification, modulo 64, is below this are the card's, the others the host's",
        .special = "absent: no marks", .more = "With features `clone` and `lookup: teid` only.", .in = kGnb}),
    fields::word<nic::kVfSpreadNames, &CardConfig::spread>("spread", {
        .help = "gnb: which VF of `punt_n3` or `punt_air` gets what goes to the host",
        .more = "`bearer`: that of the bearer's worker. `hash`: by tunnel and UDP source port, downlink, and bearer identity, uplink. "
                "`turn`: each in turn, which does not keep the order. `hash` and `turn` with features `clone` and `lookup: teid` only.",
        .in = kGnb}),
    fields::directory<&CardConfig::specs>("specs", {
        .help = "Directory of the .spec files", .special = "absent: those that came with the program"}),
    fields::word<kExecutionNames, &CardConfig::execution>("execution", {
        .help = "How the P4 program runs",
        .more = "`compiled`: as the build made it of the .spec; a .spec that the build did not have is interpreted. `interpreted`: by "
                "DPDK's pipeline, which is ten times slower."}),
    fields::by_hand<CardConfig>("core", R"({"$ref": "#/$defs/core", "default": 0})", {.help = "CPU that the loop runs on"}),
    fields::by_hand<CardConfig>("cores",
        R"({"type": "array", "minItems": 1, "maxItems": 16, "uniqueItems": true, "items": {"$ref": "#/$defs/core"}})", {
        .help = "Instead of core: several CPUs with a loop each, which share the bearers",
        .more = "[nic.md](nic.md) says how."}),
    fields::integer<&CardConfig::numa>("numa", 0, kMaxNumaNode, {
        .help = "NUMA node of the card", .special = "absent: that of its physical ports, else of its first core"}),
    policy_row<CardConfig>(),
    schedule_row<&CardConfig::schedule>(),
    fifo_priority_row<&CardConfig::schedule>(),
    fields::text<&CardConfig::n3>("n3", kPort, {
        .help = "Physical port towards the core network",
        .more = "It has one queue. `gnb` needs `n3`, `air` and `vfs`; the other programs need one of `n3` and `air` at least."}),
    fields::text<&CardConfig::air>("air", kPort, {.help = "Physical port towards the air", .more = "It has one queue."}),
    fields::with_most_items(fields::texts<&CardConfig::vfs>("vfs", kPort, "the ports whose queues are the VFs, 1 to 64 in all", {
        .help = "Ports towards the host, whose queue pairs in this order are the VFs, 64 at most",
        .more = "`gnb` and `p4wire` need them."}), kMaxVfs),
    fields::text<&CardConfig::punt_n3>("punt_n3", kPort, {
        .help = "gnb: of vfs, the port whose first queue gets what n3 punts and no bearer names a VF for",
        .special = "absent: the first", .in = kGnb}),
    fields::text<&CardConfig::punt_air>("punt_air", kPort, {
        .help = "gnb: of vfs, the same for air", .special = "absent: the second, or the only one", .in = kGnb}),
    fields::by_hand<CardConfig>("wire", R"({"$ref": "#/$defs/wire"})", {
        .help = "p4wire: where what a side sends goes",
        .more = "`n3`, `air`: `spread` (round robin over all VFs), `n3`, `air`, or the number of a VF. `vfs`: `n3`, `air` or a number, one "
                "for all VFs or a list with one for each. What has no wire is dropped as `no_port`.",
        .in = kP4wire, .required = true}),
    fields::flag<&CardConfig::verify_udp_checksum>("verify_udp_checksum", {
        .help = "gnb: packets with an outer UDP checksum go to the host, which can verify it", .more = "The card cannot.", .in = kGnb}),
    fields::integer<&CardConfig::max_bearers>("max_bearers", 1, 65536, {.help = "gnb: room for bearers", .in = kGnb}),
};
// clang-format on
constexpr fields::Fields<CardConfig> kFileFields(kFileRows);
constexpr fields::Fields<CardConfig> kFields(kRows);

}  // namespace

fields::Fields<CardConfig> card_file_fields() {
  return kFileFields;
}
fields::Fields<CardConfig> card_fields() {
  return kFields;
}

std::vector<fields::Section> card_sections() {
  return {{"file", fields::keys_of(kFileFields)}, {"card", fields::keys_of(kFields)}};
}

}  // namespace splitplane::app
