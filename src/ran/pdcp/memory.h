// All memory of the PDCP entities of one owner thread, which chooses the sizes. When a part is used up, a new SDU is
// dropped before it gets a number, and a received PDU counts as lost. Nothing else happens.
#pragma once

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
  std::size_t directories = 1024, sent_pages = 1024, reorder_pages = 1024, waiting_pages = 256;
};

template <buf::PacketBuffer B>
struct Memory {
  explicit Memory(const MemorySizes& n)
      : directories(n.directories),
        sent_pages(n.sent_pages),
        reorder_pages(n.reorder_pages),
        waiting_pages(n.waiting_pages) {}

  Pool<Directory> directories;
  Pool<SentPage<B>> sent_pages;
  Pool<ReorderPage<B>> reorder_pages;
  Pool<WaitingPage<B>> waiting_pages;

  // True if everything was given back.
  [[nodiscard]] bool unused() const {
    const auto full = [](const auto& pool) { return pool.available() == pool.size(); };
    return full(directories) && full(sent_pages) && full(reorder_pages) && full(waiting_pages);
  }
};

}  // namespace splitplane::ran::pdcp
