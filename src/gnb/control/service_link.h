// The gNB's link to its buffering service, a process of its own (`splitplane baas`). It lets one process serve at a
// time, tells the workers when one begins, and notices when it ends. What was sent waits in the workers' ledgers
// meanwhile, so a service that is killed costs no SDU.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <vector>

#include "gnb/control/control_lock.h"
#include "gnb/control/wiring.h"
#include "gnb/control/workers.h"
#include "runtime/other_process.h"

namespace splitplane::gnb {

class ServiceLink {
 public:
  ServiceLink(const GnbConfig& config, const Workers& workers, Wiring& wiring)
      : config_(config), workers_(workers), wiring_(wiring) {}

  // A process asks to serve: whose memory to map, and what wakes the workers. It must hold the lock of the service's
  // instance, which its end releases. Error: there is no work, or another process serves.
  Expected<nlohmann::json> attach(const Locked& locked, int process);
  // That process is ready to read: the workers tell it everything from now on. `wakeups`: the descriptors that wake its
  // cores, in its own numbers; none: they cannot be woken. `wakes`: it can wake the workers.
  Expected<nlohmann::json> begin(const Locked& locked, int process, const std::vector<int>& wakeups, bool wakes);
  // On the control thread: notices the end of the process.
  void serve(const Locked& locked);
  [[nodiscard]] nlohmann::json row(const Locked& locked) const;

 private:
  [[nodiscard]] std::vector<WorkerRuntime*> served() const;
  void drop_wakeups(bool all_listened);
  void leave_workers();
  void end();

  const GnbConfig& config_;
  const Workers& workers_;
  Wiring& wiring_;
  OtherProcess service_;  // none: no process has attached
  int process_ = 0;       // its number
  bool serves_ = false;
  bool wakes_ = false, is_woken_ = false;  // the process can wake the workers; they can wake it
  std::vector<Fd> wakeups_;                // of the process's cores
  std::vector<Fd> still_used_;
  std::uint64_t begun_ = 0, ended_ = 0;
  Time since_{};
};

}  // namespace splitplane::gnb
