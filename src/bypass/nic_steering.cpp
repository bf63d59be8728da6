#include "bypass/nic_steering.h"

#include "gpu/nic/host_memory.h"
#include "nicmodel/nic_82599_model.h"

namespace splitplane::bypass {
namespace {

class SilentWire final : public nicmodel::Wire {
 public:
  [[nodiscard]] std::uint32_t arrive(nicmodel::WireFrame* /*frames*/, std::uint32_t /*max*/,
                                     std::uint64_t /*now_ns*/) override {
    return 0;
  }
  [[nodiscard]] std::uint32_t leave(const nicmodel::WireFrame* /*frames*/, std::uint32_t n,
                                    std::uint64_t /*now_ns*/) override {
    return n;
  }
};

}  // namespace

gpu::NicSettings nic_settings(const Scenario& s, std::vector<gpu::FlowFilter> filters) {
  gpu::NicSettings settings{.descriptors = s.ring.ring_size, .slot_bytes = s.ring.slot_bytes};
  settings.drop_when_empty = s.drop_en;
  settings.rss_ports = s.rss_ports;
  settings.flows = std::move(filters);
  return settings;
}

Expected<nicmodel::Steering> steering_of(const Scenario& s, std::vector<gpu::FlowFilter> filters) {
  gpu::HostMemory provider({.hugepages = false});
  const std::size_t ring_bytes = std::size_t{s.ring.ring_size} * sizeof(gpu::Descriptor);
  const auto memory = provider.allocate(2 * s.rings * ring_bytes);
  if (!memory) return tl::unexpected(memory.error());
  std::vector<gpu::RingAddresses> addresses;
  for (std::uint32_t i = 0; i < s.rings; ++i) {
    addresses.push_back({memory->bus + 2 * i * ring_bytes, memory->bus + (2 * i + 1) * ring_bytes});
  }
  SilentWire wire;
  nicmodel::Nic82599Model model(wire);
  model.add_memory(memory->host, memory->bytes, memory->bus);
  auto settings = nic_settings(s, std::move(filters));
  settings.wait_for_link = false;
  const auto nic = gpu::Nic82599::bring_up(model, settings, addresses, [](std::chrono::microseconds) {});
  if (!nic) return tl::unexpected(nic.error());
  return model.steering();
}

}  // namespace splitplane::bypass
