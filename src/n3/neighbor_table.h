// Where the next hops of one N3 interface are, and when a claim about that is believed. We take a MAC address only from
// an answer to our own question. Other frames may claim that a known hop has moved: a gratuitous ARP, an unsolicited
// advertisement, a question of another host. Such a claim begins a check:
//
//   reachable --claim, or 30 s without an answer--> probing: 3 questions to the known address alone, 200 ms apart
//   probing   --the known address answers--> reachable: the claim was false
//   probing   --it does not--> asking again by broadcast until a host answers: moved (or the same as before)
//   asking again --10 s without an answer--> resolving: traffic to the hop stops, and we ask each second
//
// The known address stays in use while it is checked, so a forged frame changes nothing. Traffic follows a hop that
// moved within kMoveTakes of its first claim. The class is pure: the caller brings the time and sends the questions.
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
  static constexpr Span kGivenUp{10'000};      // after that, how long we ask before traffic stops
  static constexpr Span kAskEvery{1'000};      // for a hop that is not known
  static constexpr Span kProbeEvery{200};      // for a hop that is being checked
  static constexpr Span kAnswerWithin{1'000};  // a later frame does not count as an answer
  static constexpr Span kQuietAfterClaim{1'000};
  static constexpr unsigned kProbes = 3, kUnansweredAfter = 3;
  // The probes, then the time for answers to the broadcast. A caller that looks every 50 ms adds at most 100 ms.
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
    std::optional<MacAddress> only;  // absent: ask by broadcast
  };
  struct Turn {
    std::vector<Question> questions;
    std::vector<Event> events;
  };

  // Sets the next hops that have traffic. The table asks for new ones at once and forgets those that are gone.
  void watch(const std::vector<IpAddress>& hops, Time now);
  [[nodiscard]] Turn turn(Time now);
  // Takes the claim of a frame; returns an event if the claim is believed.
  [[nodiscard]] std::optional<Event> take(const NeighborClaim& claim, Time now);
  // Echo shows that the hop does not answer: its MAC address is checked now.
  void doubt(const IpAddress& ip, Time now);
  // The event could not be passed on, so the table asks for the hop again.
  void forget(const IpAddress& ip, Time now);

  [[nodiscard]] std::optional<MacAddress> mac_of(const IpAddress& ip) const;
  // True if we asked kUnansweredAfter times and no host has answered.
  [[nodiscard]] bool is_unanswered(const IpAddress& ip) const;
  [[nodiscard]] std::uint64_t checks() const { return checks_; }  // checks that a claim began

 private:
  struct Hop {
    State state = State::kResolving;
    MacAddress mac;
    std::optional<MacAddress> claimed;    // by the frame that began this check
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
