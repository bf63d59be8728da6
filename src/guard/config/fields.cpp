#include "guard/config/fields.h"

#include <array>

#include "guard/rules/mode.h"
#include "runtime/config/loop_fields.h"

namespace splitplane::app {
namespace {

using guard::ArmingSettings;
using guard::ServerRule;
using Flows = guard::FlowTable::Settings;
using Sources = guard::SourceTable::Settings;

constexpr auto kArming = &ServerRule::arming;
constexpr std::uint64_t kMostPerSecond = 1'000'000'000;
constexpr std::uint64_t kMostSeconds = 65535;

static_assert(kMaxGuardWorkers == 16 && guard::kMaxServers == 64, "as the rows workers and servers say to the schema");
// clang-format off
constexpr std::array<fields::Field, 1> kFileRows{
    fields::by_hand<GuardConfig>("guard", R"({"$ref": "#/$defs/guard"})", {
        .help = "The SYN-flood guard of `splitplane guard`"}),
};
constexpr std::array<fields::Field, 8> kGuardRows{
    fields::text<&GuardConfig::client>("client", "the name of a port", {
        .help = "Port towards the clients", .required = true}),
    fields::text<&GuardConfig::server>("server", "the name of a port", {
        .help = "Port towards the servers", .more = "The file has these two ports alone.", .required = true}),
    fields::by_hand<GuardConfig>("workers",
        R"({"type": "array", "minItems": 1, "maxItems": 16, "items": {"$ref": "#/$defs/guard_worker"}})", {
        .help = "Instead of core and policy: several packet loops, 16 at most",
        .more = "Each has a queue of each port, and tables of its own."}),
    fields::by_hand<GuardConfig>("servers", R"({"type": "array", "maxItems": 64, "items": {"$ref": "#/$defs/guard_server"}})", {
        .help = "Servers that are protected, 64 at most", .special = "the longest prefix counts, then the fewest ports",
        .more = "`splitplane ctl guard add` adds more. What is to no such server passes."}),
    fields::by_hand<GuardConfig>("sources", R"({"$ref": "#/$defs/guard_sources"})", {
        .help = "The list of clients that have proven their address"}),
    fields::by_hand<GuardConfig>("flows", R"({"$ref": "#/$defs/guard_flows"})", {
        .help = "The table of connections that mode proxy translates"}),
    fields::integer<&GuardConfig::key_seconds>("key_seconds", 10, 3600, {
        .help = "Time between two cookie keys, in seconds", .special = "a cookie is good for once to twice that time"}),
    fields::directory<&GuardConfig::state_file>("state_file", {
        .help = "File in which tables and keys survive a restart", .special = "absent: they do not",
        .more = "It lies best on a tmpfs, such as `/run`. See [syn-flood.md](syn-flood.md)."}),
};
constexpr std::array<fields::Field, 2> kLimitRows{
    fields::integer<&GuardLimits::unproven_per_second>("unproven_per_second", 0, kMostPerSecond, {
        .help = "Segments that are no SYN, of clients not proven, that pass to an armed server in a second",
        .more = "So connections that were silent for long survive. It is for each worker and server."}),
    fields::integer<&GuardLimits::replies_per_second>("replies_per_second", 1, kMostPerSecond, {
        .help = "SYN-ACKs with cookies that a worker sends in a second at most"}),
};
constexpr std::array<fields::Field, 5> kWorkerRows{
    fields::integer<&GuardWorkerConfig::core>("core", 0, kMaxCore, {.help = "CPU that the loop runs on"}),
    policy_row<GuardWorkerConfig>(),
    schedule_row<&GuardWorkerConfig::schedule>(),
    fifo_priority_row<&GuardWorkerConfig::schedule>(),
    fields::number<&GuardWorkerConfig::slow_clock>("slow_clock", 0.05, 1, {
        .help = "Emulates a core with that fraction of the clock, for measurements",
        .more = "Each round with packets takes 1/`slow_clock` times as long, by a spin."}),
};
constexpr std::array<fields::Field, 14> kServerRows{
    fields::name<&ServerRule::name>("name", 20, {.help = "Name of the server", .option = fields::kNoOption, .in = kWholeServer, .required = true}),
    fields::by_hand<ServerRule>("address", R"({"type": "string", "pattern": "^[0-9A-Fa-f:.]+(/[0-9]{1,3})?$"})", {
        .help = "Its address, or a prefix such as 10.0.0.0/24 or fd00::/64", .in = kWholeServer, .required = true}),
    fields::by_hand<ServerRule>("ports",
        R"({"oneOf": [{"type": "integer", "minimum": 0, "maximum": 65535}, {"type": "string", "pattern": "^[0-9]{1,5}(-[0-9]{1,5})?$"}]})", {
        .help = "Its TCP port, or a range such as 8000-8099", .special = "absent: all", .in = kWholeServer}),
    fields::word<guard::kModeNames, &ServerRule::mode>("mode", {
        .help = "What the guard does for it",
        .more = "`bypass`: nothing. `observe`: it counts and learns. `auth`: a client proves its address by a RST, once. "
                "`proxy`: it proves it by the handshake of each connection. See [syn-flood.md](syn-flood.md)."}),
    fields::word<guard::kArmNames, &ServerRule::arm>("arm", {
        .help = "When `auth` and `proxy` act", .special = "auto: during a flood; always: at all times"}),
    fields::integer<kArming, &ArmingSettings::arm_syns_per_second>("arm_syns_per_second", 1, kMostPerSecond, {
        .help = "SYNs of unknown clients in a second from which it arms, if most of them lead to nothing"}),
    fields::integer<kArming, &ArmingSettings::arm_half_open_percent>("arm_half_open_percent", 1, 100, {
        .help = "What most of them is, in percent"}),
    fields::integer<kArming, &ArmingSettings::always_syns_per_second>("always_syns_per_second", 1, kMostPerSecond, {
        .help = "SYNs of unknown clients in a second from which it arms in any case"}),
    fields::integer<kArming, &ArmingSettings::disarm_syns_per_second>("disarm_syns_per_second", 0, kMostPerSecond, {
        .help = "It disarms when there were fewer than that for hold_seconds"}),
    fields::integer<kArming, &ArmingSettings::hold_seconds>("hold_seconds", 1, 3600, {
        .help = "How long that has to be so", .special = "twice as long each time that it arms again soon"}),
    fields::integer<kArming, &ArmingSettings::rearm_seconds>("rearm_seconds", 0, 86400, {
        .help = "What soon is, in seconds"}),
    fields::integer<kArming, &ArmingSettings::max_hold_seconds>("max_hold_seconds", 1, 86400, {
        .help = "The longest that hold_seconds grows to"}),
    fields::integer<&ServerRule::mss>("mss", 64, 65495, {
        .help = "proxy: MSS that clients are told", .special = "absent: learnt from the server's SYN-ACKs"}),
    fields::integer<&ServerRule::window_scale>("window_scale", 0, 14, {
        .help = "proxy: window scale that clients are told", .clause = "RFC 7323 2",
        .special = "absent: learnt from the server's SYN-ACKs"}),
};
constexpr std::array<fields::Field, 5> kSourceRows{
    fields::power_of_two<&Sources::entries>("entries", 6, 26, {.help = "Clients that a worker remembers"}),
    fields::integer<&Sources::cookie_seconds>("cookie_seconds", 1, kMostSeconds, {
        .help = "How long a client that returned a cookie stays proven without traffic"}),
    fields::integer<&Sources::vouched_seconds>("vouched_seconds", 1, kMostSeconds, {
        .help = "The same for a client to whose connection a server answered"}),
    fields::integer<&Sources::syn_per_second>("syn_per_second", 1, kMostSeconds, {
        .help = "SYNs of a proven client that pass in a second"}),
    fields::integer<&Sources::flows_each>("flows_each", 1, kMostSeconds, {
        .help = "proxy: connections of one client at a time"}),
};
constexpr std::array<fields::Field, 5> kFlowRows{
    fields::power_of_two<&Flows::entries>("entries", 6, 26, {.help = "Connections that a worker translates at a time"}),
    fields::integer<&Flows::connecting_seconds>("connecting_seconds", 1, kMostSeconds, {
        .help = "How long one waits for its server's SYN-ACK"}),
    fields::integer<&Flows::established_seconds>("established_seconds", 1, kMostSeconds, {
        .help = "How long an open one stays without a segment"}),
    fields::integer<&Flows::closing_seconds>("closing_seconds", 1, kMostSeconds, {
        .help = "How long one with FINs of both sides stays without a segment"}),
    fields::integer<&Flows::closed_seconds>("closed_seconds", 1, kMostSeconds, {
        .help = "How long one that a RST ended stays, for late segments"}),
};
// clang-format on
constexpr fields::Fields<GuardConfig> kFileFields(kFileRows);
constexpr fields::Fields<GuardConfig> kGuardFields(kGuardRows);
constexpr fields::Fields<GuardLimits> kLimitFields(kLimitRows);
constexpr fields::Fields<GuardWorkerConfig> kWorkerFields(kWorkerRows);
constexpr fields::Fields<ServerRule> kServerFields(kServerRows);
constexpr fields::Fields<Sources> kSourceFields(kSourceRows);
constexpr fields::Fields<Flows> kFlowFields(kFlowRows);

}  // namespace

fields::Fields<GuardConfig> guard_file_fields() {
  return kFileFields;
}
fields::Fields<GuardConfig> guard_fields() {
  return kGuardFields;
}
fields::Fields<GuardWorkerConfig> guard_worker_fields() {
  return kWorkerFields;
}
fields::Fields<GuardLimits> guard_limit_fields() {
  return kLimitFields;
}
fields::Fields<ServerRule> guard_server_fields() {
  return kServerFields;
}
fields::Fields<Sources> guard_source_fields() {
  return kSourceFields;
}
fields::Fields<Flows> guard_flow_fields() {
  return kFlowFields;
}

std::vector<fields::Section> guard_sections() {
  return {{"file", fields::keys_of(kFileFields)},
          {"guard", fields::keys_of(kGuardFields) + fields::keys_of(kWorkerFields) + fields::keys_of(kLimitFields)},
          {"guard_worker", fields::keys_of(kWorkerFields)},
          {"guard_server", fields::keys_of(kServerFields.where(kWholeServer))},
          {"guard_sources", fields::keys_of(kSourceFields)},
          {"guard_flows", fields::keys_of(kFlowFields)}};
}

}  // namespace splitplane::app
