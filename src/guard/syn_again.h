// SYNs that a server has not answered yet, kept to be sent again after 250 ms, then after 750 ms and after 1500 ms
// more. A client whose server speaks first sends nothing that would remind us of them. The number of places is fixed; a
// connection without a place still has the client's own segments.
//
// One queue for each delay: what enters last is due last. A SYN that is answered leaves its queue at once.
#pragma once

#include <rte_mempool.h>

#include <array>
#include <cstdint>
#include <memory>

#include "guard/cookie/four_tuple.h"
#include "wire/bytes.h"

namespace splitplane::guard {

class SynAgain {
 public:
  static constexpr unsigned kPlaces = 4096;
  static constexpr unsigned kMaxFrameBytes = 22 + 40 + 40;  // two VLAN tags, IPv6, TCP with 20 octets of options
  static constexpr std::array<std::uint16_t, 3> kDelaysMs{250, 750, 1500};
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  using Handle = std::uint16_t;  // 1 to kPlaces
  static constexpr Handle kNone = 0;

  struct Syn {
    FourTuple tuple;
    rte_mempool* pool = nullptr;  // of the buffer for it
    std::uint8_t frame_bytes = 0;
    std::array<std::uint8_t, kMaxFrameBytes> frame;

    [[nodiscard]] wire::Octets octets() const { return {frame.data(), frame_bytes}; }
  };

  explicit SynAgain(std::uint64_t ticks_per_ms);

  // kNone: no place is free, or the frame is too long.
  [[nodiscard]] Handle keep(const FourTuple& tuple, wire::Octets frame, rte_mempool* pool, std::uint64_t now);
  // Forgets a SYN. Nothing happens if the handle is not, or not any more, of this connection.
  void forget(Handle handle, const FourTuple& tuple);
  // The one that is due first; kNone: none is at `now`. It stays so until again() or forget().
  [[nodiscard]] Handle due(std::uint64_t now) const;
  [[nodiscard]] const Syn& at(Handle handle) const { return places_[handle].syn; }
  // It has been sent: it waits for its next delay. Behind the last one it is forgotten.
  void again(Handle handle, std::uint64_t now);
  // When the next one is due, in ticks; kNever: there is none.
  [[nodiscard]] std::uint64_t next() const;
  [[nodiscard]] unsigned kept() const { return kept_; }

 private:
  static constexpr std::uint8_t kFree = kDelaysMs.size();
  // Places are linked by their handles; kNone ends a list.
  struct Place {
    std::uint64_t due = 0;
    Handle before = kNone, behind = kNone;
    std::uint8_t queue = kFree;
    Syn syn;
  };
  struct Queue {
    Handle first = kNone, last = kNone;
  };

  void enter(Handle handle, std::uint8_t queue, std::uint64_t now);
  void leave(Handle handle);
  void free(Handle handle);

  std::array<std::uint64_t, kDelaysMs.size()> delays_{};
  std::array<Queue, kDelaysMs.size()> queues_;
  std::unique_ptr<Place[]> places_;  // the first has no handle
  Handle free_ = kNone;              // linked by `behind`
  unsigned kept_ = 0;
};

}  // namespace splitplane::guard
