// The headers that nFAPI puts before a FAPI body when it crosses a network, and the messages that it adds (SCF-225, in
// the form that open-nFAPI and OpenAirInterface send). All fields are in network order.
//
//   P5: PHY ID(16) message ID(16) length of the body(32) spare(16)
//   P7: PHY ID(16) message ID(16) length of the datagram(32) M(1) segment(7) sequence(8) checksum(32)
//       transmit timestamp(32)
//
// M is 1 in all segments of a message but the last. p7_checksum.h has the rule of the checksum; 0 says that there is
// none.
#pragma once

#include "phy/fapi/codec.h"
#include "phy/fapi/message_id.h"
#include "phy/fapi/p7_checksum.h"

namespace splitplane::fapi {

inline constexpr std::size_t kP5HeaderBytes = 10;
inline constexpr std::size_t kP7HeaderBytes = 18;
inline constexpr std::size_t kMaxSegments = 128;
inline constexpr std::size_t kChecksumAt = 10, kTimestampAt = 14;

struct P5Header {
  std::uint16_t phy_id = 0;
  std::uint16_t message_id = 0;

  friend bool operator==(const P5Header&, const P5Header&) = default;
};

struct P7Header {
  std::uint16_t phy_id = 0;
  std::uint16_t message_id = 0;
  std::uint32_t message_length = 0;  // of this datagram, with the header
  bool more = false;
  std::uint8_t segment = 0;
  std::uint8_t sequence = 0;
  std::uint32_t checksum = 0;
  std::uint32_t transmit_timestamp = 0;  // microseconds since SFN 0, slot 0: 0..10239999

  friend bool operator==(const P7Header&, const P7Header&) = default;
};

enum class ChecksumMode : std::uint8_t {
  kIgnored,   // neither written nor verified
  kIfThere,   // written; verified where it is not 0
  kRequired,  // written; a message without it is refused
};

// A datagram, taken apart. `body` points into it.
template <class Header>
struct Parsed {
  Header header;
  Octets body;
  Reason reason = Reason::ok;
};

[[nodiscard]] Parsed<P5Header> parse_p5(Octets datagram);
// A segment's body is a part of the message's.
[[nodiscard]] Parsed<P7Header> parse_p7(Octets datagram, ChecksumMode mode);

// Writes the header with the checksum as it is in `header`.
void write_p7_header(std::uint8_t* to, const P7Header& header);

// Writes a P5 datagram with the whole message.
template <class Message>
[[nodiscard]] Written write_p5(MutableOctets out, std::uint16_t phy_id, const Message& message) {
  if (out.size() < kP5HeaderBytes) return {0, Reason::no_room};
  const Written body = write_body(out.subspan(kP5HeaderBytes), message);
  if (body.reason != Reason::ok) return body;
  wire::store_be16(out.data(), phy_id);
  wire::store_be16(out.data() + 2, static_cast<std::uint16_t>(Message::kId));
  wire::store_be32(out.data() + 4, static_cast<std::uint32_t>(body.bytes));
  wire::store_be16(out.data() + 8, 0);
  return {kP5HeaderBytes + body.bytes, Reason::ok};
}

// DL_NODE_SYNC: the VNF's half of an exchange of times, as in IEEE 1588.
struct DlNodeSync {
  static constexpr MessageId kId = MessageId::kDlNodeSync;

  std::uint32_t t1 = 0;             // when it was sent, microseconds of the VNF since SFN 0, slot 0
  std::int32_t delta_sfn_slot = 0;  // slots that the PNF shall shift its count

  template <class Io, class Self>
  static void fields(Io& io, Self& m) {
    io("t1", m.t1);
    io("delta_sfn_slot", m.delta_sfn_slot);
  }

  friend bool operator==(const DlNodeSync&, const DlNodeSync&) = default;
};

// UL_NODE_SYNC: the PNF's answer.
struct UlNodeSync {
  static constexpr MessageId kId = MessageId::kUlNodeSync;

  std::uint32_t t1 = 0;  // of DL_NODE_SYNC
  std::uint32_t t2 = 0;  // when that arrived, microseconds of the PNF
  std::uint32_t t3 = 0;  // when this was sent, microseconds of the PNF

  template <class Io, class Self>
  static void fields(Io& io, Self& m) {
    io("t1", m.t1);
    io("t2", m.t2);
    io("t3", m.t3);
  }

  friend bool operator==(const UlNodeSync&, const UlNodeSync&) = default;
};

// TIMING.info: when the messages of the last slots arrived at the PNF. Times are microseconds; a delay is how long
// before its deadline the latest message arrived, negative when it was late.
struct TimingInfo {
  static constexpr MessageId kId = MessageId::kTimingInfo;

  std::uint32_t last_sfn = 0;
  std::uint32_t last_slot = 0;
  std::uint32_t time_since_last_timing_info = 0;  // milliseconds
  std::uint32_t dl_tti_jitter = 0;
  std::uint32_t tx_data_request_jitter = 0;
  std::uint32_t ul_tti_jitter = 0;
  std::uint32_t ul_dci_jitter = 0;
  std::int32_t dl_tti_latest_delay = 0;
  std::int32_t tx_data_request_latest_delay = 0;
  std::int32_t ul_tti_latest_delay = 0;
  std::int32_t ul_dci_latest_delay = 0;
  std::int32_t dl_tti_earliest_arrival = 0;
  std::int32_t tx_data_request_earliest_arrival = 0;
  std::int32_t ul_tti_earliest_arrival = 0;
  std::int32_t ul_dci_earliest_arrival = 0;

  template <class Io, class Self>
  static void fields(Io& io, Self& m) {
    io("last_sfn", m.last_sfn);
    io("last_slot", m.last_slot);
    io("time_since_last_timing_info", m.time_since_last_timing_info);
    io("dl_tti_jitter", m.dl_tti_jitter);
    io("tx_data_request_jitter", m.tx_data_request_jitter);
    io("ul_tti_jitter", m.ul_tti_jitter);
    io("ul_dci_jitter", m.ul_dci_jitter);
    io("dl_tti_latest_delay", m.dl_tti_latest_delay);
    io("tx_data_request_latest_delay", m.tx_data_request_latest_delay);
    io("ul_tti_latest_delay", m.ul_tti_latest_delay);
    io("ul_dci_latest_delay", m.ul_dci_latest_delay);
    io("dl_tti_earliest_arrival", m.dl_tti_earliest_arrival);
    io("tx_data_request_earliest_arrival", m.tx_data_request_earliest_arrival);
    io("ul_tti_earliest_arrival", m.ul_tti_earliest_arrival);
    io("ul_dci_earliest_arrival", m.ul_dci_earliest_arrival);
  }

  friend bool operator==(const TimingInfo&, const TimingInfo&) = default;
};

}  // namespace splitplane::fapi
