// The UE's buffer status reporting (TS 38.321 5.4.5): when a BSR is triggered, in which format it is sent, and what it
// says. Uplink asks it; it knows no RLC. Scheduling requests are not part of it: regular() says when one is wanted.
#pragma once

#include <algorithm>

#include "ran/mac/control_element.h"
#include "ran/rlc/types.h"
#include "wire/mac_bsr.h"

namespace splitplane::ran::mac {

using rlc::Time;

struct BsrConfig {
  Time periodic = rlc::kNever;  // periodicBSR-Timer in ticks; kNever: infinity
  Time retx = 80'000'000;       // retxBSR-Timer in ticks
};

// What waits in one logical channel, with the octets of its RLC headers.
struct Waiting {
  std::uint8_t lcg = 0;       // 0..7
  std::uint8_t priority = 1;  // 1 is the highest
  std::uint64_t octets = 0;
};

class BufferStatus {
 public:
  static constexpr std::size_t kShortBytes = 2;  // a short BSR and its subheader

  explicit BufferStatus(const BsrConfig& config) : config_(config) {}

  // Looks at what waits now. Data of a higher priority than all that waited at the last look triggers a regular BSR,
  // as does data where nothing waited. Call it when data may have come, and after each block.
  void observe(std::span<const Waiting> channels) {
    unsigned highest = kNone;
    for (const Waiting& channel : channels) {
      if (channel.octets != 0) highest = std::min<unsigned>(highest, channel.priority);
    }
    if (highest < highest_) regular_ = true;
    highest_ = highest;
  }
  // Runs the timers.
  void tick(Time now) {
    if (t_retx_.expired(now)) {
      t_retx_.stop();
      if (highest_ != kNone) regular_ = true;
    }
    if (t_periodic_.expired(now)) {
      t_periodic_.stop();
      periodic_ = true;
    }
  }
  [[nodiscard]] Time next_expiry() const { return std::min(t_retx_.expiry(), t_periodic_.expiry()); }
  // A grant for new data came.
  void granted(Time now) { start(t_retx_, config_.retx, now); }

  [[nodiscard]] bool triggered() const { return regular_ || periodic_; }
  [[nodiscard]] bool regular() const { return regular_; }

  // Octets of the BSR that a block gets if one is triggered, with its subheader: short for at most one LCG with data,
  // otherwise long. `before` is what waits before the block is built.
  [[nodiscard]] static std::size_t size(std::span<const Waiting> before) {
    const unsigned lcgs = wire::mac::popcount8(with_data(before));
    return lcgs > 1 ? long_bytes(lcgs) : kShortBytes;
  }
  // That BSR. It reports what waits `after` the block was built, of the LCGs that had data `before`.
  [[nodiscard]] static ControlElement report(std::span<const Waiting> before, std::span<const Waiting> after) {
    const std::uint8_t lcgs = with_data(before);
    const bool is_long = wire::mac::popcount8(lcgs) > 1;
    return is_long ? long_bsr(lcgs, after) : short_bsr(before, after, false);
  }
  // A BSR in the place of padding, of at most `room` octets with its subheader; of size 0 if none fits.
  [[nodiscard]] static ControlElement pad(std::size_t room, std::span<const Waiting> before,
                                          std::span<const Waiting> after) {
    if (room < kShortBytes) return {};
    const std::uint8_t lcgs = with_data(before);
    const unsigned count = wire::mac::popcount8(lcgs);
    if (room >= long_bytes(count)) return long_bsr(lcgs, after);
    if (count <= 1) return short_bsr(before, after, false);
    if (room == kShortBytes) return short_bsr(before, after, true);
    return long_truncated_bsr(room - long_bytes(0), before, after);
  }
  // The BSR is in the block. A whole one answers all triggers; a truncated one does not restart periodicBSR-Timer.
  void sent(const ControlElement& bsr, Time now) {
    start(t_retx_, config_.retx, now);
    if (bsr.lcid() == wire::mac::ul::kShortTruncatedBsr || bsr.lcid() == wire::mac::ul::kLongTruncatedBsr) return;
    start(t_periodic_, config_.periodic, now);
    regular_ = periodic_ = false;
  }

 private:
  static constexpr unsigned kNone = 256;  // no data waits
  static constexpr std::size_t long_bytes(unsigned lcgs) { return 3 + lcgs; }

  static void start(rlc::Timer& timer, Time duration, Time now) {
    if (duration != rlc::kNever) timer.start(now, duration);
  }
  [[nodiscard]] static std::uint8_t with_data(std::span<const Waiting> channels) {
    std::uint8_t lcgs = 0;
    for (const Waiting& channel : channels) {
      if (channel.octets != 0) lcgs = static_cast<std::uint8_t>(lcgs | 1U << channel.lcg);
    }
    return lcgs;
  }
  [[nodiscard]] static std::uint64_t octets_of(unsigned lcg, std::span<const Waiting> channels) {
    std::uint64_t octets = 0;
    for (const Waiting& channel : channels) octets += channel.lcg == lcg ? channel.octets : 0;
    return octets;
  }
  // The LCG of the channel with the highest priority that has data; of any channel if none has.
  [[nodiscard]] static std::uint8_t first_lcg(std::span<const Waiting> channels) {
    const Waiting* first = nullptr;
    for (const Waiting& channel : channels) {
      const bool better = first == nullptr || (channel.octets != 0) > (first->octets != 0) ||
                          ((channel.octets != 0) == (first->octets != 0) && channel.priority < first->priority);
      if (better) first = &channel;
    }
    return first == nullptr ? std::uint8_t{0} : first->lcg;
  }
  [[nodiscard]] static ControlElement short_bsr(std::span<const Waiting> before, std::span<const Waiting> after,
                                                bool truncated) {
    const std::uint8_t lcg = first_lcg(before);
    return ControlElement::of(wire::mac::ShortBsr{lcg, wire::mac::bsr5_index(octets_of(lcg, after))}, truncated);
  }
  [[nodiscard]] static ControlElement long_bsr(std::uint8_t lcgs, std::span<const Waiting> after) {
    wire::mac::LongBsr bsr{lcgs, {}};
    for (unsigned lcg = 0; lcg < wire::mac::kLcgs; ++lcg) bsr.size[lcg] = wire::mac::bsr8_index(octets_of(lcg, after));
    return ControlElement::of(bsr);
  }
  // `most` sizes: of the LCGs with the highest priorities, whether or not the channel of that priority has data. They
  // are written in ascending order of the LCG (6.1.3.1).
  [[nodiscard]] static ControlElement long_truncated_bsr(std::size_t most, std::span<const Waiting> before,
                                                         std::span<const Waiting> after) {
    const std::uint8_t lcgs = with_data(before);
    std::array<unsigned, wire::mac::kLcgs> priority;
    priority.fill(kNone);
    for (const Waiting& channel : before)
      priority[channel.lcg] = std::min<unsigned>(priority[channel.lcg], channel.priority);
    unsigned chosen = 0;
    for (; most != 0; --most) {
      unsigned next = wire::mac::kLcgs;
      for (unsigned lcg = 0; lcg < wire::mac::kLcgs; ++lcg) {
        const bool open = (lcgs >> lcg & 1) != 0 && (chosen >> lcg & 1) == 0;
        if (open && (next == wire::mac::kLcgs || priority[lcg] < priority[next])) next = lcg;
      }
      if (next == wire::mac::kLcgs) break;
      chosen |= 1U << next;
    }
    std::array<std::uint8_t, wire::mac::kLcgs> sizes{};
    std::size_t count = 0;
    for (unsigned lcg = 0; lcg < wire::mac::kLcgs; ++lcg) {
      if ((chosen >> lcg & 1) != 0) sizes[count++] = wire::mac::bsr8_index(octets_of(lcg, after));
    }
    return ControlElement::of(wire::mac::LongTruncatedBsr{lcgs, Octets(sizes).first(count)});
  }

  BsrConfig config_;
  unsigned highest_ = kNone;  // the highest priority with data, at the last look
  bool regular_ = false, periodic_ = false;
  rlc::Timer t_periodic_, t_retx_;
};

}  // namespace splitplane::ran::mac
