// The UE side's part of RRC. It follows the bearers that the gNB lists on its control socket. It asks for RLC
// re-establishment where PDUs passed before it knew a bearer, or after a radio link failure. All calls come from the
// control thread.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "control/client.h"
#include "ran/reestablish_limit.h"
#include "runtime/stop_flag.h"
#include "ue/bearer_watch.h"

namespace splitplane::app {

class BearerFollower {
 public:
  using Clock = std::chrono::steady_clock;

  // What the UE side does; follow() calls it.
  struct Ways {
    // How many frames named a bearer that is not known, or came in an epoch that is not known.
    std::function<std::uint64_t()> unknown;
    std::function<std::vector<BearerId>()> failed;  // bearers whose sender here has a radio link failure
    // Returns the changes that could not be made: they are tried again with the next list.
    std::function<std::vector<ue::BearerChange>(const std::vector<ue::BearerChange>&)> change;
    // True: the program ends, and the rest of a list is left.
    std::function<bool()> stopped = [] { return StopFlag::instance().requested(); };
  };

  // `worker`: only the bearers of this worker of the gNB, by number; a cell of full mode is one worker's.
  BearerFollower(std::string gnb_control, Ways ways, std::optional<std::uint32_t> worker = {})
      : gnb_control_(std::move(gnb_control)), ways_(std::move(ways)), worker_(worker) {}

  // Asks the gNB for its bearers when that is due, and does what changed. Returns false if the gNB did not answer. Due
  // is every second, sooner when a frame named an unknown bearer or an unknown epoch. It is later while the list is so
  // long that requests would cost more than a twentieth of the time.
  bool follow(Clock::time_point now);
  [[nodiscard]] std::size_t size() const { return watch_.size(); }

 private:
  [[nodiscard]] Expected<void> ask_gnb();
  void apply(const std::vector<ue::BearerChange>& changes);
  void keep_back(const ue::BearerChange& change);
  [[nodiscard]] std::optional<std::uint8_t> reestablish(BearerId id);
  [[nodiscard]] bool begin_anew(ue::BearerChange& change);
  [[nodiscard]] bool take_new_place(ue::BearerChange& change);

  std::string gnb_control_;
  Ways ways_;
  std::optional<std::uint32_t> worker_;
  ue::BearerWatch watch_;
  ReestablishLimit reestablish_limit_;
  std::unordered_set<BearerId> without_keys_;  // the gNB has keys for them that this side lacks
  std::optional<ControlClient> gnb_;
  bool gnb_silent_ = false;  // the log has it already
  std::uint64_t unknown_seen_ = 0;
  Clock::time_point last_asked_{};
  Clock::duration asking_took_{};
};

}  // namespace splitplane::app
