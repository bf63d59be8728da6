// The engines' only connection to the host while they run on a device. A separate warp copies their counters to memory
// that the host can read, a thousand times a second, and brings them the host's stop flag. So an engine's counters and
// its stop flag stay in the device's memory. An engine's stores cross the bus only for descriptors (if they are there)
// and tails. None waits behind counters for the fence of a doorbell. On CPU threads engines and host share the memory,
// so nothing has to be copied.
#pragma once

#include "gpu/rings/memory_order.h"
#include "gpu/rings/ring_memory.h"

namespace splitplane::gpu {

struct HousekeeperSettings {
  std::uint32_t rings = 0;
  std::uint64_t every_ns = 1'000'000;  // between two copies
  std::uint64_t limit_ns = ~0ULL;      // engines must stop after this time, even without the host's command
  // How long it waits for engines that must stop, because an engine that was not launched never reports that.
  std::uint64_t engines_end_within_ns = 10'000'000'000;
};

class Housekeeper {
 public:
  // `engines` has what they write, and the flag that they read; `host` has the same for the host. Both are at the
  // device's addresses.
  SPLITPLANE_HD Housekeeper(const SharedView& engines, const SharedView& host, const HousekeeperSettings& settings)
      : engines_(engines), host_(host), settings_(settings) {}

  // One round, by all lanes. Returns false when all engines have left their loops and the host has their last counters,
  // or when they did not stop in time.
  template <class Lane>
  [[nodiscard]] SPLITPLANE_HD bool step(Lane lane, std::uint64_t now) {
    if (!begun_) {
      begun_ = true;
      begin_ = copied_ = now;
    }
    const bool told = lane.shfl(load_relaxed(host_.stop), 0) != 0 || now - begin_ >= settings_.limit_ns;
    if (told && !told_) told_at_ = now;
    told_ = told_ || told;
    if (told_ && lane.id == 0) store_relaxed_on_device(engines_.stop, 1U);
    if (now - copied_ < settings_.every_ns && !told_) return true;
    copied_ = now;
    const bool all_stopped = copy(lane);
    return !all_stopped && !(told_ && now - told_at_ >= settings_.engines_end_within_ns);
  }

 private:
  // Returns true if all engines had stopped before their counters were read.
  template <class Lane>
  [[nodiscard]] SPLITPLANE_HD bool copy(Lane lane) const {
    bool runs = false;
    for (std::uint32_t i = lane.id; i < settings_.rings; i += Lane::width) {
      const bool receives = copy_engine(engines_.rx[i], host_.rx[i]);
      const bool sends = copy_engine(engines_.tx[i], host_.tx[i]);
      for (std::size_t v = 0; v < kVerdictCount; ++v) {  // after the acquire of `stopped`, so these are the last ones
        copy_word(&engines_.verdicts[i].count[v], &host_.verdicts[i].count[v]);
      }
      runs = runs || receives || sends;
    }
    return lane.ballot(runs) == 0;
  }
  // Returns false if it had stopped; these are its last counters.
  SPLITPLANE_HD static bool copy_engine(const EngineCounters& from, EngineCounters& to) {
    const std::uint32_t stopped = load_acquire_on_device(&from.stopped);
    copy_word(&from.steps, &to.steps);
    copy_word(&from.packets, &to.packets);
    copy_word(&from.octets, &to.octets);
    copy_word(&from.completed, &to.completed);
    copy_word(&from.doorbells, &to.doorbells);
    copy_word(&from.repeated, &to.repeated);
    copy_word(&from.recovered, &to.recovered);
    copy_word(&from.waits, &to.waits);
    copy_word(&from.fault, &to.fault);
    store_release(&to.stopped, stopped);
    return stopped == 0;
  }
  SPLITPLANE_HD static void copy_word(const std::uint64_t* from, std::uint64_t* to) {
    store_relaxed(to, load_relaxed_on_device(from));
  }

  SharedView engines_, host_;
  HousekeeperSettings settings_;
  bool begun_ = false, told_ = false;
  std::uint64_t begin_ = 0, copied_ = 0, told_at_ = 0;
};

}  // namespace splitplane::gpu
