// gnb_headers with a ciphered SDU (TS 38.323 5.8), as a benchmark of what a device can do between two rings. The lanes
// of a warp work together on one frame after the other. There is no integrity protection. Each COUNT is given once.
// Each UE has a separate key, because the cipher knows a bearer by 5 bits only. So no key stream is used twice.
#pragma once

#include "crypto/device/nea2.h"
#include "gpu/rings/gnb_headers.h"

namespace splitplane::gpu {

class PdcpNea2 {
 public:
  static constexpr std::uint32_t kBearersOfUe = 32;

  // `keys[i]` is for bearers 32 i + 1 to 32 i + 32, the radio bearers of one UE. There is one for each UE that
  // `headers` knows.
  SPLITPLANE_HD PdcpNea2(const GnbHeaders& headers, const AesTable* aes_table, const Aes128Key* keys)
      : table(aes_table), headers_(headers), keys_(keys) {}

  template <class Lane>
  SPLITPLANE_HD Verdict process(Lane lane, Frame& frame) {
    AirSdu mine;
    const Verdict verdict = headers_.process(lane, frame, mine);
    lane.sync();  // all headers are written
    const std::uint32_t lanes = lane.ballot(true);
    const std::uint32_t rank = count_ones(lanes & ((1U << lane.id) - 1U));
    for (std::uint32_t left = lane.ballot(verdict == Verdict::send); left != 0; left &= left - 1) {
      const std::uint32_t from = count_ones((left & (0U - left)) - 1U);
      auto* const sdu = reinterpret_cast<std::uint8_t*>(lane.shfl(reinterpret_cast<std::uint64_t>(mine.data), from));
      const std::uint32_t id = lane.shfl(mine.id, from);
      const Nea2Message message{lane.shfl(mine.count, from), bearer_field(id)};
      nea2(rank, count_ones(lanes), *table, keys_[ue_of(id)], message, sdu, lane.shfl(mine.bytes, from));
    }
    lane.sync();
    return verdict;
  }

  // BEARER is the radio bearer identity less 1, in 5 bits (TS 33.501 D.2.1.1).
  [[nodiscard]] SPLITPLANE_HD static constexpr std::uint8_t bearer_field(std::uint32_t id) {
    return static_cast<std::uint8_t>((id - 1) & 0x1F);
  }

  // The UE that has the key: bearers are numbered through all UEs.
  [[nodiscard]] SPLITPLANE_HD static constexpr std::uint32_t ue_of(std::uint32_t id) { return (id - 1) / kBearersOfUe; }

  const AesTable* table;  // a kernel uses one in shared memory instead

 private:
  GnbHeaders headers_;
  const Aes128Key* keys_;
};

}  // namespace splitplane::gpu
