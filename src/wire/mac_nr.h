// The UDP framing `mac-nr`, by which Wireshark knows a MAC PDU of NR (its heuristic dissector mac_nr_udp). Any UDP
// port.
//
//   "mac-nr" | radio type | direction | RNTI type | tag value | tag value | ... | 0x01 | the MAC PDU, to the end
//   tags: 0x02 RNTI(2)  0x03 UE id(2)  0x04 unused(2)  0x05 PHR of another cell is of type 2(1)  0x06 HARQ process(1)
//         0x07 SFN(2) slot(2)
// It has no NDI and no redundancy version: a reader cannot tell a new transport block from one that was sent again.
#pragma once

#include <array>
#include <optional>

#include "base/types.h"
#include "wire/bytes.h"
#include "wire/result.h"

namespace splitplane::wire::mac_nr {

inline constexpr std::array<std::uint8_t, 6> kSignature{'m', 'a', 'c', '-', 'n', 'r'};

enum class RadioType : std::uint8_t { kFdd = 1, kTdd = 2 };
enum class RntiType : std::uint8_t {
  kNone = 0,
  kPaging = 1,
  kRandomAccess = 2,
  kCell = 3,
  kSystem = 4,
  kConfigured = 5
};

namespace tag {
inline constexpr std::uint8_t kPdu = 0x01, kRnti = 0x02, kUeId = 0x03, kUnused = 0x04, kPhrType2OtherCell = 0x05,
                              kHarqProcess = 0x06, kSlot = 0x07;
}

struct SlotInfo {
  std::uint16_t sfn = 0, slot = 0;
  friend constexpr bool operator==(const SlotInfo&, const SlotInfo&) = default;
};

// What stands before the PDU. If a tag comes twice, the last one counts, as in Wireshark.
struct Header {
  RadioType radio_type = RadioType::kFdd;
  Direction direction = Direction::kUplink;
  RntiType rnti_type = RntiType::kCell;
  std::optional<std::uint16_t> rnti, ue_id;
  std::optional<std::uint8_t> harq_process;
  std::optional<SlotInfo> slot;
  bool phr_type2_other_cell = false;
};

struct Frame {
  Header header;
  Octets pdu;  // may be empty
};

// The most octets before a PDU that write() makes.
inline constexpr std::size_t kMaxHeaderBytes = kSignature.size() + 3 + 3 + 3 + 2 + 2 + 5 + 1;

[[nodiscard]] constexpr Result<Frame> parse(Octets in) {
  constexpr std::size_t kFixed = kSignature.size() + 3;
  for (std::size_t i = 0; i < kSignature.size(); ++i) {
    if (i == in.size()) return refuse<Frame>(Reason::mac_nr_truncated);
    if (in[i] != kSignature[i]) return refuse<Frame>(Reason::mac_nr_no_signature);
  }
  if (in.size() < kFixed) return refuse<Frame>(Reason::mac_nr_truncated);
  const std::uint8_t radio = in[6], direction = in[7], rnti_type = in[8];
  if (radio < 1 || radio > 2 || direction > 1 || rnti_type > 5) return refuse<Frame>(Reason::mac_nr_bad_value);
  Frame f;
  Header& h = f.header;
  h.radio_type = static_cast<RadioType>(radio);
  h.direction = static_cast<Direction>(direction);
  h.rnti_type = static_cast<RntiType>(rnti_type);
  for (std::size_t at = kFixed; at < in.size();) {
    const std::uint8_t what = in[at++];
    const std::size_t left = in.size() - at;
    std::size_t bytes = 2;
    switch (what) {
      case tag::kPdu:
        f.pdu = in.subspan(at);
        return {f};
      case tag::kRnti:
        if (left >= 2) h.rnti = load_be16(in.data() + at);
        break;
      case tag::kUeId:
        if (left >= 2) h.ue_id = load_be16(in.data() + at);
        break;
      case tag::kUnused:
        break;
      case tag::kPhrType2OtherCell:
        bytes = 1;
        if (left >= 1) h.phr_type2_other_cell = in[at] != 0;
        break;
      case tag::kHarqProcess:
        bytes = 1;
        if (left >= 1) h.harq_process = in[at];
        break;
      case tag::kSlot:
        bytes = 4;
        if (left >= 4) h.slot = SlotInfo{load_be16(in.data() + at), load_be16(in.data() + at + 2)};
        break;
      default:
        return refuse<Frame>(Reason::mac_nr_tag_unknown);
    }
    if (left < bytes) break;
    at += bytes;
  }
  return refuse<Frame>(Reason::mac_nr_truncated);
}

// Writes what stands before the PDU, the tag 0x01 included; the PDU's octets follow. Returns the octets written, or 0
// if they do not fit.
constexpr std::size_t write(MutableOctets out, const Header& h) {
  const std::size_t bytes = kSignature.size() + 3 + (h.rnti ? 3 : 0) + (h.ue_id ? 3 : 0) + (h.harq_process ? 2 : 0) +
                            (h.phr_type2_other_cell ? 2 : 0) + (h.slot ? 5 : 0) + 1;
  if (out.size() < bytes) return 0;
  std::uint8_t* p = out.data();
  copy_octets(p, kSignature.data(), kSignature.size());
  p += kSignature.size();
  *p++ = static_cast<std::uint8_t>(h.radio_type);
  *p++ = static_cast<std::uint8_t>(h.direction);
  *p++ = static_cast<std::uint8_t>(h.rnti_type);
  if (h.rnti) {
    *p++ = tag::kRnti;
    store_be16(p, *h.rnti);
    p += 2;
  }
  if (h.ue_id) {
    *p++ = tag::kUeId;
    store_be16(p, *h.ue_id);
    p += 2;
  }
  if (h.phr_type2_other_cell) {
    *p++ = tag::kPhrType2OtherCell;
    *p++ = 1;
  }
  if (h.harq_process) {
    *p++ = tag::kHarqProcess;
    *p++ = *h.harq_process;
  }
  if (h.slot) {
    *p++ = tag::kSlot;
    store_be16(p, h.slot->sfn);
    store_be16(p + 2, h.slot->slot);
    p += 4;
  }
  *p = tag::kPdu;
  return bytes;
}

}  // namespace splitplane::wire::mac_nr
