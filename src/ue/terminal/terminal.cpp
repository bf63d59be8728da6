#include "ue/terminal/terminal.h"

#include <algorithm>

namespace splitplane::ue {
namespace {

using Block = HeldBlocks::Block;

constexpr auto kRelease = [](Block) {};  // its destructor gives the place back

// Each DRB has a logical channel group of its own, as far as there are groups.
std::uint8_t group_of(std::uint32_t lcid) {
  return static_cast<std::uint8_t>((lcid - wire::mac::kLcidFirstDrb) % wire::mac::kLcgs);
}

// A grant for a slot that is further away is none: the PHY's frame numbers have begun anew.
constexpr std::int32_t kMostAhead = 256;

}  // namespace

Terminal::Terminal(TerminalShared& shared) : shared_(shared) {
  begin_mac(0);
}

DownlinkBlock Terminal::outcome_of(phy::HarqReception what) {
  switch (what) {
    case phy::HarqReception::delivered:
      return DownlinkBlock::delivered;
    case phy::HarqReception::duplicate:
      return DownlinkBlock::duplicate;
    case phy::HarqReception::failed:
      return DownlinkBlock::not_decoded;
    case phy::HarqReception::no_process:
      break;
  }
  return DownlinkBlock::no_process;
}

void Terminal::begin_mac(Time now) {
  const TerminalSettings& s = shared_.settings;
  ran::mac::UplinkConfig config{
      .ticks_per_second = 1000 * s.ticks_per_ms,
      .bsr = {.periodic = s.periodic_bsr_ms == 0 ? ran::rlc::kNever : s.periodic_bsr_ms * s.ticks_per_ms,
              .retx = s.retx_bsr_ms * s.ticks_per_ms},
      .phr = {}};
  if (s.phr_periodic_ms != 0) config.phr = ran::mac::PhrConfig{.periodic = s.phr_periodic_ms * s.ticks_per_ms};
  before_reset_ = sent();
  mac_.emplace(config);
  for (TerminalChannel* const channel : channels()) add_to_mac(*channel, now);
}

ran::mac::MuxCounters Terminal::sent() const {
  ran::mac::MuxCounters sum = before_reset_;
  if (!mac_) return sum;
  const ran::mac::MuxCounters& now = mac_->mux().counters();
  sum.blocks += now.blocks;
  sum.octets += now.octets;
  sum.no_block += now.no_block;
  sum.sdus += now.sdus;
  sum.sdu_octets += now.sdu_octets;
  sum.status += now.status;
  sum.elements += now.elements;
  sum.padding_octets += now.padding_octets;
  return sum;
}

void Terminal::add_to_mac(TerminalChannel& channel, Time now) {
  const ran::mac::ChannelConfig config{.lcid = channel.lcid(), .lcg = group_of(channel.lcid())};
  channel.visit([&](auto& entity) { (void)mac_->add(config, entity, now); });  // add() has looked at the LCID
}

bool Terminal::add(TerminalChannel& channel, Time now) {
  const std::uint32_t lcid = channel.lcid();
  if (size_ == kMostChannels || lcid < wire::mac::kLcidFirstDrb || lcid > wire::mac::kLcidLastSdu) return false;
  if (places_[lcid] != ran::mac::ChannelMap::kNone) return false;
  (void)places_.set(lcid, static_cast<std::uint8_t>(size_));
  channels_[size_++] = &channel;
  channel.terminal = this;
  add_to_mac(channel, now);
  return true;
}

void Terminal::remove(TerminalChannel& channel) {
  (void)mac_->remove(channel.lcid());
  const auto end = channels_.begin() + size_;
  const auto at = std::find(channels_.begin(), end, &channel);
  std::copy(at + 1, end, at);
  --size_;
  (void)places_.set(channel.lcid(), ran::mac::ChannelMap::kNone);
  for (unsigned i = 0; i < size_; ++i) (void)places_.set(channels_[i]->lcid(), static_cast<std::uint8_t>(i));
  channel.terminal = nullptr;
}

void Terminal::take_out_grant(unsigned at) {
  grants_[at] = grants_[--grant_count_];
  shared_.stats.grants_waiting.set(shared_.stats.grants_waiting.get() - 1);
}

void Terminal::forget_passed_grants() {
  for (unsigned at = 0; at < grant_count_ && shared_.any_ended;) {
    const std::int32_t ahead = phy::distance(shared_.ended, grants_[at].slot);
    if (ahead > 0 && ahead <= kMostAhead) {
      ++at;
      continue;
    }
    take_out_grant(at);
    shared_.stats.count(GrantOutcome::not_used);
  }
}

void Terminal::give_up_grants() {
  while (grant_count_ != 0) {
    take_out_grant(grant_count_ - 1);
    shared_.stats.count(GrantOutcome::given_up);
  }
}

void Terminal::granted(const phy::Grant& grant) {
  forget_passed_grants();
  const auto end = grants_.begin() + grant_count_;
  const bool is_second =
      std::any_of(grants_.begin(), end, [&](const phy::Grant& one) { return one.slot == grant.slot; });
  if (grant_count_ == kMostGrants || is_second) return shared_.stats.count(GrantOutcome::no_place);
  grants_[grant_count_++] = grant;
  shared_.stats.grants_waiting.set(shared_.stats.grants_waiting.get() + 1);
}

wire::Octets Terminal::transmit(phy::Slot slot, Time now) {
  unsigned at = 0;
  while (at < grant_count_ && !(grants_[at].slot == slot)) ++at;
  if (at == grant_count_) return {};
  const phy::Grant grant = grants_[at];
  take_out_grant(at);
  if (grant.tb_bytes == 0 || grant.tb_bytes > shared_.blocks.bytes()) {
    shared_.stats.count(GrantOutcome::too_large);
    return {};
  }
  bool is_new = false;
  const Block* const block = sending_.granted(
      grant,
      [&] {
        is_new = true;
        return build(grant, now);
      },
      kRelease);
  if (block == nullptr) {
    const bool wrong = grant.process >= phy::kHarqProcesses;
    shared_.stats.count(is_new  ? GrantOutcome::no_memory
                        : wrong ? GrantOutcome::wrong_process
                                : GrantOutcome::size_differs);
    return {};
  }
  if (is_new) {
    shared_.stats.uplink_octets.add(grant.tb_bytes);
  } else {
    block->sent_again();
  }
  shared_.stats.count(is_new ? GrantOutcome::new_block : GrantOutcome::repetition);
  return wire::Octets(block->octets()).first(grant.tb_bytes);
}

Block Terminal::build(const phy::Grant& grant, Time now) {
  const std::uint64_t before = shared_.blocks.taken_back();
  Block block = shared_.blocks.take(*this, grant.process);
  shared_.stats.blocks_taken_back.add(shared_.blocks.taken_back() - before);
  if (!block) return {};
  wire::MutableOctets memory = block.octets();
  if (!mac_->build(shared_.gather, memory, grant.tb_bytes, shared_.settings.radio, now)) return {};
  shared_.gather.flush();
  for (TerminalChannel* const channel : channels()) shared_.channels.settle(*channel);
  return block;
}

// There is no random access, so a UE asks as often as sr-ProhibitTimer lets it (no sr-TransMax).
bool Terminal::requests(Time now) {
  shared_.stats.request_chances.add(1);
  mac_->tick(now);
  forget_passed_grants();
  if (!mac_->bsr().regular() || now < may_request_at_) return false;
  const auto end = grants_.begin() + grant_count_;
  if (std::any_of(grants_.begin(), end, [&](const phy::Grant& one) { return sending_.is_new(one); })) return false;
  may_request_at_ = now + shared_.settings.sr_prohibit_ms * shared_.settings.ticks_per_ms;
  shared_.stats.requests.add(1);
  return true;
}

void Terminal::reset(Time now) {
  shared_.stats.resets.add(1);
  receiving_.reset();
  leave();
  may_request_at_ = 0;
  begin_mac(now);
}

void Terminal::leave() {
  sending_.reset(kRelease);
  give_up_grants();
}

void Terminal::forget(std::uint8_t process) {
  sending_.forget(process, kRelease);
}

}  // namespace splitplane::ue
