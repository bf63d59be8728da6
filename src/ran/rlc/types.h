// What the RLC entities share: injected time, configurations, and the PDU that an entity gives to the lower layer.
//
// Sequence numbers are kept without the modulus, as 32-bit counters. 2^n divides 2^32, so "in window order" (TS 38.322
// 7.1) is an unsigned distance from the window's base. The octets on the wire carry the low n bits.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include "base/types.h"
#include "buf/packet_buffer.h"
#include "wire/bytes.h"
#include "wire/rlc.h"

namespace splitplane::ran::rlc {

using wire::MutableOctets;
using wire::Octets;

// Ticks of a clock that the owner chooses (TSC, nanoseconds, milliseconds). It never goes back.
using Time = std::uint64_t;
inline constexpr Time kNever = std::numeric_limits<Time>::max();

// One of the timers of TS 38.322 7.3.
class Timer {
 public:
  void start(Time now, Time duration) { expiry_ = now + duration; }
  void stop() { expiry_ = kNever; }
  [[nodiscard]] bool running() const { return expiry_ != kNever; }
  [[nodiscard]] bool expired(Time now) const { return expiry_ <= now && running(); }
  [[nodiscard]] Time expiry() const { return expiry_; }

 private:
  Time expiry_ = kNever;
};

struct AmConfig {
  std::uint8_t sn_bits = 18;    // 12 or 18
  std::uint8_t max_retx = 32;   // maxRetxThreshold, 1..32
  std::uint16_t poll_pdu = 32;  // pollPDU; 0: infinity
  std::uint32_t poll_byte = 0;  // pollByte, octets; 0: infinity
  Time t_poll_retransmit = 0, t_reassembly = 0, t_status_prohibit = 0;
  std::uint32_t max_queued = 4096;  // SDUs that wait for their first transmission
  Time repair_unit = 1;             // ticks per unit of the time-to-repair histogram
  bool whole_sdus = false;          // header mode: an SDU is one PDU, so a NACK of a part means the whole SDU
};

struct UmConfig {
  std::uint8_t sn_bits = 12;  // 6 or 12
  Time t_reassembly = 0;
  std::uint32_t max_queued = 4096;
};

// AM_Window_Size and UM_Window_Size (TS 38.322 7.2): half the number space.
[[nodiscard]] constexpr std::uint32_t window_size(unsigned sn_bits) {
  return 1U << (sn_bits - 1);
}
[[nodiscard]] constexpr std::uint32_t sn_mask(unsigned sn_bits) {
  return (1U << sn_bits) - 1;
}
// The number at or above `base` whose low bits are `sn`.
[[nodiscard]] constexpr std::uint32_t from_base(std::uint32_t base, std::uint32_t sn, unsigned sn_bits) {
  return base + ((sn - base) & sn_mask(sn_bits));
}
// True if `a` is before `b` in window order; they are at most half of 2^32 apart.
[[nodiscard]] constexpr bool before(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::int32_t>(a - b) < 0;
}

// The longest SDU: SO has 16 bits, and lengths are counted in the same (TS 38.322 6.2.3.5).
inline constexpr std::size_t kMaxSduBytes = 65535;

// A data PDU for the lower layer: the header, and the place of its data in the SDU's buffer. The entity that may send
// the data again shares this buffer. So the lower layer copies it (a MAC transport block) or chains it.
template <buf::Keepable B>
struct Pdu {
  B sdu;
  std::uint16_t offset = 0, length = 0;  // octets [offset, offset + length) of the SDU
  std::uint8_t header_bytes = 0;         // 0: no PDU
  std::array<std::uint8_t, wire::rlc::kMaxHeaderBytes> header{};

  explicit operator bool() const { return static_cast<bool>(sdu); }
  [[nodiscard]] std::size_t size() const { return std::size_t{header_bytes} + length; }
  [[nodiscard]] Octets data() const { return buf::octets(sdu).subspan(offset, length); }
  // Returns the octets written: size(), or 0 if `out` is shorter.
  std::size_t write(MutableOctets out) const {
    if (out.size() < size()) return 0;
    std::copy_n(header.begin(), header_bytes, out.begin());
    const Octets from = data();
    std::copy(from.begin(), from.end(), out.begin() + header_bytes);
    return size();
  }
};

// Octets of a received PDU that belong to one SDU: [skip, skip + length) of its buffer.
template <buf::Keepable B>
struct Part {
  B pdu;
  std::uint16_t skip = 0, length = 0;
  [[nodiscard]] Octets data() const { return buf::octets(pdu).subspan(skip, length); }
};

// What became of a received data PDU.
enum class Received : std::uint8_t {
  kDelivered,      // the PDU completed its SDU
  kStored,         // the PDU is a segment, and it was kept
  kDuplicate,      // the PDU brought nothing new
  kOutsideWindow,  // TS 38.322 5.2.3.2.2 (AM), 5.2.2.2.2 (UM)
  kContradiction,  // the PDU's octets or its SDU's length contradict what is held
  kNoMemory,       // the PDU is treated as lost
  kRefused,        // the PDU is no data PDU of this entity's format
};

// What became of a received STATUS PDU.
enum class StatusResult : std::uint8_t {
  kTaken,      // the entity acted on it
  kStale,      // ACK_SN is below TX_Next_Ack, because a later STATUS was faster
  kMalformed,  // its form is wrong, or it names SDUs that were not sent
};

}  // namespace splitplane::ran::rlc
