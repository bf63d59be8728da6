// Header mode's downlink on the ring's own processor: an N3 frame becomes an air frame, airhdr, RLC, PDCP and SDAP in
// front of the SDU, octet by octet what the host's packet path writes (ran/header_mode.h). RSS keeps a tunnel on one
// ring, so each bearer is known to one ring's function, which alone counts its numbers.
#pragma once

#include "base/types.h"
#include "gpu/functions.h"
#include "gpu/lane.h"
#include "wire/airhdr.h"
#include "wire/n3.h"
#include "wire/pdcp.h"
#include "wire/rlc.h"
#include "wire/sdap.h"

namespace splitplane::gpu {

// A bearer's line in the engines' memory.
struct alignas(32) GnbBearer {
  std::uint32_t id = 0;                // its TEID, and its id on the air; 0: free line
  std::uint32_t pdcp_tx_next = 0;      // TX_NEXT, a COUNT (TS 38.323 7.1)
  std::uint32_t rlc_tx_next = 0;       // TX_Next (TS 38.322 7.1), kept without the modulus
  std::uint16_t poll_pdu = 0;          // pollPDU; 0: never poll (TS 38.322 5.3.3.2)
  std::uint16_t pdu_without_poll = 0;  // PDU_WITHOUT_POLL
  RlcMode rlc_mode = RlcMode::kAm;
  std::uint8_t rlc_sn_bits = 18;
  std::uint8_t pdcp_sn_bits = 18;
  bool sdap_header = true;
  std::uint8_t qfi = 9;  // for G-PDUs without a PDU Session Container
};
static_assert(sizeof(GnbBearer) == 32);

class GnbHeaders {
 public:
  static constexpr std::uint32_t kAirHeaderBytes = 14;
  struct AirHeader {
    std::uint8_t octets[kAirHeaderBytes];  // Ethernet header of every air frame
  };

  // `bearers[i]` is the bearer whose TEID has i in its low bits, under `index_mask`. Frames longer than
  // `air_frame_bytes` are dropped.
  SPLITPLANE_HD GnbHeaders(GnbBearer* bearers, std::uint32_t capacity, std::uint32_t index_mask, const AirHeader& air,
                           std::uint32_t air_frame_bytes)
      : bearers_(bearers), capacity_(capacity), index_mask_(index_mask), air_(air), air_frame_bytes_(air_frame_bytes) {}

  template <class Lane>
  SPLITPLANE_HD Verdict process(Lane lane, Frame& frame) {
    Sdu sdu;
    const Verdict verdict = find(frame, sdu);
    const Numbers numbers = take_numbers(lane, verdict == Verdict::send ? sdu.bearer : nullptr);
    if (verdict == Verdict::send) write(frame, sdu, numbers);
    return verdict;
  }

  // airhdr + RLC + PDCP + SDAP of a complete SDU.
  [[nodiscard]] SPLITPLANE_HD static std::uint32_t overhead(const GnbBearer& b) {
    constexpr auto kComplete = wire::rlc::Segment::kComplete;
    const std::uint32_t rlc = b.rlc_mode == RlcMode::kAm   ? wire::rlc::am_header_bytes(b.rlc_sn_bits, kComplete)
                              : b.rlc_mode == RlcMode::kUm ? wire::rlc::um_header_bytes(b.rlc_sn_bits, kComplete)
                                                           : 0U;
    return static_cast<std::uint32_t>(wire::airhdr::kHeaderBytes) + rlc + wire::pdcp::header_bytes(b.pdcp_sn_bits) +
           (b.sdap_header ? 1U : 0U);
  }

 private:
  struct Sdu {
    GnbBearer* bearer = nullptr;
    std::uint8_t* data = nullptr;
    std::uint32_t bytes = 0;
    std::uint32_t overhead = 0;  // octets in front of it on the air
    wire::sdap::DownlinkHeader sdap;
  };
  struct Numbers {
    std::uint32_t rlc = 0, pdcp = 0;
    bool poll = false;
  };

  [[nodiscard]] SPLITPLANE_HD Verdict find(const Frame& frame, Sdu& sdu) const {
    const auto packet = wire::n3::parse(wire::Octets(frame.data, frame.length));
    if (!packet || packet->gtpu.message_type != wire::gtpu::kGpdu || packet->payload_bytes == 0) {
      return Verdict::not_for_us;
    }
    const std::uint32_t teid = packet->gtpu.teid.value;
    const std::uint32_t index = teid & index_mask_;
    if (teid == 0 || index >= capacity_ || bearers_[index].id != teid) return Verdict::no_bearer;
    sdu.bearer = &bearers_[index];
    sdu.data = frame.data + packet->payload_offset;
    sdu.bytes = packet->payload_bytes;
    sdu.overhead = kAirHeaderBytes + overhead(*sdu.bearer);
    if (packet->gtpu.has_psc) {
      sdu.sdap = {.rdi = false, .rqi = packet->gtpu.psc.rqi, .qfi = packet->gtpu.psc.qfi};
    } else {
      sdu.sdap.qfi.value = sdu.bearer->qfi;
    }
    const bool fits = sdu.overhead + sdu.bytes <= air_frame_bytes_ && sdu.overhead <= sdu.data - frame.slot;
    return fits ? Verdict::send : Verdict::too_long;
  }

  // Each lane with a bearer gets the next numbers of it, lanes of one bearer in their order; one of them notes it.
  template <class Lane>
  [[nodiscard]] SPLITPLANE_HD static Numbers take_numbers(Lane lane, GnbBearer* bearer) {
    const std::uint32_t same = lane.peers(bearer != nullptr ? bearer->id : 0U);
    const std::uint32_t rank = count_ones(same & ((1U << lane.id) - 1U));
    Numbers n;
    std::uint32_t without_poll = 0;
    if (bearer != nullptr) {
      n.rlc = bearer->rlc_tx_next + rank;
      n.pdcp = bearer->pdcp_tx_next + rank;
      without_poll = bearer->pdu_without_poll;
      n.poll = bearer->poll_pdu != 0 && (without_poll + rank + 1) % bearer->poll_pdu == 0;
    }
    lane.sync();  // all have read
    if (bearer != nullptr && rank == 0) {
      const std::uint32_t count = count_ones(same);
      bearer->rlc_tx_next += count;
      bearer->pdcp_tx_next += count;
      if (bearer->poll_pdu != 0) {
        bearer->pdu_without_poll = static_cast<std::uint16_t>((without_poll + count) % bearer->poll_pdu);
      }
    }
    lane.sync();  // the next batch reads what is written here
    return n;
  }

  SPLITPLANE_HD void write(Frame& frame, const Sdu& sdu, const Numbers& n) const {
    const GnbBearer& b = *sdu.bearer;
    std::uint8_t* const begin = sdu.data - sdu.overhead;
    std::uint8_t* p = begin;
    for (std::uint32_t i = 0; i < kAirHeaderBytes; ++i) p[i] = air_.octets[i];
    p += kAirHeaderBytes;
    p += wire::airhdr::write(wire::MutableOctets(p, sdu.data), {.direction = Direction::kDownlink,
                                                                .rlc_mode = b.rlc_mode,
                                                                .rlc_sn_bits = b.rlc_sn_bits,
                                                                .pdcp_sn_bits = b.pdcp_sn_bits,
                                                                .sdap_header = b.sdap_header,
                                                                .bearer = BearerId{b.id}});
    const wire::MutableOctets room(p, sdu.data);
    const std::uint32_t sn = n.rlc & ((1U << b.rlc_sn_bits) - 1U);
    if (b.rlc_mode == RlcMode::kAm) p += wire::rlc::write_am(room, b.rlc_sn_bits, {.poll = n.poll, .sn = sn});
    if (b.rlc_mode == RlcMode::kUm) p += wire::rlc::write_um(room, b.rlc_sn_bits, {.sn = sn});
    p += wire::pdcp::write_data(wire::MutableOctets(p, sdu.data), b.pdcp_sn_bits,
                                n.pdcp & ((1U << b.pdcp_sn_bits) - 1U));
    if (b.sdap_header) *p = wire::sdap::encode(sdu.sdap);
    frame.data = begin;
    frame.length = sdu.overhead + sdu.bytes;
  }

  GnbBearer* bearers_;
  std::uint32_t capacity_, index_mask_;
  AirHeader air_;
  std::uint32_t air_frame_bytes_;
};

}  // namespace splitplane::gpu
