// gnb_headers with a ciphered SDU (TS 38.323 5.8), as a benchmark of what a device can do between two rings: the lanes
// of a warp work together on one frame after the other. One key for all bearers; no integrity.
#pragma once

#include "gpu/gnb_headers.h"
#include "gpu/nea2.h"

namespace splitplane::gpu {

class PdcpNea2 {
 public:
  // `bearers` and `index_mask` are those of `headers`.
  SPLITPLANE_HD PdcpNea2(const GnbHeaders& headers, const GnbBearer* bearers, std::uint32_t index_mask,
                         const AesTable* aes_table, const Aes128Key* key)
      : table(aes_table), headers_(headers), bearers_(bearers), index_mask_(index_mask), key_(key) {}

  template <class Lane>
  SPLITPLANE_HD Verdict process(Lane lane, Frame& frame) {
    const Verdict verdict = headers_.process(lane, frame);
    const Job mine = verdict == Verdict::send ? read(frame) : Job{};
    lane.sync();  // all headers are written
    const std::uint32_t lanes = lane.ballot(true);
    const std::uint32_t rank = count_ones(lanes & ((1U << lane.id) - 1U));
    for (std::uint32_t left = lane.ballot(verdict == Verdict::send); left != 0; left &= left - 1) {
      const std::uint32_t from = count_ones((left & (0U - left)) - 1U);
      auto* const sdu = reinterpret_cast<std::uint8_t*>(lane.shfl(mine.sdu, from));
      const Nea2Message message{lane.shfl(mine.count, from), bearer_field(lane.shfl(mine.id, from))};
      nea2(rank, count_ones(lanes), *table, *key_, message, sdu, lane.shfl(mine.bytes, from));
    }
    lane.sync();
    return verdict;
  }

  // BEARER is the radio bearer identity less 1, in 5 bits (TS 33.501 D.2.1.1).
  [[nodiscard]] SPLITPLANE_HD static constexpr std::uint8_t bearer_field(std::uint32_t id) {
    return static_cast<std::uint8_t>((id - 1) & 0x1F);
  }

  const AesTable* table;  // a kernel puts one in shared memory in its place

 private:
  struct Job {
    std::uint64_t sdu = 0;  // its address
    std::uint32_t bytes = 0, count = 0, id = 0;
  };

  // Where the SDU of an air frame that `headers` wrote begins, and its COUNT: TX_NEXT is at most a batch ahead of it.
  [[nodiscard]] SPLITPLANE_HD Job read(const Frame& frame) const {
    std::uint8_t* const air = frame.data + GnbHeaders::kAirHeaderBytes;
    const std::uint32_t id = wire::load_be32(air + 4);
    const GnbBearer& b = bearers_[id & index_mask_];
    const std::uint32_t pdcp_at = GnbHeaders::overhead(b) - wire::pdcp::header_bytes(b.pdcp_sn_bits) - b.sdap_header;
    const auto pdcp = wire::pdcp::parse_data({air + pdcp_at, frame.data + frame.length}, b.pdcp_sn_bits);
    const std::uint32_t behind = (b.pdcp_tx_next - pdcp->sn) & ((1U << b.pdcp_sn_bits) - 1U);
    std::uint8_t* const sdu = air + GnbHeaders::overhead(b);
    return {reinterpret_cast<std::uint64_t>(sdu), static_cast<std::uint32_t>(frame.data + frame.length - sdu),
            b.pdcp_tx_next - behind, id};
  }

  GnbHeaders headers_;
  const GnbBearer* bearers_;
  std::uint32_t index_mask_;
  const Aes128Key* key_;
};

}  // namespace splitplane::gpu
