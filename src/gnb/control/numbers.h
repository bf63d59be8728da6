// The numbers of bearers that survive a restart: the journal of bearers, leases of COUNTs for the host's own bearers as
// workers ask for them, and RLC's epochs. At the end it leaves exact numbers.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <vector>

#include "card/link/link.h"
#include "gnb/control/bearer_lines.h"
#include "gnb/control/control_lock.h"
#include "gnb/control/workers.h"
#include "gnb/journal/bearer_journal.h"
#include "gnb/journal/count_leases.h"
#include "ran/bearer_store.h"

namespace splitplane::gnb {

// A bearer that shall be there, and what of it was before.
struct NewBearer {
  ran::BearerConfig config;
  std::optional<unsigned> shard;
  std::optional<FileKey> file;  // a bearer of the configuration
  JournalNumbers numbers;
  std::optional<std::string> pin;  // what `ctl place` says: placement::Pins
  bool is_restored = false;
  bool keeps_keys = false;  // its numbers are those of its keys; others get only keys that no bearer had
};

// The same of a session with several bearers.
struct NewSession {
  ran::SessionConfig config;
  std::optional<unsigned> shard;
  std::optional<FileKey> file;
  std::vector<JournalNumbers> numbers;           // of each bearer; empty: all begin at 0
  std::vector<std::optional<std::string>> pins;  // of each bearer; empty: none
  bool is_restored = false;
  std::vector<bool> keeps_keys;  // of each bearer, as NewBearer; empty: none
};

class Numbers {
 public:
  // The bearers at the start: those of the configuration with an identity of an earlier run, the other ones of the
  // configuration, and those that the control socket had added. What contradicts the configuration stays away.
  struct Restart {
    std::vector<NewBearer> known, others, by_control;
    std::vector<NewSession> known_sessions, other_sessions, sessions_by_control;
    std::size_t changed = 0, away = 0;  // of the configuration: with other parameters than before; released before
    bool found = false;                 // the journal had something
  };

  Numbers(const GnbConfig& config, const BearerStore& store, Workers& workers)
      : config_(config), store_(store), workers_(workers) {}

  // Opens the journal, if the configuration has one, and gives gnb workers their way to ask for leases. `fresh`: what
  // an earlier run left is forgotten.
  Expected<void> open(bool fresh);
  [[nodiscard]] bool has_journal() const { return journal_ != nullptr; }
  // Before begin().
  [[nodiscard]] Restart restart();
  // The journal is written from here on, and grants leases.
  Expected<void> begin();

  // Why no bearer can be added; nothing if one can.
  [[nodiscard]] std::optional<Error> refusal() const;
  // New bearers that are in their workers' lines now: they have a lease when the disk has it.
  void enter(const Locked& locked, std::span<const Installation> fresh);
  // Of bearers that had been released: the configuration may bring them back.
  void revive(const Locked& locked, std::span<const Installation> fresh);
  void set_config(const Locked& locked, const ran::BearerConfig& config);
  void set_pin(const Locked& locked, BearerId id,
               const std::optional<std::string>& to);  // what `ctl place` says: placement::Pins
  // Moves of bearers. To the card: from begin_move() on no lease of the host's is extended, until the bearer has moved,
  // or has not.
  void begin_move(const Locked& locked, BearerId id);
  void give_up_move(const Locked& locked, BearerId id);
  void moved_to_card(const Locked& locked, const ran::BearerConfig& config);
  // To the host: COUNTs go on at `next`, and the card's lease, which the journal has on the disk, is the host's now.
  // Returns it. The worker does not ask for more: call extend() when it has it.
  ran::CountLease moved_to_host(const Locked& locked, const ran::BearerConfig& config, std::uint32_t next,
                                std::uint32_t lease_end);
  void extend(const Locked& locked, BearerId id);
  void set_session(const Locked& locked, const ran::SessionConfig& session);  // its flows
  // Of a bearer that was not added after all, and of one that was released.
  void remove(const Locked& locked, BearerId id);
  void release(const Locked& locked, BearerId id);

  // For a new bearer: another epoch than those before, as far as eight bits tell; without a journal also than before a
  // restart of this process.
  [[nodiscard]] std::uint8_t next_epoch(const Locked& locked);
  // No later run may use this epoch for other PDUs, so it is on the disk first. Waits without the mutex.
  [[nodiscard]] std::pair<Change, Expected<void>> keep_epoch(Change&& change, BearerId id, std::uint8_t epoch);

  // Other keys of a secured bearer, from keep_keys() to end_keys().
  struct KeyChange {
    ran::BearerConfig before, config;  // with the keys before, and with the new ones
    std::uint8_t epoch = 0;
    bool begins_anew = false;  // COUNTs begin at 0; otherwise they go on
    ran::CountLease lease;     // begins_anew: the first one, which keep_keys() sets
    bool are_kept = false;     // keep_keys() has told the journal
  };
  // The disk has the new keys before any PDU has them, so that a restart uses no COUNT twice under one key. Waits
  // without the mutex.
  [[nodiscard]] std::pair<Change, Expected<void>> keep_keys(Change&& change, KeyChange& keys);
  // The worker has the new keys; or it has those before, and all is as it was.
  void end_keys(const Locked& locked, const KeyChange& keys, bool done);

  // One turn of the control thread: workers have come to the marks of leases.
  void serve(const Locked& locked, Time now);
  // Waits until what was said is on the disk. Without the mutex.
  Expected<void> wait_for_disk();
  // What a card is about to be told; called on the thread of its link. Empty without a journal.
  [[nodiscard]] CardLinkSettings::Journal for_cards();

  // Ends the journal's thread, which asks workers: they must run, or have ended. Without the mutex.
  void stop();
  // After the workers have ended: what was leased and not used is free again. A card goes on by itself, so its leases
  // stay.
  void close(const Locked& locked);

  [[nodiscard]] std::optional<BearerJournalView> view() const;
  [[nodiscard]] nlohmann::json row() const;

 private:
  [[nodiscard]] datapath::BearerKeys* keys() const;
  void note_used_keys(const JournalContent& found);
  void spend_keys(BearerId id);
  [[nodiscard]] std::optional<std::string> pin_of(const JournalBearer& before) const;
  void restart_sessions(const JournalContent& found, Restart& all);
  // What secured bearers have received, so that after a crash their HFN is still known.
  void note_received(Time now);
  void grant(std::span<const BearerJournal::Grant> grants);

  const GnbConfig& config_;
  const BearerStore& store_;
  Workers& workers_;
  std::vector<NumberRing> lease_rings_;  // identities of bearers that have come to the mark of their lease
  CountLeases leases_;                   // of the host's own bearers
  struct Moving {
    CountLeases::Books::node_type lease;
    bool asked = false;  // its worker came to the mark of the lease meanwhile, and asks once only
  };
  std::map<std::uint32_t, Moving> moving_;  // bearers that may go to a card
  CountLeases::Books::node_type aside_;     // the lease of the bearer whose COUNTs are about to begin anew
  BearerJournal::Before numbers_aside_;     // and what the journal has of it
  bool asked_meanwhile_ = false;            // its worker came to the mark of the lease that is aside
  std::optional<BearerId> rekeyed_;         // that bearer: what it received with the keys before means nothing
  std::uint8_t epoch_ = 0;                  // the last one given out
  Time next_received_{};                    // when note_received() looks at the next bearers
  std::uint32_t received_after_ = 0;        // the last bearer that it looked at
  std::unique_ptr<BearerJournal> journal_;  // none: numbers begin at 0
};

}  // namespace splitplane::gnb
