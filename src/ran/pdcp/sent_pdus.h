// The PDUs of a transmitter that are stored, by COUNT: those of an AM bearer until they are confirmed, those of a UM
// bearer with discardTimer until it runs out. A page of 64 exists only where one is stored.
#pragma once

#include "ran/pdcp/memory.h"
#include "ran/pdcp/types.h"

namespace splitplane::ran::pdcp {

// 64 bits of a status report's bitmap from bit `from` on, which may be negative. Bit 0 of the word is the first of
// them. Bits beyond the bitmap are 0.
[[nodiscard]] inline std::uint64_t bitmap_word(Octets bitmap, std::int64_t from) {
  std::uint64_t word = 0;
  const auto bits = static_cast<std::int64_t>(8 * bitmap.size());
  if (from >= bits || from <= -64) return 0;
  // Octets are read into a window that begins at a whole octet at or below `from`.
  const std::int64_t first = from >> 3;
  for (std::int64_t i = 0; i < 9; ++i) {
    if (first + i < 0 || first + i >= static_cast<std::int64_t>(bitmap.size())) continue;
    // The most significant bit of an octet is its first.
    const auto octet = bitmap[static_cast<std::size_t>(first + i)];
    const std::uint64_t reversed = ((octet * 0x80200802ULL) & 0x0884422110ULL) * 0x0101010101ULL >> 32 & 0xFF;
    const std::int64_t at = 8 * i - (from & 7);
    if (at == 64) break;
    word |= at < 0 ? reversed >> -at : reversed << at;
  }
  return word;
}

template <buf::PacketBuffer B>
class SentPdus {
 public:
  SentPdus(unsigned sn_bits, Memory<B>& memory) : pages_(sn_bits, memory.sent) {}
  SentPdus(const SentPdus&) = delete;
  SentPdus& operator=(const SentPdus&) = delete;
  ~SentPdus() { clear(); }

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::uint32_t size() const { return size_; }
  // The lowest COUNT. The caller has checked that there is one.
  [[nodiscard]] std::uint32_t first() const { return first_; }
  [[nodiscard]] bool contains(std::uint32_t count) const {
    if (!is_within(count)) return false;
    const SentPage<B>* const page = find(count);
    return page != nullptr && (page->held & bit(count)) != 0;
  }
  [[nodiscard]] Time deadline(std::uint32_t count) const { return find(count)->deadline[count % kPageSns]; }

  // Makes a place for `count`, which is above all that are stored. Returns false without memory, or when this bearer
  // has its share of it.
  [[nodiscard]] bool add(std::uint32_t count, Time deadline, Claim claim = Claim::kGrows) {
    SentPage<B>* page = tail(count);
    if (page == nullptr) [[unlikely]] {
      if (page = make(count, claim); page == nullptr) return false;
    }
    page->held |= bit(count);
    page->deadline[count % kPageSns] = deadline;
    page->skip[count % kPageSns] = 0;
    if (size_++ == 0) first_ = count;
    end_ = count + 1;
    return true;
  }
  // Keeps the PDU of `count`, unless the place for it was removed since.
  void put(std::uint32_t count, B pdu, std::uint8_t skip) {
    SentPage<B>* const page = find(count);
    if (page == nullptr || (page->held & bit(count)) == 0) [[unlikely]]
      return;
    page->pdu[count % kPageSns] = std::move(pdu);
    page->skip[count % kPageSns] = skip;
  }
  void prefetch_tail() const {
    if (tail_ == nullptr) return;
    __builtin_prefetch(tail_, 1);
    __builtin_prefetch(&tail_->deadline[end_ % kPageSns], 1);
    __builtin_prefetch(&tail_->pdu[end_ % kPageSns], 1);
  }

  // The lowest COUNT stored at or above `from`; end() if there is none.
  [[nodiscard]] std::uint32_t next(std::uint32_t from) const {
    if (empty()) return end_;
    for (std::uint32_t at = std::max(from, first_); rlc::before(at, end_); at = (at | (kPageSns - 1)) + 1) {
      const SentPage<B>* const page = pages_.find(at);
      const std::uint64_t held = page == nullptr ? 0 : page->held >> (at % kPageSns);
      if (held != 0) return at + static_cast<std::uint32_t>(std::countr_zero(held));
    }
    return end_;
  }
  // One more than the highest COUNT that was ever added.
  [[nodiscard]] std::uint32_t end() const { return end_; }

  [[nodiscard]] const B& pdu(std::uint32_t count) const { return find(count)->pdu[count % kPageSns]; }
  // Takes the PDU out; its COUNT stays.
  [[nodiscard]] B take_pdu(std::uint32_t count) { return std::move(find(count)->pdu[count % kPageSns]); }
  [[nodiscard]] std::uint8_t skip(std::uint32_t count) const { return find(count)->skip[count % kPageSns]; }

  // Removes `count` and releases its buffer. Returns false if it is not stored.
  bool remove(std::uint32_t count) {
    if (!is_within(count)) return false;
    SentPage<B>* const page = find(count);
    if (page == nullptr || (page->held & bit(count)) == 0) return false;
    remove(*page, count);
    if (count == first_) first_ = next(count + 1);
    return true;
  }

  // Removes what the report confirms and calls removed(count) for each, in ascending order.
  template <class Removed>
  void remove_confirmed(const wire::pdcp::StatusReport& report, Removed&& removed) {
    if (empty()) return;
    // The report names no COUNT from here on. So a short report costs little, however much is stored.
    const std::uint64_t beyond = std::uint64_t{report.fmc.value} + 1 + 8 * report.bitmap.size();
    const std::uint32_t stop = beyond < end_ ? static_cast<std::uint32_t>(beyond) : end_;
    if (first_ >= stop) return;  // COUNTs do not wrap, and an FMC may be anywhere below
    for (std::uint32_t at = first_ & ~(kPageSns - 1); rlc::before(at, stop); at += kPageSns) {
      SentPage<B>* const page = pages_.find(at);
      if (page == nullptr) continue;
      for (std::uint64_t left = page->held & confirmed(report, at); left != 0; left &= left - 1) {
        const std::uint32_t count = at + static_cast<std::uint32_t>(std::countr_zero(left));
        remove(*page, count);  // gives the page back with its last SDU, and that is the last of `left`
        removed(count);
      }
    }
    if (!empty()) first_ = next(first_);
  }

  void clear() {
    if (empty()) return;
    const std::uint32_t stop = end_;
    for (std::uint32_t at = first_ & ~(kPageSns - 1); rlc::before(at, stop) && !empty(); at += kPageSns) {
      SentPage<B>* const page = pages_.find(at);
      if (page == nullptr) continue;
      for (std::uint64_t left = page->held; left != 0; left &= left - 1) {
        remove(*page, at + static_cast<std::uint32_t>(std::countr_zero(left)));
      }
    }
  }

  // Exchanges all that is stored.
  void swap(SentPdus& other) {
    pages_.swap(other.pages_);
    std::swap(tail_, other.tail_);
    std::swap(tail_at_, other.tail_at_);
    std::swap(first_, other.first_);
    std::swap(end_, other.end_);
    std::swap(size_, other.size_);
  }

 private:
  static std::uint64_t bit(std::uint32_t count) { return std::uint64_t{1} << (count % kPageSns); }

  // COUNTs `at` to `at` + 63 as a word of what the report confirms: below FMC, or with their bit set (TS 38.323 5.4.2).
  static std::uint64_t confirmed(const wire::pdcp::StatusReport& report, std::uint32_t at) {
    const std::int64_t from_fmc = std::int64_t{at} - report.fmc.value;
    std::uint64_t word = bitmap_word(report.bitmap, from_fmc - 1);
    if (from_fmc <= -std::int64_t{kPageSns}) return ~std::uint64_t{0};
    if (from_fmc < 0) word |= (std::uint64_t{1} << -from_fmc) - 1;
    return word;
  }

  // Two COUNTs that are far from each other share a place in the pages, so a COUNT that a neighbour names is looked at.
  [[nodiscard]] bool is_within(std::uint32_t count) const { return size_ != 0 && count - first_ < end_ - first_; }
  [[nodiscard]] SentPage<B>* tail(std::uint32_t count) const {
    return tail_ != nullptr && tail_at_ == count / kPageSns ? tail_ : nullptr;
  }
  [[nodiscard]] SentPage<B>* find(std::uint32_t count) const {
    SentPage<B>* const page = tail(count);
    return page != nullptr ? page : pages_.find(count);
  }
  SentPage<B>* make(std::uint32_t count, Claim claim) {
    bool is_new = false;
    SentPage<B>* const page = pages_.make(count, claim, is_new);
    if (page == nullptr) return nullptr;
    if (is_new) page->held = 0;
    tail_ = page;
    tail_at_ = count / kPageSns;
    return page;
  }
  void remove(SentPage<B>& page, std::uint32_t count) {
    page.pdu[count % kPageSns].release();
    page.held &= ~bit(count);
    --size_;
    if (page.held != 0) return;
    if (&page == tail_) tail_ = nullptr;
    pages_.drop(count);
  }

  SentPage<B>* tail_ = nullptr;  // the page to which the last SDU was added
  std::uint32_t tail_at_ = 0;    // its first COUNT, divided by 64
  std::uint32_t size_ = 0;
  std::uint32_t first_ = 0, end_ = 0;  // the lowest COUNT stored; one more than the highest that ever was
  SharedPages<SentPage<B>> pages_;
};

}  // namespace splitplane::ran::pdcp
