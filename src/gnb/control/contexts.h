// What the configuration says about a worker, as the packet path wants it, and the tables of its keys: the same for
// `splitplane run` and for `splitplane explain`. Rings, pools and bearers are the caller's.
#pragma once

#include <string>
#include <vector>

#include "gnb/config/lookup.h"
#include "gnb/datapath/context.h"
#include "gnb/datapath/dispatch.h"
#include "runtime/resources.h"

namespace splitplane::app {

// A port: as the device has it in a running user plane, as configured where there is none.
struct PortFacts {
  MacAddress mac;
  std::uint16_t mtu = 1500;
  datapath::ChecksumMode checksums = datapath::ChecksumMode::off;
};

void fill(datapath::GnbContext& gnb, const GnbConfig& config, const WorkerConfig& worker, const PortFacts& n3,
          const PortFacts& air);
void fill(datapath::DispatchContext& dispatch, const PortFacts& n3);
// Gives the dispatching worker one to feed.
void feed(datapath::DispatchContext& dispatch, const WorkerConfig& worker, const datapath::GnbContext& gnb,
          datapath::WorkerRings rings);

// A receive queue of a dispatching worker.
struct DispatchQueue {
  std::string port;
  std::uint16_t queue = 0;
  Direction direction{};
};
// In the order in which the worker reads and counts them.
[[nodiscard]] std::vector<DispatchQueue> dispatch_queues(const GnbConfig& config, const WorkerConfig& worker);

// The gNB workers that have a pair of the card's VFs each. What a card cannot read comes by the first pair, and a card
// that deals out over VFs sends any bearer's packets by any pair. A dispatching worker reads all pairs by itself.
[[nodiscard]] bool reads_vfs(const GnbConfig& config, const CardLinkConfig& card, const WorkerConfig& worker);
void add_worker(datapath::PuntHandoff& handoff, const WorkerConfig& worker, datapath::WorkerRings rings);

// Tables of keys that are not of our choosing, in DPDK's memory: room is taken once, and a full table refuses the
// bearer. Room for `teids` TEIDs and, with lookup ue_address, for `addresses` of each family. `memory` holds the tables
// and must outlive `keys`. Error: one sentence that names the worker.
[[nodiscard]] Expected<void> make_key_tables(datapath::BearerLookup& keys, std::vector<DpdkArray<std::byte>>& memory,
                                             GnbConfig::Lookup lookup, std::size_t teids, std::size_t addresses,
                                             const std::string& worker);

// Octets of memory that these tables take.
[[nodiscard]] std::size_t key_tables_bytes(GnbConfig::Lookup lookup, std::size_t teids, std::size_t addresses);

}  // namespace splitplane::app
