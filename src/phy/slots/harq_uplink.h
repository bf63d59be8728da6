// HARQ at the UE, for what it sends (TS 38.321 5.4.2). No feedback comes: the gNB's grants say whether a process sends
// a new TB or the one that it holds. So a process owns its TB until the next new one, or until reset(); a scatter list
// holds its buffers for as long. What harq_sender.h says of ownership goes here as well.
#pragma once

#include <array>
#include <concepts>
#include <utility>

#include "phy/slots/harq_sender.h"

namespace splitplane::phy {

// What a grant made the UE do.
#define SPLITPLANE_UPLINK_GRANTS(X)                                                      \
  X(new_block, "the NDI toggled, or the process held no TB: a new one is sent")          \
  X(repetition, "the TB that the process holds is sent again")                           \
  X(size_differs, "a repetition of another size than the TB has: nothing is sent")       \
  X(no_block, "there was no TB to send: the next grant of the process is for a new one") \
  X(wrong_process, "there is no process of this number: nothing is sent")

SPLITPLANE_OUTCOMES(UplinkGrant, SPLITPLANE_UPLINK_GRANTS)

template <HarqBlock Tb>
class HarqUplink {
 public:
  // Takes the grant of a slot. For a new TB it calls release(Tb) with the one before, if any, and then make(), which
  // returns a TB of grant.tb_bytes octets, or an empty one if there is none. It returns the TB to be sent in that slot;
  // nullptr if nothing is sent.
  template <class Make, class Release>
  const Tb* granted(const Grant& grant, Make&& make, Release&& release) {
    UplinkGrant what = judge(grant);
    if (what == UplinkGrant::new_block) {
      Process& p = processes_[grant.process];
      if (p.full) release(std::exchange(p.tb, Tb{}));
      p = {make(), grant.tb_bytes, grant.ndi, true};
      if (owns_nothing(p.tb)) {
        p.full = false;
        what = UplinkGrant::no_block;
      }
    }
    ++counters_[static_cast<std::size_t>(what)];
    const bool sends = what == UplinkGrant::new_block || what == UplinkGrant::repetition;
    return sends ? &processes_[grant.process].tb : nullptr;
  }

  // True if this grant would be for a new TB.
  [[nodiscard]] bool is_new(const Grant& grant) const { return judge(grant) == UplinkGrant::new_block; }

  // The memory of a TB is needed for another one: the process holds none from now on, as if its grant had not come.
  template <class Release>
  void forget(std::uint8_t process, Release&& release) {
    Process& p = processes_[process];
    if (std::exchange(p.full, false)) release(std::exchange(p.tb, Tb{}));
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

  // A TB that can be asked is empty if it converts to false.
  static bool owns_nothing(const Tb& tb) {
    if constexpr (requires { static_cast<bool>(tb); }) return !static_cast<bool>(tb);
    return false;
  }

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
