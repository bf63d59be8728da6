#include "traffic/control/run.h"

#include <gmock/gmock.h>

#include <thread>

#include "traffic/config/read.h"

namespace splitplane::app {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// A generator and a sink on one thread. Their port is a ring, which returns what is sent to it.
TrafficConfig loop_on(const std::string& device, const std::string& more) {
  auto config = Document::parse("memory: {hugepages: never, mbufs: 4095}\nports: {" + device + ": {device: " + device +
                                    "}}\n" + more,
                                "traffic.yaml")
                    .and_then(read_traffic);
  EXPECT_TRUE(config) << config.error().message;
  return config.value_or(TrafficConfig{});
}

std::string gen_on(const std::string& device) {
  return "gen: {port: " + device +
         ", core: 0, rate: 10000, packets: 200, gnb_ipv4: 10.1.0.1, "
         "bearers: [{id: 0x04000000, count: 2, upf: 10.1.0.2, ue_ipv4: 10.45.0.2}]}\n";
}

template <class Condition>
bool soon(Condition condition) {
  for (int i = 0; i < 2000 && !condition(); ++i) std::this_thread::sleep_for(5ms);
  return condition();
}

TEST(TrafficRun, a_sink_gets_every_packet_of_the_generator_beside_it) {
  const TrafficConfig config = loop_on("net_ring0", gen_on("net_ring0") + "sink: {port: net_ring0, core: 0}\n");
  auto run = TrafficRun::make_on(std::nullopt, config, {});
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_TRUE((*run)->has_generator());
  EXPECT_TRUE((*run)->has_sink());
  ASSERT_NE((*run)->packets(), nullptr);
  (*run)->start();
  EXPECT_TRUE(soon([&] { return (*run)->generated(); }));
  EXPECT_TRUE(soon([&] { return (*run)->sink_stamped() == 200; })) << (*run)->sink_stamped();
  EXPECT_TRUE(soon([&] { return (*run)->received(Clock::now()); })) << "nothing came for a moment";
  (*run)->stop();
  const GeneratorView view = (*run)->generator();
  EXPECT_EQ(view.flows, 2U);
  EXPECT_TRUE(view.downlink);
  EXPECT_FALSE(view.replay);
  (*run)->stop();  // a second call has no effect
}

TEST(TrafficRun, options_come_before_the_configuration) {
  const TrafficConfig config = loop_on("net_ring1", gen_on("net_ring1") + "sink: {port: net_ring1, core: 0}\n");
  TrafficOptions options;
  options.packets = 7;
  auto run = TrafficRun::make_on(std::nullopt, config, options);
  ASSERT_TRUE(run) << run.error().message;
  (*run)->start();
  EXPECT_TRUE(soon([&] { return (*run)->generated() && (*run)->sink_stamped() == 7; })) << (*run)->sink_stamped();
  (*run)->stop();
  EXPECT_EQ((*run)->sink_stamped(), 7U);
}

TEST(TrafficRun, without_a_generator_there_is_nothing_to_wait_for_but_packets) {
  const TrafficConfig config = loop_on("net_ring2", "sink: {port: net_ring2, core: 0, flows: 2}\n");
  auto run = TrafficRun::make_on(std::nullopt, config, {});
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_FALSE((*run)->has_generator());
  EXPECT_TRUE((*run)->generated());
  (*run)->start();
  EXPECT_FALSE((*run)->received(Clock::now() + 1h)) << "a sink without idle_s waits until it is stopped";
  (*run)->stop();
  EXPECT_EQ((*run)->sink_stamped(), 0U);
}

}  // namespace
}  // namespace splitplane::app
