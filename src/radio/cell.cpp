#include "radio/cell.h"

#include <algorithm>

namespace splitplane::datapath {
namespace {

using ran::rlc::Received;
using ran::rlc::StatusResult;

// Enough pages for one SDU a page, up to a limit: channels that send share pages of 64. Uplink segments hold buffers,
// so that there are no more of them than SDUs.
ran::rlc::MemorySizes memory_for(std::size_t max_sdus) {
  const std::size_t pages = 64 + max_sdus / 8;
  return {.sent_pages = pages + kBurst,
          .received_pages = pages,
          .queue_pages = pages + kBurst,
          .directories = 2 * pages + 4 * kBurst,
          .segments = max_sdus,
          .assemblies = max_sdus / 2 + 1,
          .intervals = 4096};
}

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
      memory_(memory_for(settings.max_sdus)),
      ues_(std::size_t{RntiPool::kLast} + 1),
      wheel_(std::max<std::uint64_t>(1, settings.ticks_per_ms / 4), settings.now) {}

Expected<UeParts> Cell::make(std::span<const ran::BearerConfig> bearers) {
  if (bearers.size() > RadioUe::kMostChannels)
    return fail("{} bearers of one UE; allowed: at most {}", bearers.size(), RadioUe::kMostChannels);
  auto rnti = rntis_.take();
  if (!rnti) return fail("no C-RNTI is free; allowed: at most {} PDU sessions on one worker", rntis_.taken());
  UeParts parts;
  parts.ue = std::make_unique<RadioUe>(*std::move(rnti));
  for (const ran::BearerConfig& bearer : bearers) {
    const auto lcid = static_cast<std::uint32_t>(kFirstLcid + parts.channels.size());
    parts.channels.push_back(std::make_unique<LogicalChannel>(bearer, lcid, settings_.ticks_per_ms, memory_));
    parts.channels.back()->ue = parts.ue.get();
    parts.ue->channels[parts.ue->size++] = parts.channels.back().get();
  }
  return parts;
}

void Cell::attach(UeParts& parts) {
  for (auto& channel : parts.channels) {
    const std::uint32_t id = channel->id().value;
    channel = channels_.exchange(id, std::move(channel));
  }
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
  RadioUe& ue = *channel->ue;
  const auto end = ue.channels.begin() + ue.size;
  std::copy(std::find(ue.channels.begin(), end, channel.get()) + 1, end,
            std::find(ue.channels.begin(), end, channel.get()));
  if (--ue.size == 0) out.ue = std::move(ues_[ue.rnti.value().value]);
  out.channels.push_back(std::move(channel));
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
