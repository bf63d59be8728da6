#include "baas/shared.h"

#include <new>

namespace splitplane::baas {

Expected<Shared*> make_shared_memory(std::size_t workers, std::size_t cores) {
  const rte_memzone* const zone = rte_memzone_reserve_aligned(Shared::kName, sizeof(Shared), SOCKET_ID_ANY, 0, 64);
  if (zone == nullptr) return fail("no memory to share with the buffering service; allowed: a larger memory.megabytes");
  auto* const shared = new (zone->addr) Shared;
  shared->workers = static_cast<std::uint32_t>(workers);
  shared->cores = static_cast<std::uint32_t>(cores);
  return shared;
}

Expected<Shared*> find_shared_memory() {
  const rte_memzone* const zone = rte_memzone_lookup(Shared::kName);
  if (zone == nullptr) return fail("the gNB shares no memory with a buffering service");
  auto* const shared = static_cast<Shared*>(zone->addr);
  if (shared->version != kVersion)
    return fail("the gNB speaks version {} to its buffering service, this program {}", shared->version, kVersion);
  return shared;
}

Expected<Channel> find_channel(std::size_t worker, std::size_t core) {
  const Channel channel{rte_ring_lookup(ring_name(worker, core, true).c_str()),
                        rte_ring_lookup(ring_name(worker, core, false).c_str())};
  if (channel.to_service == nullptr || channel.to_worker == nullptr)
    return fail("the gNB has no rings from worker {} to core {} of its buffering service", worker, core);
  return channel;
}

}  // namespace splitplane::baas
