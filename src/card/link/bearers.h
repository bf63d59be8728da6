// The bearers that a host desires on a card, and what is known of them there: which the card lacks, which must go, how
// far each lease reaches, and when to look at its numbers again. The owner makes the requests and has its lock held in
// all calls; this class makes none.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/expected.h"
#include "card/link/settings.h"
#include "card/protocol/bearer.h"
#include "card/protocol/request.h"

namespace splitplane::app {

class LinkBearers {
 public:
  using Clock = std::chrono::steady_clock;
  using Ids = std::vector<std::uint32_t>;

  // A flag of an entry, and in how many entries it is set.
  class Counted {
   public:
    explicit Counted(std::size_t& all) : all_(all) {}
    ~Counted() { *this = false; }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    bool operator=(bool value) {
      all_ = all_ - (value_ ? 1 : 0) + (value ? 1 : 0);
      return value_ = value;
    }
    operator bool() const { return value_; }

   private:
    std::size_t& all_;
    bool value_ = false;
  };
  struct Counts {
    std::size_t confirmed = 0, absent = 0, of_host = 0, fixed = 0;
  };

  static constexpr std::uint64_t kRemoval = 0;  // stands in place of a version; versions begin at 1
  struct Entry {
    explicit Entry(Counts& counts)
        : of_host(counts.of_host), fixed(counts.fixed), confirmed(counts.confirmed), absent(counts.absent) {}

    nic::CardBearer want;
    Counted of_host, fixed;     // as `want` says: the host's; and it cannot be absent
    std::uint64_t version = 0;  // of `want`: unique over all entries and over time; 0: none yet
    bool sent = false;          // this run of the card may have it
    bool numbered = false;      // and this run may have numbered packets of it
    Counted confirmed;          // this run of the card has it
    Counted absent;             // the host's, and the card had no room for it: its packets come by the punt VF
    std::uint64_t awaited = 0;  // the version that a caller waits for, or its replacement; 0: no caller waits
    std::string refused;        // why the card refuses it
    std::uint32_t lease_end = 0;
    std::uint32_t heard = 0;  // a receiver may not have seen the COUNTs from here on
    nic::CardNumbers seen;    // of this run, from the last request
    std::uint64_t dl_packets = 0, ul_packets = 0, dl_octets = 0, ul_octets = 0;  // of earlier runs
    bool has_begun = false;                         // keeps_copies: the worker, in this epoch
    std::uint32_t window = 0;                       // keeps_copies: how many RLC numbers the card may give at first
    double rate = 0;                                // packets per second downlink
    std::optional<CardRequest> request;             // of its worker, and its numbers were not read since
    std::optional<CardRequest> answering;           // the one that came before the numbers are read
    bool is_longer = false;                         // the lease, since the last notices()
    bool granted = false;                           // its worker may have credit from this run of the card
    bool moving = false;                            // between begin_move() and its end: its lease stays as it is
    bool unsure = false;                            // it was absent: its move has installed it on the card, or not yet
    Clock::time_point waits_since{}, settle_due{};  // packets have been at the host at all looks since then
    Clock::time_point looked{}, due{};
  };

  // The desired state. A bearer that is there keeps its numbers. Returns the version, for is_done() and take_refusal().
  enum class Caller : std::uint8_t { kWaits, kGoesOn };
  std::uint64_t put(const nic::CardBearer& bearer, Caller caller);
  void remove(std::uint32_t id);
  [[nodiscard]] const Entry* find(std::uint32_t id) const;
  // True if the card has executed a put() or a removal, or if a later put() has replaced it.
  [[nodiscard]] bool is_done(std::uint32_t id, std::uint64_t version) const;
  // The caller no longer waits. Returns why the card refused the bearer; empty if it did not.
  [[nodiscard]] std::string take_refusal(std::uint32_t id, std::uint64_t version);

  // How many entries the card has, if a bearer of the host need not have one (CardLinkSettings::punts_to_owner). Then
  // the bearers that the card serves get theirs first, and the host's what is left. 0: each bearer needs an entry, or
  // the card does not say how many it has.
  void set_room(std::uint64_t entries) { room_ = entries; }

  // The card runs anew: it has no bearers, and PDCP may have used every number of the leases.
  void begin_anew();
  // A comparison of what the card has with the desired state: one call for each of its bearers, then compared(). An
  // earlier run of this host, or a connection that broke half-way, may have left differences.
  struct Found {
    bool adopted = false;                // it was there before this host ran: its numbers and its RLC continue
    std::optional<std::uint32_t> lease;  // the end of the lease, which the card must get again
  };
  Found found_on_card(const CardNumbersRow& row, Clock::time_point now);
  void compared(const std::set<std::uint32_t>& on_card);

  // What the card lacks, and what it must remove first.
  [[nodiscard]] Ids dirty(std::size_t limit) const;
  [[nodiscard]] Ids removals(std::size_t limit) const;
  [[nodiscard]] bool is_dirty(std::uint32_t id) const {
    return dirty_.contains({false, id}) || dirty_.contains({true, id});
  }
  [[nodiscard]] bool is_removal(std::uint32_t id) const { return removals_.contains(id); }
  [[nodiscard]] bool has_dirty() const { return !dirty_.empty(); }
  [[nodiscard]] bool has_removals() const { return !removals_.empty(); }
  void removed(std::span<const std::uint32_t> ids);
  // One that the card may not have, because it was absent until a move that was given up. Nothing: there is none.
  [[nodiscard]] std::optional<std::uint32_t> unsure_removal() const {
    return unsure_removals_.empty() ? std::nullopt : std::optional(*unsure_removals_.begin());
  }
  // Whether the card has it: then it is to be removed as any other one.
  void found_removal(std::uint32_t id, bool is_there);

  // Those of `ids` that the card will number anew and whose workers keep copies.
  struct ToBegin {
    BearerId id;
    std::uint8_t epoch = 0;
    std::uint64_t version = 0;
  };
  [[nodiscard]] std::vector<ToBegin> to_begin(const Ids& ids) const;
  // Its worker has begun: the card goes on at RLC number `kept.next`. Says nothing of a bearer that was put anew or
  // restarted meanwhile.
  void begun(const ToBegin& what, const CardLinkSettings::KeptWindow& kept);
  // Its worker does not answer: the bearer is not dirty until resume().
  void postpone(std::uint32_t id);
  void resume();
  // True if prepare() may be called: no removal goes before it, and its worker has begun if that keeps copies.
  [[nodiscard]] bool can_prepare(std::uint32_t id) const;
  // RLC begins anew, with the next epoch: the card has to give up the bearer, and gets it again. Returns the version;
  // 0: there is no such bearer on a card.
  [[nodiscard]] std::uint64_t restart(std::uint32_t id);
  // Bearers among those of `rows` whose workers keep copies.
  [[nodiscard]] std::vector<BearerId> keepers(std::span<const CardNumbersRow> rows) const;

  struct ToInstall {
    nic::CardBearer bearer;
    std::uint64_t version = 0;
    std::optional<CardNumbering> numbering;  // which the journal must have first
  };
  // From here on the card may number the bearer's packets, whether it answers or not. Returns an error if no COUNT is
  // left for it, and nothing if the bearer is gone or if the card is full. A bearer of the host is absent then. For one
  // that the card shall serve an entry of the host's goes, and it comes again after that.
  [[nodiscard]] Expected<std::optional<ToInstall>> prepare(std::uint32_t id);
  // The card has `version` of the bearer.
  void installed(std::uint32_t id, std::uint64_t version, Clock::time_point now);
  // Handles a refusal. If a caller waits, the card keeps what it had, because the caller puts that again. Otherwise the
  // host goes on with the refused state, and the card must not go on with the old one. It could send to a UPF whose
  // number another UPF has by now. Returns true if the bearer goes off the card.
  bool refuse(std::uint32_t id, const std::string& why);

  // A worker asks for a grant. It waits while the card does not have the bearer.
  void request(const CardRequest& request);
  [[nodiscard]] bool has_requests() const { return !requested_.empty(); }

  // When the next look at a bearer's numbers is due; nothing if the card numbers none.
  [[nodiscard]] std::optional<Clock::time_point> next_look() const;
  // Bearers whose numbers are to be read now, first those whose workers ask. Those that are due soon join, so few
  // requests serve many bearers.
  [[nodiscard]] Ids due(Clock::time_point now, std::size_t limit);
  struct Renewal {
    CardNumbering numbering;
    std::uint32_t before = 0;  // the lease's end before
  };
  // Takes the numbers that the card gave, and returns the leases that must reach further. A bearer whose worker keeps
  // copies gets no more than its UE's window allows.
  using Windows = std::map<std::uint32_t, CardLinkSettings::KeptWindow>;
  [[nodiscard]] std::vector<Renewal> renewals(std::span<const CardNumbersRow> rows, const Windows& windows,
                                              Clock::time_point now);
  // The lease counts as given from here on, because the card's answer may be lost. Returns false if the bearer has
  // another lease by now, or is gone.
  bool renew(const Renewal& renewal, Clock::time_point now);

  // What the workers must hear after the numbers were read and leases renewed: the grants that they ask for, and which
  // bearers' packets the card has seen at the host for too long.
  [[nodiscard]] std::vector<CardNotice> notices(std::span<const CardNumbersRow> rows, const CardLinkSettings& settings,
                                                Clock::time_point now);
  // Whether a worker may have credit for the bearer from an earlier run of the card; not any more after the call.
  bool take_granted(std::uint32_t id);

  // Moves of bearers between the card and their workers (card/link/mover.h). While one moves, nothing is told to the
  // card of it. Either all of them begin, or none. An absent one gets an entry, for which one of the host's may have to
  // go: has_removals() says so.
  struct Obstacle {
    std::uint32_t id = 0;  // the card does not have this one as it is desired, or it moves already
    bool is_full = false;  // or the card has not enough entries that could go
  };
  [[nodiscard]] std::optional<Obstacle> begin_move(std::span<const BearerId> ids);
  // It stays where it was. The card is told again what it shall have.
  void give_up_move(std::uint32_t id);
  // All runs of the card together: frames and octets that it served, when its numbers were these.
  struct Served {
    std::uint64_t dl_packets = 0, ul_packets = 0, dl_octets = 0, ul_octets = 0;
  };
  [[nodiscard]] Served served(std::uint32_t id, const nic::CardNumbers& numbers) const;
  // What the card had served of bearers that it numbers, as it said when it was asked last. It looks at `limit` entries
  // with identities above `after`, and returns the last one; `after` if there is none.
  template <class Visit>
  std::uint32_t visit_served(std::uint32_t after, std::size_t limit, Visit visit) const {
    for (auto at = entries_.upper_bound(after); at != entries_.end() && limit != 0; ++at, --limit) {
      after = at->first;
      if (at->second.want.place == nic::Place::kCard) visit(after, served(after, at->second.seen));
    }
    return after;
  }
  // The UPF's number that the card shall send the bearer's uplink to; nothing: there is no such bearer.
  [[nodiscard]] std::optional<unsigned> peer_of(std::uint32_t id) const {
    const auto at = entries_.find(id);
    return at == entries_.end() ? std::nullopt : std::optional<unsigned>(at->second.want.peer);
  }
  // The host numbers it from now on. `want`: the way to its worker, which the card gets next.
  void moved_away(const nic::CardBearer& want);
  // The card numbers it from now on, as `beginning` says. `before`: what the host had served until now; the card's own
  // counters were `numbers`.
  void moved_here(const nic::CardBearer& want, const nic::CardBeginning& beginning, const Served& before,
                  const nic::CardNumbers& numbers, Clock::time_point now);
  // The card has begun with it, so its lease may be renewed from now on.
  void arrived(std::uint32_t id, Clock::time_point now);
  // Leases that the card is to be told again, because a move that was given up may have shortened them.
  [[nodiscard]] bool has_leases_to_tell() const { return !leases_to_tell_.empty(); }
  [[nodiscard]] std::vector<nic::CardLease> take_leases_to_tell();

  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] const Counts& counts() const { return counts_; }

 private:
  [[nodiscard]] const Entry* awaited(std::uint32_t id, std::uint64_t version) const;
  void mark_dirty(std::uint32_t id, const Entry& entry);
  bool clean(std::uint32_t id);
  Entry& entry_of(std::uint32_t id) { return entries_.try_emplace(id, counts_).first->second; }
  static void set_want(Entry& entry, const nic::CardBearer& want);
  [[nodiscard]] bool is_full() const { return room_ != 0 && taken_.size() >= room_; }
  [[nodiscard]] std::size_t entries_in_use() const;
  bool evict_one();
  void put_behind_lease(Entry& entry);
  void wait_again(Entry& entry);
  void note(std::uint32_t id, const nic::CardNumbers& numbers, Clock::time_point now);
  void schedule(std::uint32_t id, Entry& entry, Clock::time_point due);

  std::uint64_t versions_ = 0;  // the last one assigned
  Counts counts_;               // of entries_, so above it
  std::map<std::uint32_t, Entry> entries_;
  // Keys of entries_ whose present state the card does not have. Those that may be absent (true) come last.
  std::set<std::pair<bool, std::uint32_t>> dirty_;
  std::set<std::uint32_t> postponed_;
  std::set<std::uint32_t> removals_;             // on the card, to be removed before the next installation
  std::set<std::uint32_t> unsure_removals_;      // of these: perhaps not on the card
  std::uint64_t room_ = 0;                       // as set_room() says
  std::unordered_set<std::uint32_t> taken_;      // bearers that may have an entry on this run of the card
  std::unordered_set<std::uint32_t> evictable_;  // the host's that are there; some may be the card's or gone since
  std::set<std::pair<Clock::time_point, std::uint32_t>> due_;  // when to ask for which bearer's numbers
  std::set<std::uint32_t> requested_;                          // bearers on the card whose workers ask
  std::set<std::uint32_t> leases_to_tell_;
};

}  // namespace splitplane::app
