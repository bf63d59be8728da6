// HARQ at the UE, for what it sends (TS 38.321 5.4.2). No feedback comes: the gNB's grants say whether a process sends
// a new TB or the one that it holds. So a process owns its TB until the next new one, or until reset(); a scatter list
// holds its buffers for as long. What harq_sender.h says of ownership goes here as well.
#pragma once

#include <array>
#include <utility>

#include "phy/slots/harq_sender.h"

namespace splitplane::phy {

// What a grant made the UE do.
#define SPLITPLANE_UPLINK_GRANTS(X)                                                \
  X(new_block, "the NDI toggled, or the process held no TB: a new one is sent")    \
  X(repetition, "the TB that the process holds is sent again")                     \
  X(size_differs, "a repetition of another size than the TB has: nothing is sent") \
  X(wrong_process, "there is no process of this number: nothing is sent")

SPLITPLANE_OUTCOMES(UplinkGrant, SPLITPLANE_UPLINK_GRANTS)

template <HarqBlock Tb>
class HarqUplink {
 public:
  // Takes the grant of a slot. For a new TB it calls release(Tb) with the one before, if any, and then make(), which
  // returns a TB of grant.tb_bytes octets. It returns the TB to be sent in that slot; nullptr if nothing is sent.
  template <class Make, class Release>
  const Tb* granted(const Grant& grant, Make&& make, Release&& release) {
    const UplinkGrant what = judge(grant);
    ++counters_[static_cast<std::size_t>(what)];
    if (what == UplinkGrant::wrong_process || what == UplinkGrant::size_differs) return nullptr;
    Process& p = processes_[grant.process];
    if (what == UplinkGrant::new_block) {
      if (p.full) release(std::exchange(p.tb, Tb{}));
      p = {make(), grant.tb_bytes, grant.ndi, true};
    }
    return &p.tb;
  }

  // MAC reset (TS 38.321 5.12), or the UE goes: all TBs are released.
  template <class Release>
  void reset(Release&& release) {
    for (Process& p : processes_) {
      if (p.full) release(std::exchange(p.tb, Tb{}));
      p.full = false;
    }
  }

  [[nodiscard]] std::uint64_t counted(UplinkGrant what) const { return counters_[static_cast<std::size_t>(what)]; }

 private:
  struct Process {
    Tb tb{};
    std::uint32_t tb_bytes = 0;
    std::uint8_t ndi = 0;
    bool full = false;
  };

  [[nodiscard]] UplinkGrant judge(const Grant& grant) const {
    if (grant.process >= kHarqProcesses) return UplinkGrant::wrong_process;
    const Process& p = processes_[grant.process];
    if (!p.full || p.ndi != grant.ndi) return UplinkGrant::new_block;
    return p.tb_bytes == grant.tb_bytes ? UplinkGrant::repetition : UplinkGrant::size_differs;
  }

  std::array<Process, kHarqProcesses> processes_{};
  std::array<std::uint64_t, kUplinkGrantCount> counters_{};
};

}  // namespace splitplane::phy
