#include "ue/terminal/rlc_channels.h"

#include <algorithm>

#include "radio/channel_memory.h"

namespace splitplane::ue {
namespace {

using datapath::LogicalChannel;
using ran::rlc::Received;
using ran::rlc::StatusResult;

RlcPduOutcome outcome_of(Received what) {
  switch (what) {
    case Received::kDelivered:
    case Received::kStored:
      break;
    case Received::kDuplicate:
    case Received::kOutsideWindow:
      return RlcPduOutcome::duplicate;
    case Received::kContradiction:
    case Received::kRefused:
      return RlcPduOutcome::malformed;
    case Received::kNoMemory:
      return RlcPduOutcome::no_memory;
  }
  return RlcPduOutcome::taken;
}

}  // namespace

RlcChannels::RlcChannels(const Settings& settings, TerminalStats& stats)
    : settings_(settings),
      stats_(stats),
      memory_(datapath::channel_memory(settings.max_sdus, settings.max_channels, settings.max_sdus)),
      wheel_(std::max<std::uint64_t>(1, settings.ticks_per_ms / 4), settings.now) {}

bool RlcChannels::send(TerminalChannel& to, MbufBuffer& pdu) {
  if (!to.send(pdu)) return false;
  ++to.counted;
  stats_.rlc_held.set(++held_);
  stats_.queued.add(1);
  return true;
}

void RlcChannels::count(const LogicalChannel::Outcome& outcome) {
  if (const auto* const what = std::get_if<Received>(&outcome)) return stats_.count(outcome_of(*what));
  stats_.count(RlcPduOutcome::control);
  const StatusResult result = std::get<StatusResult>(outcome);
  if (result == StatusResult::kStale) stats_.status_stale.add(1);
  if (result == StatusResult::kMalformed) stats_.status_malformed.add(1);
}

void RlcChannels::give_up(TerminalChannel& channel, void (LogicalChannel::*how)()) {
  const std::uint64_t before = channel.counters().given_up;
  (channel.*how)();
  stats_.given_up.add(channel.counters().given_up - before);
}

void RlcChannels::settle(TerminalChannel& channel) {
  if (const auto failure = channel.take_failure(); failure != LogicalChannel::Failure::kNone) [[unlikely]] {
    (failure == LogicalChannel::Failure::kMaxRetx ? stats_.max_retx : stats_.peer_lost).add(1);
    give_up(channel, &LogicalChannel::give_up);
  }
  const std::uint32_t here = channel.held();
  held_ += here;
  held_ -= std::exchange(channel.counted, here);
  stats_.rlc_held.set(held_);
  const Time expiry = channel.next_expiry();
  if (expiry < channel.expiry) wheel_.arm(channel, expiry);
  if (channel.has_acknowledged()) working_.push(channel);
}

void RlcChannels::reestablish(TerminalChannel& channel, std::uint8_t epoch) {
  give_up(channel, &LogicalChannel::reestablish);
  channel.epoch = epoch;
  settle(channel);
}

void RlcChannels::detach(TerminalChannel& channel) {
  give_up(channel, &LogicalChannel::give_up);
  wheel_.disarm(channel);
  working_.remove(channel);
  held_ -= std::exchange(channel.counted, 0);
  stats_.rlc_held.set(held_);
}

void RlcChannels::serve(Time now) {
  wheel_.run(now, kTimersPerRound, [&](TimerNode& node) {
    auto& channel = static_cast<TerminalChannel&>(node);
    channel.tick(now);
    settle(channel);
  });
  LogicalChannel* const last = working_.back();  // channels that come back to the list wait for the next round
  for (unsigned visits = 0; visits < kChannelsPerRound; ++visits) {
    LogicalChannel* const channel = working_.pop();
    if (channel == nullptr) break;
    channel->release(kReleasedPerVisit);
    settle(static_cast<TerminalChannel&>(*channel));
    if (channel == last) break;
  }
}

}  // namespace splitplane::ue
