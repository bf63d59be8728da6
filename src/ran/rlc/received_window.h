// The receiving window of AM and UM. It knows which SDUs are complete, of which SDUs segments are held, and where polls
// wait. A query reads a few words and not the whole window, because it passes over runs of complete SDUs by pages.
#pragma once

#include "ran/rlc/memory.h"

namespace splitplane::ran::rlc {

class ReceivedWindow {
 public:
  ReceivedWindow(unsigned sn_bits, Pool<Directory>& directories, Pool<ReceivedPage>& pages)
      : pages_(sn_bits), directories_(directories), pool_(pages) {}

  [[nodiscard]] bool empty() const { return pages_.empty(); }

  [[nodiscard]] ReceivedPage* find(std::uint32_t sn) const { return pages_.find(sn); }
  // Returns the page of `sn` and makes it if necessary. Returns nullptr without memory, or when this window already has
  // as many pages as are left for all others. So one bearer alone may take half of the pages, and N bearers that grow
  // together get equal shares. Early bearers may leave no page to a late one; its RX_Next still moves on
  // (am_receive.h).
  [[nodiscard]] ReceivedPage* page(std::uint32_t sn) {
    if (ReceivedPage* page = pages_.find(sn); page != nullptr) return page;
    if (pages_.pages() >= pool_.available()) return nullptr;
    bool is_new = false;
    ReceivedPage* const page = pages_.make(sn, directories_, pool_, is_new);
    if (is_new) page->done = page->partial = page->polled = 0;
    return page;
  }
  [[nodiscard]] static std::uint64_t bit(std::uint32_t sn) { return std::uint64_t{1} << (sn % kPageSns); }

  [[nodiscard]] bool is_done(std::uint32_t sn) const {
    const ReceivedPage* page = pages_.find(sn);
    return page != nullptr && (page->done & bit(sn)) != 0;
  }
  // The name of the assembly of `sn`; 0 if no segment is held.
  [[nodiscard]] std::uint32_t assembly(std::uint32_t sn) const {
    const ReceivedPage* page = pages_.find(sn);
    return page == nullptr || (page->partial & bit(sn)) == 0 ? 0 : page->assembly[sn % kPageSns];
  }
  void set_assembly(ReceivedPage& page, std::uint32_t sn, std::uint32_t name) {
    page.assembly[sn % kPageSns] = name;
    page.partial |= bit(sn);
  }
  void set_done(ReceivedPage& page, std::uint32_t sn) {
    page.done |= bit(sn);
    page.partial &= ~bit(sn);
    if (page.done == ~std::uint64_t{0}) pages_.mark(sn);
  }

  // The first SDU of [from, to) that is not complete; `to` if there is none.
  [[nodiscard]] std::uint32_t first_not_done(std::uint32_t from, std::uint32_t to) const {
    for (std::uint32_t sn = from; before(sn, to);) {
      const ReceivedPage* page = pages_.find(sn);
      if (page == nullptr) return sn;
      if (const std::uint64_t open = ~page->done >> (sn % kPageSns); open != 0) {
        return earlier(sn + static_cast<std::uint32_t>(std::countr_zero(open)), to);
      }
      sn = pages_.skip_marked((sn | (kPageSns - 1)) + 1);
    }
    return to;
  }

  // The first SDU of [from, to) of which an octet is held; `to` if there is none.
  [[nodiscard]] std::uint32_t first_touched(std::uint32_t from, std::uint32_t to) const {
    for (std::uint32_t sn = from; before(sn, to); sn = (sn | (kPageSns - 1)) + 1) {
      const ReceivedPage* page = pages_.find(sn);
      const std::uint64_t touched = page == nullptr ? 0 : (page->done | page->partial) >> (sn % kPageSns);
      if (touched != 0) return earlier(sn + static_cast<std::uint32_t>(std::countr_zero(touched)), to);
    }
    return to;
  }

  // The last SDU of [from, to) of which segments are held; `to` if there is none.
  [[nodiscard]] std::uint32_t last_partial(std::uint32_t from, std::uint32_t to) const {
    for (std::uint32_t end = to; before(from, end); end = (end - 1) & ~(kPageSns - 1)) {
      const ReceivedPage* page = pages_.find(end - 1);
      const std::uint64_t found = page == nullptr ? 0 : page->partial << (kPageSns - 1 - (end - 1) % kPageSns);
      if (found == 0) continue;
      const std::uint32_t last = end - 1 - static_cast<std::uint32_t>(std::countl_zero(found));
      return before(last, from) ? to : last;
    }
    return to;
  }

  // True if a poll waited at an SDU of [from, to); the call clears these polls.
  bool take_polls(std::uint32_t from, std::uint32_t to) {
    bool any = false;
    for_each_page(from, to, [&](ReceivedPage& page, std::uint64_t mask, std::uint32_t) {
      any |= (page.polled & mask) != 0;
      page.polled &= ~mask;
    });
    return any;
  }

  // Forgets SDUs [from, to) and calls discard(assembly name) for each of them that has segments.
  template <class Discard>
  void clear(std::uint32_t from, std::uint32_t to, Discard&& discard) {
    if (pages_.empty()) return;
    for_each_page(from, to, [&](ReceivedPage& page, std::uint64_t mask, std::uint32_t sn) {
      for (std::uint64_t left = page.partial & mask; left != 0; left &= left - 1) {
        discard(page.assembly[static_cast<unsigned>(std::countr_zero(left))]);
      }
      page.done &= ~mask;
      page.partial &= ~mask;
      page.polled &= ~mask;
      if ((page.done | page.partial | page.polled) == 0) pages_.drop(sn, directories_, pool_);
    });
  }

 private:
  static std::uint32_t earlier(std::uint32_t a, std::uint32_t b) { return before(a, b) ? a : b; }

  template <class Visit>
  void for_each_page(std::uint32_t from, std::uint32_t to, Visit&& visit) {
    for (std::uint32_t sn = from; before(sn, to);) {
      const std::uint32_t next = (sn | (kPageSns - 1)) + 1;
      std::uint64_t mask = ~std::uint64_t{0} << (sn % kPageSns);
      if (before(to, next)) mask &= (std::uint64_t{1} << (to % kPageSns)) - 1;
      if (ReceivedPage* page = pages_.find(sn); page != nullptr) visit(*page, mask, sn);
      sn = next;
    }
  }

  PagedWindow<ReceivedPage> pages_;
  Pool<Directory>& directories_;
  Pool<ReceivedPage>& pool_;
};

}  // namespace splitplane::ran::rlc
