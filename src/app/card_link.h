// The host's end of a card: keeps the card's tables as the user plane wants them, over the control socket of its
// `splitplane nic`, renews leases, and fills the card again after a restart. A thread of its own does all asking.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "app/control_client.h"
#include "base/expected.h"
#include "nic/card_bearer.h"

namespace splitplane::app {

struct CardLinkSettings {
  std::string name, control;
  unsigned vfs = 0;                        // as this host numbers them
  bool by_ue_address = false;              // how this host looks for bearers: the card must do the same
  std::chrono::milliseconds retry{50};     // between attempts to reach a card that is away
  std::chrono::milliseconds answer{2000};  // a card that takes longer is taken for away
};

// What was done, and what is.
// clang-format off
#define SPLITPLANE_CARD_LINK_COUNTERS(X)                                             \
  X(connects, "times that the card was reached anew")                                \
  X(restarts, "of them, as another run of it: everything was installed again")       \
  X(installed, "bearers installed, again included")                                  \
  X(removed, "bearers removed")                                                      \
  X(refused, "bearers that the card refused")                                        \
  X(leases_renewed, "leases renewed")                                                \
  X(failures, "requests that failed or were not answered")
// clang-format on

struct CardLinkView {
  std::string name, control;
  bool up = false;
  std::string reason;         // not up: why
  std::string program, boot;  // of the card, when it was last up
  std::size_t bearers = 0;    // that it shall have
  std::size_t waiting = 0;    // of them, not installed now
#define SPLITPLANE_CARD_LINK_FIELD(field, help) std::uint64_t field = 0;
  SPLITPLANE_CARD_LINK_COUNTERS(SPLITPLANE_CARD_LINK_FIELD)
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
  explicit CardLink(CardLinkSettings settings);  // asks nothing yet
  ~CardLink();                                   // the card keeps what it has
  CardLink(const CardLink&) = delete;
  CardLink& operator=(const CardLink&) = delete;

  // Starts the thread. What the card has and nobody has put until now is taken off it.
  void begin();

  // What the card shall have: new or changed bearers (numbers, lease and epoch are this class's). Answered when the
  // card has it, or at once while it is away or before begin(). Error: the card refuses one; remove() those that are
  // not wanted.
  Expected<void> put(std::span<const nic::CardBearer> bearers);
  // Answered when they are off the card, or it is away.
  void remove(std::span<const BearerId> ids);
  void set_peer(const nic::CardPeer& peer);
  void unset_peer(unsigned number);

  // Asks the card; of bearers on a card that is away, what was last known. In the order of `ids`.
  [[nodiscard]] std::vector<CardBearerView> look(std::span<const BearerId> ids);
  [[nodiscard]] CardLinkView view() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Entry {
    nic::CardBearer want;
    std::uint64_t version = 0;  // of `want`
    bool sent = false;          // this run of the card may have given packets of it numbers
    bool confirmed = false;     // this run of the card has it
    std::string refused;        // why the card does not take it
    std::uint32_t lease_end = 0;
    nic::CardNumbers seen;                         // of this run, when it was last asked
    std::uint64_t dl_packets = 0, ul_packets = 0;  // of earlier runs
    double rate = 0;                               // packets per second downlink
    Clock::time_point looked{}, due{};
  };
  using Lock = std::unique_lock<std::mutex>;

  // All with the lock held, which is let go while the card is asked. card_link.cpp: the thread
  void serve();
  [[nodiscard]] Expected<Json> ask(Lock& lock, const std::string& method, const Json& params);

  // card_link_connect.cpp: a card that is back
  [[nodiscard]] Expected<void> connect(Lock& lock);
  [[nodiscard]] Expected<void> compare(Lock& lock);
  void begin_anew();
  void put_behind_lease(Entry& entry);
  void lose(const Error& why);
  void announce();

  // card_link_push.cpp: what the card lacks, and leases
  [[nodiscard]] Expected<void> push(Lock& lock);
  [[nodiscard]] Expected<void> push_removals(Lock& lock);
  [[nodiscard]] Expected<void> push_peers(Lock& lock);
  [[nodiscard]] Expected<void> push_bearers(Lock& lock);
  [[nodiscard]] Expected<void> install(Lock& lock, const std::vector<std::uint32_t>& ids);
  [[nodiscard]] Expected<void> renew(Lock& lock);
  void note(std::uint32_t id, const nic::CardNumbers& numbers, Clock::time_point now);
  void schedule(std::uint32_t id, Entry& entry, Clock::time_point due);
  [[nodiscard]] bool has_work() const { return !dirty_.empty() || !removals_.empty() || !dirty_peers_.empty(); }

  const CardLinkSettings settings_;
  mutable std::mutex mutex_;
  std::condition_variable changed_, done_;
  bool stop_ = false, up_ = false, said_away_ = false, announce_ = false;
  bool refusal_ = false;  // the last request failed since the card said no, not since it is away
  CardLinkView view_;
  std::map<std::uint32_t, Entry> entries_;
  std::set<std::uint32_t> dirty_;     // of entries_: the card does not have them so
  std::set<std::uint32_t> removals_;  // on the card, to be removed before anything is installed
  std::set<std::pair<Clock::time_point, std::uint32_t>> due_;  // when to look at whose numbers
  std::array<std::optional<nic::CardPeer>, 256> peers_;
  std::set<unsigned> dirty_peers_;
  Clock::time_point next_attempt_{};
  std::optional<ControlClient> client_;  // the thread's

  std::mutex reader_mutex_;
  std::optional<ControlClient> reader_;  // look()'s
  std::thread thread_;
};

}  // namespace splitplane::app
