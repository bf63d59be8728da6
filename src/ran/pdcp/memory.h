// All memory of the PDCP entities of one owner thread, which chooses the sizes. When a part is used up, a new SDU is
// dropped before it gets a number, a received PDU counts as lost, and a UM bearer forgets discardTimers. Each is
// counted. Sending and receiving sides share nothing, so a peer's PDUs do not stop what is sent to others.
#pragma once

#include <algorithm>

#include "ran/rlc/paged_window.h"

namespace splitplane::ran::pdcp {

using rlc::Directory;
using rlc::kPageSns;
using rlc::Pool;
using rlc::Time;

// 64 SDUs of a transmitter that are not confirmed. It keeps their PDUs as they went to RLC.
template <buf::PacketBuffer B>
struct alignas(64) SentPage {
  std::uint64_t held = 0;
  std::array<Time, kPageSns> deadline;      // of discardTimer
  std::array<std::uint8_t, kPageSns> skip;  // octets of lower layers before the PDU
  std::array<B, kPageSns> pdu;
};

// 64 SDUs of a receiver that came before an SDU with a lower COUNT.
template <buf::PacketBuffer B>
struct alignas(64) ReorderPage {
  std::uint64_t received = 0;
  std::array<B, kPageSns> sdu;  // empty if the SDU was delivered out of order
};

template <buf::PacketBuffer B>
struct alignas(64) WaitingPage {
  static constexpr unsigned kSdus = 32;
  std::array<B, kSdus> sdu;
  std::array<Time, kSdus> deadline;
  WaitingPage* next = nullptr;
};

struct MemorySizes {
  std::size_t directories = 1024;  // of transmitters, and as many of receivers
  std::size_t sent_pages = 1024, reorder_pages = 1024, waiting_pages = 256;
};

// What a bearer takes memory for.
enum class Claim : std::uint8_t {
  kGrows,  // an SDU more
  kMoves,  // an SDU that is stored already moves, and gives back as much later
};

// Whether a bearer that holds `held` of a pool may take `more`. It gets at most half of those that are left. Bearers
// that hold some leave an eighth of the pool to those that hold none. All leave a sixteenth to SDUs that move.
template <class P>
[[nodiscard]] bool may_take(const P& pool, std::size_t held, std::size_t more, Claim claim = Claim::kGrows) {
  if (claim == Claim::kMoves) return more <= pool.available();
  if (held == 0) return more + pool.size() / 16 <= pool.available();
  return std::max(held, pool.size() / 8) + more <= pool.available();
}

// What windows of one kind take their pages from.
template <class Page>
struct PagePools {
  PagePools(std::size_t directory_count, std::size_t page_count) : directories(directory_count), pages(page_count) {}

  Pool<Directory> directories;
  Pool<Page> pages;
};

// A window whose pages and directories are a bearer's share of the pools.
template <class Page>
class SharedPages {
 public:
  SharedPages(unsigned sn_bits, PagePools<Page>& pools)
      : pools_(&pools), window_(sn_bits), levels_(sn_bits > 12 ? 2 : 1) {}
  SharedPages(const SharedPages&) = delete;
  SharedPages& operator=(const SharedPages&) = delete;

  [[nodiscard]] Page* find(std::uint32_t count) const { return window_.find(count); }
  // The page of `count`, or nullptr without memory. A new page is as its last holder left it; `is_new` is then true.
  [[nodiscard]] Page* make(std::uint32_t count, Claim claim, bool& is_new) {
    is_new = false;
    if (Page* const page = window_.find(count); page != nullptr) return page;
    auto& [directories, pages] = *pools_;
    if (!may_take(pages, window_.pages(), 1, claim)) return nullptr;
    const std::uint32_t more = directories_for(count);
    if (!may_take(directories, held_, more, claim)) return nullptr;
    Page* const page = window_.make(count, directories, pages, is_new);
    if (page != nullptr) held_ += more;
    return page;
  }
  void drop(std::uint32_t count) {
    const std::size_t before = pools_->directories.available();
    window_.drop(count, pools_->directories, pools_->pages);
    held_ -= static_cast<std::uint32_t>(pools_->directories.available() - before);
  }
  void swap(SharedPages& other) {
    std::swap(window_, other.window_);
    std::swap(held_, other.held_);
  }

 private:
  // How many directories a page for `count` takes, which is not there.
  [[nodiscard]] std::uint32_t directories_for(std::uint32_t count) const {
    static const Pool<Directory> kNone{0};
    if (window_.has_room(count, kNone, pools_->pages)) return 0;
    return held_ == 0 ? levels_ : 1;
  }

  PagePools<Page>* pools_;
  rlc::PagedWindow<Page> window_;
  std::uint32_t held_ = 0;  // directories
  std::uint32_t levels_;
};

template <buf::PacketBuffer B>
struct Memory {
  explicit Memory(const MemorySizes& n)
      : sent(n.directories, n.sent_pages), reorder(n.directories, n.reorder_pages), waiting_pages(n.waiting_pages) {}

  PagePools<SentPage<B>> sent;
  PagePools<ReorderPage<B>> reorder;
  Pool<WaitingPage<B>> waiting_pages;

  // True if everything was given back.
  [[nodiscard]] bool unused() const {
    const auto full = [](const auto& pool) { return pool.available() == pool.size(); };
    return full(sent.directories) && full(sent.pages) && full(reorder.directories) && full(reorder.pages) &&
           full(waiting_pages);
  }
};

}  // namespace splitplane::ran::pdcp
