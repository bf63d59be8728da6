// What the configuration says about a worker, as the packet path wants it: the same for `splitplane run` and for
// `splitplane explain`. Rings, pools and bearers are the caller's.
#pragma once

#include "config/lookup.h"
#include "gnb/datapath/context.h"
#include "gnb/datapath/dispatch.h"

namespace splitplane::app {

// A port: as the device has it in a running user plane, as configured where there is none.
struct PortFacts {
  MacAddress mac;
  std::uint16_t mtu = 1500;
  datapath::ChecksumMode checksums = datapath::ChecksumMode::off;
};

void fill(datapath::GnbContext& gnb, const Config& config, const WorkerConfig& worker, const PortFacts& n3,
          const PortFacts& air);
void fill(datapath::DispatchContext& dispatch, const PortFacts& n3);
// Gives the dispatching worker one to feed.
void feed(datapath::DispatchContext& dispatch, const WorkerConfig& worker, const datapath::GnbContext& gnb,
          datapath::WorkerRings rings);

// What a card cannot read comes by the first pair of its VFs. The gNB worker that reads that pair, and those that have
// another one and get their packets of it from the first.
[[nodiscard]] bool reads_punts(const Config& config, const CardLinkConfig& card, const WorkerConfig& worker);
[[nodiscard]] bool gets_punts(const Config& config, const CardLinkConfig& card, const WorkerConfig& worker);
void add_mate(datapath::Mates& mates, const WorkerConfig& worker, datapath::WorkerRings rings);

}  // namespace splitplane::app
