#include "n3/reorder.h"

#include <algorithm>
#include <bit>

namespace splitplane::datapath {
namespace {

// The most numbers in a row that may be lost (MAX_DROPOUT of RFC 3550 A.1). A number further ahead does not belong to
// this order.
constexpr int kMostLost = 3000;

// How far `a` is ahead of `b` in the cyclic order of sequence numbers; negative if it is behind.
std::int16_t ahead(std::uint16_t a, std::uint16_t b) {
  return static_cast<std::int16_t>(static_cast<std::uint16_t>(a - b));
}

}  // namespace

void N3Reorder::open(BearerId id, const ran::N3ReorderConfig& config, std::uint64_t tsc_hz) {
  close(id);
  auto flow = std::make_unique<Flow>();
  flow->window = config.window;
  flow->slots.resize(std::bit_ceil(static_cast<std::size_t>(config.window)));
  flow->patience = config.timer_ms * tsc_hz / 1000;
  flow->stopped_timer = timers_.extract(timers_.emplace(0, flow.get()));
  room_ += flow->slots.size();
  ready_.reserve(std::max(ready_.capacity(), ready_.size() + room_));
  flows_[id.value] = std::move(flow);
}

void N3Reorder::close(BearerId id) {
  const auto at = flows_.find(id.value);
  if (at == flows_.end()) return;
  skip_to(*at->second, at->second->end);
  stop_timer(*at->second);
  room_ -= at->second->slots.size();
  flows_.erase(at);
}

void N3Reorder::make_ready(Flow& flow, rte_mbuf*& slot) {
  ready_.push_back(slot);
  slot = nullptr;
  --flow.held;
  --waiting_;
}

void N3Reorder::skip_to(Flow& flow, std::uint16_t sn) {
  for (; flow.next != sn && flow.held != 0; ++flow.next) {
    if (flow.slot(flow.next) != nullptr) {
      make_ready(flow, flow.slot(flow.next));
    } else {
      ++given_up_;
    }
  }
  if (flow.next != sn && ahead(sn, flow.next) > 0) given_up_ += static_cast<std::uint16_t>(sn - flow.next);
  flow.next = sn;
}

void N3Reorder::run(Flow& flow) {
  for (; flow.held != 0 && flow.slot(flow.next) != nullptr; ++flow.next) make_ready(flow, flow.slot(flow.next));
}

// Works as t-Reordering of PDCP (TS 38.323 5.2.2.2): it runs while there is a hole, and restarts for holes that came
// after its start.
void N3Reorder::set_timer(Flow& flow, std::uint64_t now) {
  stop_timer(flow);
  flow.give_up = flow.end;
  flow.stopped_timer.key() = now + flow.patience;
  flow.timer = timers_.insert(std::move(flow.stopped_timer));
}

void N3Reorder::stop_timer(Flow& flow) {
  if (flow.stopped_timer.empty()) flow.stopped_timer = timers_.extract(flow.timer);
}

void N3Reorder::settle(Flow& flow, std::uint64_t now) {
  const bool runs = flow.stopped_timer.empty();
  if (flow.held == 0) {
    stop_timer(flow);
  } else if (!runs || ahead(flow.next, flow.give_up) >= 0) {
    set_timer(flow, now);
  }
}

void N3Reorder::give_up_oldest(std::uint64_t now) {
  Flow& flow = *timers_.begin()->second;
  skip_to(flow, flow.give_up);
  run(flow);
  settle(flow, now);
}

// Ready packets leave after the present burst, and no packet of their flow may leave before them.
N3Reorder::Verdict N3Reorder::deliver(rte_mbuf* m) {
  if (ready_first_ == ready_.size()) return Verdict::kPass;
  ready_.push_back(m);  // at most a burst between two calls of take_ready
  return Verdict::kTaken;
}

N3Reorder::Verdict N3Reorder::take(rte_mbuf* m, BearerId id, std::uint16_t sequence_number, std::uint64_t now) {
  const auto at = flows_.find(id.value);
  if (at == flows_.end()) return deliver(m);
  Flow& flow = *at->second;
  if (!flow.begun) {
    flow.begun = true;
    flow.next = flow.end = sequence_number;
  }
  const int distance = ahead(sequence_number, flow.next);
  const bool elsewhere = distance < -int{flow.window} || distance >= kMostLost;
  const bool anew = elsewhere && flow.anew == sequence_number;
  flow.anew = elsewhere ? std::optional<std::uint16_t>(sequence_number + 1) : std::nullopt;
  if (anew) {
    skip_to(flow, flow.end);
    flow.next = flow.end = sequence_number;
  } else if (distance < 0 || elsewhere) {
    return Verdict::kOld;
  } else if (distance >= flow.window) {
    skip_to(flow, static_cast<std::uint16_t>(sequence_number - flow.window + 1));
    run(flow);
  }
  if (flow.slot(sequence_number) != nullptr && sequence_number != flow.next) return Verdict::kOld;
  Verdict verdict = Verdict::kTaken;
  if (sequence_number == flow.next) {
    verdict = deliver(m);
    ++flow.next;
    if (ahead(flow.next, flow.end) > 0) flow.end = flow.next;
    run(flow);
  } else {
    flow.slot(sequence_number) = m;
    ++flow.held;
    ++waiting_;
    if (ahead(sequence_number, flow.end) >= 0) flow.end = static_cast<std::uint16_t>(sequence_number + 1);
  }
  settle(flow, now);
  while (waiting_ > most_) give_up_oldest(now);
  return verdict;
}

void N3Reorder::expire(std::uint64_t now) {
  while (!timers_.empty() && timers_.begin()->first <= now && ready_.size() - ready_first_ < kBurst) {
    give_up_oldest(now);
  }
}

void N3Reorder::release_all() {
  for (auto& [id, flow] : flows_) {
    skip_to(*flow, flow->end);
    stop_timer(*flow);
  }
}

unsigned N3Reorder::take_ready(Burst& burst) {
  const std::size_t n = std::min<std::size_t>(kBurst, ready_.size() - ready_first_);
  std::copy_n(ready_.begin() + static_cast<std::ptrdiff_t>(ready_first_), n, burst.mbuf.begin());
  ready_first_ += n;
  if (ready_first_ == ready_.size()) {
    ready_.clear();
    ready_first_ = 0;
  }
  burst.size = static_cast<unsigned>(n);
  burst.ahead_size = 0;
  return burst.size;
}

std::size_t N3Reorder::held(BearerId id) const {
  const auto at = flows_.find(id.value);
  return at == flows_.end() ? 0 : at->second->held;
}

}  // namespace splitplane::datapath
