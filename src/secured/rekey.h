// New keys for a bearer that lives, at one end: PDCP and RLC change in one command of the worker. The other end follows
// when it learns of them; what either end sends meanwhile is of another epoch, and is dropped there.
#pragma once

#include "arq/arq.h"
#include "secured/worker_pdcp.h"

namespace splitplane::datapath {

// The entities of one bearer. `arq` and `rlc` are absent where RLC keeps nothing.
struct RekeyEnd {
  WorkerPdcp& pdcp;
  SecuredBearer& bearer;
  Arq* arq = nullptr;
  ArqBearer* rlc = nullptr;
};

// COUNTs from here on are near their end. A bearer that has come there begins anew with new keys.
inline constexpr std::uint32_t kNearlyExhausted = 0xf0000000;

// Whether COUNTs of an end go on with new keys, where the peer's next ones are these: its TX_NEXT, and its RX_NEXT. If
// not, the peer has begun anew. It does so where COUNTs had come near their end, and these are then far from its own.
[[nodiscard]] bool goes_on(const SecuredBearer& bearer, std::uint32_t peer_tx_next, std::uint32_t peer_rx_next);

// On the worker's thread. Frames that RLC keeps are protected again with the new keys and sent again, a few in each
// round. Returns why nothing has changed, or kNone.
[[nodiscard]] ran::pdcp::Refusal rekey(const RekeyEnd& end, NewKeys& fresh, Time now);

}  // namespace splitplane::datapath
