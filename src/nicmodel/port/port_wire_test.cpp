// A DPDK port as the model's wire. Captures of net_pcap, and a net_ring loop, go through the ring driver and back,
// without losing a frame or mbuf.
#include "nicmodel/port/port_wire.h"

#include <gtest/gtest.h>
#include <pcap/pcap.h>
#include <rte_eal.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <set>

#include "engine/eal.h"
#include "engine/port.h"
#include "nicmodel/test_ring_driver.h"
#include "nicmodel/traffic_peer.h"

namespace splitplane::nicmodel {
namespace {

namespace fs = std::filesystem;
using test::RingDriver;
using Octets = std::vector<std::uint8_t>;

class DpdkEnvironment : public testing::Environment {
 public:
  void SetUp() override {
    auto eal = datapath::Eal::start({.file_prefix = "splitplane-port-wire-" + std::to_string(getpid()),
                                     .megabytes = 128,
                                     .hugepages = false,
                                     .worker_cores = {}});
    ASSERT_TRUE(eal) << eal.error().message;
    eal_.emplace(std::move(*eal));
    runtime_ = rte_eal_get_runtime_dir();
  }
  void TearDown() override {
    eal_.reset();
    std::error_code ignored;
    if (!runtime_.empty()) fs::remove_all(runtime_, ignored);
  }

 private:
  std::optional<datapath::Eal> eal_;
  fs::path runtime_;
};

[[maybe_unused]] testing::Environment* const environment = testing::AddGlobalTestEnvironment(new DpdkEnvironment);

class PortWireTest : public testing::Test {
 protected:
  void SetUp() override {
    static int n = 0;
    folder_ = fs::temp_directory_path() / ("splitplane-port-wire-" + std::to_string(getpid()) + std::to_string(n));
    fs::create_directories(folder_);
    pool_ = rte_pktmbuf_pool_create(("port_wire" + std::to_string(n++)).c_str(), 1023, 0, 0,
                                    2048 + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
    ASSERT_NE(pool_, nullptr);
  }
  void TearDown() override {
    EXPECT_EQ(rte_mempool_in_use_count(pool_), 0U) << "mbufs did not return to their pool";
    rte_mempool_free(pool_);
    fs::remove_all(folder_);
  }
  static Octets frame(std::uint32_t i) {
    Octets octets = TrafficPeer::udp_header(i % 7, 60 + i * 11);
    octets.resize(60 + i * 11, static_cast<std::uint8_t>(i));
    return octets;
  }
  void write(const fs::path& path, std::uint32_t frames) {
    pcap_t* const dead = pcap_open_dead(DLT_EN10MB, 65535);
    pcap_dumper_t* const file = pcap_dump_open(dead, path.c_str());
    for (std::uint32_t i = 0; i < frames; ++i) {
      pcap_pkthdr header{};
      const Octets octets = frame(i);
      header.caplen = header.len = static_cast<bpf_u_int32>(octets.size());
      pcap_dump(reinterpret_cast<u_char*>(file), &header, octets.data());
    }
    pcap_dump_close(file);
    pcap_close(dead);
  }
  static std::multiset<Octets> read(const fs::path& path) {
    char why[PCAP_ERRBUF_SIZE] = {};
    pcap_t* const file = pcap_open_offline(path.c_str(), why);
    std::multiset<Octets> all;
    pcap_pkthdr* header = nullptr;
    const u_char* data = nullptr;
    while (file != nullptr && pcap_next_ex(file, &header, &data) == 1) all.emplace(data, data + header->caplen);
    if (file != nullptr) pcap_close(file);
    return all;
  }
  fs::path folder_;
  rte_mempool* pool_ = nullptr;
};

TEST_F(PortWireTest, what_a_port_receives_goes_through_the_driver_and_out_of_the_port) {
  constexpr std::uint32_t kFrames = 100;
  write(folder_ / "in.pcap", kFrames);
  {
    auto port = datapath::Port::open({.name = "wire",
                                      .device = "net_pcap0,rx_pcap=" + (folder_ / "in.pcap").string() +
                                                ",tx_pcap=" + (folder_ / "out.pcap").string()},
                                     pool_);
    ASSERT_TRUE(port) << port.error().message;
    PortWire wire((*port)->id(), 0, pool_);
    Nic82599Model model(wire);
    RingDriver driver(model, 4, {});
    ASSERT_TRUE(driver.up(model));
    for (std::uint64_t now = 1000; now < 1'000'000 && model.counters().left.get() < kFrames; now += 1000) {
      model.step(32, now);
      driver.set().step(now);
    }
    EXPECT_EQ(model.counters().left.get(), kFrames);
    EXPECT_EQ(model.faults().total(), 0U);
    EXPECT_EQ(wire.no_mbuf(), 0U);
  }
  std::multiset<Octets> wanted;
  for (std::uint32_t i = 0; i < kFrames; ++i) wanted.insert(frame(i));
  EXPECT_EQ(read(folder_ / "out.pcap"), wanted);
}

// A DPDK port returns frames without their padding. On a wire no frame is shorter than 60 octets.
TEST_F(PortWireTest, short_frames_of_a_port_are_padded) {
  auto port = datapath::Port::open({.name = "short", .device = "net_ring1"}, pool_);
  ASSERT_TRUE(port) << port.error().message;
  PortWire wire((*port)->id(), 0, pool_);
  const Octets arp(42, 0x5A);
  const Octets whole = frame(1);
  std::vector<WireFrame> frames(32, {arp.data(), 42});
  frames[7] = {whole.data(), static_cast<std::uint32_t>(whole.size())};
  ASSERT_EQ(wire.leave(frames.data(), 32, 0), 32U);
  std::array<WireFrame, 32> back;
  ASSERT_EQ(wire.arrive(back.data(), 32, 0), 32U);
  Octets padded = arp;
  padded.resize(60);
  for (std::uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(Octets(back[i].octets, back[i].octets + back[i].bytes), i == 7 ? whole : padded) << i;
  }
  // And the model takes them.
  ASSERT_EQ(wire.leave(frames.data(), 32, 0), 32U);
  Nic82599Model model(wire);
  RingDriver driver(model, 1, {});
  ASSERT_TRUE(driver.up(model));
  for (std::uint64_t now = 1000; now < 100'000 && model.counters().arrived.get() < 32; now += 1000) model.step(32, now);
  EXPECT_EQ(model.counters().delivered.get(), 32U);
  EXPECT_EQ(model.counters().dropped_of(NicDrop::length), 0U);
}

// The port's far end is a ring that it reads itself, so frames that leave arrive again.
TEST_F(PortWireTest, an_exhausted_pool_holds_frames_back_and_loses_none) {
  auto port = datapath::Port::open({.name = "loop", .device = "net_ring0"}, pool_);
  ASSERT_TRUE(port) << port.error().message;
  PortWire wire((*port)->id(), 0, pool_);
  std::vector<Octets> octets;
  for (std::uint32_t i = 0; i < 32; ++i) octets.push_back(frame(i));
  std::vector<WireFrame> frames;
  for (const Octets& o : octets) frames.push_back({o.data(), static_cast<std::uint32_t>(o.size())});
  EXPECT_EQ(wire.leave(frames.data(), 32, 0), 32U);
  std::vector<rte_mbuf*> taken(1023);
  unsigned n = 0;
  while ((taken[n] = rte_pktmbuf_alloc(pool_)) != nullptr) ++n;
  EXPECT_EQ(wire.leave(frames.data(), 5, 0), 0U);
  EXPECT_EQ(wire.no_mbuf(), 5U);
  rte_pktmbuf_free_bulk(taken.data(), n);
  EXPECT_EQ(wire.leave(frames.data(), 5, 0), 5U);
  std::array<WireFrame, 32> back;
  std::uint32_t total = 0;
  while (const std::uint32_t got = wire.arrive(back.data(), 32, 0)) {
    for (std::uint32_t i = 0; i < got; ++i, ++total) {
      EXPECT_EQ(Octets(back[i].octets, back[i].octets + back[i].bytes), octets[total % 32]) << total;
    }
  }
  EXPECT_EQ(total, 37U);
}

}  // namespace
}  // namespace splitplane::nicmodel
