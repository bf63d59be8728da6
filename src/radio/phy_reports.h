// What the PHY says, on its way from the thread that talks to it to the worker: a ring of records in one piece of
// memory, with one producer and one consumer. A record is read where it stands, with the octets of its transport block.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>

#include "buf/large_array.h"
#include "phy/slots/slot.h"
#include "radio/rnti_pool.h"
#include "wire/bytes.h"

namespace splitplane::datapath {

struct PhyReport {
  enum class Kind : std::uint8_t {
    kRuns,     // the PHY runs from now on: nothing of before is in the air
    kAway,     // the PHY has stopped, or is silent
    kSlot,     // a slot begins
    kHarq,     // a UE's HARQ-ACK of the PDSCH in `slot`: `good` is an ACK
    kRequest,  // a UE sent a scheduling request in `slot`
    kBlock,    // a PUSCH in `slot`: `good` if the CRC is right, and then the octets of its transport block follow
  };
  Kind kind = Kind::kSlot;
  bool good = false;
  std::uint8_t process = 0;  // HARQ process of a PUSCH
  Rnti rnti{};
  phy::Slot slot;
};

class PhyReports {
 public:
  // `bytes`: at least twice the longest record; it is rounded up to a power of two.
  explicit PhyReports(std::size_t bytes) : memory_(std::bit_ceil(bytes)), mask_(std::bit_ceil(bytes) - 1) {}
  PhyReports(const PhyReports&) = delete;
  PhyReports& operator=(const PhyReports&) = delete;

  // On the producer's thread. False: there is no room.
  bool put(const PhyReport& report, wire::Octets octets = {}) {
    const std::size_t bytes = padded(sizeof(Header) + octets.size());
    std::uint64_t at = written_.load(std::memory_order_relaxed);
    const std::size_t to_end = memory_.size() - (at & mask_);
    const std::size_t needed = bytes <= to_end ? bytes : to_end + bytes;
    if (at + needed - read_.load(std::memory_order_acquire) > memory_.size()) return false;
    if (bytes > to_end) {
      write(at, {.octets = kSkip});  // a multiple of a header's size is left, so there is room for one
      at += to_end;
    }
    write(at, {report, static_cast<std::uint32_t>(octets.size())});
    wire::copy_octets(&memory_[(at & mask_) + sizeof(Header)], octets.data(), octets.size());
    written_.store(at + bytes, std::memory_order_release);
    return true;
  }

  // On the consumer's thread: calls f(report, octets) for at most `most` records. The octets are valid during the call.
  template <class F>
  unsigned take(F&& f, unsigned most) {
    const std::uint64_t end = written_.load(std::memory_order_acquire);
    std::uint64_t at = read_.load(std::memory_order_relaxed);
    unsigned taken = 0;
    while (at != end && taken < most) {
      Header header;
      std::memcpy(&header, &memory_[at & mask_], sizeof header);
      if (header.octets == kSkip) {
        at += memory_.size() - (at & mask_);
        continue;
      }
      f(std::as_const(header.report), wire::Octets(&memory_[(at & mask_) + sizeof(Header)], header.octets));
      at += padded(sizeof(Header) + header.octets);
      read_.store(at, std::memory_order_release);
      ++taken;
    }
    return taken;
  }
  // On any thread.
  [[nodiscard]] bool empty() const {
    return read_.load(std::memory_order_acquire) == written_.load(std::memory_order_acquire);
  }

 private:
  struct alignas(8) Header {
    PhyReport report;
    std::uint32_t octets = 0;
  };
  static constexpr std::uint32_t kSkip = 0xFFFF'FFFF;  // the rest of the memory is not used
  static_assert(std::has_single_bit(sizeof(Header)));

  static constexpr std::size_t padded(std::size_t bytes) {
    return (bytes + sizeof(Header) - 1) & ~(sizeof(Header) - 1);
  }
  void write(std::uint64_t at, const Header& header) { std::memcpy(&memory_[at & mask_], &header, sizeof header); }

  buf::LargeArray<std::uint8_t> memory_;
  std::size_t mask_;
  alignas(64) std::atomic<std::uint64_t> written_{0};  // octets, without modulus
  alignas(64) std::atomic<std::uint64_t> read_{0};
};

}  // namespace splitplane::datapath
