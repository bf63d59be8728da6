// Makes a loop the guest of another worker's thread, and brings it home again (engine/guest.h). For the control thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "engine/worker_power.h"

namespace splitplane::datapath {

struct LodgingLoop {
  WorkerPower& power;
  // Between two rounds; false: the loop did not listen for `patience`.
  std::function<bool(const std::function<void()>&, std::chrono::milliseconds patience)> execute;
};

enum class Lodged : std::uint8_t { kDone, kGuestSilent, kHostSilent, kNoRoom };

// `guest` has no guests, and neither of the two is one. Packets of the guest wait in their queues until the host has
// finished a round; a host that was asked before and does not take it in kTakes gets none. If it cannot be done, the
// guest goes on at home.
inline constexpr std::chrono::milliseconds kTakes{100};
[[nodiscard]] Lodged lodge(const LodgingLoop& guest, const LodgingLoop& host);
// True: the guest's own thread goes on. False: the host does not listen, or hangs now; the guest stays, or goes home
// when the host goes on.
[[nodiscard]] bool bring_home(const LodgingLoop& guest, const LodgingLoop& host);

}  // namespace splitplane::datapath
