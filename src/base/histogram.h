// A log-linear histogram with HdrHistogram's layout (three significant digits). Values are in ns with a relative error
// below 0.1 %, and recording is one increment. traffic/hdr_log.h writes it in the format that the standard decoders
// read.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace splitplane {

class Histogram {
 public:
  static constexpr unsigned kDigits = 3;
  static constexpr unsigned kSubBucketBits = 11;  // 2,048 linear steps before the first doubling
  static constexpr std::uint64_t kHalf = 1ULL << (kSubBucketBits - 1);
  static constexpr std::uint64_t kHighest = 100'000'000'000;  // 100 s; longer values are recorded as this
  static constexpr unsigned kBuckets = 27;                    // the last begins below kHighest and ends above it
  static_assert((1ULL << (kSubBucketBits + kBuckets - 1)) > kHighest);
  static_assert((1ULL << (kSubBucketBits + kBuckets - 2)) <= kHighest);
  static constexpr std::size_t kCounts = (kBuckets + 1) * kHalf;

  Histogram() : counts_(kCounts) {}

  void record(std::uint64_t value) {
    if (value > kHighest) [[unlikely]] {
      value = kHighest;
      ++clamped_;
    }
    ++counts_[index_of(value)];
    sum_ += static_cast<double>(value);
    max_ = value > max_ ? value : max_;
    min_ = value < min_ ? value : min_;
    ++total_;
  }

  [[nodiscard]] std::uint64_t total() const { return total_; }
  [[nodiscard]] std::uint64_t clamped() const { return clamped_; }
  [[nodiscard]] std::uint64_t min() const { return total_ == 0 ? 0 : min_; }
  [[nodiscard]] std::uint64_t max() const { return max_; }
  [[nodiscard]] double mean() const { return total_ == 0 ? 0 : sum_ / static_cast<double>(total_); }
  // Of the values as counted, each taken for the middle of its step.
  [[nodiscard]] double variance() const;
  // The highest value of the step that holds the packet of this rank, as HdrHistogram defines it. It is never above the
  // maximum, and 0 when empty.
  [[nodiscard]] std::uint64_t percentile(double percent) const;

  // One count per step; the layout of HdrHistogram's counts array.
  [[nodiscard]] const std::vector<std::uint64_t>& counts() const { return counts_; }
  [[nodiscard]] static std::size_t index_of(std::uint64_t value) {
    const auto bucket = static_cast<unsigned>(std::bit_width(value | (2 * kHalf - 1))) - kSubBucketBits;
    return (static_cast<std::size_t>(bucket) << (kSubBucketBits - 1)) + static_cast<std::size_t>(value >> bucket);
  }
  // The lowest and the highest value that are counted at this index.
  [[nodiscard]] static std::uint64_t lowest_at(std::size_t index);
  [[nodiscard]] static std::uint64_t highest_at(std::size_t index);

 private:
  std::vector<std::uint64_t> counts_;
  std::uint64_t total_ = 0, clamped_ = 0, max_ = 0, min_ = ~0ULL;
  double sum_ = 0;  // 64 bits would wrap after 180 million packets of 100 s
};

}  // namespace splitplane
