// The buffering service of a gNB as a running process (`splitplane baas`): it joins the gNB's memory, runs a loop on
// each of its cores, and watches the gNB. When that ends, the process becomes a new one (re_execute), which waits for
// the next gNB. Its loops go on until then, some 50 ms, in memory that stays mapped and that no other process uses.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "baas/run_loop.h"
#include "baas/shared.h"
#include "base/expected.h"
#include "control/client.h"
#include "control/socket.h"
#include "engine/eal.h"
#include "gnb/config/config.h"
#include "observe/observation.h"
#include "power/governor/governor.h"
#include "runtime/loop_power.h"
#include "runtime/loop_thread.h"
#include "runtime/other_process.h"

namespace splitplane::app {

// The process begins anew with the same command line, without the control socket at that path; it does not return
// unless that fails, which it says in the log.
void re_execute(const std::string& control);

class BufferingService {
 public:
  // One try to serve the gNB of this configuration. Nothing: it does not run, or does not want a service yet; `why`
  // says so. Error: it will not work.
  static Expected<std::unique_ptr<BufferingService>> join(const GnbConfig& config, std::string& why);
  ~BufferingService();
  BufferingService(const BufferingService&) = delete;
  BufferingService& operator=(const BufferingService&) = delete;

  // The process that it serves still runs.
  [[nodiscard]] bool gnb_lives() const { return gnb_.lives(); }
  // Ends the loops; counters stay readable and are exact from then on.
  void stop();
  // After the gNB ended: nothing may be taken down.
  void abandon();

  Expected<nlohmann::json> stats();
  // For the metrics: reads the counters beside the loops.
  [[nodiscard]] Observation observe();
  Expected<nlohmann::json> show_power();
  Expected<nlohmann::json> set_power(const std::string& worker, const power::Settings& settings);

 private:
  struct Loop {
    std::string name;
    unsigned core = 0, lcore = 0;
    power::Settings policy;  // in force
    std::unique_ptr<governor::Governor> governor;
    datapath::WorkerPower power;
    datapath::Mailbox mailbox{&power.wakeup()};
    datapath::WorkerStats stats;
    std::unique_ptr<baas::Buffering> buffering;
    std::atomic<bool> stop{false};
    LoopThread thread;

    [[nodiscard]] bool execute(const std::function<void()>& command);
  };

  explicit BufferingService(const GnbConfig& config) : config_(config) {}
  Expected<void> start(ControlClient& gnb, const nlohmann::json& attached);
  Expected<void> make_loop(std::size_t core);
  Expected<void> launch();
  [[nodiscard]] LoopPower power_of(Loop& loop) const;
  [[nodiscard]] static WorkerObservation observe(const Loop& loop);
  [[nodiscard]] nlohmann::json row(Loop& loop);

  std::mutex mutex_;  // the control server's thread and the main thread
  const GnbConfig& config_;
  OtherProcess gnb_;
  int gnb_process_ = 0;
  bool begin_refused_ = false;  // by the gNB, which lives: a worker did not answer
  std::optional<datapath::Eal> eal_;
  baas::Shared* shared_ = nullptr;
  std::vector<Fd> wakeups_;  // of the gNB's workers
  std::vector<std::unique_ptr<Loop>> loops_;
};

}  // namespace splitplane::app
