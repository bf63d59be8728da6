// A TM entity (TS 38.322 5.2.1): it sends SDUs without a header. An SDU that does not fit the grant waits.
// Programs do not use it yet: header mode has no grants.
#pragma once

#include "ran/rlc/counters.h"
#include "ran/rlc/sdu_queue.h"

namespace splitplane::ran::rlc {

template <buf::PacketBuffer B>
class TmSend {
 public:
  TmSend(std::uint32_t max_queued, Memory<B>& memory) : queue_(memory, max_queued) {}

  // On false the SDU stays with the caller; SduQueue::push says why.
  [[nodiscard]] bool send(B& sdu) { return queue_.push(sdu); }
  bool discard(std::uint64_t ordinal) { return queue_.discard(ordinal); }
  // The next PDU, which is a whole SDU; empty if no SDU waits or the grant is too small for it.
  [[nodiscard]] B pull(std::size_t grant) {
    const B* const sdu = queue_.front();
    return sdu == nullptr || sdu->size() > grant ? B{} : queue_.take();
  }
  // Octets of the next PDU; 0 if no SDU waits.
  [[nodiscard]] std::size_t next_bytes() {
    const B* const sdu = queue_.front();
    return sdu == nullptr ? 0 : sdu->size();
  }
  [[nodiscard]] const SduQueue<B>& queue() const { return queue_; }
  [[nodiscard]] std::uint32_t waiting() const { return queue_.size(); }
  [[nodiscard]] std::uint64_t volume() const { return queue_.octets(); }

 private:
  SduQueue<B> queue_;
};

}  // namespace splitplane::ran::rlc
