#include "radio/downlink_slots.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace splitplane::datapath {
namespace {

// A subheader of MAC for each SDU is not in the volume of RLC: TS 38.322 5.5 leaves it out. Two SDUs a kilobyte is more
// than most traffic has.
constexpr std::uint64_t kOctetsASubheader = 340;

}  // namespace

DownlinkSlots::DownlinkSlots(const Settings& settings)
    : settings_(settings),
      blocks_(settings.most_blocks, phy::tb_bytes(settings.shape, settings.mcs, settings.prbs)),
      scheduler_(settings.most_ues, settings.most_grants),
      harq_(settings.most_ues, settings.harq),
      facts_(settings.most_ues),
      answers_(settings.most_ues),
      places_(settings.most_ues),
      grants_(settings.most_grants),
      orders_(settings.most_grants),
      new_blocks_(settings.most_grants),
      retired_(settings.most_blocks) {
  sent_.reserve(settings.most_grants);
}

// UEs whose queues changed get a place, and the scheduler is told what waits.
void DownlinkSlots::look_at(Cell& cell) {
  cell.take_changed([this](RadioUe& ue) {
    const bool begins_anew = std::exchange(ue.begins_anew, false);
    if (ue.downlink_place == RadioUe::kNoPlace) {
      if (!places_.give(ue)) return;
      enter(ue);
    } else if (begins_anew) {
      harq_.discard_all(ue.downlink_place, retire());
      begin(ue);
    }
    look_at(ue);
  });
  RadioUe* const last = stalled_.back();
  for (unsigned i = 0; i < kStalledPerSlot; ++i) {
    RadioUe* const ue = stalled_.pop();
    if (ue == nullptr) break;
    look_at(*ue);
    if (ue == last) break;
  }
}

// While UEs wait for a place, one that has nothing to send gives its place away, and asks for one again with new data.
// One that had its place for long gets no new grants until its blocks are through, and then waits itself.
void DownlinkSlots::make_room() {
  for (unsigned i = 0; i < DownlinkPlaces::kExchanges; ++i) {
    RadioUe* const idle = places_.find_idle([this](const RadioUe& ue) {
      const std::uint16_t place = ue.downlink_place;
      if (number_ - answers_[place].begun > DownlinkPlaces::kMostSlots) {
        answers_[place].yields = true;
        facts_[place].backlog_bytes = 0;
      }
      const bool has_data = !answers_[place].yields && ue.downlink.mux().volume() != 0;
      return facts_[place].backlog_bytes == 0 && !has_data && !harq_.ue(place).active();
    });
    if (idle == nullptr) return;
    const bool waits = idle->downlink.mux().volume() != 0;
    remove(*idle);
    if (waits) (void)places_.give(*idle);
  }
}

// While three quarters of the memory are in use, no UE has more than its share.
DownlinkSlots::Ready DownlinkSlots::choose_processes() {
  Ready ready;
  const bool scarce = blocks_.available() < settings_.most_blocks / 4;
  const std::size_t share = std::max<std::size_t>(1, settings_.most_blocks / std::max<std::size_t>(with_data_, 1));
  const std::size_t most = scarce ? share : phy::kHarqProcesses;
  with_data_ = 0;
  for (std::size_t place = 0; place < facts_.size(); ++place) {
    phy::UeFacts& facts = facts_[place];
    if (facts.backlog_bytes == 0) continue;
    ++with_data_;
    const auto& harq = harq_.ue(static_cast<std::uint16_t>(place));
    Answers& answers = answers_[place];
    if (!answers.silent && harq.counters().missed() - answers.missed_before >= kMostMissed) {
      answers.silent = true;
      ++counters_.silent;
    }
    facts.process = harq.free_process();
    if (facts.process == phy::kNoProcess) continue;
    if (harq.open() >= (answers.silent ? 1 : most)) {
      facts.process = phy::kNoProcess;
      ready.held_back |= !answers.silent;
      continue;
    }
    facts.ndi = harq.next_ndi(facts.process);
    ++ready.ues;
  }
  return ready;
}

void DownlinkSlots::enter(const RadioUe& ue) {
  harq_.set_ndis(ue.downlink_place, ue.downlink_ndis);
  begin(ue);
}

void DownlinkSlots::begin(const RadioUe& ue) {
  const std::uint16_t place = ue.downlink_place;
  facts_[place] = {.rnti = ue.rnti.value().value, .mcs = settings_.mcs};
  answers_[place] = {.missed_before = harq_.ue(place).counters().missed(), .begun = number_};
}

void DownlinkSlots::leave(RadioUe& ue) {
  harq_.discard_all(ue.downlink_place, retire());
  facts_[ue.downlink_place] = {};
  ue.downlink_ndis = harq_.ue(ue.downlink_place).ndis();
}

void DownlinkSlots::look_at(RadioUe& ue) {
  const std::uint64_t volume = ue.downlink.sendable();
  if (volume == 0 && ue.downlink.mux().volume() != 0) stalled_.push(ue);
  const std::uint64_t all = volume + (volume + kOctetsASubheader - 1) / kOctetsASubheader * 3;
  facts_[ue.downlink_place].backlog_bytes =
      answers_[ue.downlink_place].yields
          ? 0
          : static_cast<std::uint32_t>(std::min<std::uint64_t>(all, std::numeric_limits<std::uint32_t>::max()));
}

std::span<const DownlinkSlots::Sent> DownlinkSlots::run(Cell& cell, phy::Slot slot, std::uint64_t number, Time now,
                                                        std::uint64_t read) {
  ++counters_.slots;
  harq_.expire(slot, retire());
  give_back(read);
  look_at(cell);
  make_room();
  const Ready ready = choose_processes();
  number_ = number;  // what was retired until now was sent before this slot
  // Those that are sent again have their memory.
  const std::size_t most = std::min(grants_.size(), harq_.waiting().size() + blocks_.available());
  const std::size_t count = scheduler_.schedule({.slot = slot,
                                                 .direction = Direction::kDownlink,
                                                 .prbs = settings_.prbs,
                                                 .shape = settings_.shape,
                                                 .ues = facts_,
                                                 .average_rates = {},
                                                 .retransmissions = harq_.waiting()},
                                                std::span(grants_).first(most));
  const std::span<const phy::Grant> grants(grants_.data(), count);
  harq_.retransmit(grants);
  sent_.clear();
  for (const phy::Grant& grant : grants) {
    if (!grant.retransmission) continue;
    sent_.push_back({grant, harq_.ue(grant.ue).block(grant.process).octets().first(grant.tb_bytes)});
  }
  bool no_block = ready.held_back || (count == most && most < grants_.size() && ready.ues > blocks_.available());
  std::size_t orders = 0;
  for (const phy::Grant& grant : grants) {
    if (grant.retransmission) continue;
    Block block = blocks_.take();
    if (!block) {  // some of those that wait to be sent again had no room in this slot
      no_block = true;
      continue;
    }
    orders_[orders] = {.rnti = Rnti{grant.rnti}, .tb_bytes = grant.tb_bytes, .block = block.octets()};
    new_blocks_[orders++] = std::move(block);
    sent_.push_back({grant, {}});
  }
  counters_.no_block += no_block ? 1 : 0;
  cell.build(std::span(orders_.data(), orders), now);
  // The new ones stand behind the others, in the order of their orders. A UE that left meanwhile has no block.
  auto to = sent_.end() - static_cast<std::ptrdiff_t>(orders);
  auto from = to;
  for (std::size_t i = 0; i < orders; ++i, ++from) {
    Block block = std::move(new_blocks_[i]);
    if (!orders_[i].built) continue;
    *to = {from->grant, wire::Octets(block.octets()).first(from->grant.tb_bytes)};
    if (harq_.start(to->grant, std::move(block))) ++to;
  }
  sent_.erase(to, sent_.end());
  return sent_;
}

phy::Feedback DownlinkSlots::feedback(const RadioUe& ue, phy::Slot sent_in, bool ack) {
  const std::uint16_t place = ue.downlink_place;
  if (place == RadioUe::kNoPlace) {
    ++counters_.feedback_without_place;
    return phy::Feedback::idle;
  }
  const auto& harq = harq_.ue(place);
  const phy::Feedback what = harq_.feedback(place, harq.process_in(sent_in), sent_in, ack, retire());
  if (what == phy::Feedback::acked || what == phy::Feedback::late) {
    answers_[place].missed_before = harq.counters().missed();
    answers_[place].silent = false;
  }
  return what;
}

// HARQ is done with a block, but the PHY may still have to read it: for its slot, if the feedback of an earlier
// transmission was late, or if the UE is gone.
void DownlinkSlots::retire(Block block) {
  retired_[(first_retired_ + retired_count_++) % retired_.size()] = {std::move(block), number_};
}

void DownlinkSlots::give_back(std::uint64_t read) {
  for (; retired_count_ != 0 && retired_[first_retired_].number <= read; --retired_count_) {
    const Block block = std::move(retired_[first_retired_].block);
    first_retired_ = (first_retired_ + 1) % retired_.size();
  }
}

void DownlinkSlots::remove(RadioUe& ue) {
  stalled_.remove(ue);
  if (ue.downlink_place != RadioUe::kNoPlace) leave(ue);
  RadioUe* const next = places_.take(ue);
  if (next == nullptr) return;
  enter(*next);
  look_at(*next);
}

void DownlinkSlots::reset() {
  harq_.discard_all(retire());
}

}  // namespace splitplane::datapath
