// HARQ of all UEs of one direction: their processes, and the TBs that wait to be sent again, the one that waits longest
// first. The scheduler reads that list and serves it before new data.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "phy/slots/harq_sender.h"

namespace splitplane::phy {

template <HarqBlock Tb>
class HarqCell {
 public:
  // Places for `ues` UEs; nothing is allocated later.
  HarqCell(std::size_t ues, const HarqSettings& settings) : active_((ues + 63) / 64) {
    senders_.reserve(ues);
    for (std::size_t ue = 0; ue < ues; ++ue) senders_.emplace_back(settings, counters_.get());
    waiting_.reserve(ues * kHarqProcesses);
  }

  [[nodiscard]] const HarqSender<Tb>& ue(std::uint16_t ue) const { return senders_[ue]; }
  // As HarqSender::set_ndis().
  void set_ndis(std::uint16_t ue, std::uint16_t all) { senders_[ue].set_ndis(all); }
  // Of all UEs, also of those that had a place before.
  [[nodiscard]] const HarqSenderCounters& counters() const { return *counters_; }

  // As HarqSender::start(), for the UE that the grant names.
  bool start(const Grant& grant, Tb tb) {
    if (!senders_[grant.ue].start(grant, std::move(tb))) return false;
    mark(grant.ue);
    return true;
  }

  // TBs to be sent again, the oldest NACK first.
  [[nodiscard]] std::span<const Retransmission> waiting() const { return waiting_; }

  // As HarqSender::feedback().
  template <class Release>
  Feedback feedback(std::uint16_t ue, std::uint8_t process, Slot sent_in, bool ack, Release&& release) {
    const Feedback what = senders_[ue].feedback(process, sent_in, ack, release);
    if (what == Feedback::nacked) waiting_.push_back(senders_[ue].waiting(process, ue));
    if (what == Feedback::late) forget_those_that_do_not_wait();
    return what;
  }

  // Counts the retransmissions among the grants of a slot as sent in it.
  void retransmit(std::span<const Grant> grants) {
    bool any = false;
    for (const Grant& grant : grants) {
      if (!grant.retransmission) continue;
      senders_[grant.ue].retransmit(grant.process, grant.slot);
      mark(grant.ue);
      any = true;
    }
    if (any) forget_those_that_do_not_wait();
  }

  // Once a slot, as HarqSender::expire(). It looks only at UEs that have TBs.
  template <class Release>
  void expire(Slot now, Release&& release) {
    bool any = false;
    for (std::size_t word = 0; word < active_.size(); ++word) {
      for (std::uint64_t left = active_[word]; left != 0; left &= left - 1) {
        const auto place = static_cast<std::uint16_t>(word * 64 + static_cast<std::size_t>(std::countr_zero(left)));
        HarqSender<Tb>& sender = senders_[place];
        any |= sender.expire(
            now, [&](std::uint8_t process) { waiting_.push_back(sender.waiting(process, place)); }, release);
        if (!sender.active()) active_[word] &= ~(left & -left);
      }
    }
    if (any) forget_those_that_do_not_wait();
  }

  // As HarqSender::discard_all().
  template <class Release>
  void discard_all(std::uint16_t ue, Release&& release) {
    senders_[ue].discard_all(release);
    forget_those_that_do_not_wait();
  }
  // The same for all UEs.
  template <class Release>
  void discard_all(Release&& release) {
    for (HarqSender<Tb>& sender : senders_) sender.discard_all(release);
    waiting_.clear();
  }

 private:
  void mark(std::uint16_t ue) { active_[ue / 64] |= std::uint64_t{1} << (ue % 64); }
  void forget_those_that_do_not_wait() {
    std::erase_if(waiting_, [&](const Retransmission& r) { return !senders_[r.ue].waits(r.process); });
  }

  std::unique_ptr<HarqSenderCounters> counters_ = std::make_unique<HarqSenderCounters>();
  std::vector<HarqSender<Tb>> senders_;
  std::vector<std::uint64_t> active_;  // a bit for each UE: it may have TBs; no other has
  std::vector<Retransmission> waiting_;
};

}  // namespace splitplane::phy
