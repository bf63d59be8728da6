// What an SDAP entity says about one SDU or PDU. It holds no buffers: the caller writes the header octet in front of
// the SDU, or takes it off.
#pragma once

#include <cstdint>

#include "ran/sdap/counters.h"
#include "ran/sdap/drb.h"

namespace splitplane::ran::sdap {

// Where an SDU goes. `drb` is {} if it was dropped.
struct Sent {
  Drop drop = Drop::none;
  DrbId drb{};
  std::uint8_t header_bytes = 0;  // 0 or 1
  std::uint8_t header = 0;        // the octet in front of the SDU
};

// An end-marker control PDU that the UE shall send now (TS 37.324 6.2.3): one octet on `drb`; {} if there is none.
struct EndMarker {
  DrbId drb{};
  std::uint8_t octet = 0;

  explicit operator bool() const { return drb != DrbId{}; }
};

// What a UE received.
struct ReceivedByUe {
  Drop drop = Drop::none;
  bool has_qfi = false;  // false: the DRB has no DL header, and only NAS can find the flow
  bool rqi = false;      // NAS shall hear of it (5.4)
  Qfi qfi{};
  std::uint8_t header_bytes = 0;  // to take off
  EndMarker end_marker;           // because the PDU moved its flow (5.3.2)
};

// What a gNB received.
struct ReceivedByGnb {
  Drop drop = Drop::none;
  bool is_end_marker = false;  // nothing to deliver: the UE sends no more of that flow on this DRB
  Qfi qfi{};
  std::uint8_t header_bytes = 0;
};

}  // namespace splitplane::ran::sdap
