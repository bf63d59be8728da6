// The host's watch over engines that it cannot inspect: it reads their counters now and then and reports what is wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gpu/rings/ring_memory.h"
#include "gpu/rings/verdict.h"

namespace splitplane::gpu {

struct Finding {
  std::uint32_t ring;
  bool receiver;  // false: the sender
  Fault fault;

  // One sentence for the user.
  [[nodiscard]] std::string sentence() const;
  friend bool operator==(const Finding&, const Finding&) = default;
};

class Watchdog {
 public:
  // `within_ns` is how long a step of an engine may take, and how long the NIC's drops may continue beside an idle
  // receiver.
  Watchdog(const SharedView& counters, std::uint32_t rings, std::uint64_t within_ns);

  // The present faults. `nic_missed` counts frames that the NIC dropped without a descriptor, per ring, if they are
  // counted. It is read before this call, however long that takes.
  [[nodiscard]] std::vector<Finding> look(std::uint64_t now, std::span<const std::uint64_t> nic_missed = {});

 private:
  struct Pulse {
    std::uint64_t value = 0, since = 0;
    // How long `now_value` has been the same.
    std::uint64_t age(std::uint64_t now_value, std::uint64_t now);
  };
  struct PerRing {
    Pulse rx_steps, tx_steps, received, waits;
    // Its value at the first look after the last frame, or after the last time that the receiver waited for a slot.
    std::optional<std::uint64_t> missed_then;
  };
  void look_at(const EngineCounters& engine, Pulse& steps, std::uint64_t now, Finding finding,
               std::vector<Finding>& found) const;

  SharedView counters_;
  std::uint64_t within_ns_;
  std::vector<PerRing> rings_;
};

}  // namespace splitplane::gpu
