// A run with a NIC; the model on its thread plays the NIC. It tests the account from registers that clear when they are
// read. It also tests a NIC that refuses, has no link, does not stop, or is pulled out.
#include "bypass/card_run.h"

#include <gmock/gmock.h>
#include <sys/mman.h>

#include <optional>

#include "gpu/nic/host_memory.h"
#include "gpu/nic/registers_82599.h"
#include "nicmodel/nic_82599_model.h"
#include "nicmodel/traffic_peer.h"

namespace splitplane::bypass {
namespace {

using nicmodel::InjectedFault;
using testing::Contains;
using testing::HasSubstr;

namespace reg = gpu::reg;

// The model, with memory that is mapped for it as VFIO maps it for a NIC.
class Card {
 public:
  explicit Card(nicmodel::Wire& wire) : model(wire) {
    memory.emplace(gpu::HostMemorySettings{.hugepages = false, .map = [this](void* host, std::size_t bytes) {
                                             dma = host;
                                             model.add_memory(host, bytes);
                                             return Expected<void>();
                                           }});
    model.start();
  }
  [[nodiscard]] bool is_off() {
    return (model.read32(reg::kRxctrl) & reg::kRxctrlEnable) == 0 &&
           (model.read32(reg::rxdctl(0)) & reg::kQueueEnable) == 0 && model.read32(reg::kStatus) == 0;
  }

  void* dma = nullptr;
  std::optional<gpu::HostMemory> memory;
  nicmodel::Nic82599Model model;  // destroyed, and so stopped, before the memory
};

nicmodel::PeerSettings packets(std::uint64_t count) {
  return {.flows = 8, .sizes = {64}, .packets = count, .window = 64};
}

// Takes one frame a call, while up to 32 arrive.
class NarrowWire final : public nicmodel::Wire {
 public:
  explicit NarrowWire(nicmodel::TrafficPeer& peer) : peer_(peer) {}
  [[nodiscard]] std::uint32_t arrive(nicmodel::WireFrame* frames, std::uint32_t max, std::uint64_t now_ns) override {
    return peer_.arrive(frames, max, now_ns);
  }
  [[nodiscard]] std::uint32_t leave(const nicmodel::WireFrame* frames, std::uint32_t n, std::uint64_t now_ns) override {
    return peer_.leave(frames, std::min(n, 1U), now_ns);
  }

 private:
  nicmodel::TrafficPeer& peer_;
};

// A NIC of which one counter is one too high, a given number of times.
class MiscountingBar final : public gpu::Bar {
 public:
  MiscountingBar(gpu::Bar& card, std::uint32_t counter, std::uint64_t times = 1)
      : card_(card), counter_(counter), times_(times) {}
  std::uint32_t read32(std::uint32_t offset) override {
    const bool wrong = armed && offset == counter_ && times_ != 0;
    if (wrong) --times_;
    return card_.read32(offset) + (wrong ? 1 : 0);
  }
  void write32(std::uint32_t offset, std::uint32_t value) override { card_.write32(offset, value); }
  std::uint32_t* doorbell(std::uint32_t offset) override { return card_.doorbell(offset); }
  const std::string& name() const override { return card_.name(); }
  bool armed = false;

 private:
  gpu::Bar& card_;
  std::uint32_t counter_;
  std::uint64_t times_;
};

// A NIC that answers with ones after it was brought up, and ignores writes.
class VanishingBar final : public gpu::Bar {
 public:
  explicit VanishingBar(gpu::Bar& card) : card_(card) {}
  std::uint32_t read32(std::uint32_t offset) override { return gone_ ? ~0U : card_.read32(offset); }
  void write32(std::uint32_t offset, std::uint32_t value) override {
    if (!gone_) card_.write32(offset, value);
  }
  std::uint32_t* doorbell(std::uint32_t /*offset*/) override {
    gone_ = true;
    return &nowhere_;
  }
  const std::string& name() const override { return card_.name(); }

 private:
  gpu::Bar& card_;
  bool gone_ = false;
  std::uint32_t nowhere_ = ~0U;
};

TEST(CardRun, every_frame_of_the_link_is_in_the_books) {
  nicmodel::TrafficPeer peer(packets(10'000));
  Card card(peer);
  const auto result = run_on_card({.rings = 2}, card.model, *card.memory, [&](const Live& now) {
    return peer.counters().returned.get() < 10'000 && now.seconds < 20;
  });
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->arrived, 10'000U);
  EXPECT_EQ(result->delivered, 10'000U);
  EXPECT_EQ(result->sent, 10'000U);
  EXPECT_EQ(result->driver_packets, 20'000U);
  EXPECT_TRUE(result->is_sound()) << testing::PrintToString(result->findings);
  EXPECT_EQ(peer.counters().changed.get(), 0U);
  EXPECT_EQ(card.model.faults().total(), 0U);
  EXPECT_TRUE(card.is_off());
  EXPECT_FALSE(card.memory->is_kept());
}

TEST(CardRun, a_run_that_ends_amid_traffic_lets_out_what_is_under_way) {
  nicmodel::TrafficPeer peer({.flows = 8, .window = 256});
  Card card(peer);
  const auto result = run_on_card({.rings = 2}, card.model, *card.memory,
                                  [&](const Live& now) { return now.received < 2000 && now.seconds < 20; });
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_GE(result->arrived, 2000U);
  EXPECT_EQ(result->arrived, peer.counters().sent.get());
  EXPECT_EQ(result->sent, peer.counters().returned.get());
  EXPECT_EQ(result->held, 0U);
  EXPECT_TRUE(result->is_sound()) << testing::PrintToString(result->findings);
}

TEST(CardRun, frames_that_a_dead_link_leaves_with_the_driver_are_in_the_books) {
  nicmodel::TrafficPeer peer({.flows = 8});
  NarrowWire wire(peer);
  Card card(wire);
  bool cut = false;
  const auto result = run_on_card({.rings = 2}, card.model, *card.memory, [&](const Live& now) {
    if (now.received > 500 && !std::exchange(cut, true)) card.model.plug(false);
    return now.link_up && now.seconds < 20;
  });
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(cut);
  EXPECT_GT(result->held, 0U);
  EXPECT_TRUE(result->is_balanced()) << result->delivered << " " << result->sent << " " << result->held;
  EXPECT_FALSE(result->is_sound());
  EXPECT_THAT(result->notes, Contains(HasSubstr("unsent")));
  EXPECT_TRUE(result->slots_sound);
  EXPECT_TRUE(card.is_off());
}

TEST(CardRun, a_count_of_the_card_that_the_engines_do_not_share_is_not_sound) {
  for (const std::uint32_t counter : {reg::kGprc, reg::kGptc, reg::qprc(0), reg::qprdc(0)}) {
    nicmodel::TrafficPeer peer(packets(500));
    Card card(peer);
    MiscountingBar bar(card.model, counter);
    const auto result = run_on_card({}, bar, *card.memory, [&](const Live& now) {
      bar.armed = true;
      return peer.counters().returned.get() < 500 && now.seconds < 20;
    });
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_FALSE(result->is_balanced()) << std::hex << counter;
  }
}

TEST(CardRun, a_card_that_counts_frames_for_ever_does_not_hold_up_the_end) {
  nicmodel::TrafficPeer peer(packets(500));
  Card card(peer);
  MiscountingBar bar(card.model, reg::kGptc, ~0ULL);
  std::chrono::steady_clock::time_point ended;
  const auto result = run_on_card({}, bar, *card.memory, [&](const Live& now) {
    bar.armed = true;
    ended = std::chrono::steady_clock::now();
    return now.received <= 500 && now.seconds < 20;
  });
  EXPECT_LT(std::chrono::steady_clock::now() - ended, std::chrono::seconds(10));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_FALSE(result->is_balanced());
}

TEST(CardRun, what_rings_without_descriptors_drop_is_in_the_books) {
  nicmodel::TrafficPeer peer({.flows = 8, .packets = 20'000});
  NarrowWire wire(peer);
  Card card(wire);
  const auto result = run_on_card({.rings = 2}, card.model, *card.memory, [&](const Live& now) {
    return peer.counters().sent.get() < 20'000 && now.seconds < 20;
  });
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->arrived, 20'000U);
  EXPECT_GT(result->lost(), 0U);
  ASSERT_EQ(result->lost_at_nic.size(), 1U);
  EXPECT_EQ(result->lost_at_nic.front().first, "no_descriptor");
  EXPECT_EQ(result->sent, peer.counters().returned.get());
  EXPECT_TRUE(result->is_sound()) << testing::PrintToString(result->findings);
}

TEST(CardRun, a_card_that_drops_beside_an_idle_receiver_is_named) {
  nicmodel::TrafficPeer peer({.packets_per_s = 2000});
  Card card(peer);
  // It sees the first doorbells and misses all later ones.
  card.model.inject(InjectedFault::loses_receive_doorbell, 0, 1);
  for (int i = 0; i < 500; ++i) card.model.inject(InjectedFault::loses_receive_doorbell, 0);
  const auto result = run_on_card({}, card.model, *card.memory, [](const Live& now) { return now.seconds < 3.5; });
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(result->findings, Contains(HasSubstr("ring 0, receiver: the NIC drops frames")));
  EXPECT_TRUE(result->is_balanced());
  EXPECT_FALSE(result->is_sound());
}

TEST(CardRun, a_card_that_refuses_the_bring_up_ends_the_run_before_it_begins) {
  nicmodel::TrafficPeer peer(packets(500));
  Card card(peer);
  card.model.stick(reg::kEec, reg::kEecPresent, 0);
  int looks = 0;
  const auto result = run_on_card({}, card.model, *card.memory, [&](const Live&) { return ++looks != 0; });
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("EEPROM"));
  EXPECT_EQ(looks, 0);
  EXPECT_EQ(peer.counters().sent.get(), 0U);
  EXPECT_FALSE(card.memory->is_kept());
}

TEST(CardRun, without_a_link_the_card_is_stopped_again) {
  nicmodel::TrafficPeer peer(packets(500));
  Card card(peer);
  card.model.plug(false);
  int waiting = 0;
  const auto result =
      run_on_card({}, card.model, *card.memory, [&](const Live& now) { return now.link_up || ++waiting != 0; },
                  {.link_within = std::chrono::milliseconds(150)});
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("the link did not come up within 150 ms"));
  EXPECT_GT(waiting, 0);
  EXPECT_TRUE(card.is_off());
  EXPECT_FALSE(card.memory->is_kept());
}

TEST(CardRun, a_short_duration_does_not_end_the_wait_for_the_link) {
  nicmodel::TrafficPeer peer(packets(500));
  Card card(peer);
  card.model.plug(false);
  const auto result = run_on_card({}, card.model, *card.memory, [](const Live& now) { return now.seconds < 0.2; },
                                  {.link_within = std::chrono::milliseconds(500)});
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("the link did not come up within 500 ms"));
}

TEST(CardRun, a_user_who_has_seen_enough_ends_the_wait_for_the_link) {
  nicmodel::TrafficPeer peer(packets(500));
  Card card(peer);
  card.model.plug(false);
  const auto result = run_on_card({}, card.model, *card.memory, [](const Live&) { return false; });
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->arrived, 0U);
  EXPECT_TRUE(result->is_sound());
  EXPECT_TRUE(card.is_off());
}

TEST(CardRun, memory_of_a_card_that_does_not_stop_is_never_unmapped) {
  nicmodel::TrafficPeer peer(packets(500));
  Card card(peer);
  const auto result = run_on_card({}, card.model, *card.memory, [&](const Live& now) {
    card.model.stick(reg::rxdctl(0), reg::kQueueEnable, reg::kQueueEnable);
    return peer.counters().returned.get() < 500 && now.seconds < 20;
  });
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(result->findings, Contains(HasSubstr("it may still write to its memory, which is kept")));
  EXPECT_TRUE(result->is_balanced());
  EXPECT_FALSE(result->is_sound());
  EXPECT_TRUE(card.memory->is_kept());
  card.memory.reset();
  EXPECT_EQ(msync(card.dma, 4096, MS_ASYNC), 0) << "unmapped";
}

// STATUS.MASTER_EN says that a request is still under way, even after the flush and both resets.
TEST(CardRun, memory_of_a_card_whose_requests_do_not_end_is_kept) {
  nicmodel::TrafficPeer peer(packets(500));
  Card card(peer);
  const auto result = run_on_card({}, card.model, *card.memory, [&](const Live& now) {
    card.model.stick(reg::kStatus, reg::kStatusMasterEnable, reg::kStatusMasterEnable);
    return peer.counters().returned.get() < 500 && now.seconds < 20;
  });
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(result->findings, Contains(HasSubstr("bus master: register 0x00008")));
  EXPECT_THAT(result->notes, Contains(HasSubstr("the data path was flushed")));
  EXPECT_FALSE(result->is_sound());
  EXPECT_TRUE(card.memory->is_kept());
}

TEST(CardRun, a_card_that_is_pulled_out_before_it_starts_is_named_at_once) {
  nicmodel::TrafficPeer peer(packets(500));
  Card card(peer);
  VanishingBar bar(card.model);
  const auto begin = std::chrono::steady_clock::now();
  const auto result = run_on_card({}, bar, *card.memory, [](const Live&) { return true; });
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(4));
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("its registers read as ones"));
  EXPECT_TRUE(card.memory->is_kept());
}

TEST(CardRun, a_card_that_is_pulled_out_ends_the_run_and_counts_nothing_more) {
  nicmodel::TrafficPeer peer({.flows = 8, .window = 64});
  Card card(peer);
  bool pulled = false;
  const auto result = run_on_card({}, card.model, *card.memory, [&](const Live& now) {
    if (now.received > 1000 && !std::exchange(pulled, true)) card.model.unplug_device();
    return now.seconds < 20;
  });
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(pulled);
  EXPECT_LT(result->seconds, 15);
  EXPECT_THAT(result->findings, Contains(HasSubstr("its registers read as ones")));
  EXPECT_FALSE(result->is_sound());
  EXPECT_LE(result->arrived, peer.counters().sent.get());
  EXPECT_TRUE(card.memory->is_kept()) << "it may only sleep";
}

}  // namespace
}  // namespace splitplane::bypass
