// What a gNB worker and the buffering service tell each other, in messages of 16 octets over two rings, one in each
// direction. A worker keeps what it sent in its ledger, and the service keeps the windows: it knows slots of the ledger
// and SNs, and never touches a packet. So a service that dies leaves nothing behind but rings, and the worker tells the
// next one everything anew (docs/design/baas.md).
#pragma once

#include <rte_ring.h>
#include <rte_ring_elem.h>

#include <array>
#include <cstdint>
#include <cstring>

#include "wire/bytes.h"

namespace splitplane::baas {

inline constexpr std::uint32_t kVersion = 2;  // of these messages and of the shared memory

enum class Kind : std::uint8_t {
  // To the service.
  kOpen = 1,        // `bearer` begins anew at `sn`: what the service kept of it is forgotten. bytes: incarnation
  kClose,           // `bearer` is gone, and its number is free
  kCopy,            // SDU `sn` of `bytes` octets was sent and lies in `slot`
  kSkip,            // `slot` SNs from `sn` on were sent and acknowledged long ago
  kLost,            // `slot` SDUs from `sn` on were sent, and there is no copy of them
  kStatus,          // a STATUS PDU of `bytes` octets: eight here, the others in the elements behind
  kForgetAttempts,  // the peer of `bearer` could not answer until now
  // To the worker.
  kSend,          // send `slot` again; kPoll: with P
  kRelease,       // up to three slots in `bearer`, `sn` and `slot`, as many as `flags` says
  kAcknowledged,  // TX_Next_Ack is `sn`, the highest ACK_SN `slot`. bytes: incarnation
  kFailed,        // an SDU reached maxRetxThreshold; kPeerLost: no poll was answered; kCopyGone: the peer misses an SDU
                  // of which there is no copy. bytes: incarnation
  kTellAgain,     // SDU `sn` found no memory; now there is some: tell it and those after it again. bytes: incarnation
};

// Flags of kCopy and kSend.
inline constexpr std::uint8_t kPoll = 1;
inline constexpr std::uint8_t kResend = 2;  // the peer does not have it: send it again at once
inline constexpr std::uint8_t kOfCard = 4;  // a card polls as it counts: maybe no poll waits for an answer
// Flags of kAcknowledged and kFailed.
inline constexpr std::uint8_t kNothingUnacked = 1, kHasHoles = 2;
inline constexpr std::uint8_t kPeerLost = 1, kCopyGone = 2;

struct Message {
  Kind kind = Kind::kOpen;
  std::uint8_t flags = 0;
  std::uint16_t bytes = 0;
  std::uint32_t bearer = 0;  // a number that the worker chose, dense on each of its channels
  std::uint32_t sn = 0;      // without the modulus
  std::uint32_t slot = 0;    // index of the ledger and, above it, generation
};
static_assert(sizeof(Message) == 16);

// What kOpen says beside its SN.
struct Opening {
  std::uint8_t sn_bits = 0, max_retx = 0;
  std::uint16_t t_poll_retransmit_ms = 0;

  [[nodiscard]] static Opening of(const Message& m) {
    return {m.flags, static_cast<std::uint8_t>(m.slot >> 16), static_cast<std::uint16_t>(m.slot)};
  }
  void put(Message& m) const {
    m.flags = sn_bits;
    m.slot = std::uint32_t{max_retx} << 16 | t_poll_retransmit_ms;
  }
};

inline constexpr unsigned kInlineOctets = 8;       // of a STATUS PDU, in its first message
inline constexpr unsigned kLongestStatus = 9'000;  // octets
// How many elements a STATUS PDU takes.
[[nodiscard]] constexpr unsigned status_elements(std::size_t bytes) {
  const std::size_t rest = bytes > kInlineOctets ? bytes - kInlineOctets : 0;
  return 1 + static_cast<unsigned>((rest + sizeof(Message) - 1) / sizeof(Message));
}
inline constexpr unsigned kMostElements = status_elements(kLongestStatus);

// How long, in ms, an end sleeps at most that the other end cannot wake: then it looks at the rings.
inline constexpr std::uint64_t kBlindSleepMs = 1;

// The two rings between a worker and a core of the service. Each has one producer and one consumer.
struct Channel {
  rte_ring* to_service = nullptr;
  rte_ring* to_worker = nullptr;
};

[[nodiscard]] inline unsigned receive(rte_ring* ring, Message* to, unsigned n) {
  return rte_ring_sc_dequeue_burst_elem(ring, to, sizeof(Message), n, nullptr);
}
// All or none.
[[nodiscard]] inline bool send(rte_ring* ring, const Message* from, unsigned n) {
  return rte_ring_sp_enqueue_bulk_elem(ring, from, sizeof(Message), n, nullptr) == n;
}

}  // namespace splitplane::baas
