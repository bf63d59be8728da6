// The set-up of gpu_bench: rings, engines, the NIC model and its control plane on memory of this process, and a far end
// that costs almost nothing.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include "gpu/nic/nic_82599.h"
#include "gpu/nic/registers_82599.h"
#include "gpu/rings/launch.h"
#include "gpu/rings/ring_memory.h"
#include "nicmodel/nic_82599_model.h"
#include "nicmodel/traffic_peer.h"

namespace splitplane::bench {

using nicmodel::TrafficPeer;

struct Block {
  explicit Block(std::size_t wanted)
      : bytes((wanted + kPage - 1) / kPage * kPage), at(std::aligned_alloc(kPage, bytes)) {
    if (at == nullptr) throw std::bad_alloc();
    std::memset(at, 0, bytes);
  }
  ~Block() { std::free(at); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  [[nodiscard]] gpu::MemoryPiece piece() const {
    auto* const p = static_cast<std::uint8_t*>(at);
    return {.host = p, .engine = p, .bus = reinterpret_cast<std::uintptr_t>(p), .bytes = bytes};
  }
  static constexpr std::size_t kPage = 4096;
  std::size_t bytes;
  void* at;
};

// Rings, engines, the model and its control plane.
template <class Function>
class Rig {
 public:
  Rig(std::uint32_t ring_count, std::uint32_t doorbell_every, const std::optional<gpu::RestoreSettings>& restore,
      const std::vector<Function>& functions, nicmodel::Wire& wire)
      : settings_{.ring_size = 256, .slots = 768, .doorbell_every = doorbell_every, .stall_within_ns = 500'000'000},
        needs_(gpu::needs(settings_, ring_count)),
        dma_(needs_.dma),
        local_(needs_.local),
        shared_(needs_.shared),
        model_(wire) {
    model_.add_memory(dma_.at, dma_.bytes);
    std::vector<gpu::Doorbells> doorbells;
    for (std::uint32_t i = 0; i < ring_count; ++i) {
      doorbells.push_back({model_.doorbell(gpu::reg::rdt(i)), model_.doorbell(gpu::reg::tdt(i))});
    }
    const auto rings = gpu::lay_out(settings_, dma_.piece(), local_.piece(), shared_.piece(), doorbells);
    view_ = gpu::shared_view(static_cast<std::uint8_t*>(shared_.at), ring_count);
    set_ = std::make_unique<gpu::RingSet<Function>>(rings, functions, view_.stop, restore);
    std::vector<gpu::RingAddresses> addresses;
    for (const gpu::Ring& ring : rings) {
      addresses.push_back({reinterpret_cast<std::uintptr_t>(ring.rx), reinterpret_cast<std::uintptr_t>(ring.tx)});
    }
    gpu::NicSettings nic{.descriptors = settings_.ring_size, .slot_bytes = settings_.slot_bytes};
    if (ring_count > 16) nic.flows = TrafficPeer::filters(128, ring_count);
    auto up = gpu::Nic82599::bring_up(model_, nic, addresses);
    if (!up) throw std::runtime_error(up.error().message);
    nic_ = std::make_unique<gpu::Nic82599>(std::move(*up));
  }
  void open() {
    if (const auto started = nic_->start(); !started) throw std::runtime_error(started.error().message);
  }
  gpu::RingSet<Function>& set() { return *set_; }
  nicmodel::Nic82599Model& model() { return model_; }
  [[nodiscard]] std::uint64_t doorbells(std::uint32_t rings) const {
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < rings; ++i) sum += view_.rx[i].doorbells + view_.tx[i].doorbells;
    return sum;
  }

 private:
  gpu::RingSettings settings_;
  gpu::RingMemoryNeeds needs_;
  Block dma_, local_, shared_;
  nicmodel::Nic82599Model model_;
  gpu::SharedView view_;
  std::unique_ptr<gpu::RingSet<Function>> set_;
  std::unique_ptr<gpu::Nic82599> nic_;
};

// A far end that costs almost nothing: it repeats a few frames and counts what comes back.
class CannedWire final : public nicmodel::Wire {
 public:
  CannedWire(std::uint32_t bytes, std::uint64_t packets, std::uint64_t window) : packets_(packets), window_(window) {
    for (std::uint32_t flow = 0; flow < kFlows; ++flow) {
      frames_.push_back(TrafficPeer::udp_header(flow, bytes - 4));
      frames_.back().resize(bytes - 4);
    }
  }
  std::uint32_t arrive(nicmodel::WireFrame* frames, std::uint32_t max, std::uint64_t /*now_ns*/) override {
    const auto n =
        static_cast<std::uint32_t>(std::min({std::uint64_t{max}, packets_ - sent_, window_ - (sent_ - returned_)}));
    for (std::uint32_t i = 0; i < n; ++i) {
      const auto& frame = frames_[(sent_ + i) % kFlows];
      frames[i] = {frame.data(), static_cast<std::uint32_t>(frame.size())};
    }
    sent_ += n;
    return n;
  }
  std::uint32_t leave(const nicmodel::WireFrame* /*frames*/, std::uint32_t n, std::uint64_t /*now_ns*/) override {
    returned_ += n;
    return n;
  }
  [[nodiscard]] bool done() const { return returned_ == packets_; }
  [[nodiscard]] std::uint64_t lost() const { return sent_ - returned_; }
  [[nodiscard]] const nicmodel::PeerCounters& counters() const { return nothing_; }

 private:
  static constexpr std::uint32_t kFlows = 256;
  std::uint64_t packets_, window_, sent_ = 0, returned_ = 0;
  std::vector<std::vector<std::uint8_t>> frames_;
  nicmodel::PeerCounters nothing_;  // it checks nothing
};

}  // namespace splitplane::bench
