// The receive path alone: filters, lengths, drops, pieces, and which ring blocks which. All frames are accounted for.
// The test passes frames one by one.
#include <gtest/gtest.h>

#include <deque>
#include <numeric>

#include "nicmodel/test_driver.h"
#include "nicmodel/traffic_peer.h"

namespace splitplane::nicmodel {
namespace {

namespace reg = gpu::reg;
using test::EchoDriver;
using Octets = std::vector<std::uint8_t>;

// The frames that a test puts on the wire, and those that it finds there.
class HandWire final : public Wire {
 public:
  std::uint32_t arrive(WireFrame* frames, std::uint32_t max, std::uint64_t) override {
    gone_.clear();
    std::uint32_t n = 0;
    for (; n < max && !in.empty(); ++n) {
      gone_.push_back(std::move(in.front()));
      in.pop_front();
      frames[n] = {gone_.back().data(), static_cast<std::uint32_t>(gone_.back().size())};
    }
    return n;
  }
  std::uint32_t leave(const WireFrame* frames, std::uint32_t n, std::uint64_t) override {
    n = std::min(n, takes);
    for (std::uint32_t i = 0; i < n; ++i) out.emplace_back(frames[i].octets, frames[i].octets + frames[i].bytes);
    return n;
  }
  std::deque<Octets> in, out;
  std::uint32_t takes = 1000;

 private:
  std::deque<Octets> gone_;
};

class Receive : public testing::Test {
 protected:
  void up(std::uint32_t rings, gpu::NicSettings settings = {}) {
    driver_ = std::make_unique<EchoDriver>(model_, rings, std::move(settings));
    ASSERT_TRUE(driver_->up(model_));
  }
  // A frame of flow `flow`, without CRC, filled with its number.
  static Octets frame(std::uint32_t flow, std::uint32_t bytes = 60) {
    Octets octets = TrafficPeer::udp_header(flow, bytes);
    octets.resize(bytes);
    std::iota(octets.begin() + TrafficPeer::kUdpHeaderBytes, octets.end(), static_cast<std::uint8_t>(flow));
    return octets;
  }
  // A flow that RSS gives to `ring`.
  std::uint32_t flow_of(std::uint32_t ring, std::uint32_t rings) {
    for (std::uint32_t flow = 0;; ++flow) {
      Steering steering;
      DriverFaults faults;
      RegisterFile registers({}, faults);
      for (std::uint32_t n = 0; n < 10; ++n) registers.set(reg::rssrk(n), model_.read32(reg::rssrk(n)));
      for (std::uint32_t n = 0; n < 32; ++n) registers.set(reg::reta(n), model_.read32(reg::reta(n)));
      registers.set(reg::kMrqc, model_.read32(reg::kMrqc));
      steering.configure(registers);
      if (const Octets f = frame(flow); steering.steer(f.data(), 60).ring % rings == ring) return flow;
    }
  }
  void rounds(int n) {
    for (int i = 0; i < n; ++i) model_.step();
  }
  [[nodiscard]] std::uint64_t dropped(NicDrop reason) const { return model_.counters().dropped_of(reason); }
  // in = out + dropped + held
  void expect_all_accounted_for() const {
    const NicCounters& c = model_.counters();
    std::uint64_t drops = 0;
    for (std::size_t i = 0; i < kNicDropCount; ++i) drops += c.dropped[i].get();
    drops -= dropped(NicDrop::transmit_descriptor);
    EXPECT_EQ(c.arrived.get(), c.delivered.get() + drops + c.held.get());
    EXPECT_EQ(c.fetched.get(), c.left.get() + dropped(NicDrop::transmit_descriptor));
  }

  HandWire wire_;
  Nic82599Model model_{wire_};
  std::unique_ptr<EchoDriver> driver_;
};

TEST_F(Receive, a_frame_is_written_and_reported) {
  up(1);
  wire_.in.push_back(frame(7, 100));
  rounds(1);
  const gpu::Descriptor& d = driver_->rx(0, 0);
  EXPECT_EQ(d.hi, 100ULL << 32 | 3);  // length, EOP, DD
  EXPECT_EQ(d.lo & 0x1FFFF, 0x217U);  // IPv4, UDP, hashed with ports
  EXPECT_NE(d.lo >> 32, 0U);
  EXPECT_EQ(Octets(driver_->slot(0, 0), driver_->slot(0, 0) + 100), frame(7, 100));
  EXPECT_EQ(driver_->slot(0, 0)[100], 0xA5);  // not an octet more
  EXPECT_EQ(model_.read32(reg::rdh(0)), 1U);
}

TEST_F(Receive, lengths_are_those_of_ethernet) {
  up(1);
  for (const std::uint32_t bytes : {59U, 60U, 1514U, 1515U}) wire_.in.push_back(frame(1, bytes));
  Octets tagged = frame(1, 1514);
  tagged.insert(tagged.begin() + 12, {0x81, 0x00, 0x00, 0x05});
  wire_.in.push_back(tagged);
  rounds(1);
  EXPECT_EQ(dropped(NicDrop::length), 2U);
  EXPECT_EQ(model_.counters().delivered.get(), 3U);
  EXPECT_EQ(model_.read32(reg::kRuc), 1U);
  EXPECT_EQ(model_.read32(reg::kRoc), 1U);
  expect_all_accounted_for();
}

TEST_F(Receive, only_its_own_address_and_broadcast_unless_it_is_promiscuous) {
  for (const bool promiscuous : {false, true}) {
    Nic82599Model model(wire_);
    EchoDriver driver(model, 1, {.promiscuous = promiscuous});
    ASSERT_TRUE(driver.up(model));
    Octets other = frame(1);
    Octets group = frame(1);
    Octets all = frame(1);
    other[5] = 9;
    group[0] = 0x01;
    std::fill_n(all.begin(), 6, 0xFF);
    for (const Octets& f : {frame(1), other, group, all}) wire_.in.push_back(f);
    model.step();
    EXPECT_EQ(model.counters().delivered.get(), promiscuous ? 4U : 2U);
    EXPECT_EQ(model.counters().dropped_of(NicDrop::address), promiscuous ? 0U : 2U);
    EXPECT_EQ(model.read32(reg::kBprc), 1U);
  }
}

TEST_F(Receive, a_ring_without_descriptors_drops_and_holds_up_no_other) {
  up(2, {.descriptors = 8});
  const std::uint32_t first = flow_of(0, 2);
  const std::uint32_t second = flow_of(1, 2);
  for (int i = 0; i < 20; ++i) wire_.in.push_back(frame(first));
  for (int i = 0; i < 5; ++i) wire_.in.push_back(frame(second));
  rounds(2);
  EXPECT_EQ(dropped(NicDrop::no_descriptor), 13U);  // 7 of 8 descriptors are the NIC's
  EXPECT_EQ(model_.counters().delivered.get(), 12U);
  const gpu::NicStatistics& s = driver_->nic().statistics();
  EXPECT_EQ(s.received, 25U);  // counted by the MAC
  EXPECT_EQ(s.ring_received[0], 7U);
  EXPECT_EQ(s.ring_received[1], 5U);
  EXPECT_EQ(s.ring_no_descriptor[0], 13U);
  EXPECT_EQ(s.no_descriptor, 13U);
  expect_all_accounted_for();
}

TEST_F(Receive, without_drop_enable_a_slow_ring_holds_up_all_others) {
  up(2, {.descriptors = 8, .drop_when_empty = false});
  const std::uint32_t first = flow_of(0, 2);
  const std::uint32_t second = flow_of(1, 2);
  for (int i = 0; i < 8; ++i) wire_.in.push_back(frame(first));
  for (int i = 0; i < 3; ++i) wire_.in.push_back(frame(second));
  rounds(2);
  EXPECT_EQ(model_.counters().delivered.get(), 7U);
  EXPECT_EQ(model_.counters().held.get(), 4U);
  // Frames beyond the size of the packet buffer are missed.
  for (int i = 0; i < 400; ++i) wire_.in.push_back(frame(second, 1514));
  rounds(20);
  EXPECT_GT(dropped(NicDrop::packet_buffer_full), 50U);
  EXPECT_EQ(driver_->nic().statistics().missed, dropped(NicDrop::packet_buffer_full));
  expect_all_accounted_for();
  // With descriptors again, all held frames come, in order.
  const std::uint64_t held = model_.counters().held.get();
  for (int i = 0; i < 2000 && model_.counters().held.get() != 0; ++i) {
    driver_->step();
    rounds(1);
  }
  EXPECT_EQ(model_.counters().delivered.get(), 7 + held);
  expect_all_accounted_for();
}

// A reset drops held frames wherever they are in the packet buffer, even over its end.
TEST_F(Receive, a_reset_empties_the_packet_buffer_and_what_is_held_next_is_whole) {
  up(1, {.descriptors = 128, .drop_when_empty = false});
  for (int i = 0; i < 550; ++i) wire_.in.push_back(frame(1, 1514));  // 343 of this length fit
  for (int i = 0; i < 60; ++i) {
    rounds(1);
    if (i >= 10) driver_->step();
    if (wire_.in.empty()) break;
  }
  ASSERT_TRUE(wire_.in.empty());
  ASSERT_EQ(dropped(NicDrop::packet_buffer_full), 0U);
  const std::uint64_t held = model_.counters().held.get();
  ASSERT_GT(held, 550U - 127 - 343);  // 127 went by; the others over its end, and lie on both sides of that
  const std::uint64_t delivered = model_.counters().delivered.get();
  up(1, {.descriptors = 8, .drop_when_empty = false});  // resets
  EXPECT_EQ(dropped(NicDrop::reset), held);
  EXPECT_EQ(model_.counters().held.get(), 0U);
  wire_.out.clear();
  for (int i = 0; i < 20; ++i) wire_.in.push_back(frame(2, 100));
  for (int i = 0; i < 100 && wire_.out.size() < 20; ++i) {
    rounds(1);
    if (i >= 5) driver_->step();
  }
  EXPECT_EQ(model_.counters().delivered.get(), delivered + 20);
  EXPECT_EQ(wire_.out, std::deque<Octets>(20, frame(2, 100)));
  expect_all_accounted_for();
}

TEST_F(Receive, long_frames_come_in_pieces) {
  up(1, {.slot_bytes = 1024});
  wire_.in.push_back(frame(5, 1400));
  rounds(1);
  EXPECT_EQ(driver_->rx(0, 0).hi, 1024ULL << 32 | 1);  // DD, not the end
  EXPECT_EQ(driver_->rx(0, 1).hi, 376ULL << 32 | 3);
  Octets whole(driver_->slot(0, 0), driver_->slot(0, 0) + 1024);
  whole.insert(whole.end(), driver_->slot(0, 1), driver_->slot(0, 1) + 376);
  EXPECT_EQ(whole, frame(5, 1400));
}

TEST_F(Receive, a_buffer_outside_of_dma_memory_is_counted_and_not_written) {
  up(1);
  Octets elsewhere(2048, 0x11);
  driver_->rx(0, 0).lo = reinterpret_cast<std::uintptr_t>(elsewhere.data());
  wire_.in.push_back(frame(1));
  wire_.in.push_back(frame(2));
  rounds(1);
  EXPECT_EQ(elsewhere, Octets(2048, 0x11));
  EXPECT_EQ(model_.faults().of(DriverFault::buffer_address_unknown), 1U);
  EXPECT_EQ(dropped(NicDrop::buffer_unreachable), 1U);
  EXPECT_EQ(Octets(driver_->slot(0, 1), driver_->slot(0, 1) + 60), frame(2));
  expect_all_accounted_for();
}

TEST_F(Receive, packets_to_a_ring_that_is_not_enabled_are_dropped) {
  up(1);
  model_.write32(reg::reta(0), 0x05050505);
  for (std::uint32_t n = 1; n < 32; ++n) model_.write32(reg::reta(n), 0x05050505);
  wire_.in.push_back(frame(1));
  rounds(1);
  EXPECT_EQ(dropped(NicDrop::ring_disabled), 1U);
  expect_all_accounted_for();
}

// --- transmit

TEST_F(Receive, frames_leave_as_the_descriptors_say) {
  up(1);
  gpu::Descriptor* const tx = &driver_->tx(0, 0);
  std::uint8_t* const slot = driver_->slot(0, 10);
  std::iota(slot, slot + 200, std::uint8_t{0});
  tx[0] = gpu::make_tx_data(reinterpret_cast<std::uintptr_t>(slot), 100);
  tx[1] = gpu::make_tx_data(reinterpret_cast<std::uintptr_t>(slot), 20);  // padded to 60
  tx[2] = gpu::make_tx_data(reinterpret_cast<std::uintptr_t>(slot), 50);  // two pieces
  tx[2].hi = (tx[2].hi & ~(gpu::kTxEndOfPacket | 0x3FFFFULL << 46)) | 130ULL << 46;
  tx[3] = gpu::make_tx_data(reinterpret_cast<std::uintptr_t>(slot + 50), 80);
  tx[4] = gpu::make_tx_data(reinterpret_cast<std::uintptr_t>(slot), 70);
  tx[4].hi &= ~gpu::kTxReportStatus;
  tx[5] = gpu::make_tx_data(reinterpret_cast<std::uintptr_t>(slot), 70);
  gpu::ring_doorbell(driver_->nic().transmit_doorbell(0), 6);
  rounds(1);
  ASSERT_EQ(wire_.out.size(), 5U);
  EXPECT_EQ(wire_.out[0], Octets(slot, slot + 100));
  Octets padded(slot, slot + 20);
  padded.resize(60);
  EXPECT_EQ(wire_.out[1], padded);
  EXPECT_EQ(wire_.out[2], Octets(slot, slot + 130));
  for (const int i : {0, 1, 2, 3, 5}) EXPECT_EQ(tx[i].hi, gpu::kTxDone) << i;
  EXPECT_NE(tx[4].hi, gpu::kTxDone);  // its DD was not requested
  EXPECT_EQ(model_.read32(reg::tdh(0)), 6U);
  EXPECT_EQ(driver_->nic().statistics().transmitted, 5U);
  EXPECT_EQ(driver_->nic().statistics().ring_transmitted[0], 5U);
  EXPECT_EQ(model_.faults().total(), 0U);
}

TEST_F(Receive, a_wire_that_does_not_take_leaves_frames_in_the_ring) {
  up(1);
  wire_.takes = 2;
  for (std::uint32_t i = 0; i < 5; ++i) {
    driver_->tx(0, i) = gpu::make_tx_data(reinterpret_cast<std::uintptr_t>(driver_->slot(0, i)), 60);
  }
  gpu::ring_doorbell(driver_->nic().transmit_doorbell(0), 5);
  rounds(1);
  EXPECT_TRUE(gpu::tx_is_done(driver_->tx(0, 1).hi));
  EXPECT_FALSE(gpu::tx_is_done(driver_->tx(0, 2).hi));
  rounds(2);
  EXPECT_TRUE(gpu::tx_is_done(driver_->tx(0, 4).hi));
  EXPECT_EQ(wire_.out.size(), 5U);
  expect_all_accounted_for();
}

TEST_F(Receive, descriptors_that_cannot_be_sent_are_counted_and_done_with) {
  up(1);
  const std::uint64_t buffer = reinterpret_cast<std::uintptr_t>(driver_->slot(0, 0));
  gpu::Descriptor* const tx = &driver_->tx(0, 0);
  tx[0] = gpu::make_tx_data(0x1000, 60);  // no memory of ours
  tx[1] = gpu::make_tx_data(buffer, 60);
  tx[1].hi &= ~gpu::kTxExtension;  // legacy
  tx[2] = gpu::make_tx_data(buffer, 60);
  tx[2].hi &= ~gpu::kTxInsertFcs;
  tx[3] = gpu::make_tx_data(buffer, 0);
  tx[4] = gpu::make_tx_data(buffer, 60);
  tx[4].hi += 1ULL << 46;  // PAYLEN says 61
  tx[5] = gpu::make_tx_data(buffer, 60);
  gpu::ring_doorbell(driver_->nic().transmit_doorbell(0), 6);
  rounds(1);
  EXPECT_EQ(wire_.out.size(), 1U);
  EXPECT_EQ(dropped(NicDrop::transmit_descriptor), 5U);
  for (const DriverFault fault :
       {DriverFault::buffer_address_unknown, DriverFault::descriptor_unsupported, DriverFault::transmit_without_fcs}) {
    EXPECT_EQ(model_.faults().of(fault), 1U) << text_of(fault);
  }
  EXPECT_EQ(model_.faults().of(DriverFault::transmit_length_invalid), 2U);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(tx[i].hi, gpu::kTxDone) << i;
  expect_all_accounted_for();
}

TEST_F(Receive, without_a_cable_nothing_moves) {
  up(1);
  model_.plug(false);
  driver_->tx(0, 0) = gpu::make_tx_data(reinterpret_cast<std::uintptr_t>(driver_->slot(0, 0)), 60);
  gpu::ring_doorbell(driver_->nic().transmit_doorbell(0), 1);
  wire_.in.push_back(frame(1));
  rounds(20);
  EXPECT_EQ(wire_.in.size(), 1U);
  EXPECT_TRUE(wire_.out.empty());
  ASSERT_TRUE(driver_->nic().stop());
  EXPECT_EQ(driver_->nic().notes().size(), 1U);  // one frame was not sent
  model_.plug(true);
}

}  // namespace
}  // namespace splitplane::nicmodel
