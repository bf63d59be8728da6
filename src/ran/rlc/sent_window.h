// The transmitting window of AM: the SDUs that were sent and are not acknowledged yet. A page has 64 SDUs, and one bit
// of each for every frequent question. So acknowledging a range costs a few words for each page. The buffers are given
// back later, in bounded steps.
#pragma once

#include <cstddef>
#include <tuple>

#include "ran/rlc/near_pages.h"
#include "ran/rlc/pending.h"

namespace splitplane::ran::rlc {

template <buf::Keepable B>
class SentWindow {
 public:
  static constexpr std::size_t kLine = 64;  // octets of the cache

  SentWindow(unsigned sn_bits, Memory<B>& memory) : memory_(&memory), pages_(sn_bits), volume_(sn_bits) {}

  // How many octets each SDU needs, from the first one on.
  [[nodiscard]] static constexpr std::size_t hot_octets() {
    return offsetof(SentWindow, pages_) + NearPages<SentPage<B>>::hot_octets();
  }

  [[nodiscard]] static std::uint64_t bit(std::uint32_t sn) { return std::uint64_t{1} << (sn % kPageSns); }
  [[nodiscard]] SentPage<B>* find(std::uint32_t sn) const { return pages_.find(sn); }
  // Fetches what [from, to) needs of the page of `from`. Returns false if that page is not near: then it is new, or the
  // three functions below fetch it.
  bool prefetch(std::uint32_t from, std::uint32_t to) const {
    const SentPage<B>* const page = pages_.find_near(from);
    if (page == nullptr) {
      pages_.prefetch_far();
      return false;
    }
    prefetch(*page, from, to);
    return true;
  }
  void prefetch_root(std::uint32_t sn) const { pages_.prefetch_root(sn); }
  void prefetch_directory(std::uint32_t sn) const { pages_.prefetch_directory(sn); }
  void prefetch_page(std::uint32_t from, std::uint32_t to) const {
    if (const SentPage<B>* const page = pages_.find(from); page != nullptr) prefetch(*page, from, to);
  }
  // A new page for `sn`; `ahead`: how many other pages will be made before it.
  void prefetch_new(std::uint32_t sn, unsigned ahead) const {
    if (const SentPage<B>* const page = memory_->sent_pages.next(ahead); page != nullptr) prefetch(*page, sn, sn + 1);
  }
  // True if `sn` was sent and is not acknowledged.
  [[nodiscard]] bool is_open(std::uint32_t sn) const {
    const SentPage<B>* page = pages_.find(sn);
    return page != nullptr && (page->held & ~page->acked & bit(sn)) != 0;
  }
  [[nodiscard]] std::uint32_t pending() const { return pending_; }  // SDUs
  [[nodiscard]] std::uint64_t pending_volume() const { return volume_.octets(); }
  [[nodiscard]] std::uint32_t unacked() const { return unacked_; }  // SDUs
  [[nodiscard]] std::uint32_t held() const { return held_; }        // SDUs, acknowledged ones among them

  // How many SDUs from `sn` on can surely be kept; `sn` is the SN after the last one. It looks at most one page ahead.
  [[nodiscard]] std::uint32_t room(std::uint32_t sn) const {
    const auto& [directories, pages] = std::tie(memory_->directories, memory_->sent_pages);
    if (!pages_.has_room(sn, directories, pages)) return 0;
    const std::uint32_t left = kPageSns - sn % kPageSns;
    if (left > 1) return left;
    const bool next_too = pages_.find(sn) != nullptr ? pages_.has_room(sn + 1, directories, pages)
                                                     : pages.available() >= 2 && directories.available() >= 4;
    return next_too ? left + kPageSns : left;
  }
  // Keeps the SDU of `sn`; the caller has checked that there is room.
  void add(std::uint32_t sn, B sdu, std::uint16_t bytes) {
    bool is_new = false;
    SentPage<B>* const page = pages_.make(sn, memory_->directories, memory_->sent_pages, is_new);
    if (is_new) {
      page->held = page->considered = page->pending = page->partial = page->listed = 0;
      page->acked = bit(sn) - 1;  // the SNs below were acknowledged long ago
    }
    SentSdu<B>& one = page->sdu[sn % kPageSns];
    one.sdu = std::move(sdu);
    one.bytes = bytes;
    page->held |= bit(sn);
    page->considered &= ~bit(sn);
    ++unacked_;
    ++held_;
  }

  // Marks octets [start, stop) of the open SDU `sn` for retransmission.
  void set_pending(SentPage<B>& page, std::uint32_t sn, std::uint16_t start, std::uint16_t stop) {
    SentSdu<B>& one = page.sdu[sn % kPageSns];
    if ((page.pending & bit(sn)) == 0) {
      page.pending |= bit(sn);
      ++pending_;
      volume_.add({start, stop, 0});
      if (start == 0 && stop == one.bytes) return;
      page.partial |= bit(sn);
      page.intervals(sn) = packed(start, stop);
    } else if ((page.listed & bit(sn)) != 0) {
      if (std::exchange(near_sn_, sn) != sn) near_ = 0;
      PendingRuns runs = runs_of(page, sn);
      intervals().add(runs, start, stop, near_);
      set_runs(page, sn, runs);
    } else if ((page.partial & bit(sn)) != 0) {
      add_to_single(page, sn, start, stop);
    }  // otherwise all of it waits already
  }
  // The first octets of SDU `sn` that wait for retransmission.
  [[nodiscard]] Interval first_pending(const SentPage<B>& page, std::uint32_t sn) const {
    if ((page.listed & bit(sn)) != 0) return PendingIntervals::front(memory_->intervals, runs_of(page, sn));
    if ((page.partial & bit(sn)) != 0) return unpacked(page.intervals(sn));
    return {0, page.sdu[sn % kPageSns].bytes, 0};
  }
  // The first `octets` octets that wait are sent now.
  void take_pending(SentPage<B>& page, std::uint32_t sn, std::uint16_t octets) {
    if ((page.listed & bit(sn)) != 0) {
      near_ = 0;
      PendingRuns runs = runs_of(page, sn);
      intervals().take(runs, octets);
      set_runs(page, sn, runs);
      if (runs.first != 0) return;
    } else {
      Interval rest = first_pending(page, sn);
      volume_.take(rest);
      rest.start = static_cast<std::uint16_t>(rest.start + octets);
      if (rest.start != rest.stop) {
        volume_.add(rest);
        page.intervals(sn) = packed(rest.start, rest.stop);
        page.partial |= bit(sn);
        return;
      }
    }
    page.pending &= ~bit(sn);
    page.partial &= ~bit(sn);
    page.listed &= ~bit(sn);
    --pending_;
  }

  // Calls visit(page, sn) for the open SDUs of [from, to) unless all their octets wait for retransmission already.
  template <class Visit>
  void for_each_not_wholly_pending(std::uint32_t from, std::uint32_t to, Visit&& visit) {
    for (std::uint32_t sn = from; before(sn, to);) {
      const std::uint32_t next = (sn | (kPageSns - 1)) + 1;
      if (SentPage<B>* const page = pages_.find(sn); page != nullptr) {
        std::uint64_t left = page->held & ~page->acked & ~(page->pending & ~page->partial) & page_mask(sn, to);
        for (; left != 0; left &= left - 1) {
          visit(*page, (sn & ~(kPageSns - 1)) + static_cast<std::uint32_t>(std::countr_zero(left)));
        }
      }
      sn = next;
    }
  }

  // Walks over the open SDUs of [from, to), at most `most` of them, and subtracts their number from `most`. Returns
  // where it stopped: `to`, or the first SDU that was too many.
  [[nodiscard]] std::uint32_t pass_open(std::uint32_t from, std::uint32_t to, std::uint32_t& most) const {
    for (std::uint32_t sn = from; before(sn, to); sn = (sn | (kPageSns - 1)) + 1) {
      const SentPage<B>* page = pages_.find(sn);
      std::uint64_t open = page == nullptr ? 0 : page->held & ~page->acked & page_mask(sn, to);
      const auto count = static_cast<std::uint32_t>(std::popcount(open));
      if (count > most) {
        for (; most != 0; --most) open &= open - 1;
        return (sn & ~(kPageSns - 1)) + static_cast<std::uint32_t>(std::countr_zero(open));
      }
      most -= count;
    }
    return to;
  }

  // The kept buffer of `sn`; nullptr if `sn` is acknowledged or was never sent.
  [[nodiscard]] B* kept(std::uint32_t sn) const {
    return is_open(sn) ? &pages_.find(sn)->sdu[sn % kPageSns].sdu : nullptr;
  }
  // RETX_COUNT of all SDUs in [from, to) begins with 0 again.
  void forget_attempts(std::uint32_t from, std::uint32_t to) {
    for (std::uint32_t sn = from; before(sn, to); sn = (sn | (kPageSns - 1)) + 1) {
      SentPage<B>* const page = pages_.find(sn);
      if (page == nullptr) continue;
      for (std::uint64_t left = page->considered & page->held & ~page->acked; left != 0; left &= left - 1) {
        page->sdu[static_cast<std::size_t>(std::countr_zero(left))].retx_count = 0;
      }
    }
  }

  // Acknowledges [from, to). It calls acked(first_nack time) for each SDU that had been sent again. Returns how many
  // are newly acknowledged, and in `lowest` the lowest of them.
  template <class Repaired>
  std::uint32_t acknowledge(std::uint32_t from, std::uint32_t to, std::uint32_t& lowest, Repaired&& repaired) {
    std::uint32_t count = 0;
    for (std::uint32_t sn = from; before(sn, to);) {
      const std::uint32_t next = (sn | (kPageSns - 1)) + 1;
      const std::uint64_t mask = page_mask(sn, to);
      if (SentPage<B>* page = pages_.find(sn); page != nullptr) {
        const std::uint64_t fresh = page->held & ~page->acked & mask;
        if (fresh != 0) {
          if (count == 0) lowest = (sn & ~(kPageSns - 1)) + static_cast<std::uint32_t>(std::countr_zero(fresh));
          count += static_cast<std::uint32_t>(std::popcount(fresh));
          settle(*page, fresh, repaired);
        }
      }
      sn = next;
    }
    unacked_ -= count;
    return count;
  }

  // The first SDU of [from, to) that is not acknowledged; `to` if there is none. SDUs that are no longer held count as
  // acknowledged.
  [[nodiscard]] std::uint32_t first_open(std::uint32_t from, std::uint32_t to) const {
    return first_of(from, to, [](const SentPage<B>& p) { return p.held & ~p.acked; });
  }
  [[nodiscard]] std::uint32_t next_pending(std::uint32_t from, std::uint32_t to) const {
    return first_of(from, to, [](const SentPage<B>& p) { return p.pending; });
  }
  // The last SDU of [from, to) that is not acknowledged; `to` if there is none.
  [[nodiscard]] std::uint32_t last_open(std::uint32_t from, std::uint32_t to) const {
    for (std::uint32_t sn = to; sn != from;) {
      --sn;
      if (const SentPage<B>* page = pages_.find(sn); page != nullptr) {
        const std::uint64_t open = (page->held & ~page->acked) << (kPageSns - 1 - sn % kPageSns);
        if (open != 0) {
          const std::uint32_t found = sn - static_cast<std::uint32_t>(std::countl_zero(open));
          return before(found, from) ? to : found;
        }
      }
      const std::uint32_t start = sn & ~(kPageSns - 1);
      sn = before(start, from) ? from : start;
    }
    return to;
  }

  // Gives back at most `budget` buffers of acknowledged SDUs of [from, to) and calls released(sn, B) for each. Returns
  // where it stopped: all buffers before it are given back, and so are the pages that are no longer needed. `end` is
  // the SN after the last one sent.
  template <class Released>
  std::uint32_t release(std::uint32_t from, std::uint32_t to, std::uint32_t end, std::size_t& budget,
                        Released&& released) {
    std::uint32_t sn = from;
    while (before(sn, to) && !pages_.empty()) {
      const std::uint32_t next = (sn | (kPageSns - 1)) + 1;
      SentPage<B>* const page = pages_.find(sn);
      if (page != nullptr) {
        const std::uint64_t mask = page_mask(sn, to);
        for (std::uint64_t left = page->held & page->acked & mask; left != 0; left &= left - 1) {
          const auto at = static_cast<std::uint32_t>(std::countr_zero(left));
          if (budget == 0) return (sn & ~(kPageSns - 1)) + at;
          --budget;
          --held_;
          page->held &= ~(std::uint64_t{1} << at);
          released((sn & ~(kPageSns - 1)) + at, std::move(page->sdu[at].sdu));
        }
        const bool filled = !before(end, next);  // no SDU will be added to this page any more
        if (page->held == 0 && (filled || unacked_ == 0)) pages_.drop(sn, memory_->directories, memory_->sent_pages);
      }
      sn = next;
    }
    return to;
  }

  // Takes out the buffers of all SDUs of [from, to) that are not acknowledged and calls taken(B) for each, in order.
  template <class Taken>
  void take_open(std::uint32_t from, std::uint32_t to, Taken&& taken) {
    for (std::uint32_t sn = first_open(from, to); sn != to; sn = first_open(sn + 1, to)) {
      taken(std::move(pages_.find(sn)->sdu[sn % kPageSns].sdu));
    }
  }

  // Forgets SDUs [from, to) in any state.
  void clear(std::uint32_t from, std::uint32_t to) {
    for (std::uint32_t sn = from; before(sn, to); sn = (sn | (kPageSns - 1)) + 1) {
      SentPage<B>* const page = pages_.find(sn);
      if (page == nullptr) continue;
      for (std::uint64_t left = page->held; left != 0; left &= left - 1) {
        SentSdu<B>& one = page->sdu[static_cast<unsigned>(std::countr_zero(left))];
        one.sdu.release();
      }
      for (std::uint64_t left = page->listed; left != 0; left &= left - 1) {
        clear_runs(*page, static_cast<std::uint32_t>(std::countr_zero(left)));
      }
      pages_.drop(sn, memory_->directories, memory_->sent_pages);
    }
    volume_.clear();
    pending_ = unacked_ = held_ = 0;
  }

 private:
  static void prefetch(const SentPage<B>& page, std::uint32_t from, std::uint32_t to) {
    __builtin_prefetch(&page, 1);
    if (!before(from, to)) return;
    const std::uint32_t in_page = std::min(to - 1 - from, kPageSns - 1 - from % kPageSns);
    const auto* const first = reinterpret_cast<const char*>(&page.sdu[from % kPageSns]);
    const auto* const last = reinterpret_cast<const char*>(&page.sdu[from % kPageSns + in_page]);
    for (const char* at = first; at < last; at += kLine) __builtin_prefetch(at, 1);
    __builtin_prefetch(last, 1);
  }
  // The bits of SDUs [sn, to) in the page of `sn`, which is below `to`.
  static std::uint64_t page_mask(std::uint32_t sn, std::uint32_t to) {
    const std::uint64_t from_sn = ~std::uint64_t{0} << (sn % kPageSns);
    return before(to, (sn | (kPageSns - 1)) + 1) ? from_sn & (bit(to) - 1) : from_sn;
  }
  static std::uint32_t packed(std::uint16_t start, std::uint16_t stop) { return std::uint32_t{stop} << 16 | start; }
  static Interval unpacked(std::uint32_t both) {
    return {static_cast<std::uint16_t>(both), static_cast<std::uint16_t>(both >> 16), 0};
  }
  static PendingRuns runs_of(const SentPage<B>& page, std::uint32_t sn) {
    return {page.intervals(sn), page.sdu[sn % kPageSns].runs};
  }
  static void set_runs(SentPage<B>& page, std::uint32_t sn, const PendingRuns& runs) {
    page.intervals(sn) = runs.first;
    page.sdu[sn % kPageSns].runs = runs.count;
  }
  [[nodiscard]] PendingIntervals intervals() { return {memory_->intervals, volume_}; }
  void clear_runs(SentPage<B>& page, std::uint32_t sn) {
    near_ = 0;
    PendingRuns runs = runs_of(page, sn);
    intervals().clear(runs);
    set_runs(page, sn, runs);
  }
  // Adds [start, stop) to SDU `sn`, of which one run waits. Without memory for a second run the first one grows over
  // the gap. Then more is sent again than necessary, but nothing is forgotten.
  void add_to_single(SentPage<B>& page, std::uint32_t sn, std::uint16_t start, std::uint16_t stop) {
    Interval one = unpacked(page.intervals(sn));
    volume_.take(one);
    PendingRuns runs;
    near_ = 0;
    if ((start > one.stop || stop < one.start) && intervals().add(runs, one.start, one.stop, near_)) {
      intervals().add(runs, start, stop, near_);
      near_sn_ = sn;
      set_runs(page, sn, runs);
      page.listed |= bit(sn);
    } else {
      one = {std::min(start, one.start), std::max(stop, one.stop), 0};
      volume_.add(one);
      page.intervals(sn) = packed(one.start, one.stop);
    }
  }

  template <class Bits>
  [[nodiscard]] std::uint32_t first_of(std::uint32_t from, std::uint32_t to, Bits&& bits) const {
    for (std::uint32_t sn = from; before(sn, to); sn = (sn | (kPageSns - 1)) + 1) {
      const SentPage<B>* page = pages_.find(sn);
      const std::uint64_t found = page == nullptr ? 0 : bits(*page) >> (sn % kPageSns);
      if (found == 0) continue;
      const std::uint32_t first = sn + static_cast<std::uint32_t>(std::countr_zero(found));
      return before(first, to) ? first : to;
    }
    return to;
  }

  // The SDUs `fresh` of a page are acknowledged, so they no longer wait for anything.
  template <class Repaired>
  void settle(SentPage<B>& page, std::uint64_t fresh, Repaired&& repaired) {
    page.acked |= fresh;
    pending_ -= static_cast<std::uint32_t>(std::popcount(page.pending & fresh));
    for (std::uint64_t left = page.pending & fresh; left != 0; left &= left - 1) {
      const auto at = static_cast<std::uint32_t>(std::countr_zero(left));
      if ((page.listed & bit(at)) == 0) {
        volume_.take(first_pending(page, at));
      } else {
        clear_runs(page, at);
      }
    }
    page.pending &= ~fresh;
    page.partial &= ~fresh;
    page.listed &= ~fresh;
    for (std::uint64_t left = fresh & page.considered; left != 0; left &= left - 1) {
      repaired(page.first_nack[static_cast<unsigned>(std::countr_zero(left))]);
    }
  }

  // Each SDU needs these ...
  Memory<B>* memory_;
  std::uint32_t unacked_ = 0, held_ = 0, pending_ = 0;
  NearPages<SentPage<B>> pages_;
  // ... and only one that waits for retransmission those.
  std::uint32_t near_sn_ = 0, near_ = 0;  // the interval that set_pending() added last, and its SDU
  PendingVolume volume_;
};

}  // namespace splitplane::ran::rlc
