// Placement on machines of two packages, which exist only as files: devices/system/cpu, devices/system/node, bus/pci.
#include "placement/numa_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "card/config/read.h"

namespace splitplane::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
namespace fs = std::filesystem;

// Cores 0 and 1 on node 0, 2 and 3 on node 1; a NIC on each.
class Placement : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/splitplane-test-XXXXXX";
    root_ = ::mkdtemp(name);
    for (unsigned core = 0; core < 4; ++core)
      fs::create_directories(fmt::format("{}/devices/system/cpu/cpu{}/node{}", root_, core, core / 2));
    for (unsigned node = 0; node < 2; ++node) {
      fs::create_directories(fmt::format("{}/devices/system/node/node{}", root_, node));
      const std::string device = fmt::format("{}/bus/pci/devices/0000:{}b:00.0", root_, node + 3);
      fs::create_directories(device);
      std::ofstream(device + "/numa_node") << node << '\n';
    }
  }
  void TearDown() override { fs::remove_all(root_); }

  PlacementPlan plan(const std::string& text) {
    const auto config = Document::parse(text, "t.yaml").and_then(read_card);
    EXPECT_TRUE(config) << config.error().message;
    return config ? plan_placement(*config, root_) : PlacementPlan{};
  }
  std::string root_;
};

std::string card_file(const std::string& device, const std::string& keys) {
  return fmt::format(
      "ports:\n  n3: {{device: \"{}\"}}\n  vf: {{device: \"net_vhost0,iface=/run/v\"}}\n"
      "card: {{program: p4wire, n3: n3, vfs: [vf], wire: {{n3: spread}}, {}}}\n",
      device, keys);
}

TEST_F(Placement, a_card_is_where_its_physical_port_is) {
  const auto p = plan(card_file("0000:4b:00.0", "core: 2"));
  ASSERT_EQ(p.cards.size(), 1U);
  EXPECT_EQ(p.cards[0].node, NumaNode(1));
  EXPECT_EQ(p.cards[0].from, "device 0000:4b:00.0");
  EXPECT_EQ(p.pools.at("vf"), NumaNode(1));
  EXPECT_THAT(p.warnings, IsEmpty());
}

TEST_F(Placement, a_card_whose_loop_is_on_another_package_is_warned_of) {
  const auto p = plan(card_file("0000:3b:00.0", "core: 3"));
  EXPECT_EQ(p.cards[0].node, NumaNode(0));
  EXPECT_THAT(p.warnings, ElementsAre(HasSubstr("worker card0 is on node 1 (core 3), and its card card0 on node 0")));
}

TEST_F(Placement, without_a_pci_device_the_core_says_where_unless_the_file_does) {
  EXPECT_EQ(plan(card_file("net_null0", "core: 2")).cards[0].from, "core 2");
  const auto p = plan(card_file("net_null0", "core: 2, numa: 0"));
  EXPECT_EQ(p.cards[0].node, NumaNode(0));
  EXPECT_EQ(p.cards[0].from, "file");
  EXPECT_EQ(p.warnings.size(), 1U);
}

TEST_F(Placement, a_node_that_the_machine_does_not_have_is_warned_of) {
  EXPECT_THAT(plan(card_file("net_null0", "core: 0, numa: 7")).warnings,
              testing::Contains(HasSubstr("card card0 is to be on node 7, which this machine does not have")));
}

TEST_F(Placement, workers_stand_by_their_cards_and_buffers_by_their_workers) {
  GnbConfig config;
  config.ports = {{.name = "a", .device = "net_vhost0,iface=/run/a"},
                  {.name = "b", .device = "net_vhost1,iface=/run/b"},
                  {.name = "c", .device = "0000:4b:00.0"}};
  config.cards = {{.name = "card0", .control = "x", .vfs = {"a"}, .n3 = "a", .air = "a", .copies = "", .numa = 0},
                  {.name = "card1", .control = "y", .vfs = {"b"}, .n3 = "b", .air = "b", .copies = "", .numa = 1}};
  const auto worker = [](const char* name, unsigned core, const char* port) {
    WorkerConfig w;
    w.name = name;
    w.core = core;
    w.function = WorkerConfig::Function::kL2fwd;
    w.rx = w.tx = port;
    return w;
  };
  config.workers = {worker("w0", 1, "a"), worker("w1", 0, "b"), worker("w2", 0, "c")};
  const auto p = plan_placement(config, root_);
  ASSERT_EQ(p.cards.size(), 2U);
  EXPECT_EQ(p.cards[0].loops[0].name, "w0");
  EXPECT_EQ(p.cards[1].loops[0].name, "w1");
  EXPECT_EQ(p.others[0].name, "w2");
  EXPECT_EQ(p.pools.at("a"), NumaNode(0));
  EXPECT_EQ(p.pools.at("c"), NumaNode(1));  // the node of its device, wherever its worker is
  EXPECT_THAT(p.warnings, ElementsAre(HasSubstr("worker w1 is on node 0 (core 0), and its card card1 on node 1")));
  const std::string text = to_string(p);
  EXPECT_THAT(text, HasSubstr("card1     1  file        w1 (core 0, node 0)  b (node 0)"));
  EXPECT_THAT(text, HasSubstr("without a card: w2 (core 0, node 0)"));
  EXPECT_THAT(text, HasSubstr("warning: worker w1"));
}

TEST_F(Placement, a_machine_that_says_nothing_leaves_nodes_unknown_and_warns_of_nothing) {
  fs::remove_all(root_ + "/devices");
  const auto p = plan(card_file("net_null0", "core: 0"));
  EXPECT_EQ(p.cards[0].node, std::nullopt);
  EXPECT_EQ(p.cards[0].from, "unknown");
  EXPECT_THAT(p.warnings, IsEmpty());
}

}  // namespace
}  // namespace splitplane::app
