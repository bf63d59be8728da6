// Every frame that a worker gave to the buffering service, with one reference to it. The worker alone writes it. The
// slots of a bearer form a list in the order of their SNs: a new service is told the list, and re-establishment walks
// it.
#pragma once

#include <rte_mbuf.h>

#include <cstdint>
#include <vector>

namespace splitplane::baas {

inline constexpr std::uint32_t kNoSlot = UINT32_MAX;

// What a worker has of an acknowledged bearer whose window is in the service.
struct Window {
  Window() = default;
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  std::uint32_t next = 0;         // TX_Next, without the modulus
  std::uint32_t next_ack = 0;     // TX_Next_Ack, as the service said last
  std::uint32_t highest_ack = 0;  // the highest ACK_SN
  std::uint32_t held = 0;         // frames in the ledger
  std::uint64_t octets = 0;       // of their SDUs
  // The lowest SN of which a frame is held; TX_Next if none is.
  [[nodiscard]] std::uint32_t oldest() const { return held == 0 ? next : first_sn; }
  std::uint32_t first_sn = 0;
  std::uint32_t lost_from = 0, lost_end = 0;  // SDUs without a copy are among these
  std::uint32_t first = kNoSlot, last = kNoSlot;
  std::uint64_t released = 0, sent_again = 0, sent_again_octets = 0;
  // The rest is of the worker's end (worker_end.h).
  std::uint32_t unfed = kNoSlot;  // the first slot that the service was not told of
  std::uint32_t told = 0;         // the SN that the service expects next
  std::uint32_t resend_end = 0;   // SNs below it are told as missing at the peer
  std::uint32_t generation = 0;   // of the service that knows the bearer
  std::uint32_t number = kNoSlot;
  std::uint16_t incarnation = 0;
  std::uint16_t lane = 0;
  std::uint16_t t_poll_retransmit_ms = 0;
  std::uint8_t sn_bits = 18, max_retx = 32;
  bool of_card = false;      // its frames are clones of what a card sent
  bool is_open = false;      // the service of this generation knows it
  bool forgets = false;      // attempts until now are to be forgotten
  bool is_queued = false;    // something is to be told
  bool awaits_lost = false;  // an SDU without a copy is not acknowledged
  Window* next_queued = nullptr;
};

class Ledger {
 public:
  struct Slot {
    rte_mbuf* m = nullptr;
    Window* window = nullptr;
    std::uint32_t sn = 0;
    std::uint32_t next = kNoSlot, prev = kNoSlot;  // of the window; `next` also of the free slots
    std::uint16_t bytes = 0;                       // of the SDU
    std::uint16_t generation = 0;                  // counts how often the slot was taken back from the service
  };
  static constexpr unsigned kIndexBits = 20;  // a slot's name: its index, with the generation above it
  static constexpr std::uint32_t kMostSlots = 1U << kIndexBits;
  static constexpr std::uint16_t kGenerations = 1U << (32 - kIndexBits);

  explicit Ledger(std::size_t slots);

  [[nodiscard]] std::size_t size() const { return slots_.size(); }
  [[nodiscard]] std::size_t available() const { return available_; }
  // Of the SDUs in all slots.
  [[nodiscard]] std::uint64_t octets() const { return octets_; }
  [[nodiscard]] Slot& operator[](std::uint32_t index) { return slots_[index]; }
  [[nodiscard]] std::uint32_t name_of(std::uint32_t index) const {
    return index | std::uint32_t{slots_[index].generation} << kIndexBits;
  }
  // The slot with this name; nullptr if it is free or was taken back since.
  [[nodiscard]] Slot* named(std::uint32_t name) {
    const std::uint32_t index = name & (kMostSlots - 1);
    if (index >= slots_.size()) return nullptr;
    Slot& slot = slots_[index];
    return slot.m != nullptr && slot.generation == name >> kIndexBits ? &slot : nullptr;
  }
  [[nodiscard]] std::uint32_t index_of(const Slot& slot) const {
    return static_cast<std::uint32_t>(&slot - slots_.data());
  }

  // Takes over a reference, as the last of the window. The caller has looked at available().
  std::uint32_t add(Window& window, rte_mbuf* m, std::uint32_t sn, std::uint16_t bytes) {
    const std::uint32_t index = free_;
    Slot& slot = slots_[index];
    free_ = slot.next;
    --available_;
    slot.m = m;
    slot.window = &window;
    slot.sn = sn;
    slot.bytes = bytes;
    slot.next = kNoSlot;
    slot.prev = window.last;
    if (window.last == kNoSlot) {
      window.first = index;
      window.first_sn = sn;
    } else {
      slots_[window.last].next = index;
    }
    window.last = index;
    ++window.held;
    window.octets += bytes;
    octets_ += bytes;
    return index;
  }
  // Gives the reference to the caller and frees the slot, which is in use.
  rte_mbuf* take(Slot& slot) {
    Window& window = *slot.window;
    const std::uint32_t index = index_of(slot);
    if (slot.prev == kNoSlot) {
      window.first = slot.next;
      if (slot.next != kNoSlot) window.first_sn = slots_[slot.next].sn;
    } else {
      slots_[slot.prev].next = slot.next;
    }
    (slot.next == kNoSlot ? window.last : slots_[slot.next].prev) = slot.prev;
    if (window.unfed == index) window.unfed = slot.next;
    --window.held;
    window.octets -= slot.bytes;
    octets_ -= slot.bytes;
    slot.next = free_;
    free_ = index;
    ++available_;
    rte_mbuf* const m = slot.m;
    slot.m = nullptr;
    return m;
  }
  // What the service still says of this slot is void from now on.
  void revoke(Slot& slot) { slot.generation = static_cast<std::uint16_t>((slot.generation + 1) % kGenerations); }

 private:
  std::vector<Slot> slots_;
  std::uint32_t free_ = kNoSlot;  // the slot freed last is taken first, because it is in the cache
  std::size_t available_ = 0;
  std::uint64_t octets_ = 0;
};

}  // namespace splitplane::baas
