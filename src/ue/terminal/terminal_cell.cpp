#include "ue/terminal/terminal_cell.h"

namespace splitplane::ue {

TerminalCell::TerminalCell(const Settings& settings, SduSink& above)
    : above_(above),
      channels_(settings.rlc, stats_),
      blocks_(settings.blocks, settings.block_bytes),
      shared_{.settings = settings.mac, .channels = channels_, .blocks = blocks_, .stats = stats_},
      by_rnti_(kRntis),
      now_(settings.rlc.now) {
  shared_.settings.ticks_per_ms = settings.rlc.ticks_per_ms;
}

TerminalCell::~TerminalCell() {
  for (const auto& [id, channel] : by_bearer_) channels_.detach(*channel);
}

TerminalCell::Parts TerminalCell::make(const ran::BearerConfig& bearer, std::uint32_t lcid) {
  return {std::make_unique<Terminal>(shared_), channels_.make(bearer, lcid)};
}

TerminalChannel* TerminalCell::find(BearerId id) const {
  const auto at = by_bearer_.find(id);
  return at == by_bearer_.end() ? nullptr : at->second.get();
}

bool TerminalCell::attach(std::uint32_t ue, phy::Rnti rnti, UeBearer& bearer, Parts& parts) {
  auto& terminal = ues_[ue];
  const bool is_new = terminal == nullptr;
  if (is_new) terminal = std::move(parts.terminal);
  if (!terminal->add(*parts.channel, now_)) {
    if (is_new) {
      parts.terminal = std::move(terminal);
      ues_.erase(ue);
    }
    return false;
  }
  terminal->key = ue;
  parts.channel->bearer = &bearer;
  by_bearer_[bearer.config.id] = std::move(parts.channel);
  move(*terminal, rnti);
  return true;
}

void TerminalCell::detach(BearerId id, Parts& out) {
  const auto at = by_bearer_.find(id);
  if (at == by_bearer_.end()) return;
  flush();
  out.channel = std::move(at->second);
  by_bearer_.erase(at);
  Terminal& terminal = *out.channel->terminal;
  channels_.detach(*out.channel);
  terminal.remove(*out.channel);
  if (!terminal.channels().empty()) return;
  terminal.leave();
  if (by_rnti_[terminal.rnti()] == &terminal) by_rnti_[terminal.rnti()] = nullptr;
  const auto ue = ues_.find(terminal.key);
  out.terminal = std::move(ue->second);
  ues_.erase(ue);
}

// The gNB knows best who has a C-RNTI: a UE that had it before has been moved or released, and this side learns of that
// later.
void TerminalCell::move(Terminal& terminal, phy::Rnti rnti) {
  if (terminal.rnti() == rnti) return;
  const phy::Rnti before = terminal.rnti();
  if (by_rnti_[before] == &terminal) by_rnti_[before] = nullptr;
  terminal.set_rnti(rnti);
  by_rnti_[rnti] = &terminal;
  if (before != 0) terminal.reset(now_);
}

void TerminalCell::phy_starts() {
  shared_.any_ended = false;
  for (const auto& [ue, terminal] : ues_) terminal->reset(now_);
}

phy::Answer TerminalCell::receive(const phy::Grant& downlink, wire::Octets block, bool decoded, phy::Slot /*now*/) {
  Terminal* const terminal = by_rnti_[downlink.rnti];
  if (terminal == nullptr) {
    stats_.count(DownlinkBlock::unknown_rnti);
    return phy::Answer::kNone;
  }
  return terminal->receive(downlink, block, decoded, now_, [this](TerminalChannel& from, MbufBuffer sdu) {
    received_[received_count_++] = {&from, std::move(sdu)};
    if (received_count_ == received_.size()) flush();
  });
}

void TerminalCell::granted(const phy::Grant& uplink) {
  stats_.grants_received.add(1);
  Terminal* const terminal = by_rnti_[uplink.rnti];
  if (terminal == nullptr) return stats_.count(GrantOutcome::unknown_rnti);
  terminal->granted(uplink);
}

wire::Octets TerminalCell::transmit(phy::Rnti rnti, phy::Slot slot) {
  Terminal* const terminal = by_rnti_[rnti];
  return terminal == nullptr ? wire::Octets{} : terminal->transmit(slot, now_);
}

bool TerminalCell::requests(phy::Rnti rnti, phy::Slot /*slot*/) {
  Terminal* const terminal = by_rnti_[rnti];
  return terminal != nullptr && terminal->requests(now_);
}

void TerminalCell::end_slot(phy::Slot slot) {
  shared_.ended = slot;
  shared_.any_ended = true;
  blocks_.end_slot();
  flush();
}

void TerminalCell::serve(Time now) {
  now_ = now;
  flush();
  channels_.serve(now);
}

void TerminalCell::flush() {
  if (const unsigned n = std::exchange(received_count_, 0); n != 0) above_.take({received_.data(), n});
}

}  // namespace splitplane::ue
