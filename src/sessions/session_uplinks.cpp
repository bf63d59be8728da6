#include "sessions/session_uplinks.h"

namespace splitplane::datapath {

using ran::sdap::DrbId;

SessionUplinks::~SessionUplinks() {
  for (const auto& [id, member] : members_) {
    member->session->order.tick(ran::sdap::kNever - 1, [](Qfi, Sdu sdu) { rte_pktmbuf_free(sdu.m); });
  }
  for (const Ready& one : ready) rte_pktmbuf_free(one.m);
}

void SessionUplinks::open(const ran::SessionConfig& config, std::uint64_t tsc_hz) {
  const auto session = std::make_shared<Session>(
      config.teid(), ran::sdap::OrderLimits{.hold = tsc_hz / 1000 * kHoldMs, .held = kMostHeld});
  for (const ran::SessionBearer& one : config.bearers) {
    (void)session->map.configure_drb(
        one.drb, {.header_ul = one.config.sdap_header_ul, .header_dl = one.config.sdap_header_dl, .qfi = std::nullopt});
    members_[one.config.id.value] = std::make_unique<Member>(Member{session, one.drb, 0, {}});
  }
}

std::uint64_t SessionUplinks::close(const ran::SessionConfig& config) {
  std::uint64_t dropped = 0;
  for (const ran::SessionBearer& one : config.bearers) {
    const auto at = members_.find(one.config.id.value);
    if (at == members_.end()) continue;
    Session& session = *at->second->session;
    std::erase(waiting_, &session);
    session.order.tick(ran::sdap::kNever - 1, [&](Qfi, Sdu sdu) {
      --held_;
      ++dropped;
      rte_pktmbuf_free(sdu.m);
    });
    members_.erase(at);
  }
  return dropped;
}

SessionUplinks::Member* SessionUplinks::find(std::uint32_t id) const {
  const auto at = members_.find(id);
  return at == members_.end() ? nullptr : at->second.get();
}

void SessionUplinks::note_waiting(Session& session) {
  if (session.order.held() == 0) {
    std::erase(waiting_, &session);
  } else if (std::ranges::find(waiting_, &session) == waiting_.end()) {
    waiting_.push_back(&session);
  }
}

void SessionUplinks::receive(ran::BearerUplink& line, std::uint8_t qfi, rte_mbuf* m, std::uint64_t now) {
  Member* const member = find(line.id);
  if (member == nullptr) {
    ready.push_back({m, &line, qfi});
    return;
  }
  Session& session = *member->session;
  const std::uint64_t overflows = session.order.counters().overflows;
  ++member->held;
  ++held_;
  session.order.receive(Qfi{qfi}, member->drb, Sdu{m, member, &line}, now, to_ready());
  given_up_ += session.order.counters().overflows - overflows;
  if (held_ > most_) give_up(session);
  if (!waiting_.empty() || session.order.held() != 0) note_waiting(session);
}

void SessionUplinks::end(std::uint32_t id, std::uint8_t qfi, const ArqBearer* arq) {
  Member* const member = find(id);
  if (member == nullptr) return;
  if (arq != nullptr && arq->receive.next() != arq->receive.next_highest()) {
    // One for each flow, so that a UE that repeats markers costs no more.
    const auto same = std::ranges::find(member->ends, qfi, &EarlyEnd::qfi);
    EarlyEnd& one = same == member->ends.end() ? member->ends.emplace_back() : *same;
    one = {qfi, arq->epoch, arq->receive.next_highest()};
    return;
  }
  member->session->order.end(Qfi{qfi}, member->drb, to_ready());
  note_waiting(*member->session);
}

void SessionUplinks::look_at_ends(const ArqBearer& arq) {
  Member* const member = find(arq.id);
  if (member == nullptr || member->ends.empty()) return;
  std::erase_if(member->ends, [&](const EarlyEnd& one) {
    // RLC began anew: the PDUs before the marker come with other numbers. So the marker says nothing, unless the UE
    // sends it again, too, and the time ends the wait.
    if (one.epoch != arq.epoch) return true;
    const bool all_came = !ran::rlc::before(arq.receive.next(), one.until);
    if (all_came) member->session->order.end(Qfi{one.qfi}, member->drb, to_ready());
    return all_came;
  });
  note_waiting(*member->session);
}

void SessionUplinks::wait_again(std::uint32_t id, std::uint64_t now) {
  if (Member* const member = find(id); member != nullptr) member->session->order.wait_again(now);
}

void SessionUplinks::give_up(Session& session) {
  const std::uint64_t timeouts = session.order.counters().timeouts;
  session.order.tick(ran::sdap::kNever - 1, to_ready());
  given_up_ += session.order.counters().timeouts - timeouts;
}

void SessionUplinks::tick(std::uint64_t now) {
  std::erase_if(waiting_, [&](Session* session) {
    const std::uint64_t timeouts = session->order.counters().timeouts;
    session->order.tick(now, to_ready());
    given_up_ += session->order.counters().timeouts - timeouts;
    return session->order.held() == 0;
  });
}

std::uint64_t SessionUplinks::held(BearerId id) const {
  const Member* const member = find(id.value);
  return member == nullptr ? 0 : member->held;
}

std::uint64_t SessionUplinks::next_work() const {
  std::uint64_t next = ran::sdap::kNever;
  for (const Session* session : waiting_) next = std::min(next, session->order.next_work());
  return next;
}

}  // namespace splitplane::datapath
