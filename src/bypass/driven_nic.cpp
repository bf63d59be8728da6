#include "bypass/driven_nic.h"

#include <chrono>
#include <thread>

#include "bypass/nic_steering.h"

namespace splitplane::bypass {
namespace {

constexpr std::chrono::seconds kFilledWithin{5};

}  // namespace

Expected<NicMemory> allocate(gpu::MemoryProvider& dma, gpu::MemoryProvider& own, const Scenario& scenario) {
  const gpu::RingMemoryNeeds needs = gpu::needs(scenario.ring, scenario.rings);
  NicMemory memory;
  struct Wanted {
    gpu::MemoryProvider& from;
    gpu::MemoryPiece& piece;
    std::size_t bytes;
  };
  for (const Wanted& wanted :
       {Wanted{dma, memory.dma, needs.dma}, {own, memory.local, needs.local}, {own, memory.shared, needs.shared}}) {
    auto made = wanted.from.allocate(wanted.bytes);
    if (!made) return tl::unexpected(made.error());
    wanted.piece = *made;
  }
  return memory;
}

Expected<std::unique_ptr<DrivenNic>> DrivenNic::bring_up(gpu::Bar& bar, const Scenario& s, const NicMemory& memory,
                                                         Settings with) {
  std::unique_ptr<DrivenNic> made(new DrivenNic());
  // The layout is made twice, because the NIC needs the rings' addresses before it gives its tail registers.
  std::vector<gpu::Doorbells> doorbells(s.rings);
  const auto engine_at = reinterpret_cast<std::uintptr_t>(memory.dma.engine);
  std::vector<gpu::RingAddresses> addresses;
  for (const gpu::Ring& r : gpu::lay_out(s.ring, memory.dma, memory.local, memory.shared, doorbells)) {
    addresses.push_back({.receive = memory.dma.bus + (reinterpret_cast<std::uintptr_t>(r.rx) - engine_at),
                         .transmit = memory.dma.bus + (reinterpret_cast<std::uintptr_t>(r.tx) - engine_at)});
  }
  gpu::NicSettings settings = nic_settings(s, std::move(with.filters));
  settings.wait_for_link = with.wait_for_link;
  settings.sfp_plus = with.sfp_plus;
  auto nic = gpu::Nic82599::bring_up(bar, settings, addresses, std::move(with.sleep));
  if (!nic) return tl::unexpected(nic.error());
  made->nic_ = std::move(*nic);
  for (std::uint32_t i = 0; i < s.rings; ++i) {
    made->tails_.push_back(made->nic_->receive_doorbell(i));
    doorbells[i] = {.rdt = with.map(made->nic_->receive_doorbell(i)),
                    .tdt = with.map(made->nic_->transmit_doorbell(i))};
  }
  made->rings_ = gpu::lay_out(s.ring, memory.dma, memory.local, memory.shared, doorbells);
  made->view_ = gpu::shared_view(memory.shared.host, s.rings);
  made->sums_ = EngineSums(made->view_, s.rings);
  return made;
}

Expected<void> DrivenNic::open() {
  const auto deadline = std::chrono::steady_clock::now() + kFilledWithin;
  for (std::uint32_t i = 0; i < tails_.size(); ++i) {
    while (gpu::load_acquire(tails_[i]) == 0) {
      if (nic_->is_gone()) break;  // start() says so
      if (std::chrono::steady_clock::now() > deadline) return fail("ring {}: no engine gives it descriptors", i);
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }
  return nic_->start();
}

DrivenNic::~DrivenNic() {
  if (nic_ && !closed_) static_cast<void>(nic_->stop());
}

Expected<void> DrivenNic::close() {
  closed_ = true;
  return nic_->stop();
}

std::uint64_t DrivenNic::untaken() const {
  std::uint64_t all = 0;
  for (const gpu::Ring& ring : rings_) {
    for (std::uint32_t i = 0; i < ring.settings.ring_size; ++i) {
      all += gpu::rx_is_done(gpu::load_acquire(&ring.rx[i].hi)) ? 1 : 0;
    }
  }
  return all;
}

}  // namespace splitplane::bypass
