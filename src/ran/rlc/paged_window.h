// Window memory in pages of 64 sequence numbers, which exist only where they are in use. One or two levels of
// directories with 64 places each lead to them, so an idle entity holds one null pointer. A window of up to 2048 SNs
// has one level; one of 131072 SNs has two.
#pragma once

#include <array>
#include <bit>

#include "ran/rlc/pool.h"
#include "ran/rlc/types.h"

namespace splitplane::ran::rlc {

inline constexpr std::uint32_t kPageSns = 64;

struct alignas(64) Directory {
  std::array<void*, 64> entry{};
  std::uint64_t used = 0;   // places that hold a page or a directory
  std::uint64_t marks = 0;  // last level: pages that a scan may pass over
};

template <class Page>
class PagedWindow {
 public:
  explicit PagedWindow(unsigned sn_bits) : two_levels_(sn_bits > 12) {}

  [[nodiscard]] bool empty() const { return root_ == nullptr; }
  [[nodiscard]] std::size_t pages() const { return count_; }
  [[nodiscard]] Page* find(std::uint32_t sn) const {
    const Directory* last = last_level(sn);
    return last == nullptr ? nullptr : static_cast<Page*>(last->entry[place(sn)]);
  }

  // Fetch the places where find() looks, one level each.
  void prefetch_root(std::uint32_t sn) const {
    if (root_ != nullptr) __builtin_prefetch(&root_->entry[two_levels_ ? upper_place(sn) : place(sn)]);
  }
  void prefetch_directory(std::uint32_t sn) const {
    if (root_ == nullptr || !two_levels_) return;
    const auto* const last = static_cast<const Directory*>(root_->entry[upper_place(sn)]);
    if (last != nullptr) __builtin_prefetch(&last->entry[place(sn)]);
  }

  // True if a page for `sn` exists, or memory for it.
  [[nodiscard]] bool has_room(std::uint32_t sn, const Pool<Directory>& directories, const Pool<Page>& pages) const {
    return find(sn) != nullptr || (pages.available() != 0 && has_way(sn, directories));
  }
  // True if the directories that lead to the page of `sn` exist, or memory for them.
  [[nodiscard]] bool has_way(std::uint32_t sn, const Pool<Directory>& directories) const {
    const std::size_t upper = two_levels_ && root_ == nullptr ? 1 : 0;
    const std::size_t needed = upper + (last_level(sn) == nullptr ? 1 : 0);
    return directories.available() >= needed;
  }
  // Returns the page of `sn`, or nullptr without memory. A new page is as its last holder left it, and `is_new` is then
  // true.
  [[nodiscard]] Page* make(std::uint32_t sn, Pool<Directory>& directories, Pool<Page>& pages, bool& is_new) {
    is_new = false;
    if (Page* page = find(sn); page != nullptr) return page;
    if (!has_room(sn, directories, pages)) return nullptr;
    Page* const page = pages.take();
    put(sn, page, directories);
    is_new = true;
    return page;
  }
  // Gives `sn` the page; it has none, and the caller has checked has_way().
  void put(std::uint32_t sn, Page* page, Pool<Directory>& directories) {
    if (root_ == nullptr) root_ = fresh(directories);
    Directory* last = root_;
    if (two_levels_) {
      void*& at = root_->entry[upper_place(sn)];
      if (at == nullptr) {
        at = fresh(directories);
        root_->used |= bit(upper_place(sn));
      }
      last = static_cast<Directory*>(at);
    }
    last->entry[place(sn)] = page;
    last->used |= bit(place(sn));
    last->marks &= ~bit(place(sn));
    ++count_;
  }

  // Gives back the page of `sn`, which must exist, and every directory that has no page left.
  void drop(std::uint32_t sn, Pool<Directory>& directories, Pool<Page>& pages) {
    Directory* const last = last_level(sn);
    pages.give(static_cast<Page*>(std::exchange(last->entry[place(sn)], nullptr)));
    --count_;
    last->used &= ~bit(place(sn));
    last->marks &= ~bit(place(sn));
    if (last->used != 0) return;
    directories.give(last);
    if (last != root_) {
      root_->entry[upper_place(sn)] = nullptr;
      root_->used &= ~bit(upper_place(sn));
      if (root_->used != 0) return;
      directories.give(root_);
    }
    root_ = nullptr;
  }

  // Marks the page of `sn`, which must exist, so that skip_marked() passes over it.
  void mark(std::uint32_t sn) { last_level(sn)->marks |= bit(place(sn)); }
  // `sn` is the first SN of a page. Returns the first SN at or after it, within the same directory, whose page is not
  // marked.
  [[nodiscard]] std::uint32_t skip_marked(std::uint32_t sn) const {
    const Directory* last = last_level(sn);
    if (last == nullptr) return sn;
    return sn + kPageSns * static_cast<std::uint32_t>(std::countr_one(last->marks >> place(sn)));
  }

 private:
  static unsigned place(std::uint32_t sn) { return (sn >> 6) & 63; }
  static unsigned upper_place(std::uint32_t sn) { return (sn >> 12) & 63; }
  static std::uint64_t bit(unsigned place) { return std::uint64_t{1} << place; }
  static Directory* fresh(Pool<Directory>& directories) {
    Directory* const one = directories.take();
    *one = {};
    return one;
  }
  [[nodiscard]] Directory* last_level(std::uint32_t sn) const {
    if (root_ == nullptr || !two_levels_) return root_;
    return static_cast<Directory*>(root_->entry[upper_place(sn)]);
  }

  Directory* root_ = nullptr;
  std::uint32_t count_ = 0;
  bool two_levels_;
};

}  // namespace splitplane::ran::rlc
