// What the control path says about one bearer (a DRB of one PDU session). The hot lines are made from it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/expected.h"
#include "base/ip_address.h"
#include "base/types.h"
#include "ran/ecn/law.h"

namespace splitplane::ran {

// In-order delivery of downlink G-PDUs that have sequence numbers (TS 29.281 5.1).
struct N3ReorderConfig {
  std::uint16_t window = 64;    // in sequence numbers: how far a packet may come before a missing one
  std::uint16_t timer_ms = 10;  // how long a missing packet is waited for

  friend bool operator==(const N3ReorderConfig&, const N3ReorderConfig&) = default;
};
inline constexpr std::uint16_t kMaxReorderWindow = 1024, kMaxReorderTimerMs = 1000;

// RLC AM with retransmission (TS 38.322 7.3, TS 38.331 RLC-Config), for bearers on a worker with `baas: inline`.
struct ArqConfig {
  std::uint16_t t_poll_retransmit_ms = 45;  // t-PollRetransmit
  std::uint16_t t_reassembly_ms = 35;       // t-Reassembly
  std::uint16_t t_status_prohibit_ms = 5;   // t-StatusProhibit
  std::uint8_t max_retx = 32;               // maxRetxThreshold
  std::uint32_t max_unacked = 4096;         // SDUs kept for retransmission, at most the window
  std::uint32_t max_unacked_octets = 0;     // octets of these SDUs; 0: no limit

  friend bool operator==(const ArqConfig&, const ArqConfig&) = default;
};

// Algorithms of TS 33.501 5.5.1 that a bearer can have. The order is that of crypto::CipherAlgorithm.
enum class Cipher : std::uint8_t { kNea0, kNea1, kNea2, kNea3 };
inline constexpr std::array<std::string_view, 4> kCipherNames{"nea0", "nea1", "nea2", "nea3"};
enum class Integrity : std::uint8_t { kNone, kNia0, kNia1, kNia2, kNia3 };
inline constexpr std::array<std::string_view, 5> kIntegrityNames{"none", "nia0", "nia1", "nia2", "nia3"};

// PDCP with security (TS 38.323 5.8, 5.9) and in-order delivery, for bearers that the host serves. The keys themselves
// stand in a file of each end (crypto/key_file.h). Configurations, answers and the journal have their number only.
struct SecurityConfig {
  Cipher cipher = Cipher::kNea2;
  Integrity integrity = Integrity::kNia2;
  std::uint32_t key = 0;                // number of the keys in the key file
  std::uint8_t drb = 1;                 // DRB identity; BEARER is one less
  std::uint16_t t_reordering_ms = 100;  // t-Reordering (TS 38.323 7.3)

  friend bool operator==(const SecurityConfig&, const SecurityConfig&) = default;
};
inline constexpr std::uint16_t kMaxReorderingMs = 3000;

// ECN marking of the downlink, for bearers whose worker keeps what the UE has not acknowledged: these alone know how
// long SDUs wait (ran/ecn).
inline constexpr std::array<std::string_view, 2> kEcnLawNames{"step", "ramp"};
struct EcnConfig {
  ecn::Scalable law = ecn::Scalable::kStep;
  std::uint32_t target_us = 5000;           // ECT(1): above this queueing time packets are marked
  std::uint32_t classic_target_us = 15000;  // ECT(0): marks hold the queue at this time

  friend bool operator==(const EcnConfig&, const EcnConfig&) = default;
};
inline constexpr std::uint32_t kMinEcnTargetUs = 500, kMaxEcnTargetUs = 1'000'000;

struct BearerConfig {
  BearerId id{};       // assigned by us, with shard and index; the UPF sends to it unless dl_teid is set
  Teid uplink_teid{};  // TEID at the UPF
  IpAddress upf;       // where uplink G-PDUs go
  Qfi qfi{9};          // for G-PDUs that carry no QFI
  RlcMode rlc_mode = RlcMode::kAm;
  std::uint8_t rlc_sn_bits = 18;   // AM 12 or 18, UM 6 or 12, TM 0 (TS 38.322 6.2.2)
  std::uint8_t pdcp_sn_bits = 18;  // 12 or 18 (TS 38.323 6.2.2)
  bool sdap_header_dl = true;      // sdap-HeaderDL (TS 37.324 5.1)
  bool sdap_header_ul = true;      // sdap-HeaderUL
  std::uint16_t poll_pdu = 32;     // pollPDU; 0: never poll (TS 38.322 5.3.3.2)
  ArqConfig arq;                   // AM
  bool acknowledged = false;       // AM with retransmission: its worker keeps sent SDUs until they are acknowledged
  bool require_psc = false;        // drops a downlink G-PDU without a PDU Session Container; false: it gets `qfi`
  std::optional<N3ReorderConfig> n3_reorder;
  std::optional<SecurityConfig> security;
  std::optional<EcnConfig> ecn;
  std::optional<IpAddress> ue_ipv4;
  std::optional<IpAddress> ue_ipv6;
  std::optional<Teid> dl_teid;  // the TEID that the UPF sends to, if another node assigned it
  std::string card;             // the card that serves it; empty: the host

  friend bool operator==(const BearerConfig&, const BearerConfig&) = default;
};

// One sentence that names the key and the allowed values if the combination is not one of TS 38.322/38.323; nothing if
// it is.
[[nodiscard]] std::optional<std::string> refuse(const BearerConfig& config);

// RLC mode and SN length in one word, and back.
inline constexpr std::array<std::string_view, 5> kRlcNames{"am18", "am12", "um12", "um6", "tm"};
[[nodiscard]] std::string rlc_name(RlcMode mode, std::uint8_t sn_bits);
[[nodiscard]] bool parse_rlc_name(const std::string& name, RlcMode& mode, std::uint8_t& sn_bits);

// TEID = instance (6 bits) | shard (8) | index (18). We assign it so that a lookup is one verified load, and a shard is
// the unit of steering.
inline constexpr unsigned kIndexBits = 18;
inline constexpr unsigned kShardBits = 8;
inline constexpr unsigned kInstanceBits = 32 - kShardBits - kIndexBits;
inline constexpr unsigned kShards = 1U << kShardBits;

[[nodiscard]] constexpr std::uint32_t index_of(std::uint32_t teid) {
  return teid & ((1U << kIndexBits) - 1);
}
[[nodiscard]] constexpr ShardId shard_of(std::uint32_t teid) {
  return ShardId{static_cast<std::uint8_t>(teid >> kIndexBits)};
}
[[nodiscard]] constexpr std::uint32_t make_teid(unsigned instance, ShardId shard, std::uint32_t index) {
  return (instance << (kIndexBits + kShardBits)) | (static_cast<std::uint32_t>(shard.value) << kIndexBits) | index;
}

}  // namespace splitplane::ran
