#include "traffic/flow_checker.h"

#include <algorithm>

namespace splitplane::traffic {

FlowCounts& FlowCounts::operator+=(const FlowCounts& other) {
  next += other.next;
  unique += other.unique;
  duplicates += other.duplicates;
  reordered += other.reordered;
  too_old += other.too_old;
  return *this;
}

FlowChecker::FlowChecker(std::uint32_t flows, std::uint32_t window)
    : flows_(flows), window_(window), stride_(kBits + window / 64), words_(flows * stride_) {}

Arrival FlowChecker::arrive(std::uint32_t flow, std::uint64_t sequence) {
  std::uint64_t* const w = &words_[flow * stride_];
  std::uint64_t* const bits = w + kBits;
  const std::uint64_t place = sequence & (window_ - 1);
  const std::uint64_t bit = 1ULL << place % 64;
  std::uint64_t& word = bits[place / 64];
  const std::uint64_t next = w[kNext];
  if (sequence >= next) [[likely]] {
    // The numbers between used the places of numbers that leave the window now.
    const std::uint64_t skipped = sequence - next;
    if (skipped >= window_) {
      std::fill_n(bits, window_ / 64, 0);
    } else {
      for (std::uint64_t s = next; s < sequence; ++s) bits[(s & (window_ - 1)) / 64] &= ~(1ULL << s % 64);
    }
    word |= bit;
    w[kNext] = sequence + 1;
    ++w[kUnique];
    return Arrival::kInOrder;
  }
  if (next - sequence > window_) {
    ++w[kTooOld];
    return Arrival::kTooOld;
  }
  if ((word & bit) != 0) {
    ++w[kDuplicates];
    return Arrival::kDuplicate;
  }
  word |= bit;
  ++w[kUnique];
  ++w[kReordered];
  longest_reach_ = std::max(longest_reach_, next - 1 - sequence);
  return Arrival::kReordered;
}

FlowCounts FlowChecker::counts(std::uint32_t flow) const {
  const std::uint64_t* const w = line(flow);
  return {w[kNext], w[kUnique], w[kDuplicates], w[kReordered], w[kTooOld]};
}

FlowCounts FlowChecker::total() const {
  FlowCounts sum;
  for (std::uint32_t flow = 0; flow < flows_; ++flow) sum += counts(flow);
  return sum;
}

}  // namespace splitplane::traffic
