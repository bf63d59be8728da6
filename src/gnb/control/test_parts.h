// For tests only: the parts of an instance, wired as an instance wires them, on DPDK ports without a cable. The workers
// do not run, so they execute commands inline.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "gnb/control/parts.h"
#include "n3/test_frames.h"
#include "ran/control/bearer_json.h"

namespace splitplane::gnb::test {

using datapath::test::Bytes;

inline const IpAddress kUpf = IpAddress::v4({10, 100, 0, 2});
inline const IpAddress kOtherUpf = IpAddress::v4({10, 100, 0, 3});
inline constexpr MacAddress kUpfMac = datapath::test::kUpfMac;

// Workers w0 (shards 0 to 3) and w1 (shards 4 to 7) on ports n3 and air, with four bearers a shard.
// What a request with these params changes.
inline BearerPatch patch(const Json& params) {
  Params reader(params);
  const BearerPatch read = read_patch(reader);
  EXPECT_EQ(reader.fault(), std::nullopt);
  return read;
}

inline GnbConfig small_config() {
  GnbConfig config;
  config.file_prefix = "test";
  config.sysfs_root = "/nonexistent";
  config.max_bearers = 4 * ran::kShards;
  config.foreign_teids = 16;
  config.memory = {.megabytes = 64, .mbufs = 1023};
  for (const char* name : {"n3", "air"}) {
    PortConfig port;
    port.name = name;
    port.device = std::string("net_null_") + name;
    port.rx_queues = port.tx_queues = 2;
    config.ports.push_back(port);
  }
  N3Config n3;
  n3.port = "n3";
  n3.ipv4 = IpAddress::v4({10, 100, 0, 1});
  config.n3.push_back(n3);
  AirConfig air;
  air.port = "air";
  config.air.push_back(air);
  for (unsigned i = 0; i < 2; ++i) {
    WorkerConfig worker;
    worker.name = "w" + std::to_string(i);
    worker.core = i;
    worker.n3 = "n3";
    worker.air = "air";
    worker.queue = static_cast<std::uint16_t>(i);
    worker.shard_first = 4 * i;
    worker.shard_last = 4 * i + 3;
    worker.max_copies = 64;
    config.workers.push_back(worker);
  }
  return config;
}

// w1 is behind a dispatching worker `d`.
inline GnbConfig with_dispatcher(GnbConfig config = small_config()) {
  WorkerConfig d;
  d.name = "d";
  d.core = 2;
  d.function = WorkerConfig::Function::kDispatch;
  d.n3 = "n3";
  d.air = "air";
  d.to = {"w1"};
  config.workers.push_back(d);
  return config;
}

// A card `card0` whose VFs are the ports n3 and air; it never answers.
inline GnbConfig with_card(GnbConfig config = small_config()) {
  CardLinkConfig card;
  card.name = "card0";
  card.control = "/nonexistent/card.sock";
  card.vfs = {"n3", "air"};
  card.n3 = "n3";
  card.air = "air";
  config.cards.push_back(card);
  return config;
}

inline ran::BearerConfig bearer(std::uint32_t uplink_teid, const IpAddress& upf = kUpf) {
  ran::BearerConfig config;
  config.upf = upf;
  config.uplink_teid = Teid{uplink_teid};
  return config;
}

struct Parts : gnb::Parts {
  using gnb::Parts::Parts;

  // As Instance::build(), without loops and threads of links.
  Expected<void> make() {
    if (auto made = wiring.make(workers, peers); !made) return made;
    n3_ = &peers.interfaces(control.lock()).front();
    if (auto opened = numbers.open(false); !opened) return opened;
    const auto port_id = [this](const std::string& port) { return wiring.ports().at(port)->id(); };
    if (auto connected = cards.connect(port_id, numbers.for_cards()); !connected) return connected;
    return bearers.restore(config.journal);
  }
  WorkerRuntime& worker(std::size_t i) { return *workers.all()[i]; }
  // Takes no lock: a call may have a lock among its other arguments, and compilers differ in their order.
  N3Interface& n3_interface() { return *n3_; }

 private:
  N3Interface* n3_ = nullptr;  // the first one, from make() on
};

class PartsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/splitplane-gnb-XXXXXX";
    folder_ = ::mkdtemp(name);
    make(small_config());
  }
  void TearDown() override {
    end();
    std::filesystem::remove_all(folder_);
  }
  // In place of what there was.
  void make(GnbConfig config) {
    end();
    parts_ = std::make_unique<Parts>(std::move(config));
    const auto made = parts_->make();
    ASSERT_TRUE(made) << made.error().message;
  }
  void end() {
    if (!parts_) return;
    parts_->cards.end();
    parts_->numbers.stop();
    parts_->taps.end(parts_->control.lock());
    parts_->numbers.close(parts_->control.lock());
    parts_.reset();
  }
  Expected<ran::BearerConfig> add(const ran::BearerConfig& config, std::optional<unsigned> shard = {}) {
    auto added = parts_->bearers.add({&config, 1}, shard);
    if (!added) return tl::unexpected(added.error());
    return added->bearers.front();
  }
  [[nodiscard]] std::size_t bearers_towards(const IpAddress& upf) {
    return PeerTable::bearers_towards(parts_->n3_interface(), upf);
  }

  std::filesystem::path folder_;
  std::unique_ptr<Parts> parts_;
};

// As long as it lives the worker answers no command, as one whose thread hangs.
class Hanging {
 public:
  explicit Hanging(WorkerRuntime& worker) : worker_(worker) {
    worker_.thread.running = true;
    worker_.silent_seconds = 5;
  }
  ~Hanging() {
    worker_.thread.running = false;
    worker_.silent_seconds = 0;
  }
  Hanging(const Hanging&) = delete;
  Hanging& operator=(const Hanging&) = delete;

 private:
  WorkerRuntime& worker_;
};

// A frame as a worker hands it over.
inline void punt(WorkerRuntime& worker, const Bytes& frame) {
  rte_mbuf* m = rte_pktmbuf_alloc(worker.gnb->pool);
  std::copy(frame.begin(), frame.end(), rte_pktmbuf_append(m, static_cast<std::uint16_t>(frame.size())));
  ASSERT_EQ(rte_ring_sp_enqueue(worker.gnb->punt.rings.front(), m), 0);
}

// What the control thread gave this worker to send.
inline std::vector<Bytes> injected(WorkerRuntime& worker) {
  std::vector<Bytes> frames;
  void* packet = nullptr;
  while (rte_ring_sc_dequeue(worker.gnb->inject, &packet) == 0) {
    auto* m = static_cast<rte_mbuf*>(packet);
    const auto* at = rte_pktmbuf_mtod(m, const std::uint8_t*);
    frames.emplace_back(at, at + m->data_len);
    rte_pktmbuf_free(m);
  }
  return frames;
}

// The ARP answer that tells us where `ip` is.
inline Bytes arp_answer(const IpAddress& ip, const MacAddress& mac, const datapath::OwnAddresses& own) {
  // It is asked as that host, by us: the answer of our own code has the right form.
  const datapath::OwnAddresses host{.ipv4 = ip, .mac = mac};
  const auto question = datapath::make_neighbor_request(ip, own);
  return *datapath::handle_neighbor_frame(*question, host).answer;
}

}  // namespace splitplane::gnb::test
