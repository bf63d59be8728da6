#include "bypass/bed.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "bypass/bench_wire.h"

namespace splitplane::bypass {
namespace {

constexpr std::chrono::seconds kFilledWithin{5};

std::string with_hyphens(std::string_view name) {
  std::string word(name);
  std::ranges::replace(word, '_', '-');
  return word;
}

}  // namespace

std::string word_of(Mode mode) {
  return with_hyphens(name_of(mode));
}
std::string word_of(FunctionKind function) {
  return with_hyphens(name_of(function));
}

Expected<void> check(const Scenario& s) {
  if (auto good = gpu::check(s.ring, s.rings); !good) return good;
  if (auto good = BenchWire::check(s); !good) return good;
  if (s.frame_bytes > 1518) return fail("size: {}; allowed: at most 1518 octets, with CRC", s.frame_bytes);
  if (!(s.packets_per_second >= 0)) return fail("rate is {} Mpps; allowed is 0 or more", s.packets_per_second * 1e-6);
  if (s.mode == Mode::gpu_e4 && (s.packets_per_second > 0 || s.function != FunctionKind::echo)) {
    return fail("mode gpu-e4 has no clock and no other judge: allowed are a window, not a rate, and the function echo");
  }
  if (s.seconds <= 0 || s.seconds > 3600) return fail("seconds is {}; allowed is above 0, up to 3600", s.seconds);
  if (s.window < 1 || s.window > 65536) return fail("window is {}; allowed is 1 to 65536", s.window);
  if (s.restore_order &&
      (s.mode != Mode::bypass || (s.function != FunctionKind::echo && s.function != FunctionKind::macswap))) {
    return fail("order can be restored in the mode bypass with echo and macswap, which leave the number where it was");
  }
  if (s.mode == Mode::staging && (s.staging_batch < 1 || s.staging_batch >= s.ring.ring_size)) {
    return fail("batch is {}; allowed is 1 to {}, one less than the transmit ring", s.staging_batch,
                s.ring.ring_size - 1);
  }
  return {};
}

Expected<BedMemory> allocate(gpu::MemoryProvider& provider, const Scenario& scenario) {
  const gpu::RingMemoryNeeds needs = gpu::needs(scenario.ring, scenario.rings);
  BedMemory memory;
  for (auto [piece, bytes] :
       {std::pair{&memory.dma, needs.dma}, {&memory.local, needs.local}, {&memory.shared, needs.shared}}) {
    auto made = provider.allocate(bytes);
    if (!made) return tl::unexpected(made.error());
    *piece = *made;
  }
  return memory;
}

Expected<std::unique_ptr<Bed>> Bed::make(const Scenario& s, const BedMemory& memory, nicmodel::Wire& wire,
                                         std::vector<gpu::FlowFilter> filters, const MapDoorbell& map) {
  std::unique_ptr<Bed> bed(new Bed(wire));
  bed->model_.add_memory(memory.dma.host, memory.dma.bytes, memory.dma.bus);

  // Laid out twice: the NIC wants to know where rings are before it says where its tail registers are.
  std::vector<gpu::Doorbells> doorbells(s.rings);
  const auto engine_at = reinterpret_cast<std::uintptr_t>(memory.dma.engine);
  std::vector<gpu::RingAddresses> addresses;
  for (const gpu::Ring& r : gpu::lay_out(s.ring, memory.dma, memory.local, memory.shared, doorbells)) {
    addresses.push_back({.receive = memory.dma.bus + (reinterpret_cast<std::uintptr_t>(r.rx) - engine_at),
                         .transmit = memory.dma.bus + (reinterpret_cast<std::uintptr_t>(r.tx) - engine_at)});
  }
  gpu::NicSettings settings{.descriptors = s.ring.ring_size, .slot_bytes = s.ring.slot_bytes};
  settings.flows = std::move(filters);
  // The model counts how often it is asked, not how late.
  auto nic = gpu::Nic82599::bring_up(bed->model_, settings, addresses, [](std::chrono::microseconds) {});
  if (!nic) return tl::unexpected(nic.error());
  bed->nic_ = std::move(*nic);
  for (std::uint32_t i = 0; i < s.rings; ++i) {
    bed->tails_.push_back(bed->nic_->receive_doorbell(i));
    doorbells[i] = {.rdt = map(bed->nic_->receive_doorbell(i)), .tdt = map(bed->nic_->transmit_doorbell(i))};
  }
  bed->rings_ = gpu::lay_out(s.ring, memory.dma, memory.local, memory.shared, doorbells);
  bed->view_ = gpu::shared_view(memory.shared.host, s.rings);
  bed->sums_ = EngineSums(bed->view_, s.rings);
  return bed;
}

Expected<void> Bed::open() {
  const auto deadline = std::chrono::steady_clock::now() + kFilledWithin;
  for (std::uint32_t i = 0; i < tails_.size(); ++i) {
    while (gpu::load_acquire(tails_[i]) == 0) {
      if (std::chrono::steady_clock::now() > deadline) return fail("ring {}: no engine gives it descriptors", i);
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }
  return nic_->start();
}

Bed::~Bed() {
  if (nic_) static_cast<void>(nic_->stop());
}

Expected<void> Bed::close() {
  auto stopped = nic_->stop();
  nic_.reset();
  return stopped;
}

std::uint64_t Bed::lost_at_nic() const {
  std::uint64_t sum = 0;
  for (const Counter& reason : model_.counters().dropped) sum += reason.get();
  return sum;
}

}  // namespace splitplane::bypass
