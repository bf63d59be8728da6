// A worker's requests to the link of its card: it names bearers whose packets soon have no credit left
// (card_returns.h).
#pragma once

#include <rte_ring.h>

#include <cstdint>
#include <optional>

#include "base/types.h"
#include "engine/wakeup.h"

namespace splitplane::datapath {

// `tag`: the answer repeats it. So the worker knows that the card's numbers were read after this request. A grant that
// answers none has the tag kUnasked.
struct CardRequest {
  static constexpr std::uint32_t kUnasked = 0xffffffff;
  BearerId id;
  std::uint32_t tag = 0;
  friend bool operator==(const CardRequest&, const CardRequest&) = default;
};

class CardRequests {
 public:
  // `ring` is SP/SC. Its pointers are requests. The thread that takes them sleeps on `reader`. Both outlive this
  // object.
  CardRequests(rte_ring* ring, Wakeup* reader) : ring_(ring), reader_(reader) {}

  // On the worker's thread. Returns false if the ring is full.
  [[nodiscard]] bool ask(CardRequest request) {
    static_assert(sizeof(void*) == sizeof(std::uint64_t));
    const std::uint64_t both = std::uint64_t{request.tag} << 32 | request.id.value;
    if (rte_ring_sp_enqueue(ring_, reinterpret_cast<void*>(both)) != 0) return false;
    reader_->wake();
    return true;
  }
  // On the reader's thread.
  [[nodiscard]] std::optional<CardRequest> take() {
    void* request = nullptr;
    if (rte_ring_sc_dequeue(ring_, &request) != 0) return std::nullopt;
    const auto both = reinterpret_cast<std::uint64_t>(request);
    return CardRequest{BearerId{static_cast<std::uint32_t>(both)}, static_cast<std::uint32_t>(both >> 32)};
  }
  [[nodiscard]] bool empty() const { return rte_ring_empty(ring_) != 0; }

 private:
  rte_ring* ring_;
  Wakeup* reader_;
};

}  // namespace splitplane::datapath
