// The limits of octets of what is kept for retransmission, of a bearer and of all, with the windows here and in a
// buffering service.
#include <gtest/gtest.h>

#include "arq/arq.h"
#include "baas/test_service.h"
#include "engine/test_environment.h"
#include "wire/rlc_status.h"

namespace splitplane::datapath {
namespace {

constexpr std::uint32_t kLongest = 1514 - kAirRlcOffset;  // octets of an SDU
constexpr std::uint32_t kSdu = 100;

// A worker with bearers whose SDUs are numbered one by one, and their UE.
class OctetsRig {
 public:
  explicit OctetsRig(bool away, std::uint32_t of_bearer, std::uint64_t of_all = 0, unsigned bearers = 1) {
    Arq::Settings settings{.sends = Direction::kDownlink,
                           .pool = pool_.get(),
                           .max_unacked = 2048,
                           .max_octets = of_all,
                           .ticks_per_ms = rte_get_tsc_hz() / 1000,
                           .now = rte_rdtsc()};
    if (away) {
      service_.emplace();
      settings.service = {service_->channel()};
      settings.max_bearers = bearers;
    }
    arq_.emplace(settings);
    if (away) {
      arq_->service()->connect();
      service_->start();
    }
    for (unsigned i = 0; i < bearers; ++i) {
      ran::BearerConfig config{.id = BearerId{i + 1}};
      config.rlc_mode = RlcMode::kAm;
      config.rlc_sn_bits = config.pdcp_sn_bits = 18;
      config.arq.max_unacked_octets = of_bearer;
      bearers_.push_back(arq_->make(config, 1));
    }
  }
  ~OctetsRig() {
    for (auto& bearer : bearers_) {
      arq_->detach(*bearer);
      EXPECT_EQ(bearer->octets(), 0U);
    }
    EXPECT_EQ(arq_->kept_octets(), 0U);
    EXPECT_EQ(pool_.in_use(), 0U);
  }

  // How many of `n` SDUs of this length get a number.
  unsigned send(unsigned n, std::uint32_t bytes = kSdu, unsigned of = 0) {
    ArqBearer& to = bearer(of);
    unsigned sent = 0;
    for (; sent < n && arq_->has_room() && to.next() != to.limit(); ++sent)
      arq_->keep(to, frame(to.next(), bytes), rte_rdtsc());
    return sent;
  }
  // The clone of a PDU that a card sent comes.
  Arq::Clone clone(std::uint32_t sn) {
    rte_mbuf* const m = frame(sn, kSdu);
    const Arq::Clone what = arq_->keep_clone(bearer(), m, rte_rdtsc());
    if (what != Arq::Clone::kKept) rte_pktmbuf_free(m);
    return what;
  }
  // The UE has all SDUs below `ack` but `missing`.
  void acknowledge(std::uint32_t ack, unsigned of = 0, const std::vector<std::uint32_t>& missing = {}) {
    test::Bytes pdu(200);
    wire::rlc::StatusWriter writer{wire::MutableOctets(pdu), 18};
    for (const std::uint32_t sn : missing) ASSERT_TRUE(writer.add({.sn = sn}));
    pdu.resize(writer.finish(ack));
    (void)arq_->receive_status(bearer(of), pdu, rte_rdtsc());
    serve();
  }
  void serve() {
    for (unsigned n = 0; n < 4; ++n) {
      arq_->serve(
          rte_rdtsc(), false,
          [](rte_mbuf** mbufs, unsigned all) {
            rte_pktmbuf_free_bulk(mbufs, all);
            return all;
          },
          [](ArqBearer&) {});
      if (service_) service_->round();
    }
  }

  ArqBearer& bearer(unsigned i = 0) { return *bearers_[i]; }
  Arq& arq() { return *arq_; }
  // Of the buffering service, if there is one.
  void kill_service() {
    if (!service_) return;
    service_->kill();
    arq_->service()->disconnect();
  }
  void start_service() {
    if (!service_) return;
    arq_->service()->connect();
    service_->start();
  }

 private:
  rte_mbuf* frame(std::uint32_t sn, std::uint32_t bytes) {
    test::Bytes octets(kAirRlcOffset + 3 + bytes);
    wire::rlc::write_am({&octets[kAirRlcOffset], 3}, 18, {.poll = true, .sn = sn});
    return pool_.make(octets);
  }

  test::Pool pool_{4095, 2048};
  std::optional<baas::test::TestService> service_;
  std::optional<Arq> arq_;
  std::vector<std::unique_ptr<ArqBearer>> bearers_;
};

class ArqOctets : public testing::TestWithParam<bool> {};

TEST_P(ArqOctets, an_sdu_gets_a_number_while_one_of_the_longest_fits) {
  for (const auto& [limit, sdus] :
       {std::pair{kLongest + 10 * kSdu - 1, 10U}, {kLongest + 10 * kSdu, 11U}, {kLongest + 10 * kSdu + 1, 11U}}) {
    OctetsRig rig(GetParam(), limit);
    EXPECT_EQ(rig.send(40), sdus) << limit;
    EXPECT_EQ(rig.bearer().octets(), sdus * kSdu);
    EXPECT_EQ(rig.send(1), 0U);
    rig.acknowledge(4);
    EXPECT_EQ(rig.bearer().octets(), (sdus - 4) * kSdu);
    EXPECT_EQ(rig.send(40), 4U) << "as many as were acknowledged";
    rig.acknowledge(sdus + 4);
    EXPECT_EQ(rig.bearer().octets(), 0U);
    EXPECT_EQ(view_of(rig.bearer()).octets_kept, 0U);
  }
}

TEST_P(ArqOctets, sdus_of_the_longest_never_pass_the_limit) {
  OctetsRig rig(GetParam(), 5 * kLongest + 7);
  EXPECT_EQ(rig.send(40, kLongest - 3), 5U);
  EXPECT_LE(rig.bearer().octets(), 5 * kLongest + 7);
}

TEST_P(ArqOctets, one_sdu_fits_however_small_the_limit) {
  OctetsRig rig(GetParam(), 1);
  EXPECT_EQ(rig.send(3), 1U);
  rig.acknowledge(1);
  EXPECT_EQ(rig.send(3), 1U);
}

TEST_P(ArqOctets, the_limit_of_all_holds_and_opens_again) {
  constexpr std::uint64_t kBursts = kBurst * std::uint64_t{kLongest};  // what a burst may bring
  OctetsRig rig(GetParam(), 0, kBursts + 20 * kSdu);
  EXPECT_EQ(rig.send(100), 21U);
  EXPECT_EQ(rig.arq().kept_octets(), 21 * kSdu);
  rig.acknowledge(11);
  EXPECT_EQ(rig.arq().kept_octets(), 10 * kSdu);
  EXPECT_EQ(rig.send(100), 11U);
}

TEST_P(ArqOctets, reestablishment_keeps_the_account) {
  OctetsRig rig(GetParam(), kLongest + 10 * kSdu);
  EXPECT_EQ(rig.send(40), 11U);
  rig.acknowledge(5);
  rig.arq().reestablish(rig.bearer(), 2, rte_rdtsc());
  EXPECT_EQ(rig.bearer().next(), 6U);
  EXPECT_EQ(rig.bearer().octets(), 6 * kSdu);
  EXPECT_EQ(rig.arq().kept_octets(), 6 * kSdu);
  EXPECT_EQ(rig.send(40), 5U);
}

TEST_P(ArqOctets, an_sdu_that_is_longer_than_the_limit_goes_alone) {
  OctetsRig rig(GetParam(), kSdu);
  EXPECT_EQ(rig.send(3, 10 * kSdu), 1U);
  EXPECT_EQ(rig.bearer().octets(), 10 * kSdu);
  EXPECT_EQ(rig.send(3, 1), 0U) << "not even one octet beside it";
  rig.acknowledge(1);
  EXPECT_EQ(rig.send(3, 1), 1U);
}

TEST_P(ArqOctets, sdus_acknowledged_between_missing_ones_give_their_octets_back) {
  OctetsRig rig(GetParam(), kLongest + 10 * kSdu);
  EXPECT_EQ(rig.send(40), 11U);
  rig.acknowledge(8, 0, {0, 3, 4});
  EXPECT_EQ(rig.bearer().octets(), (11 - 5) * kSdu);
  EXPECT_EQ(rig.arq().kept_octets(), (11 - 5) * kSdu);
  EXPECT_EQ(rig.send(40), 5U);
  rig.acknowledge(16, 0, {3});
  EXPECT_EQ(rig.bearer().octets(), kSdu);
  rig.acknowledge(16);
  EXPECT_EQ(rig.bearer().octets(), 0U);
}

TEST_P(ArqOctets, the_limit_of_all_is_of_the_sum_over_bearers) {
  constexpr std::uint64_t kBursts = kBurst * std::uint64_t{kLongest};
  OctetsRig rig(GetParam(), 0, kBursts + 20 * kSdu, 3);
  EXPECT_EQ(rig.send(8, kSdu, 0), 8U);
  EXPECT_EQ(rig.send(6, 2 * kSdu, 1), 6U);
  EXPECT_EQ(rig.send(40, kSdu, 2), 1U) << "the sum is at the limit, although this bearer has kept nothing";
  EXPECT_EQ(rig.arq().kept_octets(), 21 * kSdu);
  EXPECT_EQ(rig.bearer(1).octets(), 12 * kSdu);
  rig.acknowledge(2, 1);
  EXPECT_EQ(rig.send(40, kSdu, 2), 4U) << "what another bearer gave back";
  EXPECT_EQ(rig.arq().kept_octets(), rig.bearer(0).octets() + rig.bearer(1).octets() + rig.bearer(2).octets());
  rig.arq().detach(rig.bearer(0));
  EXPECT_EQ(rig.arq().kept_octets(), 13 * kSdu);
  EXPECT_EQ(rig.send(40, kSdu, 2), 8U);
}

TEST_P(ArqOctets, clones_of_a_card_beyond_the_limit_of_all_find_no_room) {
  constexpr std::uint64_t kBursts = kBurst * std::uint64_t{kLongest};
  OctetsRig rig(GetParam(), 0, kBursts + 2 * kSdu);
  Arq::set_of_card(rig.bearer(), true);
  for (std::uint32_t sn = 0; sn < 3; ++sn) EXPECT_EQ(rig.clone(sn), Arq::Clone::kKept);
  EXPECT_EQ(rig.clone(3), Arq::Clone::kNoRoom);
  EXPECT_EQ(rig.arq().kept_octets(), 3 * kSdu);
  rig.acknowledge(3);
  EXPECT_EQ(rig.clone(4), Arq::Clone::kKept) << "the card went on";
  EXPECT_EQ(rig.arq().counters().no_copy, 1U);
  rig.serve();
  rig.acknowledge(5);
  EXPECT_EQ(rig.arq().kept_octets(), 0U);
}

TEST_P(ArqOctets, an_mtu_that_shrinks_at_run_time_leaves_the_limit_as_it_is) {
  OctetsRig rig(GetParam(), kLongest + 10 * kSdu);
  rig.arq().set_status_frame(400);
  EXPECT_EQ(rig.send(40), 11U);
  EXPECT_LE(rig.bearer().octets(), kLongest + 10 * kSdu);
}

// The frames stay here when the service dies, and so do their octets.
TEST_P(ArqOctets, a_service_that_begins_anew_changes_no_account) {
  OctetsRig rig(GetParam(), kLongest + 10 * kSdu);
  EXPECT_EQ(rig.send(40), 11U);
  rig.kill_service();
  EXPECT_EQ(rig.send(1), 0U);
  EXPECT_EQ(rig.bearer().octets(), 11 * kSdu);
  rig.start_service();
  rig.serve();
  EXPECT_EQ(rig.bearer().octets(), 11 * kSdu);
  rig.acknowledge(6);
  EXPECT_EQ(rig.bearer().octets(), 5 * kSdu);
  EXPECT_EQ(rig.send(40), 6U);
}

INSTANTIATE_TEST_SUITE_P(Windows, ArqOctets, testing::Bool(),
                         [](const auto& place) { return place.param ? "in_the_service" : "inline"; });

}  // namespace
}  // namespace splitplane::datapath
