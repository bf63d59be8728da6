// A device under test with known behaviour: capacity, queue, delay, jitter, loss, duplication and reordering, from a
// seed. The self-test puts it between generator and sink. The sink must find exactly what the device did.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/random.h"

namespace splitplane::traffic {

struct DeviceSettings {
  std::uint64_t seed = 1;
  double loss = 0, duplication = 0, reordering = 0;  // probabilities, per packet
  double capacity = 0;                               // packets a second, in the order of arrival; 0: no limit
  std::uint64_t delay_ns = 0, jitter_ns = 0;         // delay, plus a random time up to jitter; packets never overtake
  std::uint32_t queue = 4096;                        // the most packets inside; later ones are dropped
  std::uint32_t flows = 1;
};

struct DeviceCounts {
  std::uint64_t received = 0, sent = 0;
  std::uint64_t lost = 0, overflowed = 0;  // at random, and by a full queue
  std::uint64_t duplicated = 0, reordered = 0;
};

// Packet is a handle, such as rte_mbuf*. A packet to be reordered waits until the next one of its flow has left, and
// leaves directly after it. So it is reordered once, by RFC 4737's definition, whatever the other flows do.
template <class Packet>
class SyntheticDevice {
 public:
  explicit SyntheticDevice(const DeviceSettings& settings)
      : settings_(settings),
        random_(settings.seed),
        service_ns_(settings.capacity > 0 ? 1e9 / settings.capacity : 0),
        queue_(settings.queue),
        waiting_(settings.flows) {}

  // A packet of `flow` (below settings.flows) comes in. `copy(packet)` makes the duplicate. Returns false if the packet
  // is lost; the caller then keeps it.
  template <class Copy>
  [[nodiscard]] bool arrive(Packet packet, std::uint32_t flow, std::uint64_t now, const Copy& copy) {
    ++counts_.received;
    if (chance(settings_.loss)) {
      ++counts_.lost;
      return false;
    }
    const bool late = chance(settings_.reordering);
    const bool twice = chance(settings_.duplication) && !late;
    if (size_ + (twice ? 2 : 1) > settings_.queue) {
      ++counts_.overflowed;
      return false;
    }
    push({packet, flow, leave(now), late});
    if (twice) {
      ++counts_.duplicated;
      push({copy(packet), flow, leave(now), false});
    }
    return true;
  }

  // The next packet that has to leave by `now`.
  [[nodiscard]] std::optional<Packet> depart(std::uint64_t now) {
    if (overtaken_) return take_overtaken();
    while (size_ != 0 && queue_[first_].ready_ns <= now) {
      const Entry entry = pop();
      auto& waiting = waiting_[entry.flow];
      if (entry.late && !waiting) {
        waiting = entry.packet;
        continue;
      }
      if (waiting) {
        overtaken_ = waiting;
        waiting.reset();
      }
      ++counts_.sent;
      return entry.packet;
    }
    return std::nullopt;
  }

  // At the end: packets that wait for a successor that never came. Call it until there is none.
  [[nodiscard]] std::optional<Packet> drain() {
    if (const auto packet = depart(~0ULL)) return packet;
    for (auto& waiting : waiting_) {
      if (!waiting) continue;
      ++counts_.sent;
      const Packet packet = *waiting;
      waiting.reset();
      return packet;
    }
    return std::nullopt;
  }

  [[nodiscard]] const DeviceCounts& counts() const { return counts_; }
  // The time of the next packet for depart(); ~0 if there is none.
  [[nodiscard]] std::uint64_t next_ready() const { return size_ == 0 ? ~0ULL : queue_[first_].ready_ns; }

 private:
  struct Entry {
    Packet packet{};
    std::uint32_t flow = 0;
    std::uint64_t ready_ns = 0;
    bool late = false;
  };

  [[nodiscard]] bool chance(double p) { return p > 0 && random_.unit() <= p; }
  [[nodiscard]] std::uint64_t leave(std::uint64_t now) {
    free_at_ = std::max(free_at_, static_cast<double>(now)) + service_ns_;
    const double jitter = settings_.jitter_ns == 0 ? 0 : random_.unit() * static_cast<double>(settings_.jitter_ns);
    const auto ready = static_cast<std::uint64_t>(free_at_ + jitter) + settings_.delay_ns;
    return last_ready_ = std::max(last_ready_, ready);
  }
  void push(const Entry& entry) { queue_[(first_ + size_++) % queue_.size()] = entry; }
  Entry pop() {
    const Entry entry = queue_[first_];
    first_ = (first_ + 1) % queue_.size();
    --size_;
    return entry;
  }
  [[nodiscard]] std::optional<Packet> take_overtaken() {
    ++counts_.sent;
    ++counts_.reordered;
    return std::exchange(overtaken_, std::nullopt);
  }

  DeviceSettings settings_;
  Random random_;
  double service_ns_, free_at_ = 0;
  std::uint64_t last_ready_ = 0;
  std::vector<Entry> queue_;  // a ring
  std::size_t first_ = 0, size_ = 0;
  std::vector<std::optional<Packet>> waiting_;  // per flow
  std::optional<Packet> overtaken_;             // leaves next
  DeviceCounts counts_;
};

}  // namespace splitplane::traffic
