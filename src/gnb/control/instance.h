// A running gNB user plane (`splitplane run`): DPDK, ports, workers and bearers, built from a configuration and taken
// down in order. The control server, metrics and telemetry ask it from their threads; each part carries out its share
// on the workers' own threads.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/eal.h"
#include "gnb/control/parts.h"
#include "observe/observation.h"
#include "power/settings.h"
#include "ran/bearer_view.h"
#include "ran/control/bearer_requests.h"
#include "tap/settings.h"

namespace splitplane::gnb {

class Instance {
 public:
  // Builds everything and starts the workers. `fresh`: forgets the journal of bearers. Error: one sentence; whatever
  // was begun is undone.
  static Expected<std::unique_ptr<Instance>> start(const GnbConfig& config, bool fresh = false);
  // The same on a DPDK that runs already. `eal`: ends with the instance; absent: it is the caller's.
  static Expected<std::unique_ptr<Instance>> start_on(std::optional<datapath::Eal> eal, const GnbConfig& config,
                                                      bool fresh = false);
  ~Instance();  // stops the workers if they still run
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  // One turn of the control thread: answers ARP, neighbor discovery and GTP-U messages, asks for UPFs that are not
  // resolved, supervises the paths to them, and renews leases of COUNTs.
  void serve_n3(std::chrono::steady_clock::time_point now);
  // What is behind the ports: says what changed, and drops what an interface's MTU does not take any more.
  void watch_ports(std::chrono::steady_clock::time_point now);
  // Ends the links to cards and stops the workers; counters stay readable and are exact from then on.
  void stop_workers();

  Expected<void> wait_for_disk();
  Expected<AddedBearers> add_bearers(std::span<const ran::BearerConfig> wanted, std::optional<unsigned> shard);
  Expected<ran::BearerConfig> modify_bearer(BearerId id, const BearerPatch& patch);
  Expected<bool> release_bearer(BearerId id);
  Expected<std::uint8_t> reestablish_bearer(BearerId id);
  Expected<Rekeyed> rekey_bearer(BearerId id, std::uint32_t key);
  Expected<BearerView> show_bearer(BearerId id);
  Expected<std::vector<BearerView>> list_bearers(std::uint32_t after, std::size_t limit);
  Expected<AddedSession> add_session(const ran::WantedSession& wanted);
  Expected<bool> release_session(Teid teid);
  Expected<std::vector<RekeyedBearer>> rekey_session(Teid teid, std::uint32_t key);
  Expected<ran::SessionConfig> move_flow(Teid teid, Qfi qfi, ran::sdap::DrbId drb);
  Expected<SessionView> show_session(Teid teid);
  Expected<std::vector<SessionView>> list_sessions(std::uint32_t after, std::size_t limit);
  Expected<nlohmann::json> stats();
  Expected<nlohmann::json> peers();
  [[nodiscard]] Observation observe();
  Expected<nlohmann::json> tap_on(const tap::Settings& settings);
  Expected<nlohmann::json> tap_off(const std::string& name);
  Expected<nlohmann::json> list_taps();
  Expected<nlohmann::json> show_power();
  // What measures and models the machine's power; null: nothing does.
  [[nodiscard]] nlohmann::json show_meter() const;
  Expected<nlohmann::json> set_power(const std::string& worker, const power::Settings& settings);
  Expected<nlohmann::json> show_card();
  // The buffering service: see service_link.h.
  Expected<nlohmann::json> attach_service(int process);
  Expected<nlohmann::json> begin_service(int process, const std::vector<int>& wakeups, bool wakes);
  Expected<nlohmann::json> show_service();
  Expected<nlohmann::json> show_phys();  // of workers in full mode
  // For who moves bearers (gnb/place).
  [[nodiscard]] Parts& parts() { return parts_; }
  [[nodiscard]] std::size_t bearer_count();

 private:
  Instance(GnbConfig config, std::optional<datapath::Eal> eal);
  Expected<void> build(bool fresh);
  [[nodiscard]] bool take_mtu(const Locked& locked, const std::string& port, unsigned mtu);

  std::optional<datapath::Eal> eal_;  // ends after the parts
  Parts parts_;
  std::map<std::string, unsigned> mtus_to_tell_;  // by port: workers do not know them yet
  Time next_mtu_{};
  Time next_failures_{};  // when the workers' counters are looked at for bearers that failed
};

}  // namespace splitplane::gnb
