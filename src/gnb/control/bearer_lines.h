// Bearers in the lines of their workers. Every change is a command that the owning worker, and those that find bearers
// for it, execute between two rounds; views are read the same way.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "gnb/control/control_lock.h"
#include "gnb/control/workers.h"
#include "gnb/journal/record.h"
#include "ran/bearer_view.h"
#include "secured/rekey.h"
#include "tap/secured_drbs.h"

namespace splitplane::gnb {

// A bearer and the number of its UPF, on the way into its worker's lines.
struct Installation {
  ran::BearerConfig config;
  WorkerRuntime* worker = nullptr;
  PeerId peer{};
  std::optional<unsigned> card_peer;  // behind a card: the UPF's number there
  std::optional<FileKey> file;        // a bearer of the configuration
  JournalNumbers numbers;             // of a new bearer: COUNTs go on at `end`
  std::optional<std::string> pin;     // of a new bearer: see placement::Pins
  bool keeps_keys = false;            // of a new bearer: its COUNTs are those of its keys
  // Of a bearer of a session with several ones; else null. All of them are installed together.
  std::shared_ptr<const ran::SessionConfig> session;
};

class BearerLines {
 public:
  using WorkerSet = std::set<WorkerRuntime*>;

  BearerLines(const GnbConfig& config, Workers& workers) : config_(config), workers_(workers) {}

  // For taps: the secured bearers that are installed.
  [[nodiscard]] std::shared_ptr<const tap::SecuredDrbs> secured_drbs() const { return secured_drbs_; }

  // New bearers with their numbers and keys, or all bearers of one session: the worker writes them first, then the
  // session line. `told`: the workers that were told, also after an error.
  Expected<void> install(const Locked& locked, std::span<const Installation> all, WorkerSet& told);
  // Other parameters of a bearer that is there: its numbers go on, and its keys stay.
  Expected<void> modify(const Locked& locked, const Installation& one);
  // A flow of a session goes from one bearer to the one that `session` names for it. Packets wait meanwhile
  // (sessions/flow_moves.h).
  Expected<void> move_flow(const Locked& locked, WorkerRuntime& worker, const ran::SessionConfig& session,
                           const ran::SessionBearer& from, Qfi qfi);
  // What a secured bearer's entity says of itself. Error: it has none, or its worker does not answer.
  struct PdcpState {
    std::uint32_t tx_next = 0, rx_next = 0;
    std::uint8_t epoch = 0;
  };
  [[nodiscard]] Expected<PdcpState> read_pdcp(const Locked& locked, WorkerRuntime& worker, BearerId id) const;
  // Keys that the bearer of `before` may have instead of its own. They count as used from now on.
  [[nodiscard]] Expected<datapath::NewKeys> make_keys(const Locked& locked, WorkerRuntime& worker,
                                                      const ran::BearerConfig& before, std::uint32_t key) const;
  // Whether make_keys() would make them now. It takes none.
  [[nodiscard]] Expected<void> check_keys(const Locked& locked, WorkerRuntime& worker, const ran::BearerConfig& before,
                                          std::uint32_t key) const;
  // Both directions of the bearer have other keys from now on. `lease`: of COUNTs that begin anew. Error: it has those
  // before, and the new ones are unused.
  Expected<void> rekey(const Locked& locked, WorkerRuntime& worker, const ran::BearerConfig& before,
                       datapath::NewKeys& fresh, const ran::CountLease& lease) const;
  // Takes bearers out again that were to be added, from those of their workers that were `told`. Returns the workers
  // that do not answer now, and may keep them.
  [[nodiscard]] WorkerSet uninstall(const Locked& locked, std::span<const Installation> all, const WorkerSet& told);
  // From one holder of the keys of `owner`: wipes bearers' keys and, where the holder is the owner, their lines. With
  // `silence` their TEIDs can still be told from those that never were. `session`: the configs are all its bearers, and
  // its line goes first. False: it did not listen.
  [[nodiscard]] bool take_out(const Locked& locked, WorkerRuntime& owner, WorkerRuntime& holder,
                              std::span<const ran::BearerConfig> configs, bool silence,
                              const ran::SessionConfig* session = nullptr);
  // What workers know of their bearers, in the order of `bearers`. `flows`: if they are those of one session, what its
  // flows counted at the same time. Error: a worker does not answer.
  [[nodiscard]] Expected<std::vector<BearerView>> read(const Locked& locked, std::span<const ran::BearerConfig> bearers,
                                                       datapath::FlowCounts* flows = nullptr) const;

 private:
  Expected<void> write(WorkerRuntime& worker, std::span<const Installation> all, bool modified);
  Expected<void> enter_keys(WorkerRuntime& owner, std::span<const Installation> all, WorkerSet& told);
  void write_one(datapath::GnbContext& gnb, const Installation& one, bool modified,
                 std::unique_ptr<datapath::ArqBearer>& arq, std::unique_ptr<datapath::SecuredBearer>& secured) const;
  // Full mode: the UEs of a worker's new bearers. A session with several bearers is one UE.
  [[nodiscard]] static Expected<std::vector<datapath::UeParts>> make_ues(WorkerRuntime& worker,
                                                                         std::span<const Installation> all);

  const GnbConfig& config_;
  Workers& workers_;
  std::shared_ptr<tap::SecuredDrbs> secured_drbs_ = std::make_shared<tap::SecuredDrbs>();
};

}  // namespace splitplane::gnb
