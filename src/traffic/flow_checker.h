// What became of each flow's packets: lost, duplicated, reordered. Reordering is RFC 4737's Type-P-Reordered: a packet
// is reordered if its sequence number is below the highest one before it, plus one. A duplicate is neither reordered
// nor received again. A window of sequence numbers below the highest tells a late packet from a second copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace splitplane::traffic {

enum class Arrival : std::uint8_t { kInOrder, kReordered, kDuplicate, kTooOld };

struct FlowCounts {
  std::uint64_t next = 0;    // highest sequence number received, plus one
  std::uint64_t unique = 0;  // received once or more
  std::uint64_t duplicates = 0;
  std::uint64_t reordered = 0;
  std::uint64_t too_old = 0;  // below the window: late or a copy, which is unknown; a late packet then stays lost

  // Missing sequence numbers below the highest. If `sent` is known, it also covers the end of the flow.
  [[nodiscard]] std::uint64_t lost() const { return next > unique ? next - unique : 0; }
  [[nodiscard]] std::uint64_t lost_of(std::uint64_t sent) const { return sent > unique ? sent - unique : 0; }
  FlowCounts& operator+=(const FlowCounts& other);
  friend bool operator==(const FlowCounts&, const FlowCounts&) = default;
};

class FlowChecker {
 public:
  static constexpr std::uint32_t kSmallestWindow = 64, kLargestWindow = 65536;

  static constexpr std::size_t bytes_per_flow(std::size_t window) { return 40 + window / 8; }

  // `window` is a power of two between these.
  FlowChecker(std::uint32_t flows, std::uint32_t window);

  [[nodiscard]] std::uint32_t flows() const { return flows_; }
  [[nodiscard]] const std::uint64_t* line(std::uint32_t flow) const { return &words_[flow * stride_]; }  // to prefetch

  // A packet of `flow` (below flows()) arrived.
  Arrival arrive(std::uint32_t flow, std::uint64_t sequence);

  [[nodiscard]] FlowCounts counts(std::uint32_t flow) const;
  [[nodiscard]] FlowCounts total() const;
  [[nodiscard]] std::uint64_t longest_reach() const { return longest_reach_; }  // of a reordered packet, in packets

 private:
  enum Word : std::uint32_t { kNext, kUnique, kDuplicates, kReordered, kTooOld, kBits };
  std::uint32_t flows_, window_;
  std::size_t stride_;
  std::vector<std::uint64_t> words_;  // per flow: counters, then a bit for each of the last `window` sequence numbers
  std::uint64_t longest_reach_ = 0;
};

}  // namespace splitplane::traffic
