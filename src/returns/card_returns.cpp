#include "returns/card_returns.h"

#include <rte_cycles.h>

#include <algorithm>

#include "returns/returned_frame.h"

namespace splitplane::datapath {
namespace {

constexpr std::uint32_t kLookFirst = std::numeric_limits<std::uint32_t>::max();  // a mark that no credit passes
constexpr std::uint64_t kLookMs = 5;        // how often packets that wait are looked at
constexpr std::uint64_t kAskAgainMs = 100;  // a request without an answer
constexpr std::uint64_t kAskLaterMs = 5;    // after a grant that gave nothing
constexpr std::uint64_t kAskSoonMs = 1;  // after one that did not suffice: the card numbers what it allowed meanwhile
constexpr std::uint64_t kRetriesPerMs = 20;  // while the port is full
constexpr std::uint32_t kStill = 3;          // readings in a row without a change, and how long they last:
constexpr std::uint64_t kStillMs = 20;       // nothing is outstanding

}  // namespace

CardReturns::CardReturns(ran::BearerTable& bearers, WorkerStats& stats)
    : bearers_(bearers),
      stats_(stats),
      ticks_per_ms_(rte_get_tsc_hz() / 1000),
      retry_ticks_(ticks_per_ms_ / kRetriesPerMs) {}

CardReturns::~CardReturns() {
  for (auto& [id, account] : accounts_) {
    while (!account.empty()) rte_pktmbuf_free(account.pop().m);
  }
}

CardReturns::Waiting CardReturns::Account::pop() {
  const Waiting front = waiting[first++];
  if (first == waiting.size()) {
    waiting.clear();
    first = 0;
  }
  return front;
}

bool CardReturns::admit(ran::BearerDownlink& line, std::uint32_t id, rte_mbuf* frame, std::uint64_t now) {
  if (!requests_) return true;
  Account& account = accounts_[id];
  std::uint32_t& credit = ran::card_credit(line);
  if (account.empty() && credit > 0) {
    --credit;
    ask(line, id, account, now);
    return true;
  }
  if (account.exhausted) {
    drop_unnumbered(frame, DropReason::count_exhausted, now);
  } else if (held_ >= most_) {
    drop_unnumbered(frame, DropReason::count_lease_ended, now);
    ask(line, id, account, now);
  } else {
    hold(line, id, account, frame, now);
  }
  return false;
}

void CardReturns::ask(ran::BearerDownlink& line, std::uint32_t id, Account& account, std::uint64_t now) {
  const bool is_due = account.asked ? now >= account.ask_again : now >= account.not_before;
  if (is_due && !account.frozen && requests_ && requests_->ask({BearerId{id}, account.tag})) {
    // For a repeated request the first one counts.
    if (!account.asked) {
      account.credit_asked = ran::card_credit(line);
      account.waited_asked = static_cast<std::uint32_t>(account.size());
    }
    account.asked = true;
    account.ask_again = now + kAskAgainMs * ticks_per_ms_;
  }
  ran::card_mark(line) = account.frozen || !account.empty() ? kLookFirst : account.asked ? 0 : account.given / 2;
}

void CardReturns::hold(ran::BearerDownlink& line, std::uint32_t id, Account& account, rte_mbuf* frame,
                       std::uint64_t now) {
  if (holding_.empty()) next_look_ = now + kLookMs * ticks_per_ms_;
  holding_.insert(id);
  account.waiting.push_back({frame, now + kMostMs * ticks_per_ms_});
  ++held_;
  note_held();
  ask(line, id, account, now);
}

void CardReturns::count_drop(const rte_mbuf* frame, DropReason reason) {
  stats_.drop(reason);
  const std::uint32_t id = teid_of_returned(rte_pktmbuf_mtod(frame, const std::uint8_t*));
  if (bearers_.owns(id)) ++bearers_.drops(id).downlink;
}

void CardReturns::drop_unnumbered(rte_mbuf* frame, DropReason reason, std::uint64_t now) {
  count_drop(frame, reason);
  make_settled(frame);
  keep_settled(frame, now);
}

// `reading` is when the link read the card's numbers, after the request that this grant answers. Otherwise it was after
// the last grant, because the link makes one grant after the other.
//   outstanding + numbered since the reading = outstanding at the reading + sent since: at most `owed`
// Outstanding at the reading is known from the reading before, if no packet was numbered directly in between: what was
// outstanding then, and was sent since, less what the card numbered. If one was numbered directly, then nothing was
// outstanding at that moment, so only what was sent after it can be: less than all since the reading before. The larger
// of the two is right in both cases, and may be too large. Two more bounds bring it down again:
// - The card counts what is outstanding together with what waits here (`in_flight`). What waited before the reading and
//   waits now is not outstanding.
// - The card's core reads its VF between two readings. If it numbered nothing several times, it found nothing.
void CardReturns::grant(const CardGrant& grant, std::uint64_t now) {
  const std::uint32_t id = grant.answers.id.value;
  ran::BearerDownlink& line = *bearers_.bearer_line(id);
  if (!ran::is_on_card(line, id)) return;
  Account& account = accounts_[id];
  if (account.frozen) return;
  const std::uint32_t credit = ran::card_credit(line);
  const std::uint32_t sent = account.given - credit;
  const bool answers = account.asked && grant.answers.tag == account.tag && account.tag != CardRequest::kUnasked;
  const std::uint32_t since_read = answers ? account.credit_asked - credit : sent;
  const std::uint32_t numbered = grant.next - account.next;
  const bool is_still = sent == 0 && numbered == 0;
  if (!is_still) account.changed = now;
  account.still = is_still ? account.still + 1 : 0;
  const bool none_outstanding = account.still >= kStill && now - account.changed >= kStillMs * ticks_per_ms_;
  const auto waits = static_cast<std::uint32_t>(account.size());
  const std::uint32_t waited = answers ? account.waited_asked : account.waited_given;
  const std::uint32_t counted = none_outstanding ? 0 : grant.in_flight - std::min(grant.in_flight, waited);
  const std::uint32_t before = account.owed + sent;
  const std::uint32_t owed =
      std::min(std::max(before - std::min(before, numbered), account.since_read + sent), counted + since_read);
  const std::uint32_t room = grant.lease_end > grant.next ? grant.lease_end - grant.next : 0;
  const std::uint32_t within_lease = room - std::min(room, owed);
  // While a packet waits here the card numbers none directly. What is left behind those that wait must fit the reserve.
  const std::uint32_t within_reserve =
      waited != 0 ? waits + kMostCredit : kMostCredit - std::min(kMostCredit, since_read);
  account.next = grant.next;
  account.since_read = since_read;
  account.owed = owed;
  account.exhausted = grant.lease_end == ran::kCountEnd && room == 0;
  const std::uint32_t given = std::min(within_lease, within_reserve);
  account.not_before = now + (given == 0 ? kAskLaterMs : waits > given ? kAskSoonMs : 0) * ticks_per_ms_;
  set_credit(line, id, account, given, now);
}

void CardReturns::revoke(BearerId id, std::uint64_t now) {
  ran::BearerDownlink& line = *bearers_.bearer_line(id.value);
  if (!ran::is_on_card(line, id.value)) return;
  Account& account = accounts_[id.value];
  const std::uint32_t sent = account.given - ran::card_credit(line);
  account.since_read += sent;
  account.owed += sent;
  account.not_before = 0;
  set_credit(line, id.value, account, 0, now);
}

void CardReturns::set_credit(ran::BearerDownlink& line, std::uint32_t id, Account& account, std::uint32_t credit,
                             std::uint64_t now) {
  account.given = credit;
  account.asked = false;
  ++account.tag;
  if (ready_.empty()) retry_at_ = 0;
  for (; credit != 0 && !account.empty(); --credit)
    ready_.push(account.pop().m, now + kMostMs * ticks_per_ms_, Kind::kReturned);
  ran::card_credit(line) = credit;
  account.waited_given = static_cast<std::uint32_t>(account.size());
  while (account.exhausted && !account.empty()) {
    --held_;
    drop_unnumbered(account.pop().m, DropReason::count_exhausted, now);
  }
  note_held();
  ran::card_mark(line) = account.given / 2;
  if (account.empty()) {
    holding_.erase(id);
  } else {
    ask(line, id, account, now);
    if (!account.asked) next_look_ = std::min(next_look_, account.not_before);
  }
}

void CardReturns::look(std::uint64_t now) {
  for (auto at = holding_.begin(); at != holding_.end();) {
    const std::uint32_t id = *at++;
    Account& account = accounts_[id];
    while (!account.empty() && account.waiting[account.first].deadline <= now) {
      --held_;
      drop_unnumbered(account.pop().m, DropReason::count_lease_ended, now);
      account.waited_asked -= account.waited_asked != 0 ? 1 : 0;
      account.waited_given -= account.waited_given != 0 ? 1 : 0;
    }
    ran::BearerDownlink& line = *bearers_.bearer_line(id);
    if (!account.empty()) {
      ask(line, id, account, now);
    } else {
      ran::card_mark(line) = account.asked ? 0 : account.given / 2;
      holding_.erase(id);
    }
  }
  note_held();
  next_look_ = now + kLookMs * ticks_per_ms_;
}

void CardReturns::keep_ready(rte_mbuf* frame, std::uint64_t now) {
  if (held_ >= most_) {
    drop_unnumbered(frame, DropReason::tx_full, now);
    return;
  }
  ++held_;
  note_held();
  if (ready_.empty()) retry_at_ = now + retry_ticks_;
  ready_.push(frame, now + kMostMs * ticks_per_ms_, Kind::kReturned);
}

void CardReturns::keep_settled(rte_mbuf* frame, std::uint64_t now) {
  if (ready_.size() >= 2 * most_) {  // the link sees that the card waits in vain, and tells it again
    rte_pktmbuf_free(frame);
    return;
  }
  if (ready_.empty()) retry_at_ = 0;
  ready_.push(frame, now + kMostMs * ticks_per_ms_, Kind::kSettled);
}

// A port that took nothing for so long has no other end: the card hears nothing, and will begin anew.
void CardReturns::expire_ready(std::uint64_t now) {
  while (!ready_.empty() && ready_.front().deadline <= now) {
    const ReadyFrames::Frame ready = ready_.pop();
    if (ready.kind == Kind::kReturned) {
      count_drop(ready.m, DropReason::tx_full);
      --held_;
    }
    rte_pktmbuf_free(ready.m);
  }
  note_held();
}

void CardReturns::pop_ready(unsigned sent) {
  for (unsigned i = 0; i < sent; ++i) {
    const bool is_returned = ready_.pop().kind == Kind::kReturned;
    held_ -= is_returned ? 1 : 0;
    (is_returned ? stats_.returned : stats_.settled).add(1);
  }
  note_held();
}

void CardReturns::drop_waiting(std::uint64_t now) {
  for (const std::uint32_t id : holding_) {
    Account& account = accounts_[id];
    while (!account.empty()) {
      --held_;
      drop_unnumbered(account.pop().m, DropReason::count_lease_ended, now);
    }
  }
  holding_.clear();
  note_held();
  retry_at_ = 0;
}

void CardReturns::drop_ready() {
  expire_ready(std::numeric_limits<std::uint64_t>::max());
}

bool CardReturns::is_quiet(BearerId id) {
  const ran::BearerDownlink& line = *bearers_.bearer_line(id.value);
  if (!ran::is_on_card(line, id.value)) return false;
  Account& account = accounts_[id.value];
  const bool none_came = std::exchange(account.received, line.received + 1) == line.received + 1;
  return none_came && held(id) == 0;
}

void CardReturns::keep_all_settled(rte_mbuf* frame, std::uint64_t now) {
  stats_.card_resettled.add(1);
  keep_settled(frame, now);
}

void CardReturns::freeze(BearerId id) {
  ran::BearerDownlink& line = *bearers_.bearer_line(id.value);
  if (!ran::is_on_card(line, id.value)) return;
  Account& account = accounts_[id.value];
  const std::uint32_t sent = account.given - ran::card_credit(line);
  account.since_read += sent;
  account.owed += sent;
  account.given = 0;
  account.frozen = true;
  account.asked = false;
  ++account.tag;  // an answer that is on its way is none
  // Those for which the port had no room wait again, in front of the others.
  std::vector<Waiting> all;
  ready_.take(id, [&](const ReadyFrames::Frame& ready) {
    if (ready.kind == Kind::kReturned) all.push_back({ready.m, ready.deadline});
    return ready.kind == Kind::kReturned;
  });
  while (!account.empty()) all.push_back(account.pop());
  account.waiting = std::move(all);
  account.first = 0;
  if (!account.empty()) {
    if (holding_.empty()) next_look_ = 0;
    holding_.insert(id.value);
  }
  ran::card_credit(line) = 0;
  ran::card_mark(line) = kLookFirst;
}

void CardReturns::thaw(BearerId id, std::uint64_t now) {
  ran::BearerDownlink& line = *bearers_.bearer_line(id.value);
  const auto at = accounts_.find(id.value);
  if (!ran::is_on_card(line, id.value) || at == accounts_.end()) return;
  at->second.frozen = false;
  at->second.not_before = 0;
  ask(line, id.value, at->second, now);
}

std::vector<rte_mbuf*> CardReturns::take(BearerId id) {
  std::vector<rte_mbuf*> frames;
  ready_.take(id, [&](const ReadyFrames::Frame& ready) {
    if (ready.kind == Kind::kSettled) {  // the card counts nothing of the bearer any more
      rte_pktmbuf_free(ready.m);
    } else {
      frames.push_back(ready.m);
    }
    return true;
  });
  if (const auto at = accounts_.find(id.value); at != accounts_.end()) {
    while (!at->second.empty()) frames.push_back(at->second.pop().m);
    accounts_.erase(at);
  }
  holding_.erase(id.value);
  held_ -= frames.size();
  note_held();
  return frames;
}

std::uint64_t CardReturns::close(BearerId id) {
  const auto at = accounts_.find(id.value);
  if (at == accounts_.end()) return 0;
  const std::size_t waited = at->second.size();
  while (!at->second.empty()) rte_pktmbuf_free(at->second.pop().m);
  held_ -= waited;
  holding_.erase(id.value);
  accounts_.erase(at);
  note_held();
  return waited;
}

std::uint64_t CardReturns::held(BearerId id) const {
  const auto at = accounts_.find(id.value);
  return (at == accounts_.end() ? 0 : at->second.size()) + ready_.returned_of(id);
}

}  // namespace splitplane::datapath
