// The driver's half of a run, for any NIC behind the registers. The control plane brings the NIC up, with the rings in
// any memory that the engines need.
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

// `dma` is for memory that the NIC accesses; `own` is for memory that only the engines and the host access.
[[nodiscard]] Expected<NicMemory> allocate(gpu::MemoryProvider& dma, gpu::MemoryProvider& own,
                                           const Scenario& scenario);
// All three from one provider: for engines on CPU threads beside the model, or for a GPU that accesses host memory.
[[nodiscard]] inline Expected<NicMemory> allocate(gpu::MemoryProvider& provider, const Scenario& scenario) {
  return allocate(provider, provider, scenario);
}

class DrivenNic {
 public:
  // Maps a tail register's host address to the address that the engines use.
  using MapDoorbell = std::function<std::uint32_t*(std::uint32_t*)>;
  struct Settings {
    std::vector<gpu::FlowFilter> filters;  // each flow's ring, if RSS alone has too few
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

  // Opens the receive path, after the engines gave the NIC their descriptors.
  Expected<void> open();
  // The NIC releases the memory, unless the error says otherwise. Call it once.
  Expected<void> close();

  [[nodiscard]] const std::vector<gpu::Ring>& rings() const { return rings_; }
  [[nodiscard]] gpu::SharedView view() const { return view_; }
  [[nodiscard]] const EngineSums& sums() const { return sums_; }
  [[nodiscard]] gpu::Nic82599& control() { return *nic_; }
  // Frames in receive rings that no receiver took. Call it when the engines have stopped; the host then sees the rings
  // as they do.
  [[nodiscard]] std::uint64_t untaken() const;
  // Unexpected observations in bring-up and close that stopped neither.
  [[nodiscard]] const std::vector<std::string>& notes() const { return nic_->notes(); }

 private:
  DrivenNic() = default;
  std::optional<gpu::Nic82599> nic_;
  bool closed_ = false;
  std::vector<gpu::Ring> rings_;
  std::vector<std::uint32_t*> tails_;  // receive tail registers at the host's addresses
  gpu::SharedView view_;
  EngineSums sums_;
};

}  // namespace splitplane::bypass
