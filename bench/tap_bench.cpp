// The cost of a tap for a worker on net_null: port ends without any tap code, with a tap that is off, and with one that
// copies every packet in and out. Repeats are interleaved on one core, and the result is medians. Prints one JSON
// object.
#include <rte_ethdev.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

#include "engine/l2fwd.h"
#include "engine/port.h"
#include "on_core.h"

namespace splitplane::bench {
namespace {

using datapath::Burst;
using datapath::EthSink;
using datapath::EthSource;
using datapath::TapLane;
using datapath::TapPoint;

constexpr unsigned kBursts = 5000;

// The port ends as they would be without tap code.
struct BareSource {
  std::uint16_t port = 0;
  unsigned receive(Burst& burst) {
    burst.size = rte_eth_rx_burst(port, 0, burst.mbuf.data(), datapath::kBurst);
    return burst.size;
  }
};
struct BareSink {
  std::uint16_t port = 0;
  unsigned send(rte_mbuf** mbufs, unsigned n) {
    return rte_eth_tx_burst(port, 0, mbufs, static_cast<std::uint16_t>(n));
  }
};

struct NoDrain {
  void operator()() const {}
};
// The writer's part of the rings, without its file. In a user plane it runs on another core.
struct Drain {
  TapLane* lane;
  void operator()() const {
    std::array<rte_mbuf*, 64> copies{};
    const unsigned n = lane->receive(copies);
    TapLane::give_back(std::span(copies).first(n));
  }
};

// TSC cycles per packet, without the time of `drain`.
template <class Source, class Sink, class Drainer>
double cycles(Source source, Sink sink, Drainer drain) {
  datapath::WorkerStats stats;
  datapath::L2fwd<Source, Sink> l2fwd(source, sink, stats);
  Burst burst;
  std::uint64_t packets = 0, drained = 0;
  const std::uint64_t begin = rte_rdtsc_precise();
  for (unsigned i = 0; i < kBursts; ++i) {
    packets += l2fwd.queues()[0].receive(burst);
    l2fwd.process(l2fwd.queues()[0], burst);
    if constexpr (!std::is_same_v<Drainer, NoDrain>) {
      const std::uint64_t from = rte_rdtsc();
      drain();
      drained += rte_rdtsc() - from;
    }
  }
  const double all = static_cast<double>(rte_rdtsc_precise() - begin - drained);
  while (l2fwd.queues()[0].take_left(burst) != 0) {
    l2fwd.process(l2fwd.queues()[0], burst);
    drain();
  }
  return all / static_cast<double>(packets);
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

nlohmann::json run(unsigned repeats) {
  rte_mempool* pool = rte_pktmbuf_pool_create("bench", 8191, 256, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
  if (pool == nullptr) throw std::runtime_error("no memory for the bench's pool");
  auto port = datapath::Port::open({.name = "null", .device = "net_null0,size=128", .rx_descriptors = 1024}, pool);
  if (!port) throw std::runtime_error(port.error().message);
  auto lane = TapLane::make({.buffers = 1023, .snap = 2048});
  if (!lane) throw std::runtime_error(lane.error().message);
  const std::uint16_t id = (*port)->id();
  TapPoint off, on;
  on.attach(**lane, true, true);

  // What a repeat adds to the bare one beside it: disturbances of the machine affect both.
  std::vector<double> bare, off_added, on_added;
  for (unsigned i = 0; i < repeats; ++i) {
    bare.push_back(cycles(BareSource{id}, BareSink{id}, NoDrain{}));
    off_added.push_back(cycles(EthSource{id, 0, &off}, EthSink{id, 0, false, &off}, NoDrain{}) - bare.back());
    on_added.push_back(cycles(EthSource{id, 0, &on}, EthSink{id, 0, false, &on}, Drain{lane->get()}) - bare.back());
  }
  nlohmann::json report{{"bare", median(bare)}, {"off_added", median(off_added)}, {"on_added", median(on_added)}};
  report["lost_copies"] = (*lane)->dropped();
  return report;
}

}  // namespace
}  // namespace splitplane::bench

int main(int argc, char** argv) {
  CLI::App app{"Cycles per packet of l2fwd on net_null with and without taps; prints JSON."};
  unsigned repeats = 200, core = 0;
  app.add_option("--repeats", repeats, "interleaved repeats, the median counts");
  app.add_option("--core", core, "core that is measured");
  CLI11_PARSE(app, argc, argv);

  using namespace splitplane::bench;
  return on_core("tap_bench", core,
                 {.file_prefix = "splittapbench", .megabytes = 128, .hugepages = false, .alone = true},
                 [&](bool) { std::printf("%s\n", run(repeats).dump().c_str()); });
}
