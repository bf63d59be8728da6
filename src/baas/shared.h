// The memory that a gNB and its buffering service share: the rings between each worker and each core of the service,
// and who sleeps. The gNB makes it and names it; the service finds it by these names. Nothing in it points to code or
// to other memory.
#pragma once

#include <fmt/format.h>
#include <rte_memzone.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "baas/protocol.h"
#include "base/expected.h"
#include "engine/wakeup.h"

namespace splitplane::baas {

inline constexpr std::size_t kMostWorkers = 64, kMostCores = 16;

struct Shared {
  static constexpr const char* kName = "splitplane.baas";

  std::uint32_t version = kVersion;
  std::uint32_t workers = 0, cores = 0;
  std::array<std::uint64_t, kMostWorkers> max_copies{};
  std::array<datapath::Sleeper, kMostWorkers> worker;
  std::array<datapath::Sleeper, kMostCores> service;
};

struct FreeMessageRing {
  void operator()(rte_ring* ring) const { rte_ring_free(ring); }
};
using MessageRing = std::unique_ptr<rte_ring, FreeMessageRing>;

[[nodiscard]] inline std::string ring_name(std::size_t worker, std::size_t core, bool to_service) {
  return fmt::format("baas.{}.{}.{}", worker, core, to_service ? 's' : 'w');
}
// A ring of messages, for one producer and one consumer; nullptr without memory.
[[nodiscard]] inline MessageRing make_message_ring(const std::string& name, unsigned entries) {
  return MessageRing(rte_ring_create_elem(name.c_str(), sizeof(Message), entries, SOCKET_ID_ANY,
                                          RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ));
}

// The gNB's: it lives as long as the process.
[[nodiscard]] Expected<Shared*> make_shared_memory(std::size_t workers, std::size_t cores);
// The service's. Error: one sentence.
[[nodiscard]] Expected<Shared*> find_shared_memory();
[[nodiscard]] Expected<Channel> find_channel(std::size_t worker, std::size_t core);

}  // namespace splitplane::baas
