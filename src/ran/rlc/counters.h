// What the RLC entities of a bearer count.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "ran/rlc/types.h"

namespace splitplane::ran::rlc {

struct SendCounters {
  std::uint64_t sdus = 0, octets = 0;    // SDUs that the queue took
  std::uint64_t refused = 0;             // because the queue was full, memory was short, or the SDU was empty
  std::uint64_t discarded = 0;           // by PDCP, before the first octet was sent
  std::uint64_t pdus = 0, segments = 0;  // data PDUs with octets never sent before, and the segments among them
};

struct ReceiveCounters {
  std::uint64_t pdus = 0;      // data PDUs = the sum of the six below and `complete` and `segments`
  std::uint64_t complete = 0;  // PDUs that completed their SDU
  std::uint64_t segments = 0;  // segments that were kept
  std::uint64_t duplicates = 0, outside_window = 0, contradictions = 0, no_memory = 0, refused = 0;
  std::uint64_t sdus = 0, octets = 0;  // delivered
  std::uint64_t given_up = 0;          // SDUs whose segments were discarded: by UM, or by AM to make room for RX_Next

  void count(Received what) {
    ++pdus;
    switch (what) {
      case Received::kDelivered:
        ++complete;
        return;
      case Received::kStored:
        ++segments;
        return;
      case Received::kDuplicate:
        ++duplicates;
        return;
      case Received::kOutsideWindow:
        ++outside_window;
        return;
      case Received::kContradiction:
        ++contradictions;
        return;
      case Received::kNoMemory:
        ++no_memory;
        return;
      case Received::kRefused:
        ++refused;
        return;
    }
  }
};

// How long SDUs took from the first NACK to the acknowledgement. Place k counts [2^(k-1), 2^k) units, place 0 less than
// one unit, and the last place everything longer.
class RepairTimes {
 public:
  static constexpr std::size_t kPlaces = 16;
  void add(Time units) {
    const auto place = static_cast<std::size_t>(std::bit_width(units));
    ++counts_[place < kPlaces ? place : kPlaces - 1];
  }
  [[nodiscard]] const std::array<std::uint32_t, kPlaces>& counts() const { return counts_; }

 private:
  std::array<std::uint32_t, kPlaces> counts_{};
};

// What AmRetx counts for nearly each SDU ...
struct FrequentRetxCounters {
  std::uint64_t acked = 0;         // SDUs
  std::uint64_t polls = 0;         // P bits sent, on new and retransmitted PDUs
  std::uint64_t status = 0;        // received and acted upon
  std::uint32_t unacked_most = 0;  // the most SDUs that were unacknowledged at one time
};
// ... and what it counts seldom.
struct RareRetxCounters {
  std::uint64_t pdus = 0, octets = 0;  // retransmitted
  std::uint64_t status_stale = 0;      // ignored: older than the last one
  std::uint64_t status_malformed = 0;  // ignored: of wrong form, or about SDUs that were not sent
  std::uint64_t nacks_ignored = 0;     // NACK blocks that name SDUs that were acknowledged, or not below ACK_SN
  std::uint64_t nacked = 0;            // SDUs that a NACK made pending
  std::uint64_t poll_timeouts = 0;     // expiries of t-PollRetransmit
  std::uint64_t max_retx = 0;          // SDUs that reached maxRetxThreshold
  std::uint64_t peer_lost = 0;         // times that the peer answered none of many polls
  RepairTimes repair;
};
struct RetxCounters : FrequentRetxCounters, RareRetxCounters {};

struct StatusCounters {
  std::uint64_t polls = 0, status = 0;    // received; sent
  std::uint64_t holes = 0;                // NACK blocks sent
  std::uint64_t reassembly_timeouts = 0;  // expiries of t-Reassembly
};

}  // namespace splitplane::ran::rlc
