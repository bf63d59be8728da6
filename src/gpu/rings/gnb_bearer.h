// A bearer's line in the engines' memory, and how it gives numbers. One table serves all rings: RSS hashes the outer
// UDP source port, which a UPF may change with each packet (TS 29.281 4.4.2.0). So a bearer's packets may be on any
// ring. A number given twice would be two SDUs with one SN, and with a cipher two SDUs with one key stream.
#pragma once

#include <cstdint>

#include "base/types.h"
#include "gpu/rings/lane.h"
#include "gpu/rings/memory_order.h"

namespace splitplane::gpu {

// Only `numbered` changes while engines run. Each bearer has a separate cache line, because on CPU threads rings write
// to the lines at the same time.
struct alignas(64) GnbBearer {
  std::uint64_t numbered = 0;          // SDUs numbered so far, by all rings; never falls, never wraps
  std::uint32_t id = 0;                // its TEID, and its id on the air; 0: free line
  std::uint32_t pdcp_first = 0;        // COUNT of the first SDU; TX_NEXT is this plus `numbered`
  std::uint32_t rlc_first = 0;         // TX_Next of the first SDU (TS 38.322 7.1), kept without the modulus
  std::uint16_t poll_pdu = 0;          // pollPDU; 0: never poll (TS 38.322 5.3.3.2)
  std::uint16_t pdu_without_poll = 0;  // PDU_WITHOUT_POLL before the first SDU, below pollPDU
  RlcMode rlc_mode = RlcMode::kAm;
  std::uint8_t rlc_sn_bits = 18;
  std::uint8_t pdcp_sn_bits = 18;
  bool sdap_header = true;
  std::uint8_t qfi = 9;  // for G-PDUs without a PDU Session Container

  // Numbers of the next SDU, while no engine runs. TX_NEXT is a COUNT (TS 38.323 7.1).
  [[nodiscard]] std::uint32_t pdcp_tx_next() const { return pdcp_first + static_cast<std::uint32_t>(numbered); }
  [[nodiscard]] std::uint32_t rlc_tx_next() const { return rlc_first + static_cast<std::uint32_t>(numbered); }
};
static_assert(sizeof(GnbBearer) == 64);

// An SDU's numbers. One counter gives all three, so they rise together, whichever ring takes them.
struct SduNumbers {
  std::uint32_t count = 0;  // PDCP COUNT
  std::uint32_t rlc = 0;    // TX_Next without the modulus
  bool poll = false;        // the P bit
  bool used_up = false;     // the bearer has no COUNT left: it needs a new key first (TS 33.501 6.9.4.1)
};

// Gives `n` consecutive numbers to one ring; returns the first. The order is relaxed, because numbers order nothing
// else.
struct SharedCounting {
  SPLITPLANE_HD static std::uint64_t take(GnbBearer& bearer, std::uint32_t n) {
    return add_relaxed_on_device(&bearer.numbered, std::uint64_t{n});
  }
};

// Gives one number to each lane with a bearer, in the order of the lanes; nullptr: no bearer in this lane. A warp adds
// once for each bearer in its batch.
template <class Counting, class Lane>
[[nodiscard]] SPLITPLANE_HD SduNumbers take_numbers(Lane lane, GnbBearer* bearer) {
  const std::uint32_t same = lane.peers(bearer != nullptr ? bearer->id : 0U);
  const std::uint32_t rank = count_ones(same & ((1U << lane.id) - 1U));
  std::uint64_t first = 0;
  if (bearer != nullptr && rank == 0) first = Counting::take(*bearer, count_ones(same));
  const std::uint64_t number = lane.shfl(first, count_ones((same & (0U - same)) - 1U)) + rank;
  if (bearer == nullptr) return {};
  const auto low = static_cast<std::uint32_t>(number);
  const std::uint32_t poll_pdu = bearer->poll_pdu;
  return {.count = bearer->pdcp_first + low,
          .rlc = bearer->rlc_first + low,
          .poll = poll_pdu != 0 && (low % poll_pdu + bearer->pdu_without_poll + 1) % poll_pdu == 0,
          .used_up = bearer->pdcp_first + number > 0xFFFFFFFFU};
}

}  // namespace splitplane::gpu
