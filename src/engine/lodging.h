// Makes a loop the guest of another worker's thread, and brings it home again (engine/guest.h). For the control thread.
#pragma once

#include <cstdint>
#include <functional>

#include "engine/worker_power.h"

namespace splitplane::datapath {

struct LodgingLoop {
  WorkerPower& power;
  std::function<bool(const std::function<void()>&)> execute;  // between two rounds; false: the loop does not listen
};

enum class Lodged : std::uint8_t { kDone, kGuestSilent, kHostSilent, kNoRoom };

// `guest` has no guests, and neither of the two is one. Packets of the guest wait in their queues for about the time of
// two commands. If it cannot be done, the guest goes on at home.
[[nodiscard]] Lodged lodge(const LodgingLoop& guest, const LodgingLoop& host);
// False: the host does not listen, so the guest stays.
[[nodiscard]] bool bring_home(const LodgingLoop& guest, const LodgingLoop& host);

}  // namespace splitplane::datapath
