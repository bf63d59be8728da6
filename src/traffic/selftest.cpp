#include "traffic/selftest.h"

#include <rte_mempool.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "engine/port.h"
#include "traffic/clock.h"
#include "traffic/generator.h"
#include "traffic/packet_maker.h"
#include "traffic/sink.h"

namespace splitplane::traffic {
namespace {

using datapath::Port;

constexpr std::uint32_t kFlows = 256;
constexpr std::uint32_t kRun = 1;
constexpr std::uint64_t kExactPackets = 200'000;
constexpr std::uint64_t kNever = ~0ULL;
constexpr double kMostCapacity = 100'000;  // of the device in real time: its queue must fit the pool

struct FreePool {
  void operator()(rte_mempool* pool) const { rte_mempool_free(pool); }
};

// Ports: generator -> net_ring -> [device -> net_ring ->] sink; all of one pool.
struct Bench {
  std::unique_ptr<rte_mempool, FreePool> pool;
  std::unique_ptr<Port> before, after, null;

  static Expected<Bench> make() {
    Bench bench;
    bench.pool.reset(rte_pktmbuf_pool_create("self_test", 32767, 256, 0, 512 + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY));
    if (!bench.pool) return fail("no memory for the packet buffers of the self-test");
    for (const auto& [port, device] :
         {std::pair{&bench.before, "net_ring0"}, {&bench.after, "net_ring1"}, {&bench.null, "net_null0"}}) {
      auto opened = Port::open({.name = device, .device = device}, bench.pool.get());
      if (!opened) return tl::unexpected(opened.error());
      *port = *std::move(opened);
    }
    return bench;
  }
};

PacketMaker make_packets() {
  std::vector<FlowSpec> flows(kFlows);
  for (std::uint32_t i = 0; i < kFlows; ++i) {
    flows[i].bearer.id = BearerId{0x04000000 + i};
    flows[i].bearer.upf = IpAddress::v4({10, 100, 0, 2});
    flows[i].gnb = IpAddress::v4({10, 100, 0, 1});
    flows[i].bearer.ue_ipv4 = IpAddress::v4({10, 45, 0, 2}).plus(i);
  }
  return PacketMaker({.server_ipv4 = IpAddress::v4({10, 200, 0, 1}), .sizes = {64}, .run = kRun}, flows);
}

Mix in_turn() {
  return {kFlows, Mix::Order::kInTurn, {1}, 1};
}

// A packet inside the device, and when it arrived.
struct Held {
  rte_mbuf* mbuf = nullptr;
  std::uint64_t arrived_ns = 0;
};

// The device between the two rings. It calls `left` with each packet's stay.
class DeviceStage {
 public:
  DeviceStage(const DeviceSettings& settings, const Bench& bench) : device_(settings), bench_(bench) {}

  template <class Left>
  void poll(std::uint64_t now, const Left& left) {
    const auto copy = [this](const Held& held) {
      return Held{rte_pktmbuf_copy(held.mbuf, bench_.pool.get(), 0, UINT32_MAX), held.arrived_ns};
    };
    burst_.size = rte_eth_rx_burst(bench_.before->id(), 0, burst_.mbuf.data(), datapath::kBurst);
    for (unsigned i = 0; i < burst_.size; ++i) {
      rte_mbuf* const m = burst_.mbuf[i];
      const std::uint32_t flow = read_frame({datapath::octets(m), m->data_len}).stamp.flow;
      if (!device_.arrive({m, now}, flow, now, copy)) rte_pktmbuf_free(m);
    }
    while (const auto held = device_.depart(now)) send(*held, now, left);
  }
  template <class Left>
  void drain(std::uint64_t now, const Left& left) {
    while (const auto held = device_.drain()) send(*held, now, left);
  }
  [[nodiscard]] std::uint64_t next_ready() const { return device_.next_ready(); }
  [[nodiscard]] const DeviceCounts& counts() const { return device_.counts(); }

 private:
  template <class Left>
  void send(Held held, std::uint64_t now, const Left& left) {
    // The caller polls the sink before the ring can fill.
    if (held.mbuf == nullptr || rte_eth_tx_burst(bench_.after->id(), 0, &held.mbuf, 1) != 1) {
      rte_pktmbuf_free(held.mbuf);
      return;
    }
    left(now - held.arrived_ns);
  }

  SyntheticDevice<Held> device_;
  const Bench& bench_;
  datapath::Burst burst_;
};

std::array<std::uint64_t, kPercents.size()> percentiles_of(const Histogram& histogram) {
  std::array<std::uint64_t, kPercents.size()> values{};
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = histogram.percentile(kPercents[i]);
  return values;
}

// Time jumps from event to event: a packet is sent exactly when due, so its stay in the device is its latency.
ExactResult exact_part(const Bench& bench) {
  constexpr double kRate = 1e6;
  PacketMaker packets = make_packets();
  Generator generator({.port = bench.before->id(), .pool = bench.pool.get(), .packets = kExactPackets}, packets,
                      Schedule(Poisson{}, kRate, 7), in_turn());
  DeviceStage device({.seed = 11,
                      .loss = 0.01,
                      .duplication = 0.005,
                      .reordering = 0.005,
                      .capacity = 1.1 * kRate,
                      .delay_ns = 50'000,
                      .jitter_ns = 100'000,
                      .queue = 192,
                      .flows = kFlows},
                     bench);
  Sink sink({.port = bench.after->id(), .flows = kFlows, .run = kRun});
  std::vector<std::uint64_t> stays;
  stays.reserve(kExactPackets * 2);
  const auto left = [&](std::uint64_t stay) { stays.push_back(stay); };
  std::uint64_t now = 1'000'000;
  generator.start(now);
  const auto turn = [&] {
    while (generator.poll(now) != 0) {
    }
    device.poll(now, left);
    while (sink.poll([&] { return now; }) != 0) {
    }
  };
  while (!generator.finished() || device.next_ready() != kNever) {
    now = std::max(now, std::min(generator.finished() ? kNever : generator.next_due(), device.next_ready()));
    turn();
  }
  device.drain(now, left);
  turn();

  std::sort(stays.begin(), stays.end());
  ExactResult result{.sent = generator.stats().sent.get(), .device = device.counts(), .sink = sink.checker().total()};
  result.latency.sink_ns = percentiles_of(sink.latency());
  for (std::size_t i = 0; i < kPercents.size(); ++i) {
    const auto rank = static_cast<std::size_t>(kPercents[i] / 100 * static_cast<double>(stays.size()) + 0.5);
    result.latency.truth_ns[i] = stays[std::clamp<std::size_t>(rank, 1, stays.size()) - 1];
  }
  return result;
}

// Sends as much as possible for `seconds`; returns the Mpps that left.
double flat_out(const Bench& bench, const Port& out, double seconds, bool with_sink) {
  PacketMaker packets = make_packets();
  Generator generator({.port = out.id(), .pool = bench.pool.get()}, packets, Schedule(Constant{}, 1e9, 1), in_turn());
  Sink sink({.port = bench.before->id(), .flows = kFlows, .run = kRun});
  const MonotonicClock clock;
  const std::uint64_t begin = clock();
  generator.start(begin);
  std::uint64_t now = begin;
  for (const auto end = begin + static_cast<std::uint64_t>(seconds * 1e9); now < end; now = clock()) {
    generator.poll(now);
    if (with_sink) sink.poll(clock);
  }
  generator.end(0);  // frees held packets; that the generator fell behind is intended here
  while (sink.poll(clock) != 0) {
  }
  const std::uint64_t done = with_sink ? sink.stamped() : generator.stats().sent.get();
  return static_cast<double>(done) / static_cast<double>(now - begin) * 1e3;
}

RateResult at_rate(const Bench& bench, double rate, double seconds) {
  PacketMaker packets = make_packets();
  const auto length = static_cast<std::uint64_t>(seconds * 1e9);
  Generator generator({.port = bench.before->id(), .pool = bench.pool.get(), .duration_ns = length}, packets,
                      Schedule(Constant{}, rate, 1), in_turn());
  Sink sink({.port = bench.before->id(), .flows = kFlows, .run = kRun});
  const MonotonicClock clock;
  generator.start(clock());
  while (!generator.finished()) {
    generator.poll(clock());
    sink.poll(clock);
  }
  while (sink.poll(clock) != 0) {
  }
  const std::uint64_t took = generator.last_sent_ns() - generator.started_ns();
  RateResult result{.asked = rate, .sent = generator.stats().sent.get(), .late = generator.stats().late.get()};
  result.measured = static_cast<double>(result.sent - 1) / static_cast<double>(took) * 1e9;
  result.lost = sink.checker().total().lost_of(result.sent);
  result.latency_ns = percentiles_of(sink.latency());
  return result;
}

RateResult through_capacity(const Bench& bench, double capacity, double seconds) {
  PacketMaker packets = make_packets();
  const auto length = static_cast<std::uint64_t>(seconds * 1e9);
  Generator generator({.port = bench.before->id(), .pool = bench.pool.get(), .duration_ns = length}, packets,
                      Schedule(Constant{}, 2 * capacity, 1), in_turn());
  // A queue of an eighth of a second: the device has work while this machine takes the core away.
  const auto queue = static_cast<std::uint32_t>(std::clamp(capacity / 8, 64.0, 16384.0));
  DeviceStage device({.capacity = capacity, .queue = queue, .flows = kFlows}, bench);
  Sink sink({.port = bench.after->id(), .flows = kFlows, .run = kRun});
  const MonotonicClock clock;
  const auto nothing = [](std::uint64_t) {};
  generator.start(clock());
  while (!generator.finished() || device.next_ready() != kNever) {
    const std::uint64_t now = clock();
    generator.poll(now);
    device.poll(now, nothing);
    while (sink.poll(clock) != 0) {
    }
  }
  RateResult result{.asked = capacity, .sent = generator.stats().sent.get(), .late = generator.stats().late.get()};
  result.lost = sink.checker().total().lost_of(result.sent);
  result.measured =
      static_cast<double>(sink.stamped() - 1) / static_cast<double>(sink.last_ns() - sink.first_ns()) * 1e9;
  result.latency_ns = percentiles_of(sink.latency());
  return result;
}

}  // namespace

double Percentiles::worst() const {
  double worst = 0;
  for (std::size_t i = 0; i < truth_ns.size(); ++i) {
    const double off = std::abs(static_cast<double>(sink_ns[i]) - static_cast<double>(truth_ns[i]));
    worst = std::max(worst, off / std::max(static_cast<double>(truth_ns[i]) / 100, 1000.0));
  }
  return worst;
}

bool ExactResult::good() const {
  return sent == kExactPackets && device.received == sent && sink.unique == sent - device.lost - device.overflowed &&
         sink.duplicates == device.duplicated && sink.reordered == device.reordered && sink.too_old == 0 &&
         latency.worst() <= 1;
}

Expected<SelfTestResult> run_self_test(double seconds) {
  auto bench = Bench::make();
  if (!bench) return tl::unexpected(bench.error());
  SelfTestResult result;
  result.exact = exact_part(*bench);
  result.ceiling.pair_mpps = flat_out(*bench, *bench->before, seconds, true);
  result.ceiling.generator_mpps = flat_out(*bench, *bench->null, seconds, false);
  const double rate = std::floor(result.ceiling.pair_mpps * 1e6 / 5);
  result.rate = at_rate(*bench, rate, seconds);
  result.capacity = through_capacity(*bench, std::min(std::floor(rate / 4), kMostCapacity), seconds);
  return result;
}

}  // namespace splitplane::traffic
