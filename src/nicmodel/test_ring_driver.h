// For tests of nicmodel/ only: the engines of the GPU ring driver on CPU lanes, brought up over the model.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "gpu/nic/nic_82599.h"
#include "gpu/rings/functions.h"
#include "gpu/rings/launch.h"
#include "gpu/rings/ring_memory.h"
#include "nicmodel/nic_82599_model.h"
#include "nicmodel/test_driver.h"

namespace splitplane::nicmodel::test {

template <class Function = gpu::Echo>
class RingDriver {
 public:
  RingDriver(Nic82599Model& model, std::uint32_t rings, const gpu::RingSettings& settings,
             gpu::NicSettings nic_settings = {}, const std::optional<gpu::RestoreSettings>& restore = {})
      : needs_(gpu::needs(settings, rings)), dma_(needs_.dma, 0), local_(needs_.local, 0), shared_(needs_.shared, 0) {
    const auto piece = [](const Pages& p) { return gpu::MemoryPiece{p.get(), p.get(), p.bus(), p.bytes()}; };
    std::vector<gpu::Doorbells> doorbells;
    for (std::uint32_t n = 0; n < rings; ++n) {
      doorbells.push_back({model.doorbell(gpu::reg::rdt(n)), model.doorbell(gpu::reg::tdt(n))});
    }
    rings_ = gpu::lay_out(settings, piece(dma_), piece(local_), piece(shared_), doorbells);
    view_ = gpu::shared_view(shared_.get(), rings);
    set_ = std::make_unique<gpu::RingSet<Function>>(rings_, Function{}, view_.stop, restore);
    model.add_memory(dma_.get(), dma_.bytes());
    nic_settings_ = std::move(nic_settings);
    nic_settings_.descriptors = settings.ring_size;
    nic_settings_.slot_bytes = settings.slot_bytes;
  }
  // In lock-step, or with engines and model on threads.
  Expected<void> up(Nic82599Model& model, bool threads = false) {
    std::vector<gpu::RingAddresses> addresses;
    for (const gpu::Ring& ring : rings_) {
      addresses.push_back({reinterpret_cast<std::uintptr_t>(ring.rx), reinterpret_cast<std::uintptr_t>(ring.tx)});
    }
    auto nic = gpu::Nic82599::bring_up(model, nic_settings_, addresses,
                                       threads ? gpu::Nic82599::Sleep(&gpu::Nic82599::sleep) : NoSleep{});
    if (!nic) return tl::unexpected(nic.error());
    nic_ = std::make_unique<gpu::Nic82599>(std::move(*nic));
    if (threads) {
      set_->start();
    } else {
      set_->step(0);
    }
    return nic_->start();
  }
  [[nodiscard]] gpu::RingSet<Function>& set() { return *set_; }
  [[nodiscard]] std::uint64_t dma_bus() const { return dma_.bus(); }
  [[nodiscard]] gpu::Nic82599& nic() { return *nic_; }
  [[nodiscard]] const gpu::SharedView& view() const { return view_; }

 private:
  gpu::RingMemoryNeeds needs_;
  Pages dma_, local_, shared_;
  std::vector<gpu::Ring> rings_;
  gpu::SharedView view_;
  std::unique_ptr<gpu::RingSet<Function>> set_;
  gpu::NicSettings nic_settings_;
  std::unique_ptr<gpu::Nic82599> nic_;
};

}  // namespace splitplane::nicmodel::test
