// The running user plane of one instance: DPDK, ports, workers and bearers, built from a configuration and taken down
// in order. Control requests are carried out on the workers' own threads.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "card/link/link.h"
#include "card/link/vf_links.h"
#include "config/config.h"
#include "engine/eal.h"
#include "engine/port.h"
#include "gnb/control/bearer_store.h"
#include "gnb/control/contexts.h"
#include "gnb/control/failure_watch.h"
#include "gnb/control/gtpu_state.h"
#include "gnb/control/worker.h"
#include "gnb/journal/bearer_journal.h"
#include "gnb/journal/count_leases.h"
#include "n3/message.h"
#include "n3/neighbor.h"
#include "n3/neighbor_table.h"
#include "observe/observation.h"
#include "power/settings.h"
#include "ran/bearer_view.h"
#include "ran/control/bearer_requests.h"
#include "runtime/loop_power.h"
#include "runtime/port_watch.h"
#include "runtime/resources.h"
#include "tap/settings.h"
#include "tap/tap.h"

namespace splitplane::app {

class UserPlane {
 public:
  // Builds everything and starts the workers. `fresh`: forgets the journal of bearers. Error: one sentence; whatever
  // was begun is undone.
  static Expected<std::unique_ptr<UserPlane>> start(const Config& config, bool fresh = false);
  ~UserPlane();  // stops the workers if they still run
  UserPlane(const UserPlane&) = delete;
  UserPlane& operator=(const UserPlane&) = delete;

  // One turn of the control thread: answers ARP, neighbour discovery and GTP-U messages, asks for UPFs that are not
  // resolved, supervises the paths to them, and renews leases of COUNTs.
  void serve_n3(std::chrono::steady_clock::time_point now);
  // What is behind the ports: says what changed, and drops what an interface's MTU does not take any more.
  void watch_ports(std::chrono::steady_clock::time_point now);
  // Ends the links to cards and stops the workers; counters stay readable and are exact from then on.
  void stop_workers();

  Expected<void> settle();
  Expected<AddedBearers> add_bearers(std::span<const ran::BearerConfig> wanted, std::optional<unsigned> shard);
  Expected<ran::BearerConfig> modify_bearer(BearerId id, const BearerPatch& patch);
  Expected<bool> release_bearer(BearerId id);
  Expected<std::uint8_t> reestablish_bearer(BearerId id);
  Expected<BearerView> show_bearer(BearerId id);
  Expected<std::vector<BearerView>> list_bearers(std::uint32_t after, std::size_t limit);
  Expected<nlohmann::json> stats();
  Expected<nlohmann::json> peers();
  [[nodiscard]] Observation observe();
  Expected<nlohmann::json> tap_on(const tap::Settings& settings);
  Expected<nlohmann::json> tap_off(const std::string& name);
  Expected<nlohmann::json> list_taps();
  Expected<nlohmann::json> show_power();
  Expected<nlohmann::json> set_power(const std::string& worker, const power::Settings& settings);
  Expected<nlohmann::json> show_card();
  [[nodiscard]] std::size_t bearer_count();

 private:
  UserPlane(Config config, datapath::Eal eal) : config_(std::move(config)), eal_(std::move(eal)) {}

  // instance.cpp: construction
  Expected<void> open_ports();
  bool take_mtu(const std::string& port, unsigned mtu);
  Expected<void> make_workers();
  Expected<void> make_gnb(WorkerRuntime& worker);
  Expected<void> connect_dispatchers();
  Expected<void> connect_mates();
  void connect_copies();
  Expected<void> make_bearer_memory();
  Expected<void> make_loops();
  Expected<void> make_key_tables();
  Expected<void> launch();
  [[nodiscard]] PortFacts facts_of(const std::string& port) const;
  Expected<rte_ring*> make_ring(const std::string& name, unsigned entries);
  Expected<void> make_punts(datapath::Punts& punts, const std::string& worker);
  [[nodiscard]] datapath::EthSink sink(WorkerRuntime& worker, const std::string& port, std::uint16_t queue) const;
  [[nodiscard]] datapath::EthSource source(WorkerRuntime& worker, const std::string& port, std::uint16_t queue) const;
  [[nodiscard]] std::vector<datapath::Dispatch::Queue> dispatch_queues(WorkerRuntime& worker) const;

  // bearers.cpp, install.cpp: bearers on their workers
  [[nodiscard]] WorkerRuntime* owner_of(std::uint32_t id);
  [[nodiscard]] std::vector<WorkerRuntime*> key_holders(WorkerRuntime& owner);
  Expected<PeerId> peer_on(WorkerRuntime& worker, const IpAddress& upf);
  void leave_peer(WorkerRuntime& worker, const IpAddress& upf);
  [[nodiscard]] std::uint8_t next_epoch();
  // A bearer and the place of its UPF, on the way into its worker's lines.
  struct Installation {
    ran::BearerConfig config;
    WorkerRuntime* worker = nullptr;
    PeerId peer{};
    std::optional<unsigned> card_peer;  // behind a card: the UPF's number there
    std::optional<FileKey> file;        // a bearer of the configuration
    JournalNumbers numbers;             // of a new bearer: COUNTs go on at `end`
  };
  // One that shall be there, and what of it was before.
  struct NewBearer {
    ran::BearerConfig config;
    std::optional<unsigned> shard;
    std::optional<FileKey> file;
    JournalNumbers numbers;
    bool is_restored = false;
  };
  Expected<Installation> prepare(const ran::BearerConfig& config);
  Expected<AddedBearers> enter(std::span<const NewBearer> wanted);
  using Workers = std::set<WorkerRuntime*>;
  // `modified`: the bearers are there already, and their numbers go on. `told`: who has been told, also after an error.
  Expected<void> install(std::span<const Installation> all, bool modified, Workers& told);
  Workers uninstall(std::span<const Installation> all, const Workers& told);
  [[nodiscard]] bool take_out(WorkerRuntime& owner, WorkerRuntime& holder, std::span<const ran::BearerConfig> configs,
                              bool silence);

  // journal.cpp
  Expected<void> open_journal(bool fresh);
  Expected<void> restore_bearers();
  void enter_in_journal(std::span<const Installation> fresh);
  void grant(std::span<const BearerJournal::Grant> grants);
  void serve_leases(std::chrono::steady_clock::time_point now);
  void close_journal();
  [[nodiscard]] CardLinkSettings::Journal journal_of_cards();
  [[nodiscard]] nlohmann::json journal_row() const;

  // views.cpp
  Expected<std::vector<BearerView>> read_views(const std::vector<ran::BearerConfig>& bearers);

  // n3_neighbors.cpp
  using Time = std::chrono::steady_clock::time_point;
  struct N3Runtime {
    N3Config config;
    datapath::OwnAddresses own;
    std::vector<WorkerRuntime*> workers;  // gnb workers that send on this port
    datapath::NeighborTable neighbors;
    GtpuRuntime gtpu;
  };
  [[nodiscard]] N3Runtime* n3_of(const WorkerRuntime& worker);
  [[nodiscard]] static IpAddress next_hop(const N3Runtime& n3, const IpAddress& upf);
  [[nodiscard]] std::optional<MacAddress> mac_of(const N3Runtime& n3, const IpAddress& upf) const;
  bool tell_workers(N3Runtime& n3, const IpAddress& hop, std::optional<MacAddress> mac, bool& wanted);
  void take_event(N3Runtime& n3, const datapath::NeighborTable::Event& event, Time now);
  void watch_neighbors(N3Runtime& n3, Time now);
  void serve_neighbors(N3Runtime& n3, Time now);
  void warn_of_failures(Time now);
  bool inject(N3Runtime& n3, std::span<const std::uint8_t> frame);  // false: no room, the frame is lost
  static constexpr unsigned kPuntsPerTurn = 32;                     // of each class
  void drain_punts(WorkerRuntime& worker, rte_ring* punts);

  // n3_gtpu.cpp
  void handle_gtpu(N3Runtime& n3, std::span<const std::uint8_t> frame);
  void answer_extension(N3Runtime& n3, const datapath::N3Message& message, Time now);
  void answer_unknown_teid(N3Runtime& n3, const datapath::N3Message& gpdu, Time now);
  void take_error_indication(N3Runtime& n3, const datapath::N3Message& message, Time now);
  void serve_uplinks(Time now);
  [[nodiscard]] std::uint64_t uplink_packets(WorkerRuntime& worker, const ran::BearerConfig& bearer);
  [[nodiscard]] bool stop_uplink(WorkerRuntime& worker, const ran::BearerConfig& bearer, bool stop);
  void take_end_marker(N3Runtime& n3, const datapath::N3Message& message);
  void serve_paths(Time now);
  void remember_released(WorkerRuntime& worker, BearerId id);
  void forget_released(N3Runtime& n3, Time now);
  [[nodiscard]] nlohmann::json peer_rows() const;
  [[nodiscard]] nlohmann::json gtpu_rows() const;
  // taps.cpp
  using Taps = std::vector<std::unique_ptr<tap::Tap>>;
  [[nodiscard]] std::vector<WorkerRuntime*> ends_of(const tap::Settings& settings);
  [[nodiscard]] Taps::iterator find_tap(const std::string& name);
  Expected<tap::Tap*> start_tap(tap::Settings settings);
  Expected<void> forget_refused(tap::Tap& tap);
  Expected<void> start_configured_taps();
  Expected<void> detach_tap(tap::Tap& tap);
  void quiet_stopped_taps();
  void end_taps();

  // power.cpp
  [[nodiscard]] LoopPower power_of(WorkerRuntime& worker) const;

  // cards.cpp: cards in front of ports
  struct CardRuntime {
    CardLinkConfig config;
    std::vector<UpfPeer> peers;  // by the number that the card knows
    std::unique_ptr<CardLink> link;
    VfLinks vfs;
    bool cut_off = false;  // by the last look
  };
  void connect_cards();
  void begin_cards();
  void look_at_vfs(Time now);
  [[nodiscard]] CardRuntime* card_before(const WorkerRuntime& worker);
  Expected<void> check_card(const ran::BearerConfig& config, const WorkerRuntime& worker);
  Expected<unsigned> peer_on(CardRuntime& card, const WorkerRuntime& worker, const IpAddress& upf);
  void leave_peer(CardRuntime& card, const IpAddress& upf);
  // Asked with the mutex, in the order of requests, and waited for without it.
  struct CardRequest {
    CardLink* card;
    CardLink::Asked asked;
  };
  using CardRequests = std::vector<CardRequest>;
  [[nodiscard]] CardRequests put_on_cards(std::span<const Installation> all);
  CardRequests take_off_card(const WorkerRuntime& worker, BearerId id);
  static Expected<void> wait_for_cards(std::unique_lock<std::mutex>& lock, const CardRequests& requests);
  void put_soon_on_card(const WorkerRuntime& worker, const ran::BearerConfig& config);
  void tell_cards(N3Runtime& n3, const IpAddress& hop, const std::optional<MacAddress>& mac);
  void add_card_numbers(std::vector<BearerView>& views) const;  // asks the cards: not with the mutex
  [[nodiscard]] nlohmann::json card_rows() const;

  // keys.cpp
  [[nodiscard]] static std::array<KeyTableObservation, 3> observe_keys(const datapath::ForeignKeys& keys);

  // views.cpp
  [[nodiscard]] std::vector<PathObservation> observe_paths(const N3Runtime& n3) const;

  // watch.cpp: workers that make no rounds
  void watch_workers(Time now);

  // stats.cpp
  [[nodiscard]] PortObservation observe_port(const PortConfig& port);
  [[nodiscard]] static WorkerObservation observe_worker(WorkerRuntime& worker);

  // Before mutex_: held by a change of bearers from begin to end, also while it waits for its card without mutex_. The
  // control server makes one change after the other, so that nobody waits for it; here is what relies on that.
  std::mutex requests_;
  std::mutex mutex_;  // control side only: the threads of the control server, of control, of metrics and of telemetry
  BearerId changing_{};  // by a request that waits for its card without mutex_
  Config config_;
  datapath::Eal eal_;
  std::map<std::string, Pool> pools_;  // by port
  std::map<std::string, std::unique_ptr<datapath::Port>> ports_;
  PortWatch watch_;
  std::map<std::string, unsigned> mtus_to_tell_;  // by port: workers do not know them yet
  std::chrono::steady_clock::time_point next_mtu_{};
  std::vector<Ring> rings_;
  std::vector<NumberRing> lease_rings_;  // identities of bearers that have come to the mark of their lease
  DpdkArray<ran::BearerDownlink> downlink_;
  DpdkArray<ran::BearerUplink> uplink_;
  DpdkArray<ran::BearerLosses> losses_;
  DpdkArray<ran::CountLease> lease_lines_;
  std::uint32_t bearers_per_shard_ = 0;
  std::unique_ptr<BearerStore> store_;
  std::uint8_t epoch_ = 0;  // the last one given out
  CountLeases leases_;      // of the host's own bearers
  std::vector<std::unique_ptr<WorkerRuntime>> workers_;
  std::vector<N3Runtime> n3_;
  std::unique_ptr<BearerJournal> journal_;  // before cards_, whose threads write to it; none: numbers begin at 0
  std::vector<CardRuntime> cards_;
  Taps taps_;
  Taps ending_taps_;                      // turned off, their last packets on the way to a slow disk
  std::set<const tap::Tap*> quiet_taps_;  // have stopped by themselves, and are detached
  Time next_question_{}, next_hops_{};    // to next hops; for those that have traffic
  Time next_look_{};                      // for UPFs to supervise
  Time next_watch_{};                     // of workers' rounds
  FailureWatch failures_;
  std::map<std::uint32_t, BearerGtpu> bearer_gtpu_;  // of bearers that saw such a message
  std::set<std::uint32_t> uplinks_in_check_;         // of them, those whose uplink is not simply active
};

}  // namespace splitplane::app
