// What transmitter and receiver of PDCP share: the configuration of a bearer, and its keys as the packet path needs
// them. Time is injected, in ticks of a clock that the owner chooses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "base/types.h"
#include "crypto/job.h"
#include "crypto/key_store.h"
#include "ran/rlc/types.h"
#include "wire/pdcp.h"

namespace splitplane::ran::pdcp {

using rlc::kNever;
using rlc::Time;
using wire::MutableOctets;
using wire::Octets;

// `now` + `duration`; kNever if the clock does not reach it.
[[nodiscard]] constexpr Time later(Time now, Time duration) {
  return duration >= kNever - now ? kNever : now + duration;
}

// State variables reach this value and no COUNT does: RX_NEXT would leave 32 bits otherwise (TS 38.323 7.1).
inline constexpr std::uint32_t kLastCount = 0xFFFFFFFF;

// Window_Size (TS 38.323 7.2): half the number space.
[[nodiscard]] constexpr std::uint32_t window_size(unsigned sn_bits) {
  return 1U << (sn_bits - 1);
}
[[nodiscard]] constexpr std::uint32_t sn_of(std::uint32_t count, unsigned sn_bits) {
  return count & ((1U << sn_bits) - 1);
}

struct Config {
  BearerId id{};
  std::uint8_t drb = 1;        // DRB identity, 1 to 32; BEARER is one less (TS 38.323 5.8, 5.9)
  RlcMode rlc = RlcMode::kAm;  // AM or UM
  Direction sends = Direction::kDownlink;
  std::uint8_t tx_sn_bits = 18, rx_sn_bits = 18;  // 12 or 18
  bool tx_sdap_header = false, rx_sdap_header = false;
  bool out_of_order_delivery = false;
  bool status_report_required = false;  // on re-establishment and data recovery of an AM bearer
  Time t_reordering = kNever;           // kNever: infinity; 0 runs out at once
  Time discard_timer = kNever;          // kNever: infinity
  std::uint32_t max_in_flight = 0;      // AM: COUNTs from the oldest in flight to TX_NEXT; 0: Window_Size
  std::uint32_t max_waiting = 128;      // SDUs that wait while the entity is suspended or sends again
  std::uint32_t max_held = 4096;        // SDUs that wait for one with a lower COUNT
  // The entity tells RRC once when TX_NEXT or RX_NEXT reaches it. Beyond kLastCount: never.
  std::uint64_t count_threshold = kLastCount - (1U << 20);
  std::uint32_t count_stop = kLastCount;  // the first COUNT that is never sent

  [[nodiscard]] bool is_am() const { return rlc == RlcMode::kAm; }
  // Why no entity can have this configuration; empty if one can.
  [[nodiscard]] std::string_view refuse() const {
    const auto is_length = [](unsigned bits) { return bits == 12 || bits == 18; };
    if (!is_length(tx_sn_bits) || !is_length(rx_sn_bits)) return "A PDCP SN has 12 or 18 bits.";
    if (drb < 1 || drb > 32) return "A DRB identity is 1 to 32.";
    if (max_waiting == 0) return "At least one SDU has to wait while the entity is suspended.";
    if (max_held == 0) return "At least one SDU has to wait for one with a lower COUNT.";
    return {};
  }
};

// The keys of a bearer. A KeyStore has made both; NEA0 and NIA0 are keys too. The owner frees keys when no entity needs
// them any more: see Transmitter::needs_retired_keys().
struct Security {
  const crypto::CipherKey* cipher = nullptr;
  const crypto::IntegrityKey* integrity = nullptr;  // nullptr: no integrity protection, so no MAC-I

  friend bool operator==(const Security&, const Security&) = default;
  [[nodiscard]] std::uint8_t mac_bytes() const { return integrity == nullptr ? 0 : wire::pdcp::kMacIBytes; }
  // True if an algorithm that is not null has the same key in both.
  [[nodiscard]] bool protects_alike(const Security& other) const {
    if (crypto::KeyStore::protect_alike(*cipher, *other.cipher)) return true;
    return integrity != nullptr && other.integrity != nullptr &&
           crypto::KeyStore::protect_alike(*integrity, *other.integrity);
  }
};

// What turns an SDU of one direction of a bearer into a PDU and back, in the first line of an entity.
struct Cover {
  Cover(const Security& security, unsigned sn_bits, bool sdap_header, std::uint8_t drb, Direction sends)
      : header_bytes(wire::pdcp::header_bytes(sn_bits)),
        clear_bytes(sdap_header ? 1 : 0),
        bearer(static_cast<std::uint8_t>(drb - 1)),
        direction(sends) {
    set(security);
  }

  void set(const Security& security) {
    keys = security;
    mac_bytes = security.mac_bytes();
    ciphers = security.cipher->algorithm() != crypto::CipherAlgorithm::nea0;
    signs = security.integrity != nullptr && security.integrity->algorithm() != crypto::IntegrityAlgorithm::nia0;
    lends = security.integrity != nullptr && security.integrity->algorithm() == crypto::IntegrityAlgorithm::nia2;
  }
  [[nodiscard]] std::size_t overhead() const { return std::size_t{header_bytes} + mac_bytes; }
  void prefetch_keys() const {
    if (ciphers) keys.cipher->prefetch();
    if (signs) keys.integrity->prefetch();
  }

  Security keys;
  std::uint8_t header_bytes;
  std::uint8_t clear_bytes;  // of the SDU: its SDAP header, or an SDAP control PDU, stays clear (TS 38.323 5.8)
  std::uint8_t mac_bytes = 0;
  std::uint8_t bearer;
  Direction direction;
  bool ciphers = false;  // not NEA0
  bool signs = false;    // not NIA0, whose MAC-I is zeros (TS 33.501 D.1)
  bool lends = false;    // NIA2, which works faster if it may use kLentBytes before the message
};
static_assert(sizeof(Cover) == 24);

// What NIA2 in place needs around a PDU with its MAC-I (crypto::IntegrityJob::room_before).
inline constexpr std::size_t kLentBytes = 8;
inline constexpr std::size_t kReadBehind = crypto::kReadAfter - wire::pdcp::kMacIBytes;

// Why a procedure was refused. A refused procedure changes nothing.
enum class Refusal : std::uint8_t {
  kNone,
  kNotAm,          // the procedure is for AM bearers
  kSuspended,      // the entity is suspended
  kKeyReused,      // a COUNT would protect something else under the key that the entity has
  kNotEmpty,       // the entity stores SDUs
  kCountGoesBack,  // a COUNT would be used again
  kOutOfRange,     // a COUNT has no place in the window, or it is the last one
  kSendingAgain,   // the SDUs of the procedure before are not all sent again yet
  kCountTwice,     // two SDUs have one COUNT
  kNoMemory,       // there is no place for what is forwarded
};

}  // namespace splitplane::ran::pdcp
