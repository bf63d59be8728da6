// Header mode's downlink on the ring's own processor. An N3 frame becomes an air frame, with airhdr, RLC, PDCP and SDAP
// in front of the SDU. Each octet is the one that the host's packet path writes (ran/header_mode.h). The functions of
// all rings share one table of bearers. Each number is given once, whichever ring a packet is on (gnb_bearer.h).
#pragma once

#include "base/types.h"
#include "gpu/rings/functions.h"
#include "gpu/rings/gnb_bearer.h"
#include "gpu/rings/lane.h"
#include "wire/airhdr.h"
#include "wire/n3.h"
#include "wire/pdcp.h"
#include "wire/rlc.h"
#include "wire/sdap.h"

namespace splitplane::gpu {

inline constexpr std::uint32_t kAirHeaderBytes = 14;
struct AirHeader {
  std::uint8_t octets[kAirHeaderBytes];  // Ethernet header of every air frame
};

// An air frame's SDU, for the next function.
struct AirSdu {
  std::uint8_t* data = nullptr;
  std::uint32_t bytes = 0;
  std::uint32_t id = 0;     // of its bearer
  std::uint32_t count = 0;  // its PDCP COUNT
};

// `Counting` gives the numbers. It is SharedCounting, except in a bench of its cost.
template <class Counting>
class BasicGnbHeaders {
 public:
  // `bearers[i]` is the bearer whose TEID has i in its low bits, under `index_mask`; all rings share the table. Frames
  // longer than `air_frame_bytes` are dropped.
  SPLITPLANE_HD BasicGnbHeaders(GnbBearer* bearers, std::uint32_t capacity, std::uint32_t index_mask,
                                const AirHeader& air, std::uint32_t air_frame_bytes)
      : bearers_(bearers), capacity_(capacity), index_mask_(index_mask), air_(air), air_frame_bytes_(air_frame_bytes) {}

  template <class Lane>
  SPLITPLANE_HD Verdict process(Lane lane, Frame& frame) {
    AirSdu made;
    return process(lane, frame, made);
  }
  // `made`: the SDU in the air frame, if the verdict is to send it.
  template <class Lane>
  SPLITPLANE_HD Verdict process(Lane lane, Frame& frame, AirSdu& made) {
    Sdu sdu;
    const Verdict verdict = find(frame, sdu);
    const bool has_bearer = verdict == Verdict::send;
    const SduNumbers numbers = take_numbers<Counting>(lane, has_bearer ? sdu.bearer : nullptr);
    if (!has_bearer) return verdict;
    if (numbers.used_up) return Verdict::count_used_up;
    write(frame, sdu, numbers);
    made = {sdu.data, sdu.bytes, sdu.bearer->id, numbers.count};
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

  SPLITPLANE_HD void write(Frame& frame, const Sdu& sdu, const SduNumbers& n) const {
    const GnbBearer& b = *sdu.bearer;
    std::uint8_t* const begin = sdu.data - sdu.overhead;
    std::uint8_t* p = begin;
    for (std::uint32_t i = 0; i < kAirHeaderBytes; ++i) p[i] = air_.octets[i];
    p += kAirHeaderBytes;
    const auto before_pdu = static_cast<std::uint32_t>(kAirHeaderBytes + wire::airhdr::kHeaderBytes);
    const auto pdu_bytes = static_cast<std::uint16_t>(sdu.overhead + sdu.bytes - before_pdu);
    p += wire::airhdr::write(wire::MutableOctets(p, sdu.data), {.direction = Direction::kDownlink,
                                                                .rlc_mode = b.rlc_mode,
                                                                .rlc_sn_bits = b.rlc_sn_bits,
                                                                .pdcp_sn_bits = b.pdcp_sn_bits,
                                                                .sdap_header = b.sdap_header,
                                                                .bearer = BearerId{b.id},
                                                                .pdu_bytes = pdu_bytes});
    const wire::MutableOctets room(p, sdu.data);
    const std::uint32_t sn = n.rlc & ((1U << b.rlc_sn_bits) - 1U);
    if (b.rlc_mode == RlcMode::kAm) p += wire::rlc::write_am(room, b.rlc_sn_bits, {.poll = n.poll, .sn = sn});
    if (b.rlc_mode == RlcMode::kUm) p += wire::rlc::write_um(room, b.rlc_sn_bits, {.sn = sn});
    p += wire::pdcp::write_data(wire::MutableOctets(p, sdu.data), b.pdcp_sn_bits,
                                n.count & ((1U << b.pdcp_sn_bits) - 1U));
    if (b.sdap_header) *p = wire::sdap::encode(sdu.sdap);
    frame.data = begin;
    frame.length = sdu.overhead + sdu.bytes;
  }

  GnbBearer* bearers_;
  std::uint32_t capacity_, index_mask_;
  AirHeader air_;
  std::uint32_t air_frame_bytes_;
};

using GnbHeaders = BasicGnbHeaders<SharedCounting>;

}  // namespace splitplane::gpu
