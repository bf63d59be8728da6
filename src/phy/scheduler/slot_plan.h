// The PRBs of one slot while they are given away. The schedulers share it: it serves retransmissions, gives a UE one
// grant at most, and lets PRBs follow each other without a gap.
#pragma once

#include <vector>

#include "phy/scheduler/facts.h"

namespace splitplane::phy {

class SlotPlan {
 public:
  // For UEs at places below `ues`; nothing is allocated later.
  explicit SlotPlan(std::size_t ues) : served_(ues) {}

  // Begins a slot, and gives retransmissions what they need. One that does not fit into what is left waits, and younger
  // ones may pass it in this slot; in the next one it is asked first again.
  void begin(const SlotFacts& facts, std::span<Grant> grants) {
    facts_ = &facts;
    grants_ = grants;
    count_ = 0;
    left_ = facts.prbs;
    ++slot_;
    for (const Retransmission& r : facts.retransmissions) {
      if (count_ == grants_.size()) break;
      if (r.prbs > left_ || served(r.ue)) continue;
      Grant& grant = add(r.ue, r.prbs);
      grant.retransmission = true;
      grant.process = r.process;
      grant.ndi = r.ndi;
      grant.rv = r.rv;
      grant.mcs = r.mcs;
      grant.tb_bytes = r.tb_bytes;
    }
  }

  // True if the UE has new data, a process for it, and no grant in this slot yet.
  [[nodiscard]] bool wants(std::size_t ue) const {
    const UeFacts& facts = facts_->ues[ue];
    return facts.backlog_bytes != 0 && facts.process != kNoProcess && !served(ue);
  }
  // The PRBs that would carry all of the UE's backlog, at most those of the slot plus one.
  [[nodiscard]] std::uint32_t needed_prbs(std::size_t ue) const {
    const UeFacts& facts = facts_->ues[ue];
    return prbs_for(facts_->shape, facts.mcs, facts.backlog_bytes, facts_->prbs);
  }
  // Gives new data of the UE `prbs` PRBs, of those that are left.
  void give(std::size_t ue, std::uint32_t prbs) {
    const UeFacts& facts = facts_->ues[ue];
    Grant& grant = add(ue, prbs);
    grant.retransmission = false;
    grant.process = facts.process;
    grant.ndi = facts.ndi;
    grant.rv = kRvOrder[0];
    grant.mcs = facts.mcs;
    grant.tb_bytes = tb_bytes(facts_->shape, facts.mcs, prbs);
  }

  [[nodiscard]] std::uint32_t left() const { return left_; }                  // PRBs
  [[nodiscard]] std::size_t room() const { return grants_.size() - count_; }  // grants
  [[nodiscard]] std::size_t count() const { return count_; }                  // grants that were given

 private:
  [[nodiscard]] bool served(std::size_t ue) const { return served_[ue] == slot_; }
  Grant& add(std::size_t ue, std::uint32_t prbs) {
    Grant& grant = grants_[count_++];
    grant.slot = facts_->slot;
    grant.rnti = facts_->ues[ue].rnti;
    grant.direction = facts_->direction;
    grant.ue = static_cast<std::uint16_t>(ue);
    grant.first_prb = static_cast<std::uint16_t>(facts_->prbs - left_);
    grant.prbs = static_cast<std::uint16_t>(prbs);
    left_ -= prbs;
    served_[ue] = slot_;
    return grant;
  }

  std::vector<std::uint64_t> served_;  // by place: the last slot in which the UE got a grant
  std::uint64_t slot_ = 0;
  const SlotFacts* facts_ = nullptr;
  std::span<Grant> grants_;
  std::size_t count_ = 0;
  std::uint32_t left_ = 0;
};

}  // namespace splitplane::phy
