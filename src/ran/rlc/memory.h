// All memory of the RLC entities of one owner thread, which chooses the sizes. When a part is used up, an SDU is
// refused before it gets a number. A received PDU is then treated as lost, which TS 38.322 repairs. Nothing else
// happens.
#pragma once

#include <type_traits>

#include "ran/rlc/paged_window.h"

namespace splitplane::ran::rlc {

// Octets [start, stop) of a sent SDU that wait for retransmission. Several intervals form a list in ascending order.
struct Interval {
  std::uint16_t start = 0, stop = 0;
  std::uint32_t next = 0;
};

// Whether SentSdu names the octets that wait for retransmission, in the room that a pointer leaves. Beside a smaller
// buffer they are in an array of their own, because a sender of many bearers finds a SentSdu in no cache.
template <buf::Keepable B>
inline constexpr bool kIntervalsInSdu = alignof(B) > alignof(std::uint32_t);
struct NoIntervals {};

// A sent SDU as the sender keeps it until it is acknowledged.
template <buf::Keepable B>
struct SentSdu {
  B sdu;
  std::uint16_t bytes = 0;      // length of the whole SDU
  std::uint8_t retx_count = 0;  // RETX_COUNT
  std::uint8_t runs = 0;        // number of intervals, if `listed`
  [[no_unique_address]] std::conditional_t<kIntervalsInSdu<B>, std::uint32_t, NoIntervals> intervals{};
};

// A page of 64 sent SDUs, with one bit each in every mask.
template <buf::Keepable B>
struct alignas(64) SentPage {
  std::uint64_t held = 0;        // `sdu` has a buffer
  std::uint64_t acked = 0;       // positively acknowledged
  std::uint64_t considered = 0;  // considered for retransmission at least once: RETX_COUNT has a value
  std::uint64_t pending = 0;     // waits for retransmission
  std::uint64_t partial = 0;     // only some octets of it wait
  std::uint64_t listed = 0;      // the octets that wait form more than one run
  std::array<SentSdu<B>, kPageSns> sdu;
  [[no_unique_address]] std::conditional_t<kIntervalsInSdu<B>, NoIntervals, std::array<std::uint32_t, kPageSns>> beside;
  std::array<Time, kPageSns> first_nack;  // when the SDU was first considered for retransmission

  // If `listed` is set: the first interval of SDU `sn`. If only `partial` is set: the one interval itself, with `stop`
  // in the upper half. So a retransmission in pieces never needs memory.
  [[nodiscard]] std::uint32_t& intervals(std::uint32_t sn) {
    if constexpr (kIntervalsInSdu<B>) {
      return sdu[sn % kPageSns].intervals;
    } else {
      return beside[sn % kPageSns];
    }
  }
  [[nodiscard]] std::uint32_t intervals(std::uint32_t sn) const { return const_cast<SentPage&>(*this).intervals(sn); }
};

// Octets [start, stop) of an SDU that is being received, in one PDU's buffer. They form a list in ascending order.
template <buf::Keepable B>
struct Segment {
  B pdu;
  std::uint32_t next = 0;
  std::uint16_t skip = 0, start = 0, stop = 0;
};

// An SDU of which the receiver holds segments.
struct Assembly {
  std::uint32_t first = 0, last = 0;  // first and last segment
  std::uint32_t octets = 0;           // octets that are held
  std::uint32_t holes = 1;            // runs of missing octets; a tail of unknown length is one of them
  std::uint16_t bytes = 0;            // length of the whole SDU; 0 while its last segment is missing
};

// A page of 64 SDUs of a receiving window.
struct alignas(64) ReceivedPage {
  std::uint64_t done = 0;     // received completely
  std::uint64_t partial = 0;  // segments held: `assembly` names them
  std::uint64_t polled = 0;   // a poll waits for its turn (TS 38.322 5.3.4)
  std::array<std::uint32_t, kPageSns> assembly;
};

template <buf::Keepable B>
struct alignas(64) QueuePage {
  std::array<B, 64> sdu;
  QueuePage* next = nullptr;
};

struct MemorySizes {
  std::size_t sent_pages = 1024, received_pages = 1024, queue_pages = 1024, directories = 1024;
  std::size_t segments = 4096, assemblies = 2048, intervals = 4096;
  // Segments that one entity holds at most: a peer that sends small pieces with gaps takes no more from the others.
  std::size_t segments_of_one = std::numeric_limits<std::size_t>::max();
};

template <buf::Keepable B>
struct Memory {
  explicit Memory(const MemorySizes& n)
      : directories(n.directories),
        sent_pages(n.sent_pages),
        received_pages(n.received_pages),
        queue_pages(n.queue_pages),
        segments(n.segments),
        assemblies(n.assemblies),
        intervals(n.intervals),
        segments_of_one(n.segments_of_one) {
    parts.reserve(2 * n.segments + 2);  // a PDU may lie in each gap between them
  }

  Pool<Directory> directories;
  Pool<SentPage<B>> sent_pages;
  Pool<ReceivedPage> received_pages;
  Pool<QueuePage<B>> queue_pages;
  Pool<Segment<B>> segments;
  Pool<Assembly> assemblies;
  Pool<Interval> intervals;
  std::size_t segments_of_one;
  std::vector<Part<B>> parts;  // of the SDU that is being delivered

  // True if everything was given back.
  [[nodiscard]] bool unused() const {
    const auto full = [](const auto& pool) { return pool.available() == pool.size(); };
    return full(directories) && full(sent_pages) && full(received_pages) && full(queue_pages) && full(segments) &&
           full(assemblies) && full(intervals);
  }
};

}  // namespace splitplane::ran::rlc
