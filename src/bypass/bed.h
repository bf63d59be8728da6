// The set-up of a run without a real NIC: the NIC model with a wire, driven as a NIC is.
#pragma once

#include "bypass/driven_nic.h"
#include "nicmodel/nic_82599_model.h"

namespace splitplane::bypass {

class Bed {
 public:
  static Expected<std::unique_ptr<Bed>> make(
      const Scenario& scenario, const NicMemory& memory, nicmodel::Wire& wire,
      std::vector<gpu::FlowFilter> filters = {},
      const DrivenNic::MapDoorbell& map = [](std::uint32_t* p) { return p; });
  Bed(const Bed&) = delete;
  Bed& operator=(const Bed&) = delete;

  Expected<void> open() { return nic_->open(); }
  // After the NIC's thread has ended: the NIC releases the memory.
  Expected<void> close() { return nic_->close(); }

  [[nodiscard]] const std::vector<gpu::Ring>& rings() const { return nic_->rings(); }
  [[nodiscard]] gpu::SharedView view() const { return nic_->view(); }
  [[nodiscard]] DrivenNic& nic() { return *nic_; }
  [[nodiscard]] nicmodel::Nic82599Model& model() { return model_; }

  [[nodiscard]] std::uint64_t lost_at_nic() const;
  // Frames for which a ring had no descriptor, by ring, for the watchdog.
  using PerRing = std::array<std::uint64_t, nicmodel::Nic82599Model::kRings>;
  [[nodiscard]] PerRing no_descriptor() const;

 private:
  explicit Bed(nicmodel::Wire& wire) : model_(wire) {}
  nicmodel::Nic82599Model model_;
  std::unique_ptr<DrivenNic> nic_;
};

}  // namespace splitplane::bypass
