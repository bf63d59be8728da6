// The host's end of a card. CardLink keeps the card's tables as the user plane needs them, over the control socket of
// its `splitplane nic`. It renews leases, and fills the card again after a restart. A separate thread makes all
// requests.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/expected.h"
#include "card/link/view.h"
#include "card/protocol/bearer.h"
#include "card/protocol/request.h"
#include "control/client.h"

namespace splitplane::app {

// How far a card may number a bearer; the journal stores it before the card gets it.
struct CardNumbering {
  BearerId id;
  std::uint32_t lease_end = 0;
  std::uint32_t heard = 0;  // a receiver may not have seen the COUNTs from here on
  std::uint8_t epoch = 0;
};

struct CardLinkSettings {
  std::string name, control;
  unsigned vfs = 0;                          // number of VFs, as this host counts them
  unsigned punt_n3 = 0, punt_air = 0;        // the VFs where this host reads the card's punts, by side
  bool by_ue_address = false;                // how this host looks up bearers: the card must do the same
  std::chrono::milliseconds retry{50};       // between attempts to connect to a card that is away
  std::chrono::milliseconds answer{1000};    // a card that takes longer counts as away
  std::chrono::milliseconds patience{250};   // how long callers wait for a card that has stopped answering
  std::chrono::milliseconds longest{2000};   // how long they wait for a card that is busy
  std::chrono::milliseconds show_each{500};  // how often the thread asks for the card's counters
  std::chrono::milliseconds cut_off_after{2000}, cut_off_each{10000};  // when a card that is cut off is logged
  // Writes leases where they survive this process, and waits until they are there. On an error the card must not get
  // them. Without a journal they do not survive.
  using Journal = std::function<Expected<void>(std::span<const CardNumbering>)>;
  Journal journal;
};

// A bearer on the card, with the sums of its numbers over all runs of the card.
struct CardBearerView {
  bool installed = false;
  std::uint8_t epoch = 0;
  std::uint32_t lease_end = 0;
  nic::CardNumbers numbers;
};

class CardLink {
 public:
  using Clock = std::chrono::steady_clock;

  explicit CardLink(CardLinkSettings settings);  // makes no request yet
  ~CardLink();                                   // end()
  CardLink(const CardLink&) = delete;
  CardLink& operator=(const CardLink&) = delete;

  // Starts the thread. It removes bearers from the card that were not put before this call.
  void begin();
  // Ends the thread. From here on no bearer and no lease reaches the card; the card keeps what it has.
  void end();

  // Desired state: put() gives new or changed bearers, remove() names those to remove. This class sets their numbers,
  // lease and epoch. Both calls return at once, and the thread makes the requests in their order. Call wait_for() after
  // each put(). It returns when the card has done it. It returns at once if the card is away, before begin(), or after
  // end(), and after a time if the card does not answer. On an error the card refuses a bearer: remove() the unwanted
  // ones and put() the others as they were.
  using Asked = std::vector<std::pair<std::uint32_t, std::uint64_t>>;  // bearer, and its version or kRemoval
  [[nodiscard]] Asked put(std::span<const nic::CardBearer> bearers);
  Asked remove(std::span<const BearerId> ids);
  // `since` is when the wait for a busy card began; callers with several cards pass the same for each.
  Expected<void> wait_for(const Asked& asked, Clock::time_point since = Clock::now());
  // Queues the bearer for the card and returns at once. If the card refuses it, the link removes the bearer from the
  // card, because host and card would otherwise disagree. The same holds for a put() whose wait has ended. A caller
  // that waits for an earlier put() of the bearer sees this result.
  void put_soon(const nic::CardBearer& bearer);
  // Sets why no packet passes between the card and this host although the card answers; empty: packets pass. While a
  // card is cut off, nothing is installed on it or removed from it.
  void set_cut_off(const std::string& why);
  void set_peer(const nic::CardPeer& peer);
  void unset_peer(unsigned number);

  // Asks the card for numbers, in the order of `ids`. For a card that is away it returns the last known ones.
  [[nodiscard]] std::vector<CardBearerView> look(std::span<const BearerId> ids);
  [[nodiscard]] CardLinkView view() const;

 private:
  static constexpr std::uint64_t kRemoval = 0;  // stands in place of a version; versions begin at 1
  struct Entry {
    nic::CardBearer want;
    std::uint64_t version = 0;  // of `want`: unique over all entries and over time; 0: none yet
    bool sent = false;          // this run of the card may have it
    bool numbered = false;      // and this run may have numbered packets of it
    bool confirmed = false;     // this run of the card has it
    std::uint64_t awaited = 0;  // the version that a caller waits for, or its replacement; 0: no caller waits
    std::string refused;        // why the card refuses it
    std::uint32_t lease_end = 0;
    std::uint32_t heard = 0;                       // a receiver may not have seen the COUNTs from here on
    nic::CardNumbers seen;                         // of this run, from the last request
    std::uint64_t dl_packets = 0, ul_packets = 0;  // of earlier runs
    double rate = 0;                               // packets per second downlink
    Clock::time_point looked{}, due{};
  };
  using Lock = std::unique_lock<std::mutex>;

  // All with the lock held; a request to the card releases it meanwhile. link.cpp: the thread
  void serve();
  [[nodiscard]] Expected<Json> ask(Lock& lock, const std::string& method, const Json& params);
  [[nodiscard]] Expected<void> enter_in_journal(Lock& lock, std::span<const CardNumbering> numberings);
  enum class By : std::uint8_t { kWaiting, kNobodyWaiting };
  std::uint64_t want(const nic::CardBearer& bearer, By by);
  [[nodiscard]] bool silent() const;
  template <class Done>
  void wait_for_card(Lock& lock, Clock::time_point end, Done done);
  // Without the lock.
  [[nodiscard]] Json confirmed(std::span<const BearerId> ids, std::uint64_t& run) const;
  [[nodiscard]] Expected<std::vector<CardNumbersRow>> read_numbers(const Json& ids, Clock::time_point end);

  // connect.cpp: a card that has come back
  [[nodiscard]] Expected<void> connect(Lock& lock);
  [[nodiscard]] Expected<void> fill(Lock& lock);
  [[nodiscard]] Expected<void> stay_cut_off(Lock& lock);
  [[nodiscard]] Expected<void> fits(const Json& show) const;
  [[nodiscard]] Expected<void> compare(Lock& lock);
  void warn_of_punts(const Json& show) const;
  void begin_anew();
  void put_behind_lease(Entry& entry);
  void lose(const Error& why);
  void announce();

  // push.cpp: what the card lacks, and leases
  [[nodiscard]] Expected<void> push(Lock& lock);
  [[nodiscard]] Expected<void> push_removals(Lock& lock);
  [[nodiscard]] Expected<void> push_peers(Lock& lock);
  [[nodiscard]] Expected<void> push_bearers(Lock& lock);
  [[nodiscard]] Expected<void> install(Lock& lock, const std::vector<std::uint32_t>& ids);
  void refuse(std::uint32_t id, Entry& entry, const std::string& why);
  [[nodiscard]] Expected<void> renew(Lock& lock);
  [[nodiscard]] Expected<void> look_at_counters(Lock& lock);
  void take_counters(const Json& show);
  void note(std::uint32_t id, const nic::CardNumbers& numbers, Clock::time_point now);
  void schedule(std::uint32_t id, Entry& entry, Clock::time_point due);
  [[nodiscard]] bool has_work() const { return !dirty_.empty() || !removals_.empty() || !dirty_peers_.empty(); }

  const CardLinkSettings settings_;
  mutable std::mutex mutex_;
  std::condition_variable changed_, done_;
  bool stop_ = false, up_ = false, said_away_ = false, announce_ = false;
  bool refusal_ = false;  // the last request failed because the card refused it, not because the card is away
  std::optional<Clock::time_point> asking_since_;  // since then the card has not answered
  std::string cut_off_;                            // why; empty: the card is not cut off
  Clock::time_point cut_off_said_next_{};
  CardLinkView view_;
  std::uint64_t punted_ = 0;    // by this run of the card
  std::uint64_t versions_ = 0;  // the last one assigned
  std::map<std::uint32_t, Entry> entries_;
  std::set<std::uint32_t> dirty_;     // keys of entries_ whose present state the card does not have
  std::set<std::uint32_t> removals_;  // on the card, to be removed before the next installation
  std::set<std::pair<Clock::time_point, std::uint32_t>> due_;  // when to ask for which bearer's numbers
  // A UPF's number. While bearers on the card may mean the UPF that had the number before, the card must not get
  // another UPF under it.
  struct Peer {
    std::optional<nic::CardPeer> want;
    enum : std::uint8_t { kOne, kToUnset, kUnset } since = kOne;  // kOne: has meant one UPF only
  };
  std::array<Peer, 256> peers_;
  std::set<unsigned> dirty_peers_;
  Clock::time_point next_attempt_{}, next_show_{};
  std::optional<ControlClient> client_;  // of the thread; absent: the card is away

  std::mutex reader_mutex_;
  std::optional<ControlClient> reader_;  // of look()
  Clock::time_point reader_rests_{};     // until then look() makes no request after one without an answer
  std::thread thread_;
};

}  // namespace splitplane::app
