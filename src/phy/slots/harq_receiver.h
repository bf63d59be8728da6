// HARQ at the end that receives transport blocks: the processes of one UE and direction (TS 38.321 5.3.2.2). It knows
// by the NDI whether a TB is new, and delivers each TB once. It keeps no octets: where a PHY combines redundancy
// versions, it does so below.
//
// As in the specification, only the NDI tells. If every transmission of one TB passes unseen, the next TB of the
// process has the NDI of the one before, and counts as its repetition: then RLC misses that TB's octets, and repairs
// them.
#pragma once

#include <array>

#include "base/outcome_list.h"
#include "phy/slots/grant.h"

namespace splitplane::phy {

#define SPLITPLANE_HARQ_RECEPTIONS(X)                                               \
  X(delivered, "decoded for the first time: handed on, and acknowledged")           \
  X(duplicate, "a repetition of what was decoded: acknowledged, but not handed on") \
  X(failed, "not decoded: the answer is a NACK")                                    \
  X(no_process, "there is no process of this number: dropped, and not answered")

SPLITPLANE_OUTCOMES(HarqReception, SPLITPLANE_HARQ_RECEPTIONS)

struct HarqReceiverCounters {
  std::array<std::uint64_t, kHarqReceptionCount> receptions{};
  std::uint64_t retransmissions = 0;  // receptions whose NDI was that of the one before
  std::uint64_t abandoned = 0;        // TBs that were not decoded when a new one came in their process
  [[nodiscard]] std::uint64_t counted(HarqReception what) const { return receptions[static_cast<std::size_t>(what)]; }
};

class HarqReceiver {
 public:
  // `decoded`: the PHY's CRC is right. Only for `delivered` the caller hands the TB on.
  HarqReception receive(std::uint8_t process, std::uint8_t ndi, bool decoded) {
    const HarqReception what = judge(process, ndi, decoded);
    ++counters_.receptions[static_cast<std::size_t>(what)];
    return what;
  }
  // MAC reset (TS 38.321 5.12): the next transmission of each process is new.
  void reset() { processes_ = {}; }
  [[nodiscard]] const HarqReceiverCounters& counters() const { return counters_; }

 private:
  enum class State : std::uint8_t { kUnused, kUndecoded, kDecoded };
  struct Process {
    State state = State::kUnused;
    std::uint8_t ndi = 0;
  };

  HarqReception judge(std::uint8_t process, std::uint8_t ndi, bool decoded) {
    if (process >= kHarqProcesses) return HarqReception::no_process;
    Process& p = processes_[process];
    if (p.state == State::kUnused || p.ndi != ndi) {
      counters_.abandoned += p.state == State::kUndecoded ? 1 : 0;
      p = {State::kUndecoded, ndi};
    } else {
      ++counters_.retransmissions;
      if (p.state == State::kDecoded) return HarqReception::duplicate;
    }
    if (!decoded) return HarqReception::failed;
    p.state = State::kDecoded;
    return HarqReception::delivered;
  }

  std::array<Process, kHarqProcesses> processes_{};
  HarqReceiverCounters counters_;
};

}  // namespace splitplane::phy
