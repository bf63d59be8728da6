// SDUs that came while their entity is suspended or sends again. They have no COUNT yet; their discardTimer runs.
#pragma once

#include "ran/pdcp/memory.h"

namespace splitplane::ran::pdcp {

template <buf::PacketBuffer B>
class WaitingQueue {
 public:
  WaitingQueue(std::uint32_t limit, Memory<B>& memory) : memory_(&memory), limit_(limit) {}
  WaitingQueue(const WaitingQueue&) = delete;
  WaitingQueue& operator=(const WaitingQueue&) = delete;
  ~WaitingQueue() { clear(); }

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::uint32_t size() const { return size_; }
  [[nodiscard]] bool full() const { return size_ >= limit_; }
  // The deadline of the oldest SDU. The caller has checked that there is one.
  [[nodiscard]] Time deadline() const { return head_->deadline[begin_]; }

  // The oldest SDU. The caller has checked that there is one.
  [[nodiscard]] B& front() { return head_->sdu[begin_]; }

  // Returns false and leaves `sdu` as it is without memory, or when this bearer has its share.
  [[nodiscard]] bool push(B& sdu, Time deadline) {
    if (tail_ == nullptr || end_ == WaitingPage<B>::kSdus) {
      if (!may_take(memory_->waiting_pages, pages_, 1)) return false;
      WaitingPage<B>* const page = memory_->waiting_pages.take();
      ++pages_;
      page->next = nullptr;
      (tail_ == nullptr ? head_ : tail_->next) = page;
      tail_ = page;
      end_ = 0;
    }
    tail_->deadline[end_] = deadline;
    tail_->sdu[end_++] = std::move(sdu);
    ++size_;
    return true;
  }
  // Takes the oldest SDU. The caller has checked that there is one.
  [[nodiscard]] B pop() {
    B sdu = std::move(head_->sdu[begin_++]);
    --size_;
    if (size_ == 0 || begin_ == WaitingPage<B>::kSdus) {
      WaitingPage<B>* const page = head_;
      head_ = page->next;
      begin_ = 0;
      if (head_ == nullptr) tail_ = nullptr;
      memory_->waiting_pages.give(page);
      --pages_;
    }
    return sdu;
  }
  void clear() {
    while (!empty()) pop().release();
  }

 private:
  Memory<B>* memory_;
  WaitingPage<B>* head_ = nullptr;
  WaitingPage<B>* tail_ = nullptr;
  std::uint32_t begin_ = 0, end_ = 0;  // places in the first and in the last page
  std::size_t pages_ = 0;
  std::uint32_t size_ = 0;
  std::uint32_t limit_;
};

}  // namespace splitplane::ran::pdcp
