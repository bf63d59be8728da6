// A card in the worker loop with rings as ports: frames that come in go out, and frames that a port does not take are
// counted.
#include "card/function.h"

#include <gmock/gmock.h>

#include "card/test_card.h"

namespace splitplane::nic {
namespace {

using test::bearer;
using test::Bytes;
using test::vf_port;
using testing::ElementsAre;

class OnRings : public testing::Test {
 protected:
  OnRings() {
    for (unsigned port = 0; port < card_.card->ports(); ++port) {
      endpoints_.push_back({.in = in_[port].get(), .out = out_[port].get()});
    }
    function_.emplace(*card_.card, endpoints_, stats_);
  }
  void give(unsigned port, const Bytes& frame) {
    rte_mbuf* m = card_.pool.make(frame);
    ASSERT_EQ(rte_ring_sp_enqueue(in_[port].get(), m), 0);
  }
  // One round of the worker loop.
  unsigned round() {
    datapath::Burst burst;
    unsigned all = 0;
    for (auto& queue : function_->queues()) {
      const unsigned n = queue.receive(burst);
      all += n;
      if (n != 0) function_->process(queue, burst);
    }
    function_->flush();
    return all;
  }

  test::TestCard card_{"gnb-clone"};
  std::array<datapath::test::Ring, kFirstVf + test::kVfs> in_{
      datapath::test::Ring(64), datapath::test::Ring(64), datapath::test::Ring(64), datapath::test::Ring(64),
      datapath::test::Ring(64), datapath::test::Ring(64), datapath::test::Ring(64)};
  std::array<datapath::test::Ring, kFirstVf + test::kVfs> out_{
      datapath::test::Ring(64), datapath::test::Ring(48), datapath::test::Ring(64), datapath::test::Ring(64),
      datapath::test::Ring(64), datapath::test::Ring(64), datapath::test::Ring(64)};
  std::vector<CardEndpoint> endpoints_;
  datapath::WorkerStats stats_;
  std::optional<CardFunction> function_;
};

TEST_F(OnRings, frames_take_their_way_through_the_card) {
  card_.install({bearer(1), bearer(2, Place::kHost)});
  const Bytes on_card = test::to(bearer(1)).make(), on_host = test::to(bearer(2)).make();
  give(kN3Port, on_card);
  give(kN3Port, on_host);
  give(vf_port(0), test::air_frame(bearer(2), 0, 0, Bytes(40)));
  EXPECT_EQ(round(), 3U);
  const Bytes numbered = test::air_frame(bearer(1), 0, 0, test::to(bearer(1)).payload);
  EXPECT_THAT(out_[kAirPort].drain(), ElementsAre(numbered, test::air_frame(bearer(2), 0, 0, Bytes(40))));
  EXPECT_THAT(out_[vf_port(test::kCopies)].drain(), ElementsAre(numbered));
  EXPECT_THAT(out_[vf_port(test::kWorkerN3)].drain(), ElementsAre(on_host));
  EXPECT_EQ(stats_.transmitted_air.get(), 2U);
  EXPECT_EQ(stats_.transmitted_vf.get(), 2U);
  EXPECT_EQ(round(), 0U);
}

TEST_F(OnRings, what_a_port_does_not_take_is_counted_there) {
  card_.install({bearer(1)});
  for (unsigned i = 0; i < 60; ++i) give(kN3Port, test::to(bearer(1)).make());
  while (round() != 0) {
  }
  const CardCounters all = card_.card->counters();
  EXPECT_EQ(out_[kAirPort].drain().size(), 48U);
  EXPECT_EQ(all.ports[kAirPort].out, 60U);
  EXPECT_EQ(all.ports[kAirPort].tx_full, 12U);
  EXPECT_EQ(all.ports[vf_port(test::kCopies)].clones, 60U);
  EXPECT_EQ(all.ports[vf_port(test::kCopies)].tx_full, 0U);
  EXPECT_EQ(stats_.drops[static_cast<std::size_t>(datapath::DropReason::tx_full)].get(), 12U);
  EXPECT_EQ(out_[vf_port(test::kCopies)].drain().size(), 60U);
}

// A shared frame stays as it was numbered until its last holder frees it.
TEST_F(OnRings, clones_stay_as_they_are_while_frames_follow) {
  card_.install({bearer(1)});
  std::vector<Bytes> expected;
  for (unsigned i = 0; i < 40; ++i) {
    give(kN3Port, test::to(bearer(1)).make());
    expected.push_back(test::air_frame(bearer(1), i, i, test::to(bearer(1)).payload, i % 4 == 3));
    round();
  }
  EXPECT_EQ(out_[vf_port(test::kCopies)].drain(), expected);
  EXPECT_EQ(out_[kAirPort].drain(), expected);
}

TEST_F(OnRings, a_vf_without_a_host_takes_nothing_until_it_has_one_again) {
  card_.install({bearer(2, Place::kHost)});
  const Bytes on_host = test::to(bearer(2)).make();
  const CardEndpoint connected = endpoints_[vf_port(test::kWorkerN3)];
  function_->set_endpoint(vf_port(test::kWorkerN3), {.port = kNoDevice});
  give(kN3Port, on_host);
  give(vf_port(test::kWorkerN3), on_host);
  EXPECT_EQ(round(), 1U) << "nor does anything come from there";
  EXPECT_EQ(card_.card->counters().ports[vf_port(test::kWorkerN3)].tx_full, 1U);

  function_->set_endpoint(vf_port(test::kWorkerN3), connected);
  give(kN3Port, on_host);
  EXPECT_EQ(round(), 2U);
  EXPECT_THAT(out_[vf_port(test::kWorkerN3)].drain(), ElementsAre(on_host));
  EXPECT_EQ(card_.card->counters().ports[vf_port(test::kWorkerN3)].tx_full, 1U);
}

}  // namespace
}  // namespace splitplane::nic
