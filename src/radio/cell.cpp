#include "radio/cell.h"

#include "radio/channel_memory.h"

namespace splitplane::datapath {
namespace {

using ran::rlc::Received;
using ran::rlc::StatusResult;

DropReason refused_as(Received what) {
  switch (what) {
    case Received::kDelivered:
    case Received::kStored:
      break;
    case Received::kDuplicate:
    case Received::kOutsideWindow:
      return DropReason::rlc_duplicate;
    case Received::kContradiction:
    case Received::kRefused:
      return DropReason::rlc_malformed;
    case Received::kNoMemory:
      return DropReason::rlc_no_memory;
  }
  return DropReason::ok;
}

}  // namespace

Cell::Cell(const Settings& settings, WorkerStats& stats)
    : settings_(settings),
      stats_(stats),
      rntis_(settings.last_rnti),
      memory_(channel_memory(settings.max_sdus, settings.max_channels, settings.max_segments)),
      ues_(std::size_t{RntiPool::kLast} + 1),
      wheel_(std::max<std::uint64_t>(1, settings.ticks_per_ms / 4), settings.now) {}

Expected<UeParts> Cell::make(std::span<const ran::BearerConfig> bearers) {
  if (bearers.size() > RadioUe::kMostChannels)
    return fail("{} bearers of one UE; allowed: at most {}", bearers.size(), RadioUe::kMostChannels);
  auto rnti = take_rnti();
  if (!rnti) return tl::unexpected(rnti.error());
  UeParts parts;
  parts.ue = std::make_unique<RadioUe>(*std::move(rnti), 1000 * settings_.ticks_per_ms);
  for (const ran::BearerConfig& bearer : bearers) {
    const auto lcid = static_cast<std::uint32_t>(kFirstLcid + parts.channels.size());
    parts.channels.push_back(std::make_unique<LogicalChannel>(bearer, lcid, settings_.ticks_per_ms, memory_));
    parts.ue->add(*parts.channels.back(), settings_.now);
  }
  return parts;
}

Expected<RntiPool::Held> Cell::take_rnti() {
  auto rnti = rntis_.take();
  if (!rnti) return fail("no C-RNTI is free; allowed: at most {} PDU sessions on one worker", rntis_.taken());
  return *std::move(rnti);
}

void Cell::attach(UeParts& parts, Time now) {
  parts.ue->downlink.mux().restart(now);
  for (auto& channel : parts.channels) {
    const std::uint32_t id = channel->id().value;
    channel = channels_.exchange(id, std::move(channel));
  }
  arrived_.push(*parts.ue);
  auto& place = ues_[parts.ue->rnti.value().value];
  std::swap(place, parts.ue);
}

void Cell::detach(BearerId id, UeParts& out) {
  auto channel = channels_.exchange(id.value, nullptr);
  if (!channel) return;
  channel->give_up();
  wheel_.disarm(*channel);
  working_.remove(*channel);
  held_ -= channel->counted;
  stats_.rlc_unacked.set(held_);
  RadioUe& ue = *channel->ue;
  ue.remove(*channel);
  if (ue.size == 0) {
    changed_.remove(ue);
    arrived_.remove(ue);
    out.ue = std::move(ues_[ue.rnti.value().value]);
  }
  out.channels.push_back(std::move(channel));
}

void Cell::reestablish(LogicalChannel& channel, RntiPool::Held& rnti, Time now) {
  channel.reestablish();
  RadioUe& ue = *channel.ue;
  std::swap(ues_[rnti.value().value], ues_[ue.rnti.value().value]);
  std::swap(ue.rnti, rnti);
  ue.begins_anew = true;
  ue.downlink.mux().restart(now);
  arrived_.push(ue);
  settle(channel);
}

void Cell::build(std::span<BlockOrder> orders, Time now) {
  for (; !orders.empty(); orders = orders.subspan(std::min(orders.size(), kBlocksAtOnce))) {
    build_some(orders.first(std::min(orders.size(), kBlocksAtOnce)), now);
  }
}

void Cell::build_some(std::span<BlockOrder> orders, Time now) {
  using Order = ran::mac::BlockOrder<ran::mac::Gather<MbufBuffer>, MbufBuffer>;
  std::array<Order, kBlocksAtOnce> of_mac;
  std::array<std::pair<BlockOrder*, RadioUe*>, kBlocksAtOnce> known;
  std::size_t n = 0;
  for (BlockOrder& order : orders) {
    order.built = false;
    RadioUe* const ue = find(order.rnti);
    if (ue == nullptr) continue;
    of_mac[n] = {.tb_bytes = order.tb_bytes, .ue = &ue->downlink, .block = &order.block};
    known[n++] = {&order, ue};
  }
  ran::mac::build_slot(gather_, std::span(of_mac.data(), n), now);
  for (std::size_t i = 0; i < n; ++i) {
    const auto [order, ue] = known[i];
    order->built = of_mac[i].built;
    stats_.mac_built.add(order->built ? 1 : 0);
    for (LogicalChannel* const channel : ue->all()) settle(*channel);
  }
}

void Cell::count(const LogicalChannel::Outcome& outcome) {
  if (const auto* const what = std::get_if<Received>(&outcome)) {
    const DropReason reason = refused_as(*what);
    if (reason == DropReason::ok) [[likely]]
      return stats_.rlc_taken.add(1);
    return stats_.drop(reason);
  }
  stats_.rlc_control.add(1);
  const StatusResult result = std::get<StatusResult>(outcome);
  if (result == StatusResult::kStale) stats_.rlc_status_stale.add(1);
  if (result == StatusResult::kMalformed) stats_.rlc_status_malformed.add(1);
}

void Cell::settle(LogicalChannel& channel) {
  if (const auto failure = channel.take_failure(); failure != LogicalChannel::Failure::kNone) [[unlikely]] {
    (failure == LogicalChannel::Failure::kMaxRetx ? stats_.rlc_max_retx : stats_.rlc_peer_lost).add(1);
    channel.give_up();
  }
  const std::uint32_t here = channel.held();
  held_ += here;
  held_ -= std::exchange(channel.counted, here);
  stats_.rlc_unacked.set(held_);
  const Time expiry = channel.next_expiry();
  if (expiry < channel.expiry) wheel_.arm(channel, expiry);
  if (channel.has_acknowledged()) working_.push(channel);
  changed_.push(*channel.ue);
}

void Cell::serve(Time now) {
  wheel_.run(now, kTimersPerRound, [&](TimerNode& node) {
    auto& channel = static_cast<LogicalChannel&>(node);
    channel.tick(now);
    settle(channel);
  });
  LogicalChannel* const last = working_.back();  // channels that come back to the list wait for the next round
  for (unsigned visits = 0; visits < kChannelsPerRound; ++visits) {
    LogicalChannel* const channel = working_.pop();
    if (channel == nullptr) break;
    channel->release(kReleasedPerVisit);
    settle(*channel);
    if (channel == last) break;
  }
}

}  // namespace splitplane::datapath
