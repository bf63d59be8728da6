// The running guard of one instance, behind `splitplane guard`: DPDK, two ports, tables, workers, and the control
// socket's way to its servers, clients and connections.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/params.h"
#include "engine/eal.h"
#include "engine/port.h"
#include "guard/config/config.h"
#include "guard/control/arming_events.h"
#include "guard/control/loops.h"
#include "guard/control/protected_servers.h"
#include "guard/control/seen.h"
#include "guard/state/state_file.h"
#include "observe/metrics.h"
#include "power/settings.h"
#include "runtime/port_watch.h"
#include "runtime/resources.h"

namespace splitplane::app {

// What guard.sources does with one client.
enum class SourceAction : std::uint8_t { kShow, kAllow, kForget };
inline constexpr std::array<std::string_view, 3> kSourceActionNames{"show", "allow", "forget"};

// Any thread of the control side may call it.
class GuardInstance {
 public:
  // Builds everything and starts the workers. Error: one sentence; whatever was begun is undone.
  [[nodiscard]] static Expected<std::unique_ptr<GuardInstance>> start(const GuardConfig& config);
  // The same with DPDK running: an lcore for each worker. Without `eal` its owner is another object.
  [[nodiscard]] static Expected<std::unique_ptr<GuardInstance>> start_on(std::optional<datapath::Eal> eal,
                                                                         const GuardConfig& config);
  ~GuardInstance();
  GuardInstance(const GuardInstance&) = delete;
  GuardInstance& operator=(const GuardInstance&) = delete;

  // Control thread only: logs ports that changed, and servers that were armed or came to rest.
  void watch(std::chrono::steady_clock::time_point now);
  // The ports whose link is down now.
  [[nodiscard]] std::vector<std::string> ports_down();
  // Ends the workers; counters stay readable and are exact from then on.
  void stop();

  Expected<Json> stats();
  Expected<Json> show();
  Expected<Json> show_power();
  Expected<Json> set_power(const std::string& worker, const power::Settings& settings);
  // A server that is there with the same rule is no error.
  Expected<Json> add_server(const guard::ServerRule& rule);
  // `change` gets the rule as it is.
  Expected<Json> set_server(const std::string& name, const std::function<void(guard::ServerRule& rule)>& change);
  Expected<Json> remove_server(const std::string& name);
  Expected<Json> count_sources();
  Expected<Json> one_source(const IpAddress& client, SourceAction action);
  Expected<Json> list_flows(std::size_t limit);
  Expected<Json> rotate_keys();
  Expected<Json> events();
  // What the metrics endpoint shows.
  [[nodiscard]] Scrape observe();

 private:
  GuardInstance(const GuardConfig& config, std::optional<datapath::Eal> eal);
  [[nodiscard]] Expected<void> open();
  [[nodiscard]] Expected<void> open_port(const std::string& name, guard::Side side);
  [[nodiscard]] Expected<void> make_workers();
  [[nodiscard]] std::vector<GuardSeen> look();
  [[nodiscard]] std::vector<PortObservation> look_at_ports(const std::vector<GuardSeen>& seen);
  [[nodiscard]] Json show_of(const std::vector<GuardSeen>& seen);

  const GuardConfig config_;
  std::mutex mutex_;
  std::optional<datapath::Eal> eal_;
  std::array<Pool, 2> pools_;                             // by guard::Side
  std::array<std::unique_ptr<datapath::Port>, 2> ports_;  // the same
  PortWatch port_watch_;
  std::optional<guard::StateFile> tables_;
  GuardLoops loops_;
  ProtectedServers servers_;
  ArmingEvents events_;
};

}  // namespace splitplane::app
