// The host's end of a card: keeps the card's tables as the user plane wants them, over the control socket of its
// `splitplane nic`, renews leases, and fills the card again after a restart. A thread of its own does all asking.
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

// What a card's bearer may be numbered with, before the card is told.
struct CardNumbering {
  BearerId id;
  std::uint32_t lease_end = 0;
  std::uint32_t heard = 0;  // a receiver may not have seen any COUNT from here on
  std::uint8_t epoch = 0;
};

struct CardLinkSettings {
  std::string name, control;
  unsigned vfs = 0;                          // as this host numbers them
  unsigned punt_n3 = 0, punt_air = 0;        // the VFs where this host reads what the card punts, by side
  bool by_ue_address = false;                // how this host looks for bearers: the card must do the same
  std::chrono::milliseconds retry{50};       // between attempts to reach a card that is away
  std::chrono::milliseconds answer{1000};    // a card that takes longer is taken for away
  std::chrono::milliseconds patience{250};   // so long others wait for a card that has fallen silent
  std::chrono::milliseconds longest{2000};   // and so long for one that has much to do
  std::chrono::milliseconds show_each{500};  // how often it is asked for what it counts
  std::chrono::milliseconds cut_off_after{2000}, cut_off_each{10000};  // when a card that is cut off is logged
  // Puts leases where they survive this process, and waits for it. Error: the card must not be told. Absent: they do
  // not.
  using Journal = std::function<Expected<void>(std::span<const CardNumbering>)>;
  Journal journal;
};

// A bearer on the card; the numbers of all runs of the card together.
struct CardBearerView {
  bool installed = false;
  std::uint8_t epoch = 0;
  std::uint32_t lease_end = 0;
  nic::CardNumbers numbers;
};

class CardLink {
 public:
  using Clock = std::chrono::steady_clock;

  explicit CardLink(CardLinkSettings settings);  // asks nothing yet
  ~CardLink();                                   // end()
  CardLink(const CardLink&) = delete;
  CardLink& operator=(const CardLink&) = delete;

  // Starts the thread. What the card has and nobody has put until now is taken off it.
  void begin();
  // Ends the thread: no bearer and no lease reaches the card from here on, which keeps what it has.
  void end();

  // What the card shall have: new or changed bearers (numbers, lease and epoch are this class's), and which no longer.
  // Asked for in the order of the calls, which do not wait. wait_for() is called after each put(), and answers when the
  // card has done it, or at once while it is away, before begin() or after end(), or when it does not answer. Error:
  // the card refuses one; remove() those that are not wanted, put() the others as they were.
  using Asked = std::vector<std::pair<std::uint32_t, std::uint64_t>>;  // bearer, and its version or kRemoval
  [[nodiscard]] Asked put(std::span<const nic::CardBearer> bearers);
  Asked remove(std::span<const BearerId> ids);
  // `since`: from when on a card that has much to do is waited for; of several cards, the same.
  Expected<void> wait_for(const Asked& asked, Clock::time_point since = Clock::now());
  // Nobody waits for it but who waits for an earlier put() of the bearer. Refused, as a put() whose wait is over, it
  // takes the bearer off the card, which is not as the host has it any more.
  void put_soon(const nic::CardBearer& bearer);
  // Why no packet passes between the card and this host, although the card answers; empty: packets pass. Nothing is
  // installed on a card that is cut off, or taken off it: what it has, it keeps.
  void set_cut_off(const std::string& why);
  void set_peer(const nic::CardPeer& peer);
  void unset_peer(unsigned number);

  // Asks the card; of bearers on a card that is away, what was last known. In the order of `ids`.
  [[nodiscard]] std::vector<CardBearerView> look(std::span<const BearerId> ids);
  [[nodiscard]] CardLinkView view() const;

 private:
  static constexpr std::uint64_t kRemoval = 0;  // in place of a version, which are counted from 1
  struct Entry {
    nic::CardBearer want;
    std::uint64_t version = 0;  // of `want`: no other entry's, nor an earlier one's of this identity; 0: none yet
    bool sent = false;          // this run of the card may have it
    bool numbered = false;      // and may have given packets of it numbers
    bool confirmed = false;     // this run of the card has it
    std::uint64_t awaited = 0;  // the version that somebody waits for, or for what has replaced it; 0: nobody
    std::string refused;        // why the card does not take it
    std::uint32_t lease_end = 0;
    std::uint32_t heard = 0;                       // a receiver may not have seen any COUNT from here on
    nic::CardNumbers seen;                         // of this run, when it was last asked
    std::uint64_t dl_packets = 0, ul_packets = 0;  // of earlier runs
    double rate = 0;                               // packets per second downlink
    Clock::time_point looked{}, due{};
  };
  using Lock = std::unique_lock<std::mutex>;

  // All with the lock held, which is let go while the card is asked. link.cpp: the thread
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

  // connect.cpp: a card that is back
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
  bool refusal_ = false;  // the last request failed since the card said no, not since it is away
  std::optional<Clock::time_point> asking_since_;  // the card has not answered since
  std::string cut_off_;                            // why; empty: it is not
  Clock::time_point cut_off_said_next_{};
  CardLinkView view_;
  std::uint64_t punted_ = 0;    // by this run of the card
  std::uint64_t versions_ = 0;  // the last one given out
  std::map<std::uint32_t, Entry> entries_;
  std::set<std::uint32_t> dirty_;     // of entries_: the card does not have them so
  std::set<std::uint32_t> removals_;  // on the card, to be removed before anything is installed
  std::set<std::pair<Clock::time_point, std::uint32_t>> due_;  // when to look at whose numbers
  // A UPF's number. As long as bearers on the card may mean the UPF that had it before, the card must not know another.
  struct Peer {
    std::optional<nic::CardPeer> want;
    enum : std::uint8_t { kOne, kToUnset, kUnset } since = kOne;  // one UPF's alone; another's: step by step
  };
  std::array<Peer, 256> peers_;
  std::set<unsigned> dirty_peers_;
  Clock::time_point next_attempt_{}, next_show_{};
  std::optional<ControlClient> client_;  // the thread's; absent: the card is away

  std::mutex reader_mutex_;
  std::optional<ControlClient> reader_;  // look()'s
  Clock::time_point reader_rests_{};     // until then a card that did not answer look() is not asked
  std::thread thread_;
};

}  // namespace splitplane::app
