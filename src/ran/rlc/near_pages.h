// A PagedWindow whose newest pages are found without directories: the newest with an even number and the newest with
// an odd one. So a sender whose SDUs are acknowledged soon, as most are, needs no memory but its pages.
#pragma once

#include <cstddef>

#include "ran/rlc/paged_window.h"

namespace splitplane::ran::rlc {

template <class Page>
class NearPages {
 public:
  explicit NearPages(unsigned sn_bits) : far_(sn_bits) {}

  // How many octets every look at a near page needs, from the first one on.
  [[nodiscard]] static constexpr std::size_t hot_octets() { return offsetof(NearPages, far_); }

  // The functions of PagedWindow.
  [[nodiscard]] bool empty() const { return page_[0] == nullptr && page_[1] == nullptr && far_.empty(); }
  [[nodiscard]] Page* find(std::uint32_t sn) const {
    Page* const page = find_near(sn);
    return page != nullptr || far_.empty() ? page : far_.find(sn);
  }
  [[nodiscard]] bool has_room(std::uint32_t sn, const Pool<Directory>& directories, const Pool<Page>& pages) const {
    const Page* const beside = page_[side(sn)];
    if (beside != nullptr && number_[side(sn)] == sn / kPageSns) return true;
    if (pages.available() == 0) return find(sn) != nullptr;
    return beside == nullptr || far_.find(sn) != nullptr || far_.has_way(first_of(side(sn)), directories);
  }
  [[nodiscard]] Page* make(std::uint32_t sn, Pool<Directory>& directories, Pool<Page>& pages, bool& is_new) {
    is_new = false;
    if (Page* const page = find(sn); page != nullptr) return page;
    if (!has_room(sn, directories, pages)) return nullptr;
    Page*& beside = page_[side(sn)];
    if (beside != nullptr) far_.put(first_of(side(sn)), beside, directories);
    number_[side(sn)] = sn / kPageSns;
    is_new = true;
    return beside = pages.take();
  }
  void drop(std::uint32_t sn, Pool<Directory>& directories, Pool<Page>& pages) {
    if (find_near(sn) == nullptr) return far_.drop(sn, directories, pages);
    pages.give(std::exchange(page_[side(sn)], nullptr));
  }

  [[nodiscard]] Page* find_near(std::uint32_t sn) const {
    return number_[side(sn)] == sn / kPageSns ? page_[side(sn)] : nullptr;
  }
  // Fetch the way to the other pages, one level each.
  void prefetch_far() const { __builtin_prefetch(&far_); }
  void prefetch_root(std::uint32_t sn) const { far_.prefetch_root(sn); }
  void prefetch_directory(std::uint32_t sn) const { far_.prefetch_directory(sn); }

 private:
  static unsigned side(std::uint32_t sn) { return sn / kPageSns % 2; }
  [[nodiscard]] std::uint32_t first_of(unsigned side) const { return number_[side] * kPageSns; }

  std::array<Page*, 2> page_{};
  std::array<std::uint32_t, 2> number_{};  // the place of each: its first SN, divided by 64
  PagedWindow<Page> far_;
};

}  // namespace splitplane::ran::rlc
