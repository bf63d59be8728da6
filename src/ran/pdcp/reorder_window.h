// What a receiver got before an SDU with a lower COUNT, by COUNT. A page of 64 exists only where one is received. All
// COUNTs lie within half of the number space, so no two share a place.
#pragma once

#include "ran/pdcp/memory.h"
#include "ran/pdcp/types.h"

namespace splitplane::ran::pdcp {

template <buf::PacketBuffer B>
class ReorderWindow {
 public:
  ReorderWindow(unsigned sn_bits, Memory<B>& memory) : pages_(sn_bits, memory.reorder) {}
  ReorderWindow(const ReorderWindow&) = delete;
  ReorderWindow& operator=(const ReorderWindow&) = delete;
  ~ReorderWindow() {
    if (!empty()) take_below(lowest_, highest_ + 1, [](std::uint32_t, B) {});
  }

  // True if nothing is received.
  [[nodiscard]] bool empty() const { return received_ == 0; }
  // SDUs that are received and not delivered.
  [[nodiscard]] std::uint32_t held() const { return held_; }
  [[nodiscard]] bool received(std::uint32_t count) const {
    const ReorderPage<B>* const page = pages_.find(count);
    return page != nullptr && (page->received & bit(count)) != 0;
  }

  // Holds an SDU, or records with an empty buffer that it was delivered. Returns false and leaves `sdu` as it is
  // without memory, or when this bearer has its share of it.
  [[nodiscard]] bool add(std::uint32_t count, B& sdu) {
    ReorderPage<B>* const page = make(count);
    if (page == nullptr) return false;
    page->received |= bit(count);
    if (sdu) ++held_;
    page->sdu[count % kPageSns] = std::move(sdu);
    if (empty() || count < lowest_) lowest_ = count;
    if (empty() || count > highest_) highest_ = count;
    ++received_;
    return true;
  }

  // Gives an SDU to a COUNT that is received without one.
  void fill(std::uint32_t count, B sdu) {
    pages_.find(count)->sdu[count % kPageSns] = std::move(sdu);
    ++held_;
  }

  // Forgets COUNTs from `from` to below `to` and calls taken(count, B) for each that was not delivered, in ascending
  // order. Nothing below `from` is received.
  template <class Taken>
  void take_below(std::uint32_t from, std::uint32_t to, Taken&& taken) {
    if (empty()) return;
    to = std::min(to, highest_ + 1);
    for (std::uint32_t at = std::max(from, lowest_); rlc::before(at, to); at = (at | (kPageSns - 1)) + 1) {
      ReorderPage<B>* const page = pages_.find(at);
      if (page == nullptr) continue;
      std::uint64_t mask = ~std::uint64_t{0} << (at % kPageSns);
      if (to - (at & ~(kPageSns - 1)) < kPageSns) mask &= bit(to) - 1;
      take(*page, at, page->received & mask, taken);
    }
    lowest_ = std::max(lowest_, to);
  }
  // Forgets the run of COUNTs that begins with `from` and calls taken(count, B) as above. Returns the first COUNT that
  // is not received. Nothing below `from` is received.
  template <class Taken>
  [[nodiscard]] std::uint32_t take_consecutive(std::uint32_t from, Taken&& taken) {
    std::uint32_t at = from;
    while (!empty()) {
      ReorderPage<B>* const page = pages_.find(at);
      if (page == nullptr) break;
      const std::uint32_t place = at % kPageSns;
      const auto run = static_cast<std::uint32_t>(std::countr_one(page->received >> place));
      if (run == 0) break;
      const std::uint64_t mask = run == kPageSns ? ~std::uint64_t{0} : ((std::uint64_t{1} << run) - 1) << place;
      take(*page, at, mask, taken);
      at += run;
      if (place + run < kPageSns) break;
    }
    lowest_ = std::max(lowest_, at);
    return at;
  }

  // Calls visit(count) for each COUNT that is received, in ascending order.
  template <class Visit>
  void for_each(Visit&& visit) const {
    if (empty()) return;
    const std::uint32_t stop = highest_ + 1;
    for (std::uint32_t at = lowest_ & ~(kPageSns - 1); rlc::before(at, stop); at += kPageSns) {
      const ReorderPage<B>* const page = pages_.find(at);
      if (page == nullptr) continue;
      for (std::uint64_t left = page->received; left != 0; left &= left - 1) {
        visit(at + static_cast<std::uint32_t>(std::countr_zero(left)));
      }
    }
  }
  // The highest COUNT that is received, while there is one.
  [[nodiscard]] std::uint32_t highest() const { return highest_; }

 private:
  static std::uint64_t bit(std::uint32_t count) { return std::uint64_t{1} << (count % kPageSns); }

  ReorderPage<B>* make(std::uint32_t count) {
    bool is_new = false;
    ReorderPage<B>* const page = pages_.make(count, Claim::kGrows, is_new);
    if (is_new) page->received = 0;
    return page;
  }
  template <class Taken>
  void take(ReorderPage<B>& page, std::uint32_t at, std::uint64_t which, Taken&& taken) {
    page.received &= ~which;
    const std::uint64_t left_over = page.received;
    received_ -= static_cast<std::uint32_t>(std::popcount(which));
    for (std::uint64_t left = which; left != 0; left &= left - 1) {
      const auto place = static_cast<std::uint32_t>(std::countr_zero(left));
      if (!page.sdu[place]) continue;
      --held_;
      taken((at & ~(kPageSns - 1)) + place, std::move(page.sdu[place]));
    }
    if (left_over == 0) pages_.drop(at);
  }

  std::uint32_t received_ = 0, held_ = 0;
  std::uint32_t lowest_ = 0, highest_ = 0;  // nothing received is below or above
  SharedPages<ReorderPage<B>> pages_;
};

}  // namespace splitplane::ran::pdcp
