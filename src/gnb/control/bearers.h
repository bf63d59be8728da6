// Bearers as the control server asks for them: added, modified, released, reestablished, rekeyed, shown. A change holds
// the turn from begin to end, takes effect on the workers' own threads, and is undone as a whole if a part of it is
// refused.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "gnb/control/bearer_lines.h"
#include "gnb/control/cards.h"
#include "gnb/control/control_lock.h"
#include "gnb/control/n3_control.h"
#include "gnb/control/numbers.h"
#include "gnb/control/peer_table.h"
#include "gnb/control/uplinks.h"
#include "gnb/control/workers.h"
#include "placement/decision/pins.h"
#include "ran/bearer_store.h"
#include "ran/control/bearer_requests.h"

namespace splitplane::gnb {

class Bearers {
 public:
  // What a change of bearers touches.
  struct Parts {
    ControlLock& control;
    BearerStore& store;
    Workers& workers;
    PeerTable& peers;
    BearerLines& lines;
    Numbers& numbers;
    Cards& cards;
    N3Control& n3;
    Uplinks& uplinks;
    placement::Pins& pins;
  };

  explicit Bearers(const Parts& parts) : parts_(parts) {}

  // At the start: the bearers of the configuration and of the journal, which is written from then on. `journal`: its
  // path, for the log.
  Expected<void> restore(const std::string& journal);

  // Adds all bearers or none. config.id 0: the gNB chooses an identity, in `shard` if given. A bearer that is there
  // already (the same UPF, uplink TEID and configuration) is returned, and counted as `existed`. At most
  // kBearersPerBatch at a time, so that no round of a worker grows long.
  Expected<AddedBearers> add(std::span<const ran::BearerConfig> wanted, std::optional<unsigned> shard);
  // Error, too: the bearer belongs to a session with several ones.
  Expected<ran::BearerConfig> modify(BearerId id, const BearerPatch& patch);
  // True if the bearer existed. A second release is no error. Error: it belongs to a session with several bearers.
  Expected<bool> release(BearerId id);
  // RLC re-establishment with PDCP data recovery of an acknowledged bearer, as RRC asks for it: its new epoch.
  Expected<std::uint8_t> reestablish(BearerId id);
  // Of bearers whose UE misses a packet of which no copy is left. On the control thread.
  void reestablish_gone();
  // Other keys for a secured bearer, in both directions. The UE side follows. Keys that it has are no error.
  Expected<Rekeyed> rekey(BearerId id, std::uint32_t key);
  // The same for all secured bearers of a session, one after the other. If one of them may not have the keys, none gets
  // them. After an error in the middle the same request goes on with those that do not have them yet.
  Expected<std::vector<RekeyedBearer>> rekey_session(Teid teid, std::uint32_t key);
  Expected<BearerView> show(BearerId id);
  // Up to `limit` bearers with an identity greater than `after`, in ascending order. after 0: from the start.
  Expected<std::vector<BearerView>> list(std::uint32_t after, std::size_t limit);
  [[nodiscard]] std::size_t count();

  // Sessions with several bearers. Each is added and released as a whole. A session that is there already, with the
  // same configuration, is returned as `existed`.
  Expected<AddedSession> add_session(const ran::WantedSession& wanted);
  Expected<bool> release_session(Teid teid);
  // Gives a QoS flow to another bearer of its session. Downlink packets of the flow wait until the old bearer has
  // delivered its own. Returns the session as it is then.
  Expected<ran::SessionConfig> move_flow(Teid teid, Qfi qfi, ran::sdap::DrbId drb);
  Expected<SessionView> show_session(Teid teid);
  Expected<std::vector<SessionView>> list_sessions(std::uint32_t after, std::size_t limit);

 private:
  [[nodiscard]] bool exists(BearerId id);
  Expected<std::uint8_t> reestablish_in_full_mode(Change&& change, WorkerRuntime& worker, BearerId id);
  Expected<std::uint8_t> reestablish_on_card(Change&& change, WorkerRuntime& worker, BearerId id);
  [[nodiscard]] std::pair<Change, Expected<Rekeyed>> rekey_one(Change&& change, BearerId id, std::uint32_t key);
  Expected<AddedBearers> enter(std::span<const NewBearer> wanted);
  Expected<void> enter_all(std::span<const NewBearer> wanted, bool& reserved);
  Expected<AddedSession> enter_session(const NewSession& wanted);
  Expected<void> enter_sessions(std::span<const NewSession> wanted, bool& reserved);
  [[nodiscard]] Expected<ran::SessionConfig> find_session(Teid teid) const;
  [[nodiscard]] const ran::SessionConfig* find_same(const ran::SessionConfig& wanted) const;
  // New bearers are pinned as the file or `ctl place` says.
  void enter_pins(const Locked& locked, std::span<const Installation> fresh);
  // Takes a place for the bearer's UPF, with its worker and with the card before it.
  Expected<Installation> prepare(const Locked& locked, const ran::BearerConfig& config);
  void leave_peer(const Locked& locked, WorkerRuntime& worker, const IpAddress& upf);
  // Undoes prepare() and what came after it. `told`: the workers that may have the bearers.
  [[nodiscard]] Error undo(const Locked& locked, std::span<const Installation> fresh,
                           const BearerLines::WorkerSet& told, Error error);
  // Of one bearer, or of all bearers of a session. Error: their worker does not answer.
  [[nodiscard]] Expected<void> wipe(const Locked& locked, WorkerRuntime& worker,
                                    std::span<const ran::BearerConfig> bearers,
                                    const ran::SessionConfig* session = nullptr);
  // `flows`: as for BearerLines::read().
  [[nodiscard]] Expected<std::vector<BearerView>> read(const Locked& locked, std::span<const ran::BearerConfig> bearers,
                                                       datapath::FlowCounts* flows = nullptr);
  [[nodiscard]] Expected<SessionView> read_session(const Locked& locked, const ran::SessionConfig& session);

  Parts parts_;
  std::map<const WorkerRuntime*, std::uint64_t> gone_seen_;  // the counters when they were last looked at
  std::deque<std::uint32_t> gone_;                           // bearers that wait for reestablish_gone()
};

}  // namespace splitplane::gnb
