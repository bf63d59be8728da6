#include "ran/bearer_fields.h"

#include <array>

namespace splitplane::ran {
namespace {

using B = BearerConfig;
using fields::Field;
using fields::Value;

constexpr unsigned kBoth = kInFile | kInRequest;
constexpr unsigned kEnds = kBoth | kAtGenerator;
constexpr unsigned kTunnel = kOfSession, kDrb = kOfDrb;  // a key of a session, or of each of its bearers
constexpr std::uint64_t kMaxTeid = 0xffffffff;

constexpr std::array<std::uint64_t, 2> kPdcpSnBits{12, 18};

Value rlc_of(const B& bearer) {
  return rlc_name(bearer.rlc_mode, bearer.rlc_sn_bits);
}
void set_rlc(B& bearer, const Value& name) {
  (void)parse_rlc_name(std::get<std::string>(name), bearer.rlc_mode, bearer.rlc_sn_bits);
}
bool is_am(const B& bearer) {
  return bearer.rlc_mode == RlcMode::kAm;
}

// clang-format off
constexpr std::array<Field, 2> kSdap{
    fields::flag<&B::sdap_header_dl>("dl", {.help = "SDAP header downlink"}),
    fields::flag<&B::sdap_header_ul>("ul", {.help = "SDAP header uplink"}),
};
constexpr std::array<Field, 2> kReorder{
    fields::integer<&B::n3_reorder, &N3ReorderConfig::window>("window", 2, kMaxReorderWindow, {
        .help = "How far, in sequence numbers, a G-PDU may come before one that is missing"}),
    fields::integer<&B::n3_reorder, &N3ReorderConfig::timer_ms>("timer_ms", 1, kMaxReorderTimerMs, {
        .help = "How long the gNB waits for a missing one", .option = "ms"}),
};
constexpr std::array<Field, 5> kSecurity{
    fields::word<kCipherNames, &B::security, &SecurityConfig::cipher>("cipher", {
        .help = "Ciphering", .clause = "TS 33.501 D.2"}),
    fields::word<kIntegrityNames, &B::security, &SecurityConfig::integrity>("integrity", {
        .help = "Integrity protection: none is without MAC-I, nia0 has one of zeros", .clause = "TS 33.501 D.3"}),
    fields::integer<&B::security, &SecurityConfig::key>("key", 1, 0xffffffff, {
        .help = "Number of the keys in `key_file`, of the first bearer, which must be there",
        .more = "It goes up by one like `ul_teid`. No bearer takes keys that a bearer with the same `drb` had before.",
        .option = "key"}),
    fields::integer<&B::security, &SecurityConfig::drb>("drb", 1, 32, {
        .help = "DRB identity; BEARER is one less", .clause = "TS 38.323 5.8", .option = "drb"}),
    fields::integer<&B::security, &SecurityConfig::t_reordering_ms>("t_reordering_ms", 0, kMaxReorderingMs, {
        .help = "t-Reordering: how long PDCP waits for a missing PDU", .clause = "TS 38.323 7.3"}),
};
constexpr std::array<Field, 3> kEcn{
    fields::word<kEcnLawNames, &B::ecn, &EcnConfig::law>("law", {
        .help = "ECT(1): mark all packets above the target, or more and more of them up to twice the target",
        .clause = "RFC 9332 A.1", .option = "law"}),
    fields::integer<&B::ecn, &EcnConfig::target_us>("target_us", kMinEcnTargetUs, kMaxEcnTargetUs, {
        .help = "ECT(1): the time in the queue, in microseconds, above which packets are marked",
        .more = "Not less than `t_status_prohibit_ms`."}),
    fields::integer<&B::ecn, &EcnConfig::classic_target_us>("classic_target_us", kMinEcnTargetUs, kMaxEcnTargetUs, {
        .help = "ECT(0): the time in the queue, in microseconds, at which marks hold it", .clause = "RFC 9332 A.1"}),
};
constexpr std::array<Field, 4> kSecurityOfDrb{kSecurity[0], kSecurity[1],
    fields::integer<&B::security, &SecurityConfig::key>("key", 1, 0xffffffff, {
        .help = "Number of the keys in `key_file`, which must be there",
        .more = "BEARER is one less than the bearer's `drb`. No bearer takes keys that a bearer with the same `drb` had before."}),
    kSecurity[4]};
constexpr std::array<Field, 6> kAm{
    fields::integer<&B::arq, &ArqConfig::t_poll_retransmit_ms>("t_poll_retransmit_ms", 5, 4000, {
        .help = "t-PollRetransmit", .clause = "TS 38.322 7.3"}),
    fields::integer<&B::arq, &ArqConfig::t_reassembly_ms>("t_reassembly_ms", 0, 200, {
        .help = "t-Reassembly: how long the gNB waits for a missing PDU before it reports it", .clause = "TS 38.322 7.3"}),
    fields::integer<&B::arq, &ArqConfig::t_status_prohibit_ms>("t_status_prohibit_ms", 0, 2400, {
        .help = "t-StatusProhibit", .clause = "TS 38.322 7.3"}),
    fields::integer<&B::arq, &ArqConfig::max_retx>("max_retx", 1, 32, {
        .help = "maxRetxThreshold", .clause = "TS 38.322 7.4"}),
    fields::integer<&B::arq, &ArqConfig::max_unacked>("max_unacked", 32, 131072, {
        .help = "SDUs kept for retransmission", .special = "never more than the window"}),
    fields::integer<&B::arq, &ArqConfig::max_unacked_octets>("max_unacked_octets", 0, 0xffffffff, {
        .help = "Octets of these SDUs", .special = "0: no limit",
        .more = "An SDU gets a number only while one that fills the air port's `mtu` fits. One always fits."}),
};
constexpr std::array<Field, 22> kRows{
    fields::integer<&B::id>("id", 0, kMaxTeid, {
        .help = "Identity of the first bearer", .special = "0: the gNB chooses", .in = kInRequest}),
    fields::ip<&B::upf>("upf", {
        .help = "Address of the UPF, where uplink G-PDUs go",
        .more = "Its family is one that we have on N3.", .in = kBoth | kInChange | kTunnel, .required = true}),
    fields::integer<&B::uplink_teid>("ul_teid", 1, kMaxTeid, {
        .help = "TEID at the UPF, of the first bearer", .in = kBoth, .required = true}),
    fields::integer<&B::uplink_teid>("ul_teid", 1, kMaxTeid, {
        .help = "TEID at the UPF", .in = kInChange | kTunnel, .required = true}),
    fields::integer<&B::dl_teid>("dl_teid", 1, kMaxTeid, {
        .help = "TEID that the UPF sends to, of the first bearer, where somebody else chose it",
        .special = "absent: the identity",
        .more = "It goes up by one like `ul_teid`, and counts against `foreign_teids`.", .in = kBoth}),
    fields::integer<&B::dl_teid>("dl_teid", 1, kMaxTeid, {
        .help = "TEID that the UPF sends to, where somebody else chose it", .special = "absent: the identity",
        .more = "It counts against `foreign_teids`.", .in = kTunnel}),
    fields::integer<&B::qfi>("qfi", 0, 63, {
        .help = "QoS flow of packets without one", .clause = "TS 38.415 5.5.3.3", .in = kEnds | kInChange | kDrb}),
    fields::word_by_functions<kRlcNames, B, rlc_of, set_rlc>("rlc", {
        .help = "RLC mode and SN length", .clause = "TS 38.322 6.2.2", .in = kEnds | kDrb}),
    fields::one_number<kPdcpSnBits, &B::pdcp_sn_bits>("pdcp_sn", {
        .help = "PDCP SN length", .clause = "TS 38.323 6.2.2", .in = kEnds | kDrb}),
    fields::flags<B>("sdap", kSdap, {
        .help = "SDAP headers, of both directions or of each", .clause = "TS 37.324 5.1",
        .more = "`true` and `false` stand for both.", .in = kEnds | kDrb}),
    fields::integer<&B::poll_pdu>("poll_pdu", 0, 0xffff, {
        .help = "pollPDU: RLC AM asks for a STATUS after this number of PDUs",
        .clause = "TS 38.322 5.3.3.2", .special = "0: never", .in = kEnds | kInChange | kDrb}),
    fields::ipv4<&B::ue_ipv4>("ue_ipv4", {.help = "IPv4 address of the UE, of the first bearer", .in = kEnds}),
    fields::ipv4<&B::ue_ipv4>("ue_ipv4", {.help = "IPv4 address of the UE", .in = kTunnel}),
    fields::ipv6<&B::ue_ipv6>("ue_ipv6", {.help = "IPv6 address of the UE, of the first bearer", .in = kEnds}),
    fields::ipv6<&B::ue_ipv6>("ue_ipv6", {.help = "IPv6 address of the UE", .in = kTunnel}),
    fields::flag<&B::require_psc>("require_psc", {
        .help = "Drop a downlink G-PDU without a PDU Session Container", .special = "else it gets the bearer's qfi",
        .in = kBoth | kTunnel, .brief = true}),
    fields::optional_group<&B::n3_reorder>("n3_reorder", kReorder, {
        .help = "Deliver downlink G-PDUs with sequence numbers in order", .special = "absent: as they come",
        .more = "See [gtpu.md](gtpu.md).", .option = "reorder", .in = kBoth | kDrb}),
    fields::optional_group<&B::security>("security", kSecurity, {
        .help = "PDCP with ciphering, integrity protection and in-order delivery", .special = "absent: none of them",
        .more = "See [security.md](security.md).", .in = kBoth}),
    fields::optional_group<&B::ecn>("ecn", kEcn, {
        .help = "Mark ECN-capable downlink packets that find a long queue", .special = "absent: no marks",
        .more = "For AM bearers on a worker with baas inline or process. See [ecn.md](ecn.md).", .in = kBoth | kDrb}),
    fields::optional_group<&B::security>("security", kSecurityOfDrb, {
        .help = "PDCP with ciphering, integrity protection and in-order delivery", .special = "absent: none of them",
        .more = "See [security.md](security.md).", .in = kDrb}),
    fields::group_with<B, is_am>("am", kAm, "stands at a bearer that is not AM", "rlc", "am12 or am18", {
        .help = "RLC AM with retransmission, on a worker with baas inline or process",
        .more = "See [rlc.md](rlc.md).", .option = fields::kNoOption, .in = kBoth | kDrb}),
    fields::text<&B::card>("card", "the name of a card", {
        .help = "Card of the section cards that serves the bearers", .special = "absent: the host",
        .more = "[cards.md](cards.md) says which bearers can be there.", .in = kBoth | kDrb}),
};
// clang-format on

}  // namespace

fields::Fields<BearerConfig> bearer_fields(BearerKeys in) {
  constexpr fields::Fields<BearerConfig> kAll(kRows);
  const bool is_whole = in == kInFile || in == kInRequest || in == kOfSession || in == kOfDrb;
  return is_whole ? kAll.where(in) : kAll.where(in).optional();
}

}  // namespace splitplane::ran
