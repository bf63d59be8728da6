// The driver's half of a run, whatever NIC is behind the registers: brought up by the control plane, with the rings
// laid out in whatever memory the engines want.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "bypass/engine_sums.h"
#include "bypass/scenario.h"
#include "gpu/nic/memory.h"
#include "gpu/nic/nic_82599.h"
#include "gpu/rings/ring_memory.h"

namespace splitplane::bypass {

// The three kinds of memory that lay_out() asks for.
struct NicMemory {
  gpu::MemoryPiece dma, local, shared;
};

// `dma`: for what the NIC reads and writes; `own`: for what only the engines and the host do.
[[nodiscard]] Expected<NicMemory> allocate(gpu::MemoryProvider& dma, gpu::MemoryProvider& own,
                                           const Scenario& scenario);
// All three from one provider: for engines on CPU threads beside the model, or a GPU that reaches host memory.
[[nodiscard]] inline Expected<NicMemory> allocate(gpu::MemoryProvider& provider, const Scenario& scenario) {
  return allocate(provider, provider, scenario);
}

class DrivenNic {
 public:
  // Where the engines find a tail register that the host has at this address.
  using MapDoorbell = std::function<std::uint32_t*(std::uint32_t*)>;
  struct Settings {
    std::vector<gpu::FlowFilter> filters;  // each flow's ring, where RSS alone has too few
    MapDoorbell map = [](std::uint32_t* p) { return p; };
    gpu::Nic82599::Sleep sleep = &gpu::Nic82599::sleep;
    bool wait_for_link = true;
    bool sfp_plus = false;  // as NicSettings
  };

  // `bar` and the memory must stay until the NIC has stopped.
  static Expected<std::unique_ptr<DrivenNic>> bring_up(gpu::Bar& bar, const Scenario& scenario, const NicMemory& memory,
                                                       Settings settings);
  ~DrivenNic();
  DrivenNic(const DrivenNic&) = delete;
  DrivenNic& operator=(const DrivenNic&) = delete;

  // Opens the receive path, once the engines gave the NIC their descriptors.
  Expected<void> open();
  // The NIC lets go of the memory, unless this says otherwise. Once.
  Expected<void> close();

  [[nodiscard]] const std::vector<gpu::Ring>& rings() const { return rings_; }
  [[nodiscard]] gpu::SharedView view() const { return view_; }
  [[nodiscard]] const EngineSums& sums() const { return sums_; }
  [[nodiscard]] gpu::Nic82599& control() { return *nic_; }
  // Frames in receive rings that no receiver took: of engines at rest, where the host sees the rings as they do.
  [[nodiscard]] std::uint64_t untaken() const;
  // What was odd in bring-up and close, but did not hold anything up.
  [[nodiscard]] const std::vector<std::string>& notes() const { return nic_->notes(); }

 private:
  DrivenNic() = default;
  std::optional<gpu::Nic82599> nic_;
  bool closed_ = false;
  std::vector<gpu::Ring> rings_;
  std::vector<std::uint32_t*> tails_;  // receive tail registers as the host sees them
  gpu::SharedView view_;
  EngineSums sums_;
};

}  // namespace splitplane::bypass
