// Where the next hops of one N3 interface are, and what it takes to believe it. A MAC address is taken from an answer
// to a question of ours only. Whatever else claims that a known hop has moved (a gratuitous ARP, an unasked
// advertisement, a question of somebody) begins a check:
//
//   reachable --claim, or 30 s without an answer--> probing: 3 questions to the known address alone, 200 ms apart
//   probing   --the known address answers--> reachable: the claim was false
//   probing   --it does not--> asking again, everybody, until one answers: moved (or the same as before)
//   asking again --10 s without an answer--> resolving: traffic to the hop stops, and it is asked for each second
//
// The known address stays in use while it is checked, so a forged frame changes nothing, and a hop that moved is
// followed kMoveTakes after its first claim. Pure: the caller brings the time and sends the questions.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/ip_address.h"
#include "n3/neighbor.h"
#include "n3/path.h"

namespace splitplane::datapath {

class NeighborTable {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Span = std::chrono::milliseconds;

  static constexpr Span kReachable{30'000};    // an answer holds so long (RFC 4861's REACHABLE_TIME)
  static constexpr Span kGivenUp{10'000};      // asked for so long after that
  static constexpr Span kAskEvery{1'000};      // a hop that is not known
  static constexpr Span kProbeEvery{200};      // one that is in doubt
  static constexpr Span kAnswerWithin{1'000};  // what comes later was not asked for
  static constexpr Span kQuietAfterClaim{1'000};
  static constexpr unsigned kProbes = 3, kUnansweredAfter = 3;
  // Probes, then the time for answers to the broadcast. A caller that looks each 50 ms adds 100 ms at most.
  static constexpr Span kMoveTakes = kProbeEvery * (kProbes + 1);

  enum class State : std::uint8_t { kResolving, kReachable, kProbing, kAskingAgain };
  enum class What : std::uint8_t { kFound, kMoved, kGone, kClaimRefused, kUnanswered };
  struct Event {
    What what;
    IpAddress ip;
    MacAddress mac;    // kFound, kMoved: the new one; else the known one
    MacAddress other;  // kMoved: the old one; kClaimRefused: the claimed one
  };
  struct Question {
    IpAddress ip;
    std::optional<MacAddress> only;  // absent: everybody is asked
  };
  struct Turn {
    std::vector<Question> questions;
    std::vector<Event> events;
  };

  // The next hops that have traffic: new ones are asked for at once, those that are gone are forgotten.
  void watch(const std::vector<IpAddress>& hops, Time now);
  [[nodiscard]] Turn turn(Time now);
  // What a frame says; an event if it is believed.
  [[nodiscard]] std::optional<Event> take(const NeighborClaim& claim, Time now);
  // The hop does not answer by other means (Echo): its MAC address is checked now.
  void doubt(const IpAddress& ip, Time now);
  // The news could not be passed on: asked for again.
  void forget(const IpAddress& ip, Time now);

  [[nodiscard]] std::optional<MacAddress> mac_of(const IpAddress& ip) const;
  // Asked for kUnansweredAfter times, and nobody has answered.
  [[nodiscard]] bool is_unanswered(const IpAddress& ip) const;
  [[nodiscard]] std::uint64_t checks() const { return checks_; }  // begun because of a claim

 private:
  struct Hop {
    State state = State::kResolving;
    MacAddress mac;
    std::optional<MacAddress> claimed;    // by what began this check
    std::optional<MacAddress> candidate;  // kAskingAgain: the first other address that answered
    Time heard{}, asked{}, next{}, begun{}, quiet_until{};
    unsigned sent = 0;
  };
  void begin_check(Hop& hop, Time now);
  void advance(const IpAddress& ip, Hop& hop, Time now, Turn& turn);
  static void settle(Hop& hop, const MacAddress& mac, Time now);

  std::map<IpAddress, Hop, IpLess> hops_;
  std::uint64_t checks_ = 0;
};

}  // namespace splitplane::datapath
