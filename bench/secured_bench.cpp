// What a secured bearer costs in the downlink path: frames from N3 with GTP-U become RLC PDUs behind airhdr, in bursts
// of 32 packets of 64 K bearers with their own keys, on one core. Beside it, in turns, the same path of bearers without
// security. `ring`: as many buffers as a NIC's ring has, so that the packets are in the cache; `cold`: they are not.
// Results are medians in nanoseconds per packet. Prints one JSON object.
#include <fmt/format.h>
#include <rte_cycles.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <random>

#include "bench_keys.h"
#include "host_pass.h"
#include "on_core.h"
#include "quiet.h"
#include "secured/worker_pdcp.h"

namespace splitplane::bench {
namespace {

constexpr std::uint32_t kBearerCount = 65536, kPerKey = 32, kPackets = 32768;
constexpr std::uint32_t kPerShard = kBearerCount / ran::kShards;

struct Kind {
  const char* name;
  std::optional<ran::SecurityConfig> security;
};
const Kind kKinds[] = {
    {"plain", {}},
    {"nea0", ran::SecurityConfig{.cipher = ran::Cipher::kNea0, .integrity = ran::Integrity::kNone}},
    {"nea2", ran::SecurityConfig{.cipher = ran::Cipher::kNea2, .integrity = ran::Integrity::kNone}},
    {"nia2+nea2", ran::SecurityConfig{.cipher = ran::Cipher::kNea2, .integrity = ran::Integrity::kNia2}}};

struct Place {
  const char* name;
  unsigned buffers;
};
constexpr Place kPlaces[] = {{"ring", 1024}, {"cold", 32768}};

// Puts a buffer back to how it came from N3, and takes all packets at once.
struct LongSink {
  const FrameTemplate* frame = nullptr;
  unsigned bytes = 0;

  void restore(rte_mbuf* m) const {
    m->data_off = RTE_PKTMBUF_HEADROOM;
    m->data_len = static_cast<std::uint16_t>(bytes);
    m->pkt_len = bytes;
    auto* const octets = rte_pktmbuf_mtod(m, std::uint8_t*);
    std::memcpy(octets, frame->head.data(), 58);
    // Its bearer's number: RLC uses hash.usr.
    const std::uint32_t number = m->vlan_tci_outer;
    const ShardId shard{static_cast<std::uint8_t>(number / kPerShard)};
    const std::uint32_t teid = __builtin_bswap32(ran::make_teid(1, shard, number % kPerShard));
    std::memcpy(octets + 46, &teid, 4);
  }
  unsigned send(rte_mbuf** mbufs, unsigned n) const {
    for (unsigned i = 0; i < n; ++i) restore(mbufs[i]);
    return n;
  }
};

// A worker with 64 K bearers of one kind.
class Worker {
 public:
  Worker(const Kind& kind, rte_mempool* pool, const std::shared_ptr<datapath::BearerKeys>& keys) : name_(kind.name) {
    context_->n3.ipv4 = __builtin_bswap32(0x0a640001);
    context_->n3.source_mask = ~0U;
    context_->pool = pool;
    context_->air_frame_bytes = 2000;  // an air that takes the largest SDU
    context_->air_header = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 1, 0x88, 0xb5};
    if (kind.security) {
      context_->pdcp = value_of(datapath::WorkerPdcp::create(
          {.pool = pool, .ticks_per_ms = rte_get_tsc_hz() / 1000, .now = rte_rdtsc()}, keys));
    }
    for (unsigned shard = 0; shard < ran::kShards; ++shard) {
      const ShardId id{static_cast<std::uint8_t>(shard)};
      const std::size_t first = std::size_t{shard} * kPerShard;
      if (kind.security) context_->secured_bearers.attach(id, kPerShard);
      for (std::uint32_t i = 0; i < kPerShard; ++i) add(kind, ran::make_teid(1, id, i), first + i);
      context_->bearers.attach(id,
                               {downlink_.data() + first, uplink_.data() + first, drops_.data() + first, kPerShard});
    }
  }
  ~Worker() {
    for (const std::uint32_t id : ids_) {
      if (auto* const one = context_->pdcp ? context_->secured_bearers.find(id) : nullptr) context_->pdcp->detach(*one);
    }
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Nanoseconds per packet from the G-PDU to the frame on air, with the sink.
  double pass(rte_mbuf** mbufs, unsigned count, const LongSink& sink) {
    datapath::GnbDownlink<FeatureSet::mat, LongSink, datapath::SampledCycles> downlink(*context_, sink, sink);
    const std::uint64_t sent = context_->stats.transmitted_air.get();
    datapath::Burst burst;
    const std::uint64_t begin = rte_rdtsc_precise();
    for (unsigned done = 0; done < kPackets; done += count) {
      for (unsigned at = 0; at < count; at += datapath::kBurst) {
        burst.size = datapath::kBurst;
        std::memcpy(burst.mbuf.data(), mbufs + at, sizeof(rte_mbuf*) * datapath::kBurst);
        burst.ahead = mbufs + (at + datapath::kBurst) % count;
        burst.ahead_size = datapath::kBurst;
        downlink.process(burst);
      }
    }
    const double cycles = static_cast<double>(rte_rdtsc_precise() - begin);
    if (context_->stats.transmitted_air.get() - sent != kPackets)
      throw std::runtime_error(fmt::format("{}: {} packets were dropped", name_, context_->stats.dropped()));
    return cycles * 1e9 / static_cast<double>(rte_get_tsc_hz()) / kPackets;
  }
  [[nodiscard]] const char* name() const { return name_; }

 private:
  void add(const Kind& kind, std::uint32_t id, std::size_t at) {
    ran::BearerConfig config{.id = BearerId{id},
                             .uplink_teid = Teid{id},
                             .upf = IpAddress::v4({10, 100, 0, 2}),
                             .rlc_mode = RlcMode::kUm,
                             .rlc_sn_bits = 12,
                             .security = kind.security};
    if (config.security) {
      config.security->key = static_cast<std::uint32_t>(1 + at / kPerKey);
      config.security->drb = static_cast<std::uint8_t>(1 + at % kPerKey);
    }
    if (const auto why = ran::refuse(config)) throw std::runtime_error(*why);
    downlink_[at] = ran::make_downlink(config);
    uplink_[at] = ran::make_uplink(config, PeerId{0});
    ids_.push_back(id);
    if (context_->pdcp)
      context_->secured_bearers.exchange(id, value_of(context_->pdcp->make(config, Count{0}, Count{0})));
  }

  const char* name_;
  std::unique_ptr<datapath::GnbContext> context_ = std::make_unique<datapath::GnbContext>();
  std::vector<ran::BearerDownlink> downlink_ = std::vector<ran::BearerDownlink>(kBearerCount);
  std::vector<ran::BearerUplink> uplink_ = std::vector<ran::BearerUplink>(kBearerCount);
  std::vector<ran::BearerDrops> drops_ = std::vector<ran::BearerDrops>(kBearerCount);
  std::vector<std::uint32_t> ids_;
};

double median(std::vector<double>& of) {
  const auto middle = of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2);
  std::nth_element(of.begin(), middle, of.end());
  return *middle;
}

nlohmann::json run(unsigned repeats, const std::vector<std::uint32_t>& sizes) {
  rte_mempool* const pool = rte_pktmbuf_pool_create("bench", kPlaces[1].buffers + 1023, 32, 0, 2304, SOCKET_ID_ANY);
  if (pool == nullptr) throw std::runtime_error("no memory for the bench's pool");
  const BenchKeys file(kBearerCount / kPerKey);
  const auto keys = file.open();
  std::vector<std::unique_ptr<Worker>> workers;
  for (const Kind& kind : kKinds) workers.push_back(std::make_unique<Worker>(kind, pool, keys));
  std::vector<rte_mbuf*> mbufs(kPlaces[1].buffers);
  if (rte_pktmbuf_alloc_bulk(pool, mbufs.data(), kPlaces[1].buffers) != 0) throw std::runtime_error("no buffers");
  std::mt19937 random(7);
  std::shuffle(mbufs.begin(), mbufs.end(), random);
  for (rte_mbuf* m : mbufs) m->vlan_tci_outer = static_cast<std::uint16_t>(random() % kBearerCount);

  nlohmann::json rows = nlohmann::json::array();
  for (const std::uint32_t bytes : sizes) {
    const FrameTemplate frame = make_frame_template({.ipv4 = __builtin_bswap32(0x0a640001)}, 58 + bytes);
    const LongSink sink{&frame, 58 + bytes};
    for (const Place& place : kPlaces) {
      for (unsigned i = 0; i < place.buffers; ++i) {
        sink.restore(mbufs[i]);
        std::memset(rte_pktmbuf_mtod_offset(mbufs[i], std::uint8_t*, 58), 0x45, bytes);
      }
      std::vector<std::vector<double>> ns(workers.size());
      for (unsigned repeat = 0; repeat <= repeats; ++repeat) {
        for (std::size_t w = 0; w < workers.size(); ++w) {
          const double took = workers[w]->pass(mbufs.data(), place.buffers, sink);
          if (repeat != 0) ns[w].push_back(took);  // the first one warms up
        }
      }
      nlohmann::json row{{"packets", place.name}, {"bytes", bytes}};
      for (std::size_t w = 0; w < workers.size(); ++w) row[workers[w]->name()] = median(ns[w]);
      rows.push_back(std::move(row));
    }
  }
  rte_pktmbuf_free_bulk(mbufs.data(), static_cast<unsigned>(mbufs.size()));
  return rows;
}

}  // namespace
}  // namespace splitplane::bench

int main(int argc, char** argv) {
  unsigned repeats = 21, core = 0;
  std::vector<std::uint32_t> sizes{64, 512, 1500};
  CLI::App app{"ns per packet of the downlink, from GTP-U to RLC PDU, with and without security; prints JSON."};
  app.add_option("--repeats", repeats, "passes of each kind, in turns; the result is their median")
      ->check(CLI::Range(1, 1001));
  app.add_option("--core", core, "core to measure on");
  app.add_option("--bytes", sizes, "sizes of the inner packet")->delimiter(',')->check(CLI::Range(20, 1900));
  CLI11_PARSE(app, argc, argv);

  using namespace splitplane::bench;
  return on_core("secured_bench", core, {.file_prefix = "splitsecbench", .megabytes = 256}, [&](bool hugepages) {
    const auto before = measure_jitter(100);
    nlohmann::json report{{"rows", run(repeats, sizes)}};
    const auto after = measure_jitter(100);
    report["hugepages"] = hugepages;
    report["jitter_percent"] = std::max(before.lost_percent, after.lost_percent);
    std::printf("%s\n", report.dump(1).c_str());
  });
}
