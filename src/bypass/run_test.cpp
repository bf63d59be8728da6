// Short runs of each mode on CPU threads: every packet is accounted for, is in order within its flow, and has the
// octets that the function should have made.
#include "bypass/run.h"

#include <gmock/gmock.h>

#include <cstdio>
#include <utility>

#include "bypass/cpu_drivers.h"
#include "bypass/result_json.h"
#include "gpu/nic/host_memory.h"
#include "gpu/rings/launch.h"

namespace splitplane::bypass {
namespace {

Scenario few_packets(Mode mode, std::uint32_t rings) {
  Scenario s{.mode = mode, .rings = rings, .flows = 32, .window = 64, .packets = 20'000};
  s.seconds = 60;
  s.warm_up_seconds = 0.01;
  return s;
}

void expect_all_back(const Scenario& s) {
  const auto result = run_on_cpu(s);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->sent, s.packets);
  EXPECT_EQ(result->received, s.packets);
  EXPECT_TRUE(result->is_sound()) << to_json(*result).dump();
  EXPECT_EQ(result->lost, 0U);
  EXPECT_EQ(result->latency.total(), s.packets);
  EXPECT_GT(result->doorbells, 0U);
}

TEST(Run, each_mode_returns_every_packet) {
  for (const Mode mode : {Mode::bypass, Mode::plain, Mode::staging}) {
    for (const std::uint32_t rings : {1U, 3U}) expect_all_back(few_packets(mode, rings));
  }
}

TEST(Run, more_rings_than_rss_has_get_a_filter_for_each_flow) {
  expect_all_back(few_packets(Mode::bypass, 20));
}

TEST(Run, each_function_is_judged_by_what_it_should_make) {
  for (const auto function : {FunctionKind::macswap, FunctionKind::gnb_headers, FunctionKind::pdcp_nea2}) {
    for (const Mode mode : {Mode::bypass, Mode::staging}) {
      Scenario s = few_packets(mode, 2);
      s.function = function;
      s.frame_bytes = 512;
      expect_all_back(s);
    }
  }
}

TEST(Run, a_bearer_on_several_rings_is_numbered_once_and_its_disorder_counted) {
  for (const auto function : {FunctionKind::gnb_headers, FunctionKind::pdcp_nea2}) {
    Scenario s = few_packets(Mode::bypass, 4);
    s.function = function;
    s.frame_bytes = 300;
    s.flows = 40;  // more bearers than one UE has
    const auto result = run_on_cpu(s);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(result->received, s.packets);
    EXPECT_EQ(result->corrupt, 0U);
    EXPECT_EQ(result->sn_repeated, 0U);
    EXPECT_EQ(result->sn_missing, 0U);
    EXPECT_TRUE(result->is_sound()) << to_json(*result).dump();
    EXPECT_GT(result->flow_disorder, 0U) << "RSS spreads what has a port of its own for each packet";
  }
}

// A fault in the counting of a warp would have this effect: the frames still decipher.
TEST(Run, a_number_that_is_given_twice_or_left_out_makes_a_run_unsound) {
  for (const auto function : {FunctionKind::gnb_headers, FunctionKind::pdcp_nea2}) {
    Scenario s{.function = function, .rings = 2, .frame_bytes = 200, .flows = 4, .window = 16};
    s.seconds = 0.3;
    BenchWire wire(s);
    gpu::HostMemory provider({.hugepages = false});
    const auto memory = allocate(provider, s);
    ASSERT_TRUE(memory);
    const auto bed = Bed::make(s, *memory, wire);
    ASSERT_TRUE(bed) << bed.error().message;
    GnbBearers bearers(s);
    const auto driver = make_cpu_driver(s, (*bed)->nic(), bearers);
    bool done = false;
    const auto result = run_with(s, wire, **bed, *driver, [&](const Live& now) {
      if (now.seconds > 0.1 && !std::exchange(done, true)) {
        gpu::add_relaxed_on_device(&bearers.lines()[1].numbered, std::uint64_t{3});
        gpu::add_relaxed_on_device(&bearers.lines()[2].numbered, ~std::uint64_t{0});
      }
      return true;
    });
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_TRUE(done);
    EXPECT_EQ(result->corrupt + result->duplicated, 0U);
    EXPECT_EQ(result->missing, 0);
    EXPECT_EQ(result->sn_missing, 3U);
    EXPECT_EQ(result->sn_repeated, 1U);
    EXPECT_FALSE(result->is_sound());
    EXPECT_EQ(to_json(*result)["sn_missing"], 3);
    EXPECT_EQ(to_json(*result)["sn_repeated"], 1);
  }
}

TEST(Run, rss_without_ports_keeps_each_bearers_order) {
  Scenario s = few_packets(Mode::bypass, 4);
  s.function = FunctionKind::gnb_headers;
  s.frame_bytes = 300;
  s.rss_ports = false;
  const auto result = run_on_cpu(s);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->received, s.packets);
  EXPECT_EQ(result->flow_disorder, 0U);
  EXPECT_GT(result->reordered, 0U) << "several rings were at work";
  EXPECT_TRUE(result->is_sound()) << to_json(*result).dump();
}

TEST(Run, filters_give_a_tunnel_one_ring_whatever_its_source_port) {
  Scenario s = few_packets(Mode::bypass, 20);
  s.function = FunctionKind::gnb_headers;
  s.frame_bytes = 300;
  const auto result = run_on_cpu(s);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->received, s.packets);
  EXPECT_EQ(result->flow_disorder, 0U);
  EXPECT_GT(result->reordered, 0U);
  EXPECT_TRUE(result->is_sound()) << to_json(*result).dump();
}

TEST(Run, engines_on_threads_of_their_own_return_every_packet) {
  Scenario s = few_packets(Mode::bypass, 2);
  s.thread_per_engine = true;
  expect_all_back(s);
}

TEST(Run, the_order_of_the_wire_can_be_restored) {
  Scenario s = few_packets(Mode::bypass, 4);
  s.restore_order = true;
  const auto result = run_on_cpu(s);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->received, s.packets);
  EXPECT_EQ(result->reordered, 0U);
  EXPECT_TRUE(result->is_sound()) << to_json(*result).dump();
  s.restore_order = false;
  const auto without = run_on_cpu(s);
  ASSERT_TRUE(without);
  EXPECT_GT(without->reordered, 0U);
}

TEST(Run, overload_loses_only_at_the_nic_and_is_counted) {
  Scenario s = few_packets(Mode::bypass, 1);
  s.packets = 0;
  s.seconds = 0.2;
  s.ring.ring_size = 32;
  s.ring.slots = 64;
  s.packets_per_second = wire_packets_per_second(s.frame_bytes);
  const auto result = run_on_cpu(s);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_GT(result->lost_at_nic, 0U);
  EXPECT_GT(result->received, 0U);
  EXPECT_EQ(result->missing, 0U);
  EXPECT_EQ(result->dropped, 0U);
  EXPECT_TRUE(result->is_sound()) << to_json(*result).dump();
}

// In lock-step, with engines that take no frame: rings run empty, and then the packet buffer takes 512 KiB more.
TEST(Bed, without_drop_en_the_packet_buffer_drops_and_not_the_ring) {
  using nicmodel::NicDrop;
  for (const bool drop_en : {true, false}) {
    Scenario s{.rings = 4, .frame_bytes = 1500, .packets_per_second = 20e6, .drop_en = drop_en};
    BenchWire wire(s);
    gpu::HostMemory provider({.hugepages = false});
    const auto memory = allocate(provider, s);
    ASSERT_TRUE(memory);
    const auto bed = Bed::make(s, *memory, wire);
    ASSERT_TRUE(bed) << bed.error().message;
    gpu::RingSet<gpu::Echo> set((*bed)->rings(), gpu::Echo{}, (*bed)->view().stop);
    set.step(1);
    ASSERT_TRUE((*bed)->open());
    nicmodel::Nic82599Model& model = (*bed)->model();
    for (std::uint64_t now = 1'000; now < 1'000'000; now += 1'000) model.step(32, now);
    const auto dropped = [&](NicDrop why) { return model.counters().dropped[static_cast<std::size_t>(why)].get(); };
    EXPECT_GT(dropped(drop_en ? NicDrop::no_descriptor : NicDrop::packet_buffer_full), 1000U);
    EXPECT_EQ(dropped(drop_en ? NicDrop::packet_buffer_full : NicDrop::no_descriptor), 0U);
    const std::uint64_t delivered = model.counters().delivered.get();
    if (drop_en) {
      EXPECT_EQ(delivered, 4U * 255) << "each ring took what it had descriptors for";
    } else {
      EXPECT_LT(delivered, 4U * 255) << "the first ring without descriptors held up the others";
    }
    ASSERT_TRUE((*bed)->close());
  }
}

TEST(Result, findings_are_kept_once_and_make_a_run_unsound) {
  Result r;
  EXPECT_TRUE(r.is_sound());
  for (int i = 0; i < 3; ++i) note(r.findings, "ring 0, sender: the NIC sends nothing");
  note(r.findings, "ring 1, sender: the NIC sends nothing");
  EXPECT_EQ(r.findings.size(), 2U);
  EXPECT_FALSE(r.is_sound());
}

TEST(Result, an_open_loop_row_counts_only_if_the_generator_kept_its_rate) {
  Result r;
  EXPECT_TRUE(r.kept_rate()) << "a closed loop has no rate";
  r.due = 1'000'000;
  r.sent = 995'000;
  EXPECT_TRUE(r.is_valid());
  r.sent = 994'998;
  EXPECT_TRUE(r.is_sound());
  EXPECT_FALSE(r.is_valid());
  r.sent = 1'000'000;
  r.corrupt = 1;
  EXPECT_FALSE(r.is_valid());
  r = Result{};
  r.due = 3;
  r.sent = 2;  // the third was due a moment ago
  EXPECT_TRUE(r.is_valid());
}

TEST(Run, a_generator_that_falls_behind_is_seen_and_one_that_keeps_its_rate_too) {
  Scenario s = few_packets(Mode::bypass, 1);
  s.packets = 0;
  s.seconds = 0.3;
  s.packets_per_second = 20'000;
  const auto result = run_on_cpu(s);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_NEAR(static_cast<double>(result->due), 6000, 600);
  EXPECT_GT(result->sent, 0U);
  EXPECT_LE(result->sent, result->due + 1);
  const Json json = to_json(*result);
  EXPECT_NEAR(json["sent_of_due"].get<double>(), static_cast<double>(result->sent) / static_cast<double>(result->due),
              1e-12);
  EXPECT_EQ(json["valid"].get<bool>(), result->is_valid());
}

TEST(Check, refuses_a_rate_above_the_wires) {
  Scenario s = few_packets(Mode::bypass, 1);
  s.packets_per_second = 14.88e6;
  EXPECT_TRUE(check(s));
  s.packets_per_second = 14.89e6;
  EXPECT_EQ(check(s).error().message,
            "rate is 14.890 Mpps; allowed is at most 14.881 Mpps, what 10 Gbit/s carry of frames of 64 octets");
  s.packets_per_second = 0.83e6;
  s.frame_bytes = 1500;
  EXPECT_FALSE(check(s));
}

TEST(Check, says_what_is_allowed) {
  Scenario s = few_packets(Mode::bypass, 65);
  EXPECT_EQ(check(s).error().message, "rings is 65; allowed is 1 to 64");
  s = few_packets(Mode::staging, 1);
  s.staging_batch = 256;
  EXPECT_EQ(check(s).error().message, "batch is 256; allowed is 1 to 255, one less than the transmit ring");
  s = few_packets(Mode::bypass, 1);
  s.frame_bytes = 63;
  EXPECT_FALSE(check(s));
  s.frame_bytes = 1519;
  EXPECT_FALSE(check(s));
  s = few_packets(Mode::bypass, 1);
  s.packets_per_second = -1;
  EXPECT_FALSE(check(s));
  s = few_packets(Mode::gpu_e4, 1);
  s.packets_per_second = 1e6;
  EXPECT_FALSE(check(s));
}

TEST(Check, refuses_what_a_mode_would_leave_aside) {
  const auto allowed = [](auto change) {
    std::vector<std::string> modes;
    for (std::size_t m = 0; m < kModeCount; ++m) {
      Scenario s = few_packets(static_cast<Mode>(m), 2);
      change(s);
      if (check(s)) modes.push_back(word_of(s.mode));
    }
    return modes;
  };
  using testing::ElementsAre;
  EXPECT_EQ(allowed([](Scenario&) {}).size(), kModeCount);
  EXPECT_THAT(allowed([](Scenario& s) { s.drop_en = false; }),
              ElementsAre("bypass", "plain", "staging", "gpu-e2", "gpu-staging"));
  EXPECT_THAT(allowed([](Scenario& s) { s.rss_ports = false; }),
              ElementsAre("bypass", "plain", "staging", "gpu-e1", "gpu-e2", "gpu-e3", "gpu-staging"));
  EXPECT_THAT(allowed([](Scenario& s) { s.ring.report_every = 8; }),
              ElementsAre("bypass", "gpu-e1", "gpu-e2", "gpu-e3", "gpu-e4"));
}

TEST(ScenarioJson, comes_back_as_it_was_written) {
  Scenario s = few_packets(Mode::gpu_e2, 4);
  s.function = FunctionKind::pdcp_nea2;
  s.packets_per_second = 2.5e6;
  s.ring.doorbell_every = 8;
  s.window = 1;
  const auto back = scenario_from(to_json(s));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(to_json(*back), to_json(s));
  EXPECT_EQ(back->mode, Mode::gpu_e2);
  EXPECT_EQ(back->ring, s.ring);
  Json broken = to_json(s);
  broken["mode"] = "warp drive";
  EXPECT_FALSE(scenario_from(broken));
  EXPECT_FALSE(scenario_from(Json::object()));
}

TEST(Run, a_nic_that_drops_beside_an_idle_receiver_is_named) {
  Scenario s{.packets_per_second = 2000, .seconds = 3.5, .warm_up_seconds = 0.01};
  BenchWire wire(s);
  gpu::HostMemory provider({.hugepages = false});
  const auto memory = allocate(provider, s);
  ASSERT_TRUE(memory);
  const auto bed = Bed::make(s, *memory, wire);
  ASSERT_TRUE(bed) << bed.error().message;
  // It sees the first doorbells and misses all later ones.
  nicmodel::Nic82599Model& model = (*bed)->model();
  model.inject(nicmodel::InjectedFault::loses_receive_doorbell, 0, 1);
  for (int i = 0; i < 500; ++i) model.inject(nicmodel::InjectedFault::loses_receive_doorbell, 0);
  GnbBearers bearers(s);
  const auto driver = make_cpu_driver(s, (*bed)->nic(), bearers);
  const auto result = run_with(s, wire, **bed, *driver, {});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(result->findings, testing::Contains(testing::HasSubstr("ring 0, receiver: the NIC drops frames")));
}

}  // namespace
}  // namespace splitplane::bypass
