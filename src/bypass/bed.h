// What every run stands on: the NIC model with a wire, brought up by the real control plane, and the rings laid out in
// whatever memory the engines want.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "bypass/engine_sums.h"
#include "bypass/scenario.h"
#include "gpu/memory.h"
#include "gpu/nic_82599.h"
#include "gpu/ring_memory.h"
#include "nicmodel/nic_82599_model.h"

namespace splitplane::bypass {

// The three kinds of memory that lay_out() asks for.
struct BedMemory {
  gpu::MemoryPiece dma, local, shared;
};

// All three from one provider: for engines on CPU threads, or a GPU that reaches host memory.
[[nodiscard]] Expected<BedMemory> allocate(gpu::MemoryProvider& provider, const Scenario& scenario);

class Bed {
 public:
  // Where the engines find a tail register that the host has at this address.
  using MapDoorbell = std::function<std::uint32_t*(std::uint32_t*)>;

  // `filters`: each flow's ring, where RSS alone has too few.
  static Expected<std::unique_ptr<Bed>> make(
      const Scenario& scenario, const BedMemory& memory, nicmodel::Wire& wire,
      std::vector<gpu::FlowFilter> filters = {}, const MapDoorbell& map = [](std::uint32_t* p) { return p; });
  ~Bed();
  Bed(const Bed&) = delete;
  Bed& operator=(const Bed&) = delete;

  // Opens the receive path, once the engines gave the NIC their descriptors.
  Expected<void> open();
  // After the NIC's thread has ended: the NIC lets go of the memory.
  Expected<void> close();

  [[nodiscard]] const std::vector<gpu::Ring>& rings() const { return rings_; }
  [[nodiscard]] gpu::SharedView view() const { return view_; }
  [[nodiscard]] nicmodel::Nic82599Model& model() { return model_; }

  [[nodiscard]] const EngineSums& sums() const { return sums_; }
  [[nodiscard]] std::uint64_t lost_at_nic() const;

 private:
  explicit Bed(nicmodel::Wire& wire) : model_(wire) {}
  nicmodel::Nic82599Model model_;
  std::optional<gpu::Nic82599> nic_;
  std::vector<gpu::Ring> rings_;
  std::vector<std::uint32_t*> tails_;  // receive tail registers as the host sees them
  gpu::SharedView view_;
  EngineSums sums_;
};

}  // namespace splitplane::bypass
