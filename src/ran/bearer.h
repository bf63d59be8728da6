// The packet path's view of a bearer: one 64-octet hot line per direction. The control path makes the lines from a
// BearerConfig, and one worker owns them. Differences between bearers are data here (templates, masks, shifts), never
// branches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/types.h"
#include "ran/bearer_config.h"
#include "ran/count_lease.h"

namespace splitplane::ran {

// RLC, PDCP and SDAP headers of a complete SDU have at most 3 + 3 + 1 octets together, so they fit one 64-bit word. The
// whole header is composed there: constant bits | RLC SN | PDCP SN | SDAP octet.
struct alignas(64) BearerDownlink {
  // Constant bits of RLC | PDCP | SDAP, right-aligned, most significant octet first. For a free line see make_released
  // and make_on_card; for a session of several bearers see session_line.h.
  std::uint64_t header = 0;
  std::uint32_t poll_bit = 0;          // the P bit of an AMD PDU (TS 38.322 6.2.3.6), kPollShift to the right of its
                                       // place in `header`; 0 when this bearer never polls
  std::uint32_t upf = 0;               // key of the UPF's address (source_key.h): G-PDUs must come from it
  std::uint64_t received = 0;          // SDUs that the TEID led here: numbered and sent to the air
  std::uint64_t bytes = 0;             // octets of those SDUs
  std::uint32_t id = 0;                // the downlink TEID; 0: free line
  std::uint32_t pdcp_tx_next = 0;      // TX_NEXT, a COUNT (TS 38.323 7.1)
  std::uint32_t rlc_tx_next = 0;       // TX_Next (TS 38.322 7.1), kept without the modulus
  std::uint32_t airhdr = 0;            // first four octets of airhdr, in memory order
  std::uint16_t poll_pdu = 0;          // pollPDU (TS 38.322 5.3.3.2)
  std::uint16_t pdu_without_poll = 0;  // PDU_WITHOUT_POLL
  std::uint8_t header_bytes = 0;       // of RLC + PDCP + SDAP: 2 to 7
  std::uint8_t rlc_sn_bits = 0, rlc_shift = 0;
  std::uint8_t pdcp_sn_bits = 0;
  std::uint32_t count_limit = 0;  // the COUNT at which numbering stops to look for the reason: see count_lease.h
  std::uint8_t pdcp_shift = 0;
  std::uint8_t sdap_mask = 0;  // 0x7f with an SDAP header, 0 without
  std::uint8_t qfi = 0;        // for G-PDUs without a PDU Session Container
  std::uint8_t options = 0;  // kRequirePsc, kReorder: read for slow-path G-PDUs only; kAcknowledged; kOnCard, kSession
};
static_assert(sizeof(BearerDownlink) == 64);
inline constexpr unsigned kPollShift = 24;  // an AMD PDU's headers have at least four octets
inline constexpr std::uint8_t kRequirePsc = 1, kReorder = 2, kAcknowledged = 4, kOnCard = 8, kSession = 16;
// PDCP with security serves the bearer (room `secured`). Its line stands at its limit all the time, so the fast
// path never numbers its SDUs. Its pdcp_tx_next repeats what PDCP says, for views and for the journal.
inline constexpr std::uint8_t kSecured = 32;
// The bearer has the key `ecn`. Its line stands at its limit all the time, too: look_at_limit marks the SDU.
inline constexpr std::uint8_t kMarked = 64;

struct alignas(64) BearerUplink {
  std::uint64_t received = 0;       // data PDUs that airhdr led here
  std::uint64_t bytes = 0;          // octets of their SDUs
  std::uint64_t constant_mask = 0;  // the bits of RLC | PDCP | SDAP, right-aligned, that a complete data PDU has fixed:
  std::uint64_t constant = 0;       // RLC D/C and SI, PDCP D/C, SDAP D/C
  std::uint32_t id = 0;             // the bearer id in airhdr; 0: free line
  std::uint32_t uplink_teid = 0;    // TEID at the UPF
  std::uint32_t pdcp_rx_next = 0;   // RX_NEXT (TS 38.323 7.1): highest COUNT received, plus one
  std::uint32_t rlc_rx_next_highest = 0;  // RX_Next_Highest (TS 38.322 7.1), kept without the modulus
  std::uint32_t control = 0;              // RLC control PDUs handed off to the copies
  std::uint16_t peer = 0;                 // the UPF's place in the worker's table of peers
  std::uint8_t airhdr_modes = 0;          // the second octet of airhdr that this bearer's frames carry
  std::uint8_t header_bytes = 0;          // of RLC + PDCP + SDAP
  std::uint8_t rlc_sn_bits = 0, rlc_shift = 0;
  std::uint8_t pdcp_sn_bits = 0, pdcp_shift = 0;
  std::uint8_t rlc_dc = 0;     // D/C bit of RLC's first octet: 0x80 in AM, 0 in UM and TM
  std::uint8_t sdap_mask = 0;  // 0x3f with an SDAP header, 0 without
  std::uint8_t qfi = 0;        // without an SDAP header: the QFI for N3; with one: 0
  std::uint8_t home_peer = 0;  // where `peer` returns to when the slow path is over
};
static_assert(sizeof(BearerUplink) == 64);

// Memory per bearer on a worker. The control path has a BearerConfig in addition.
inline constexpr std::size_t kHotBytesPerBearer = sizeof(BearerDownlink) + sizeof(BearerUplink);
static_assert(kHotBytesPerBearer == 128);

// The octet of airhdr that names the RLC epoch (wire/airhdr.h).
inline void set_epoch(BearerDownlink& b, std::uint8_t epoch) {
  std::memcpy(reinterpret_cast<std::uint8_t*>(&b.airhdr) + 3, &epoch, 1);
}

// The epoch after this one, in eight bits. Epoch 0 belongs to a bearer that never began anew.
[[nodiscard]] constexpr std::uint8_t next_epoch(std::uint8_t epoch) {
  return epoch == 0xff ? std::uint8_t{1} : static_cast<std::uint8_t>(epoch + 1);
}
// Whether an epoch is one of the 127 before another one.
[[nodiscard]] constexpr bool is_epoch_before(std::uint8_t epoch, std::uint8_t other) {
  return epoch != other && static_cast<std::uint8_t>(other - epoch) < 0x80;
}

// True if no further SDU may be numbered before the reason for the limit is known. The reason is the end of COUNTs or
// of their lease, a lease to renew, or a peer that must acknowledge more.
[[nodiscard]] inline bool is_at_limit(const BearerDownlink& b) {
  return b.pdcp_tx_next == b.count_limit;
}

// No PDU passes the test of the fixed bits, so the fast path never delivers one. Each other line has fixed bits.
[[nodiscard]] inline bool is_secured(const BearerUplink& b) {
  return b.constant_mask == 0 && b.id != 0;
}

// A bearer of a session with several ones. The headers have at most 56 bits, so this bit of `constant` equals none of
// theirs, and the fast path delivers no PDU of the bearer either.
inline constexpr std::uint64_t kSessionBit = 1ULL << 63;
[[nodiscard]] inline bool is_of_session(const BearerUplink& b) {
  return (b.constant & kSessionBit) != 0;
}

// Makes the hot lines of a new bearer. All numbers start at 0, and COUNTs may go up to kCountEnd. `peer` is the UPF's
// place in the worker's table.
[[nodiscard]] BearerDownlink make_downlink(const BearerConfig& config);
[[nodiscard]] BearerUplink make_uplink(const BearerConfig& config, PeerId peer);

// A line whose bearer was just released. It is free, but its former TEID can still be told from a TEID that no bearer
// ever had.
[[nodiscard]] BearerDownlink make_released(std::uint32_t teid);
[[nodiscard]] inline bool is_released(const BearerDownlink& line, std::uint32_t teid) {
  return line.id == 0 && line.header == teid && teid != 0 && line.options == 0;
}

// The line of a bearer that a card numbers. It is free, so the fast path never uses it. The path for packets without a
// bearer recognises it. It still counts the packets that came here.
[[nodiscard]] BearerDownlink make_on_card(const BearerConfig& config);
[[nodiscard]] inline bool is_on_card(const BearerDownlink& line, std::uint32_t teid) {
  return line.id == 0 && line.header == teid && line.options == kOnCard;
}

// Such a line counts how many packets may go back to the card before the card's lease is known again
// (returns/card_returns.h). It has no numbers of its own, so two of these have the place. Above the mark a packet needs
// no look at anything else.
[[nodiscard]] inline std::uint32_t& card_credit(BearerDownlink& line) {
  return line.rlc_tx_next;
}
[[nodiscard]] inline std::uint32_t& card_mark(BearerDownlink& line) {
  return line.count_limit;
}
// Returns false if the credit does not suffice, or if CardReturns must look at the bearer first.
[[nodiscard]] inline bool take_card_credit(BearerDownlink& line) {
  if (card_credit(line) <= card_mark(line)) return false;
  --card_credit(line);
  return true;
}

// Gives a bearer's changed lines the numbers and counters of the lines that they replace.
void carry_over(const BearerDownlink& old, BearerDownlink& changed);
void carry_over(const BearerUplink& old, BearerUplink& changed);

// The second octet of airhdr: direction, RLC mode, SN lengths, SDAP (wire/airhdr.h).
[[nodiscard]] std::uint8_t airhdr_modes(const BearerConfig& config, Direction direction);

}  // namespace splitplane::ran
