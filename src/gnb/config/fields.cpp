#include "gnb/config/fields.h"

#include <array>

#include "baas/shared.h"
#include "phy/slots/tb_size.h"
#include "ran/bearer_fields.h"
#include "ran/session_fields.h"
#include "runtime/config/lookup.h"
#include "runtime/config/loop_fields.h"
#include "tap/settings_fields.h"

namespace splitplane::app {
namespace {

using Function = WorkerConfig::Function;

constexpr unsigned kGnb = bit(Function::kGnb), kL2fwd = bit(Function::kL2fwd), kDispatch = bit(Function::kDispatch);
constexpr unsigned kCopies = bit(Function::kCopies);
constexpr std::uint64_t kMaxBearers = std::uint64_t{ran::kShards} << ran::kIndexBits;
constexpr std::array<std::string_view, 2> kLookups{"teid", "ue_address"};
constexpr std::array<std::string_view, 3> kBaas{"none", "inline", "process"};  // as in WorkerConfig
constexpr std::string_view kPort = "the name of a port";

// clang-format off
// Keys that the file of every program has stand in runtime/config/fields.cpp, those of a bearer in ran/bearer_fields.cpp.
constexpr std::array<fields::Field, 16> kGnbRows{
    fields::by_hand<GnbConfig>("journal", R"({"type": "string", "maxLength": 200, "pattern": "^(none|/.*[^/])$"})", {
        .help = "Journal of bearers and their numbers, which survive a restart: a path from / on, or none",
        .special = "absent: `/var/lib/splitplane/<file_prefix>.journal` for root, else `~/.local/state/splitplane/<file_prefix>.journal`",
        .more = "See [journal.md](journal.md). `$STATE_DIRECTORY` and `$XDG_STATE_HOME` go before these directories."}),
    fields::directory<&GnbConfig::key_file>("key_file", {
        .help = "File with the keys of secured bearers", .special = "absent: there are none",
        .more = "See [security.md](security.md)."}),
    fields::integer<&GnbConfig::instance>("instance", 0, (1U << ran::kInstanceBits) - 1, {
        .help = "Upper six bits of the TEIDs that this gNB gives out"}),
    fields::multiple<&GnbConfig::max_bearers>("max_bearers", ran::kShards, kMaxBearers, {
        .help = "Room for bearers: a multiple of 256, since 256 shards share it evenly",
        .more = "Memory for all of them is taken at the start."}),
    fields::word<kLookups, &GnbConfig::lookup>("lookup", {
        .help = "What of a downlink packet names its bearer: its TEID, or the UE's address inside it"}),
    fields::integer<&GnbConfig::foreign_teids>("foreign_teids", 0, kMaxBearers, {
        .help = "Room for bearers whose downlink TEID somebody else chose (dl_teid)"}),
    fields::by_hand<GnbConfig>("n3", R"({"type": "array", "items": {"$ref": "#/$defs/n3"}})", {
        .help = "Ports towards the core network, with our addresses"}),
    fields::by_hand<GnbConfig>("air", R"({"type": "array", "items": {"$ref": "#/$defs/air"}})", {
        .help = "Ports towards the air: RLC PDUs behind an airhdr, EtherType 0x88B5"}),
    fields::by_hand<GnbConfig>("workers",
        R"({"type": "object", "minProperties": 1, "propertyNames": {"$ref": "#/$defs/entryName"}, "additionalProperties": {"$ref": "#/$defs/worker"}})", {
        .help = "Packet loops by name, one core each"}),
    fields::by_hand<GnbConfig>("baas", R"({"$ref": "#/$defs/baas"})", {
        .help = "The buffering service, for workers with baas: process", .more = "See [baas.md](baas.md)."}),
    fields::by_hand<GnbConfig>("bearers", R"({"type": "array", "items": {"$ref": "#/$defs/bearers"}})", {
        .help = "Groups of bearers there from the start; `splitplane ctl bearer add` adds more"}),
    fields::by_hand<GnbConfig>("sessions", R"({"type": "array", "items": {"$ref": "#/$defs/sessions"}})", {
        .help = "Sessions with several bearers, there from the start; `splitplane ctl session add` adds more",
        .more = "See [sessions.md](sessions.md). An entry of `bearers` is a session with one bearer."}),
    fields::by_hand<GnbConfig>("taps", R"({"type": "array", "items": {"$ref": "#/$defs/tap"}})", {
        .help = "Packets of ports into pcapng files, from the start; `splitplane ctl tap` changes it while running"}),
    fields::by_hand<GnbConfig>("cards",
        R"({"type": "object", "propertyNames": {"$ref": "#/$defs/entryName"}, "additionalProperties": {"$ref": "#/$defs/card_link"}})", {
        .help = "Cards in front of ports of `splitplane run`, by name"}),
    fields::by_hand<GnbConfig>("placement", R"({"$ref": "#/$defs/placement"})", {
        .help = "Which bearers live on cards", .special = "absent: each bearer where its key card says",
        .more = "See [placement.md](placement.md)."}),
    fields::by_hand<GnbConfig>("power", R"({"$ref": "#/$defs/power"})", {
        .help = "What measures the machine's power, what models it, and how frequencies are set",
        .special = "absent: no sensor and no model, and frequencies by cpufreq",
        .more = "See [power.md](power.md)."}),
};
constexpr std::array<fields::Field, 3> kEchoRows{
    fields::integer<&N3Config::echo, &EchoConfig::interval_s>("interval_s", 0, 3600, {
        .help = "Time between Echo Requests to one UPF", .special = "0: none are sent"}),
    fields::integer<&N3Config::echo, &EchoConfig::timeout_s>("timeout_s", 1, 60, {
        .help = "How long an answer may take: T3-RESPONSE", .clause = "TS 29.281 7.2"}),
    fields::integer<&N3Config::echo, &EchoConfig::retries>("retries", 0, 10, {
        .help = "How often an unanswered request is repeated before the path is down", .special = "N3-REQUESTS less one"}),
};
constexpr std::array<fields::Field, 12> kN3Rows{
    fields::text<&N3Config::port>("port", "the name of a port", {.help = "Name of a port", .required = true}),
    fields::host_ipv4<&N3Config::ipv4>("ipv4", {
        .help = "Our IPv4 address; GTP-U to it is for us", .more = "`ipv4` or `ipv6` must be there, or both."}),
    fields::host_ipv6<&N3Config::ipv6>("ipv6", {.help = "Our IPv6 address; GTP-U to it is for us"}),
    fields::host_ipv4<&N3Config::gateway_ipv4>("gateway_ipv4", {
        .help = "Next hop to every UPF", .special = "absent: each is on the link"}),
    fields::host_ipv6<&N3Config::gateway_ipv6>("gateway_ipv6", {
        .help = "Next hop to every UPF", .special = "absent: each is on the link"}),
    fields::mac<&N3Config::peer_mac>("peer_mac", {
        .help = "MAC address of the next hop", .special = "absent: found by ARP and neighbour discovery"}),
    fields::integer<&N3Config::vlan>("vlan", 1, 4094, {
        .help = "Receives and sends with this 802.1Q tag only", .special = "absent: untagged only"}),
    fields::with_most_items(fields::texts<&N3Config::dscp>("dscp", "a QFI and a DSCP, each 0 to 63, as 5=46", "absent: all have 0", {
        .help = "DSCP of uplink packets by their QoS flow", .special = "absent: all have 0",
        .more = "`5=46`: packets of QoS flow 5 have DSCP 46."}), 64),
    fields::flag<&N3Config::any_source>("any_source", {
        .help = "A bearer's G-PDUs, Error Indications and End Markers may come from another address than its UPF's"}),
    fields::group<N3Config>("echo", kEchoRows, {
        .help = "Supervision of the UPFs that have bearers, by GTP-U Echo", .more = "See [gtpu.md](gtpu.md)."}),
    fields::integer<&N3Config::error_indications_per_s>("error_indications_per_s", 0, 10000, {
        .help = "Error Indications to one peer, and as many Supported Extension Headers Notifications",
        .special = "0: none", .more = "It is an average; after a pause as many go out at once."}),
    fields::integer<&N3Config::released_teid_silence_s>("released_teid_silence_s", 0, 3600, {
        .help = "How long a TEID that was just released draws no Error Indication"}),
};
constexpr std::array<fields::Field, 2> kAirRows{
    fields::text<&AirConfig::port>("port", "the name of a port", {.help = "Name of a port", .required = true}),
    fields::mac<&AirConfig::peer_mac>("peer_mac", {.help = "Destination of downlink frames"}),
};
constexpr std::array<fields::Field, 18> kPhyRows{
    fields::ip<&PhyConfig::address>("address", {.help = "Address of the PHY"}),
    fields::integer<&PhyConfig::p5_port>("p5_port", 1, 65535, {.help = "Its UDP port for P5: how it is configured"}),
    fields::integer<&PhyConfig::p7_port>("p7_port", 1, 65535, {.help = "Its UDP port for P7: slots and their data"}),
    fields::ip<&PhyConfig::local>("local", {.help = "Our address towards it, of the same family"}),
    fields::integer<&PhyConfig::local_p5_port>("local_p5_port", 1, 65535, {.help = "Our UDP port for P5"}),
    fields::integer<&PhyConfig::local_p7_port>("local_p7_port", 1, 65535, {.help = "Our UDP port for P7"}),
    fields::integer<&PhyConfig::phy_id>("phy_id", 0, 65535, {.help = "PHY ID in the header of each nFAPI message"}),
    fields::integer<&PhyConfig::max_datagram>("max_datagram", 256, 65507, {
        .help = "Longest UDP datagram of P7: the MTU less 28 octets for IPv4, 48 for IPv6"}),
    fields::integer<&PhyConfig::numerology>("numerology", 0, 3, {
        .help = "Subcarrier spacing of 15, 30, 60 or 120 kHz: slots of 1, 0.5, 0.25 or 0.125 ms",
        .clause = "TS 38.211 4.2"}),
    fields::integer<&PhyConfig::prbs>("prbs", 12, phy::kMaxPrbs, {.help = "PRBs of the cell, in each direction"}),
    fields::integer<&PhyConfig::dl_mcs>("dl_mcs", 0, 28, {
        .help = "MCS of all PDSCH, of the table with 64QAM", .clause = "TS 38.214 5.1.3.1"}),
    fields::integer<&PhyConfig::ul_mcs>("ul_mcs", 0, 28, {
        .help = "MCS of all PUSCH, of the same table", .clause = "TS 38.214 6.1.4.1"}),
    fields::integer<&PhyConfig::lead_slots>("lead_slots", 1, 20, {
        .help = "How many slots ahead of the PHY a slot is planned",
        .more = "The fewer, the shorter the delay, and the more often a plan comes too late."}),
    fields::integer<&PhyConfig::feedback_slots>("feedback_slots", 1, 8, {
        .help = "Slots from a PDSCH to its HARQ-ACK, and from a DCI to its PUSCH", .clause = "TS 38.213 9.2.3"}),
    fields::integer<&PhyConfig::request_slots>("request_slots", 1, 80, {
        .help = "Slots from one chance of a UE to send a scheduling request to the next", .clause = "TS 38.321 5.4.4"}),
    fields::integer<&PhyConfig::max_retransmissions>("max_retransmissions", 0, 16, {
        .help = "How often HARQ sends a transport block again; then RLC has to"}),
    fields::integer<&PhyConfig::max_ues>("max_ues", 1, 8192, {
        .help = "UEs that the scheduler knows at once; others wait for a place"}),
    fields::integer<&PhyConfig::max_grants>("max_grants", 1, 22, {
        .help = "UEs that get a grant in one slot and direction, at most",
        .more = "A slot has a DCI for each six PRBs, of both directions together."}),
};
constexpr std::array<fields::Field, 20> kWorkerRows{
    fields::word<kFunctionNames, &WorkerConfig::function>("function", {
        .help = "What the worker does",
        .more = "`gnb`: bearers between N3 and air. `dispatch`: hand packets to gnb workers by shard. `copies`: consume what gnb "
                "workers with features `clone` copied. `l2fwd`: swap MAC addresses and send.",
        .required = true}),
    fields::integer<&WorkerConfig::core>("core", 0, kMaxCore, {.help = "CPU that the loop runs on", .required = true}),
    fields::integer<&WorkerConfig::numa>("numa", 0, kMaxNumaNode, {
        .help = "NUMA node that it belongs to", .special = "absent: the node of its core",
        .more = "`splitplane check` of a file with cards prints where everything lies ([nic.md](nic.md))."}),
    fields::word<datapath::kFeatureSetNames, &WorkerConfig::features>("features", {
        .help = "gnb: the amount of work done on each packet",
        .more = "`full` is no header mode: PDCP and RLC entities ([full-mode.md](full-mode.md)).", .in = kGnb}),
    fields::text<&WorkerConfig::n3>("n3", kPort, {
        .help = "gnb, dispatch: port in the section n3", .more = "A dispatcher reads every queue of its ports.",
        .in = kGnb | kDispatch, .required = true}),
    fields::text<&WorkerConfig::air>("air", kPort, {
        .help = "gnb, dispatch: port in the section air", .special = "absent: with features full, which has a PHY instead",
        .in = kGnb | kDispatch}),
    fields::text<&WorkerConfig::rx>("rx", kPort, {
        .help = "l2fwd: port to receive from; copies: port where a card's copies arrive, of which it reads every queue",
        .in = kL2fwd | kCopies}),
    fields::text<&WorkerConfig::tx>("tx", kPort, {.help = "l2fwd: port to send to", .in = kL2fwd, .required = true}),
    fields::integer<&WorkerConfig::queue>("queue", 0, 63, {
        .help = "gnb, l2fwd: receive and transmit queue on its ports; transmit only for a worker that a dispatcher feeds",
        .in = kGnb | kL2fwd}),
    fields::by_hand<WorkerConfig>("shards", R"({"type": "string", "pattern": "^[0-9]+-[0-9]+$", "default": "0-255"})", {
        .help = "gnb: the shards it owns, as first-last", .special = "absent: 0-255", .in = kGnb}),
    fields::once_each(fields::texts<&WorkerConfig::to>("to", "the name of a gnb worker", "the names of gnb workers", {
        .help = "dispatch: the gnb workers it feeds, by shard", .in = kDispatch, .required = true})),
    fields::once_each(fields::texts<&WorkerConfig::from>("from", "the name of a gnb worker", "the names of gnb workers", {
        .help = "copies: the gnb workers with features clone whose copies it consumes",
        .more = "A gnb worker that no such list names consumes its own. `from` or `rx` must be there, or both.",
        .in = kCopies})),
    fields::word<kBaas, &WorkerConfig::baas>("baas", {
        .help = "gnb with features clone: keep what AM bearers sent until the UE acknowledges it, and send it again",
        .more = "`inline`: the worker has the windows ([rlc.md](rlc.md)). `process`: the buffering service has them "
                "([baas.md](baas.md)).", .in = kGnb}),
    fields::integer<&WorkerConfig::max_copies>("max_copies", 1024, 1U << 20, {
        .help = "gnb: with baas inline or process the SDUs kept for all bearers, with features full also those that wait for grants, else the room on the ring to the consumer of its copies",
        .special = "absent: half of memory.mbufs for all workers of the N3 port together, and 16384 at most",
        .more = "Half of `memory.mbufs` is the most, so that a consumer that hangs stops no traffic.", .in = kGnb}),
    fields::integer<&WorkerConfig::max_copy_octets>("max_copy_octets", 0, std::uint64_t{1} << 40, {
        .help = "gnb: with baas inline or process the octets of the SDUs kept for all bearers",
        .special = "0: no limit", .more = "A burst of frames of the port's `mtu` has to fit. It stops no card: "
        "beyond it, and beyond `max_copies`, a card's clones are dropped (`copies_full`).", .in = kGnb}),
    fields::by_hand<WorkerConfig>("phy", R"({"$ref": "#/$defs/phy"})", {
        .help = "gnb with features full: its PHY, by nFAPI over UDP", .special = "absent: nothing reaches a UE",
        .more = "`splitplane phy` is one ([full-mode.md](full-mode.md)).", .in = kGnb}),
    policy_row<WorkerConfig>(),
    schedule_row<&WorkerConfig::schedule>(),
    fifo_priority_row<&WorkerConfig::schedule>(),
    fields::number<&WorkerConfig::slow_clock>("slow_clock", 0.05, 1, {
        .help = "l2fwd: emulates a core with that fraction of the clock, for measurements",
        .more = "Each round with packets takes 1/`slow_clock` times as long, by a spin.", .in = kL2fwd}),
};
static_assert(baas::kMostCores == 16, "as the row cores says to the schema");
constexpr std::array<fields::Field, 5> kBaasRows{
    fields::by_hand<BaasConfig>("cores", R"({"type": "array", "minItems": 1, "maxItems": 16, "uniqueItems": true, "items": {"type": "integer", "minimum": 0, "maximum": 1023}})", {
        .help = "CPUs of the service, a loop each", .special = "the bearers of each worker are spread over them",
        .required = true}),
    policy_row<BaasConfig>(),
    schedule_row<&BaasConfig::schedule>(),
    fifo_priority_row<&BaasConfig::schedule>(),
    fields::by_hand<BaasConfig>("metrics", R"({"$ref": "#/$defs/metrics"})", {
        .help = "OpenMetrics of the service over HTTP at /metrics", .special = "absent: none",
        .more = "Another address or port than the gNB's."}),
};
constexpr std::array<fields::Field, 6> kPowerRows{
    fields::by_hand<PowerConfig>("sensor", R"({"type": "string", "pattern": "^(none|auto|acpi|ipmi|rapl|amd_energy|file:.+|command:.+)$", "default": "none"})", {
        .help = "What measures power: none, auto, acpi, ipmi, rapl, amd_energy, file:PATH or command:COMMAND",
        .special = "auto: the first of acpi, ipmi, rapl and amd_energy that can be read, or none",
        .more = "Any other that cannot be read stops the start."}),
    fields::text<&PowerConfig::profile>("profile", "the path of a power profile", {
        .help = "Power profile, by which watts are modelled beside what is measured", .special = "absent: nothing is modelled"}),
    fields::word<governor::kKindNames, &PowerConfig::governor>("governor", {
        .help = "How the frequencies of workers' cores are set, where their policy sets them",
        .more = "See [power.md](power.md)."}),
    fields::integer<&PowerConfig::uncore_mhz>("uncore_mhz", 100, 10'000, {
        .help = "Frequency at which the uncore of the workers' packages is held, on Intel's servers",
        .special = "absent: the hardware chooses"}),
    fields::integer<&PowerConfig::supply_watts>("supply_watts", 10, 100'000, {
        .help = "Rated watts of the power supply, for an estimate at the wall by the efficiency of paper PWR's",
        .special = "absent: no estimate"}),
    fields::number<&PowerConfig::unmetered_watts>("unmetered_watts", 0, 10'000, {
        .help = "What the sensor does not see, such as memory, for that estimate"}),
};
using Consolidation = placement::ConsolidationSettings;
constexpr auto kConsolidation = &placement::Settings::consolidation;
constexpr std::array<fields::Field, 14> kPlacementRows{
    fields::word<placement::kModeNames, &placement::Settings::mode>("mode", {
        .help = "Which bearers live on cards",
        .more = "`static`: those that were put there. `ratio`: a share of them. `spill`: the busiest ones that "
                "fit."}),
    fields::integer<&placement::Settings::ratio_percent>("ratio", 0, 100, {
        .help = "Percent of bearers or load on cards, with mode ratio"}),
    fields::word<placement::kRatioOfNames, &placement::Settings::ratio_of>("ratio_of", {
        .help = "What the ratio is of"}),
    fields::word<placement::kLoadOfNames, &placement::Settings::load_of>("load_of", {
        .help = "What a bearer's load is: its packets or its octets a second"}),
    fields::integer<&placement::Settings::period_ms>("period_ms", 50, 60'000, {
        .help = "Time between two decisions"}),
    fields::integer<&placement::Settings::load_ms>("load_ms", 50, 600'000, {
        .help = "A bearer's load is its mean over about so long"}),
    fields::integer<&placement::Settings::most_moves_per_second>("most_moves_per_second", 1, 1'000'000, {
        .help = "Moves of bearers that may begin in a second"}),
    fields::integer<&placement::Settings::min_stay_ms>("min_stay_ms", 0, 3'600'000, {
        .help = "How long a bearer stays after it moved, in modes that go by load"}),
    fields::integer<&placement::Settings::hysteresis_percent>("hysteresis", 0, 1000, {
        .help = "A bearer takes another one's entry of a full card if its load is more by so many percent"}),
    fields::by_hand<placement::Settings>("pin", R"({"type": "array", "items": {"$ref": "#/$defs/pin"}})", {
        .help = "Bearers that live in one place in every mode, by UPF and uplink TEID",
        .more = "What `ctl place pin` and `unpin` say of a bearer goes before it.", .option = fields::kNoOption}),
    fields::flag<kConsolidation, &Consolidation::on>("consolidate", {
        .help = "Workers with little load share a core, and the other cores sleep",
        .more = "Of gnb workers on one NUMA node. See [placement.md](../design/placement.md#consolidation)."}),
    fields::integer<kConsolidation, &Consolidation::fill_percent>("consolidate_fill", 1, 99, {
        .help = "How busy a core may be in percent when a worker comes to it"}),
    fields::integer<kConsolidation, &Consolidation::busy_percent>("consolidate_busy", 2, 100, {
        .help = "A core that is busier in percent sends a worker back to its own"}),
    fields::integer<kConsolidation, &Consolidation::calm_ms>("consolidate_calm_ms", 100, 3'600'000, {
        .help = "How long the load has fitted on one core less before that one sleeps"}),
};
using PinList = placement::PinList;
constexpr std::array<fields::Field, 4> kPinRows{
    fields::text<&PinList::on>("on", "host, or the name of a card", {
        .help = "Where they live: host, or the name of a card", .more = "A bearer that may not live there stays, and "
        "`splitplane ctl place show` says why.", .required = true}),
    fields::ip<&PinList::upf>("upf", {.help = "Address of their UPF", .required = true}),
    fields::integer<&PinList::ul_teid>("ul_teid", 1, 0xffffffff, {
        .help = "TEID at the UPF, of the first bearer", .required = true}),
    fields::integer<&PinList::count>("count", 1, kMaxBearers, {
        .help = "How many bearers", .special = "TEIDs go up by one each", .more = "No bearer may stand in two entries."}),
};
// How many, and where: what a group has beside the keys of its first bearer.
constexpr std::array<fields::Field, 2> kGroupRows{
    fields::integer<&ran::BearerGroup::count>("count", 1, kMaxBearers, {
        .help = "How many bearers", .special = "TEIDs and UE addresses go up by one each",
        .more = "Ranges of two groups may not meet."}),
    fields::integer<&ran::BearerGroup::shard>("shard", 0, ran::kShards - 1, {
        .help = "Put all of them in this shard", .special = "absent: spread"}),
};
constexpr std::array<fields::Field, 6> kCardLinkRows{
    fields::socket<&CardLinkConfig::control>("control", {
        .help = "Control socket of its `splitplane card`", .more = "It may start later, and again.", .required = true}),
    fields::with_most_items(fields::texts<&CardLinkConfig::vfs>("vfs", kPort, "the ports whose queues are the card's VFs, in its order", {
        .help = "Ports of this file, whose queue pairs in this order are the card's VFs, 64 at most", .required = true}), kMaxVfs),
    fields::text<&CardLinkConfig::n3>("n3", kPort, {
        .help = "Of vfs: the port in the section n3, with a queue for each gnb worker behind the card", .required = true}),
    fields::text<&CardLinkConfig::air>("air", kPort, {
        .help = "Of vfs: the port in the section air, with as many queues", .required = true}),
    fields::text<&CardLinkConfig::copies>("copies", kPort, {
        .help = "Of vfs: where the card's clones and the uplink RLC control PDUs of its bearers arrive, by bearer over its queues, for a worker with function copies",
        .special = "absent: at the port air, for the worker of the bearer, which keeps them with baas inline or process"}),
    fields::integer<&CardLinkConfig::numa>("numa", 0, kMaxNumaNode, {
        .help = "NUMA node of the card", .special = "absent: not known"}),
};
// clang-format on
constexpr fields::Fields<GnbConfig> kGnbFields(kGnbRows);
constexpr fields::Fields<N3Config> kN3Fields(kN3Rows);
constexpr fields::Fields<AirConfig> kAirFields(kAirRows);
constexpr fields::Fields<WorkerConfig> kWorkerFields(kWorkerRows);
constexpr fields::Fields<PhyConfig> kPhyFields(kPhyRows);
constexpr fields::Fields<ran::BearerGroup> kGroupFields(kGroupRows);
constexpr fields::Fields<CardLinkConfig> kCardLinkFields(kCardLinkRows);
constexpr fields::Fields<BaasConfig> kBaasFields(kBaasRows);
constexpr fields::Fields<PowerConfig> kPowerFields(kPowerRows);
constexpr fields::Fields<placement::Settings> kPlacementFields(kPlacementRows);
constexpr fields::Fields<placement::PinList> kPinFields(kPinRows);

}  // namespace

fields::Fields<GnbConfig> gnb_fields() {
  return kGnbFields;
}
fields::Fields<N3Config> n3_fields() {
  return kN3Fields;
}
fields::Fields<AirConfig> air_fields() {
  return kAirFields;
}
fields::Fields<WorkerConfig> worker_fields() {
  return kWorkerFields;
}
fields::Fields<PhyConfig> phy_fields() {
  return kPhyFields;
}
fields::Fields<ran::BearerGroup> group_fields() {
  return kGroupFields;
}
fields::Fields<CardLinkConfig> card_link_fields() {
  return kCardLinkFields;
}
fields::Fields<BaasConfig> baas_fields() {
  return kBaasFields;
}
fields::Fields<PowerConfig> power_fields() {
  return kPowerFields;
}
fields::Fields<placement::Settings> placement_fields() {
  return kPlacementFields;
}
fields::Fields<placement::PinList> pin_fields() {
  return kPinFields;
}

std::vector<fields::Section> gnb_sections() {
  return {
      {"file", fields::keys_of(kGnbFields)},
      {"n3", fields::keys_of(kN3Fields)},
      {"air", fields::keys_of(kAirFields)},
      {"worker", fields::keys_of(kWorkerFields)},
      {"phy", fields::keys_of(kPhyFields)},
      {"bearers", fields::keys_of(kGroupFields) + fields::keys_of(ran::bearer_fields(ran::kInFile))},
      {"sessions", fields::keys_of(ran::session_fields()) + fields::keys_of(ran::bearer_fields(ran::kOfSession))},
      {"session_bearers",
       fields::keys_of(ran::session_bearer_fields()) + fields::keys_of(ran::bearer_fields(ran::kOfDrb)), "n3_reorder"},
      {"card_link", fields::keys_of(kCardLinkFields)},
      {"baas", fields::keys_of(kBaasFields)},
      {"power", fields::keys_of(kPowerFields)},
      {"placement", fields::keys_of(kPlacementFields)},
      {"pin", fields::keys_of(kPinFields)},
      {"tap", fields::keys_of(tap::settings_fields())}};
}

}  // namespace splitplane::app
