// The host's end of a card. CardLink keeps the card's tables as the user plane needs them, over the control socket of
// its `splitplane card`. It renews leases, and fills the card again after a restart. A separate thread makes all
// requests.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/expected.h"
#include "card/link/bearers.h"
#include "card/link/peers.h"
#include "card/link/settings.h"
#include "card/link/view.h"
#include "card/protocol/bearer.h"
#include "card/protocol/request.h"
#include "control/client.h"

namespace splitplane::app {

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
  // RLC re-establishment of a bearer whose worker keeps copies: the card gives it up and gets it again with the next
  // epoch. Call wait_for() afterwards. Nothing is asked for if the card does not number it.
  [[nodiscard]] Asked restart(BearerId id);
  // Queues the bearer for the card and returns at once. If the card refuses it, the link removes the bearer from the
  // card, because host and card would otherwise disagree. The same holds for a put() whose wait has ended. A caller
  // that waits for an earlier put() of the bearer sees this result.
  void put_soon(const nic::CardBearer& bearer);
  // Sets why no packet passes between the card and this host although the card answers; empty: packets pass. While a
  // card is cut off, nothing is installed on it or removed from it.
  void set_cut_off(const std::string& why);
  void set_peer(const nic::CardPeer& peer);
  void unset_peer(unsigned number);
  // Workers ask for grants. Returns at once; the thread reads the numbers, renews leases and answers by `notify`.
  void request(std::span<const CardRequest> requests);

  // Moves of bearers between the card and their workers. The one who moves makes the requests (card/link/mover.h); here
  // stands what the card shall have. From begin_move() on this class tells the card nothing of them. Returns the run of
  // the card; an error if a bearer cannot move now.
  [[nodiscard]] Expected<std::uint64_t> begin_move(std::span<const BearerId> ids);
  void give_up_move(std::span<const BearerId> ids);
  [[nodiscard]] LinkBearers::Served served(BearerId id, const nic::CardNumbers& numbers) const;
  std::uint32_t visit_served(std::uint32_t after, std::size_t limit,
                             const std::function<void(std::uint32_t id, const LinkBearers::Served&)>& visit) const;
  [[nodiscard]] std::optional<unsigned> peer_of(BearerId id) const;
  // The bearers have moved; the error says that the card has been away meanwhile, and nothing has changed.
  Expected<Asked> moved_away(std::uint64_t run, std::span<const nic::CardBearer> wants);
  struct Arrival {
    nic::CardBearer want;
    nic::CardBeginning beginning;
    LinkBearers::Served before;
    nic::CardNumbers numbers;
  };
  Expected<void> moved_here(std::uint64_t run, std::span<const Arrival> all);
  // After card.begin has been answered.
  void arrived(std::span<const BearerId> ids);
  [[nodiscard]] const CardLinkSettings& settings() const { return settings_; }

  // Asks the card for numbers, in the order of `ids`. For a card that is away it returns the last known ones.
  [[nodiscard]] std::vector<CardBearerView> look(std::span<const BearerId> ids);
  [[nodiscard]] CardLinkView view() const;

 private:
  using Lock = std::unique_lock<std::mutex>;

  // All with the lock held; a request to the card releases it meanwhile.
  void serve();
  [[nodiscard]] Expected<Json> ask(Lock& lock, const std::string& method, const Json& params);
  [[nodiscard]] Expected<void> enter_in_journal(Lock& lock, std::span<const CardNumbering> numberings);
  void notify(Lock& lock, std::span<const CardNotice> notices);
  [[nodiscard]] bool silent() const;
  template <class Done>
  void wait_for_card(Lock& lock, Clock::time_point end, Done done);
  // Without the lock.
  [[nodiscard]] Json confirmed(std::span<const BearerId> ids, std::uint64_t& run) const;
  [[nodiscard]] Expected<std::vector<CardNumbersRow>> read_numbers(const Json& ids, Clock::time_point end);

  // A card that has come back.
  [[nodiscard]] Expected<void> connect(Lock& lock);
  [[nodiscard]] Expected<void> fill(Lock& lock);
  [[nodiscard]] Expected<void> stay_cut_off(Lock& lock);
  [[nodiscard]] Expected<void> compare(Lock& lock);
  void lose(const Error& why);
  void announce();

  // What the card lacks, and leases.
  [[nodiscard]] Expected<void> push(Lock& lock);
  [[nodiscard]] Expected<void> push_removals(Lock& lock);
  [[nodiscard]] Expected<void> push_peers(Lock& lock);
  [[nodiscard]] Expected<void> push_bearers(Lock& lock);
  void begin_at_workers(Lock& lock, const LinkBearers::Ids& ids);
  [[nodiscard]] Expected<void> install(Lock& lock, const LinkBearers::Ids& ids);
  void refuse(std::uint32_t id, const std::string& why);
  [[nodiscard]] Expected<void> renew(Lock& lock);
  [[nodiscard]] Expected<void> tell_leases(Lock& lock);
  [[nodiscard]] Expected<void> lengthen(Lock& lock, std::span<const CardNumbersRow> rows, Clock::time_point now);
  [[nodiscard]] Expected<void> look_at_counters(Lock& lock);
  void take_counters(const Json& show);
  [[nodiscard]] bool has_work() const { return bearers_.has_dirty() || bearers_.has_removals() || peers_.has_work(); }
  [[nodiscard]] Clock::time_point next_turn() const;

  const CardLinkSettings settings_;
  mutable std::mutex mutex_;
  std::condition_variable changed_, done_;
  bool stop_ = false, up_ = false, said_away_ = false, announce_ = false;
  bool refusal_ = false;  // the last request failed because the card refused it, not because the card is away
  std::optional<Clock::time_point> asking_since_;  // since then the card has not answered
  std::string cut_off_;                            // why; empty: the card is not cut off
  Clock::time_point cut_off_said_next_{};
  CardLinkView view_;
  std::uint64_t punted_ = 0;  // by this run of the card
  LinkBearers bearers_;
  LinkPeers peers_;
  Clock::time_point next_attempt_{}, next_show_{};
  std::optional<ControlClient> client_;  // of the thread; absent: the card is away

  std::mutex reader_mutex_;
  std::optional<ControlClient> reader_;  // of look()
  Clock::time_point reader_rests_{};     // until then look() makes no request after one without an answer
  std::thread thread_;
};

}  // namespace splitplane::app
