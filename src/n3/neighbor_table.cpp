#include "n3/neighbor_table.h"

#include <algorithm>

namespace splitplane::datapath {

void NeighborTable::watch(const std::vector<IpAddress>& hops, Time now) {
  std::erase_if(hops_, [&](const auto& entry) { return std::count(hops.begin(), hops.end(), entry.first) == 0; });
  for (const IpAddress& ip : hops) {
    const auto [at, is_new] = hops_.try_emplace(ip);
    if (is_new) at->second.next = now;
  }
}

void NeighborTable::settle(Hop& hop, const MacAddress& mac, Time now) {
  hop.state = State::kReachable;
  hop.mac = mac;
  hop.heard = now;
  hop.next = now + kReachable;
  hop.claimed = hop.candidate = std::nullopt;
  hop.sent = 0;
}

void NeighborTable::begin_check(Hop& hop, Time now) {
  hop.state = State::kProbing;
  hop.sent = 0;
  hop.begun = hop.next = now;
  hop.candidate.reset();
}

NeighborTable::Turn NeighborTable::turn(Time now) {
  Turn turn;
  for (auto& [ip, hop] : hops_) {
    if (now >= hop.next) advance(ip, hop, now, turn);
  }
  return turn;
}

void NeighborTable::advance(const IpAddress& ip, Hop& hop, Time now, Turn& turn) {
  const auto ask = [&](std::optional<MacAddress> only, Span again) {
    turn.questions.push_back({ip, only});
    ++hop.sent;
    hop.asked = now;
    hop.next = now + again;
  };
  if (hop.state == State::kReachable) begin_check(hop, now);
  if (hop.state == State::kProbing) {
    if (hop.sent < kProbes) return ask(hop.mac, kProbeEvery);
    hop.state = State::kAskingAgain;
    hop.sent = 0;
  }
  if (hop.state == State::kAskingAgain) {
    if (hop.candidate) {
      turn.events.push_back({What::kMoved, ip, *hop.candidate, hop.mac});
      return settle(hop, *hop.candidate, now);
    }
    if (now < hop.begun + kGivenUp) return ask(std::nullopt, hop.sent < kProbes ? kProbeEvery : kAskEvery);
    turn.events.push_back({What::kGone, ip, hop.mac, {}});
    hop = {};
  }
  ask(std::nullopt, kAskEvery);
  if (hop.sent == kUnansweredAfter + 1) turn.events.push_back({What::kUnanswered, ip, {}, {}});
}

std::optional<NeighborTable::Event> NeighborTable::take(const NeighborClaim& claim, Time now) {
  const auto at = hops_.find(claim.ip);
  if (at == hops_.end()) return std::nullopt;
  Hop& hop = at->second;
  const bool is_answer = claim.is_answer && hop.sent != 0 && now <= hop.asked + kAnswerWithin;
  switch (hop.state) {
    case State::kResolving:
      if (!is_answer) {  // the hop is there: ask now, and not only within a second
        hop.next = std::min(hop.next, std::max(now, hop.asked + kProbeEvery));
        return std::nullopt;
      }
      settle(hop, claim.mac, now);
      return Event{What::kFound, claim.ip, claim.mac, {}};
    case State::kReachable:
      if (claim.mac == hop.mac || now < hop.quiet_until) return std::nullopt;
      begin_check(hop, now);
      hop.claimed = claim.mac;
      ++checks_;
      return std::nullopt;
    case State::kProbing:
    case State::kAskingAgain: {
      if (!is_answer) return std::nullopt;
      if (claim.mac != hop.mac) {
        // The known address also has the time of one more question to answer.
        if (hop.state == State::kAskingAgain && !hop.candidate) hop.candidate = claim.mac;
        return std::nullopt;
      }
      const auto claimed = hop.claimed;
      settle(hop, hop.mac, now);
      if (!claimed) return std::nullopt;
      hop.quiet_until = now + kQuietAfterClaim;
      return Event{What::kClaimRefused, claim.ip, hop.mac, *claimed};
    }
  }
  return std::nullopt;
}

void NeighborTable::doubt(const IpAddress& ip, Time now) {
  const auto at = hops_.find(ip);
  if (at != hops_.end() && at->second.state == State::kReachable) begin_check(at->second, now);
}

void NeighborTable::forget(const IpAddress& ip, Time now) {
  const auto at = hops_.find(ip);
  if (at == hops_.end()) return;
  at->second = {};
  at->second.next = now;
}

std::optional<MacAddress> NeighborTable::mac_of(const IpAddress& ip) const {
  const auto at = hops_.find(ip);
  if (at == hops_.end() || at->second.state == State::kResolving) return std::nullopt;
  return at->second.mac;
}

bool NeighborTable::is_unanswered(const IpAddress& ip) const {
  const auto at = hops_.find(ip);
  return at != hops_.end() && at->second.state == State::kResolving && at->second.sent > kUnansweredAfter;
}

}  // namespace splitplane::datapath
