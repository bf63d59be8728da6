// SDUs that wait for their first transmission, in pages that exist only where they are in use. Each SDU has an ordinal.
// PDCP uses it to take the SDU back while none of its octets was sent (TS 38.322 5.4: discard without an SN gap).
#pragma once

#include "ran/rlc/counters.h"
#include "ran/rlc/memory.h"

namespace splitplane::ran::rlc {

template <buf::PacketBuffer B>
class SduQueue {
 public:
  SduQueue(Memory<B>& memory, std::uint32_t limit) : memory_(memory), limit_(limit) {}
  SduQueue(const SduQueue&) = delete;
  SduQueue& operator=(const SduQueue&) = delete;
  ~SduQueue() { clear(); }

  [[nodiscard]] std::uint32_t size() const { return waiting_; }
  [[nodiscard]] std::uint64_t octets() const { return octets_; }
  // The ordinal of the next SDU, which is the number of SDUs taken so far.
  [[nodiscard]] std::uint64_t next_ordinal() const { return end_; }
  // The ordinal of the SDU that take() returned last.
  [[nodiscard]] std::uint64_t taken() const { return begin_ - 1; }

  // Queues an SDU. Returns false and leaves `sdu` untouched if the queue is full, memory is short, or the SDU is empty
  // or longer than RLC can number.
  [[nodiscard]] bool push(B& sdu) {
    const std::size_t bytes = sdu.size();
    if (waiting_ == limit_ || bytes == 0 || bytes > kMaxSduBytes) return false;
    if (tail_ == nullptr || end_ % 64 == 0) {
      QueuePage<B>* const page = memory_.queue_pages.take();
      if (page == nullptr) return false;
      page->next = nullptr;
      (tail_ == nullptr ? head_ : tail_->next) = page;
      tail_ = page;
    }
    tail_->sdu[end_ % 64] = std::move(sdu);
    ++end_;
    ++waiting_;
    octets_ += bytes;
    return true;
  }

  // Queues an SDU and counts it.
  [[nodiscard]] bool push(B& sdu, SendCounters& counters) {
    const std::size_t bytes = sdu.size();
    if (!push(sdu)) {
      ++counters.refused;
      return false;
    }
    ++counters.sdus;
    counters.octets += bytes;
    return true;
  }

  // The SDU that take() returns next; empty if none waits.
  [[nodiscard]] const B* front() {
    pass_over_discarded();
    return waiting_ == 0 ? nullptr : &head_->sdu[begin_ % 64];
  }
  // What take() returns after `n` other calls, to fetch it early: n is at most 64. nullptr if there are not as many; a
  // place whose SDU was discarded is empty.
  [[nodiscard]] const B* ahead(unsigned n) const {
    const std::uint64_t at = begin_ + n;
    if (at >= end_) return nullptr;
    return &(at / 64 == begin_ / 64 ? head_ : head_->next)->sdu[at % 64];
  }
  // Fetches the page with the next SDUs.
  void prefetch_page() const {
    if (begin_ != end_) __builtin_prefetch(&head_->sdu[begin_ % 64]);
  }
  [[nodiscard]] B take() {
    if (front() == nullptr) return {};
    B sdu = std::move(head_->sdu[begin_ % 64]);
    forget(sdu);
    step();
    return sdu;
  }

  // Returns false if the SDU was taken or discarded before.
  [[nodiscard]] bool discard(std::uint64_t ordinal) {
    if (ordinal < begin_ || ordinal >= end_) return false;
    QueuePage<B>* page = head_;
    for (std::uint64_t n = ordinal / 64 - begin_ / 64; n != 0; --n) page = page->next;
    B& sdu = page->sdu[ordinal % 64];
    if (!sdu) return false;
    forget(sdu);
    sdu.release();
    pass_over_discarded();
    return true;
  }

  // Drops all SDUs; ordinals start at 0 again.
  void clear() {
    while (begin_ != end_) {
      head_->sdu[begin_ % 64].release();
      step();
    }
    begin_ = end_ = octets_ = 0;
    waiting_ = 0;
  }

 private:
  void forget(const B& sdu) {
    --waiting_;
    octets_ -= sdu.size();
  }
  void pass_over_discarded() {
    while (begin_ != end_ && !head_->sdu[begin_ % 64]) step();
  }
  // Moves past the front place, which is empty. A page is given back when the front leaves it or the queue is empty.
  void step() {
    ++begin_;
    if (begin_ % 64 != 0 && begin_ != end_) return;
    QueuePage<B>* const page = head_;
    head_ = page->next;
    if (head_ == nullptr) tail_ = nullptr;
    memory_.queue_pages.give(page);
  }

  Memory<B>& memory_;
  QueuePage<B>* head_ = nullptr;
  QueuePage<B>* tail_ = nullptr;
  std::uint64_t begin_ = 0, end_ = 0;  // ordinals
  std::uint64_t octets_ = 0;
  std::uint32_t waiting_ = 0;
  std::uint32_t limit_;
};

}  // namespace splitplane::ran::rlc
