#include "radio/downlink_slots.h"

#include <algorithm>
#include <limits>

namespace splitplane::datapath {
namespace {

constexpr auto kFree = [](BlockPool::Block) {};  // goes back to its pool

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
      grants_(settings.most_grants),
      orders_(settings.most_grants),
      new_blocks_(settings.most_grants) {
  sent_.reserve(settings.most_grants);
  for (std::size_t i = settings.most_ues; i != 0; --i) free_places_.push_back(static_cast<std::uint16_t>(i - 1));
}

// UEs whose queues changed get a place, and the scheduler is told what waits.
void DownlinkSlots::look_at(Cell& cell) {
  cell.take_changed([this](RadioUe& ue) {
    if (ue.place == RadioUe::kNoPlace) {
      if (free_places_.empty()) {
        if (!ue.waits_for_place) ++counters_.no_place;
        without_place_.push(ue);
        return;
      }
      give_place(ue);
    }
    look_at(ue);
  });
  for (std::size_t place = 0; place < facts_.size(); ++place) {
    phy::UeFacts& facts = facts_[place];
    if (facts.backlog_bytes == 0) continue;
    const auto& harq = harq_.ue(static_cast<std::uint16_t>(place));
    facts.process = harq.free_process();
    if (facts.process != phy::kNoProcess) facts.ndi = harq.next_ndi(facts.process);
  }
}

void DownlinkSlots::give_place(RadioUe& ue) {
  ue.place = free_places_.back();
  free_places_.pop_back();
  facts_[ue.place] = {.rnti = ue.rnti.value().value, .mcs = settings_.mcs};
}

void DownlinkSlots::look_at(const RadioUe& ue) {
  const std::uint64_t volume = ue.downlink.volume();
  const std::uint64_t all = volume + (volume + kOctetsASubheader - 1) / kOctetsASubheader * 3;
  facts_[ue.place].backlog_bytes =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(all, std::numeric_limits<std::uint32_t>::max()));
}

std::span<const DownlinkSlots::Sent> DownlinkSlots::run(Cell& cell, phy::Slot slot, Time now) {
  ++counters_.slots;
  harq_.expire(slot, kFree);
  look_at(cell);
  const std::size_t count = scheduler_.schedule({.slot = slot,
                                                 .direction = Direction::kDownlink,
                                                 .prbs = settings_.prbs,
                                                 .shape = settings_.shape,
                                                 .ues = facts_,
                                                 .average_rates = {},
                                                 .retransmissions = harq_.waiting()},
                                                grants_);
  const std::span<const phy::Grant> grants(grants_.data(), count);
  harq_.retransmit(grants);
  sent_.clear();
  for (const phy::Grant& grant : grants) {
    if (!grant.retransmission) continue;
    sent_.push_back({grant, harq_.ue(grant.ue).block(grant.process).octets().first(grant.tb_bytes)});
  }
  std::size_t orders = 0;
  for (const phy::Grant& grant : grants) {
    if (grant.retransmission) continue;
    Block block = blocks_.take();
    if (!block) {
      ++counters_.no_block;
      continue;
    }
    orders_[orders] = {.rnti = Rnti{grant.rnti}, .tb_bytes = grant.tb_bytes, .block = block.octets()};
    new_blocks_[orders++] = std::move(block);
    sent_.push_back({grant, {}});
  }
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

phy::Feedback DownlinkSlots::feedback(const RadioUe& ue, std::uint8_t process, phy::Slot sent_in, bool ack) {
  if (ue.place == RadioUe::kNoPlace) return phy::Feedback::idle;
  return harq_.feedback(ue.place, process, sent_in, ack, kFree);
}

void DownlinkSlots::remove(RadioUe& ue) {
  without_place_.remove(ue);
  if (ue.place == RadioUe::kNoPlace) return;
  harq_.discard_all(ue.place, kFree);
  facts_[ue.place] = {};
  free_places_.push_back(std::exchange(ue.place, RadioUe::kNoPlace));
  if (RadioUe* const next = without_place_.pop()) {
    give_place(*next);
    look_at(*next);
  }
}

}  // namespace splitplane::datapath
