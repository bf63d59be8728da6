// Taps of an instance: made and ended by the control side, attached and detached by each worker between two rounds. A
// tap is given back only when no worker can touch it any more.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "gnb/control/control_lock.h"
#include "gnb/control/workers.h"
#include "tap/tap.h"

namespace splitplane::gnb {

class Taps {
 public:
  Taps(const GnbConfig& config, ControlLock& control, Workers& workers, std::shared_ptr<const tap::SecuredDrbs> secured)
      : config_(config), control_(control), workers_(workers), secured_(std::move(secured)) {}

  // Those of the configuration. Error: one could not open its file.
  Expected<void> start_configured();
  // On with the same settings, or off, twice is no error.
  Expected<nlohmann::json> on(const tap::Settings& settings);
  Expected<nlohmann::json> off(const std::string& name);
  [[nodiscard]] Expected<nlohmann::json> list();

  // A tap that has stopped by itself no longer costs its workers anything; it stays in the list until it is turned off.
  void quiet_stopped(const Locked& locked);
  // The workers have ended: what their lanes still hold is written, and the files are closed. A writer whose disk hangs
  // is left to the end of the process, which the kernel may not grant before that of the disk.
  void end(const Locked& locked);

 private:
  using All = std::vector<std::unique_ptr<tap::Tap>>;
  [[nodiscard]] std::vector<WorkerRuntime*> ends_of(const tap::Settings& settings) const;
  [[nodiscard]] All::iterator find(const std::string& name);
  Expected<tap::Tap*> start(const Locked& locked, tap::Settings settings);
  Expected<void> forget_refused(const Locked& locked, tap::Tap& tap);
  Expected<void> detach(const Locked& locked, tap::Tap& tap);

  const GnbConfig& config_;
  ControlLock& control_;
  Workers& workers_;
  std::shared_ptr<const tap::SecuredDrbs> secured_;  // a writer may outlive this object
  All taps_;
  All ending_;                       // turned off, their last packets on the way to a slow disk
  std::set<const tap::Tap*> quiet_;  // have stopped by themselves, and are detached
};

}  // namespace splitplane::gnb
