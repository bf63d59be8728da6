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

// A worker with one bearer whose SDUs are numbered one by one, and its UE.
class OctetsRig {
 public:
  explicit OctetsRig(bool away, std::uint32_t of_bearer, std::uint64_t of_all = 0) {
    Arq::Settings settings{.sends = Direction::kDownlink,
                           .pool = pool_.get(),
                           .max_unacked = 2048,
                           .max_octets = of_all,
                           .ticks_per_ms = rte_get_tsc_hz() / 1000,
                           .now = rte_rdtsc()};
    if (away) {
      service_.emplace();
      settings.service = {service_->channel()};
      settings.max_bearers = 1;
    }
    arq_.emplace(settings);
    if (away) {
      arq_->service()->connect();
      service_->start();
    }
    ran::BearerConfig config{.id = BearerId{1}};
    config.rlc_mode = RlcMode::kAm;
    config.rlc_sn_bits = config.pdcp_sn_bits = 18;
    config.arq.max_unacked_octets = of_bearer;
    bearer_ = arq_->make(config, 1);
  }
  ~OctetsRig() {
    arq_->detach(*bearer_);
    EXPECT_EQ(bearer_->octets(), 0U);
    EXPECT_EQ(arq_->kept_octets(), 0U);
    EXPECT_EQ(pool_.in_use(), 0U);
  }

  // How many of `n` SDUs of this length get a number.
  unsigned send(unsigned n, std::uint32_t bytes = kSdu) {
    unsigned sent = 0;
    for (; sent < n && arq_->has_room() && bearer_->next() != bearer_->limit(); ++sent) {
      test::Bytes frame(kAirRlcOffset + 3 + bytes);
      wire::rlc::write_am({&frame[kAirRlcOffset], 3}, 18, {.poll = true, .sn = bearer_->next()});
      arq_->keep(*bearer_, pool_.make(frame), rte_rdtsc());
    }
    return sent;
  }
  void acknowledge(std::uint32_t ack) {
    test::Bytes pdu(16);
    wire::rlc::StatusWriter writer{wire::MutableOctets(pdu), 18};
    pdu.resize(writer.finish(ack));
    (void)arq_->receive_status(*bearer_, pdu, rte_rdtsc());
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

  ArqBearer& bearer() { return *bearer_; }
  Arq& arq() { return *arq_; }

 private:
  test::Pool pool_{4095, 2048};
  std::optional<baas::test::TestService> service_;
  std::optional<Arq> arq_;
  std::unique_ptr<ArqBearer> bearer_;
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

INSTANTIATE_TEST_SUITE_P(Windows, ArqOctets, testing::Bool(),
                         [](const auto& place) { return place.param ? "in_the_service" : "inline"; });

}  // namespace
}  // namespace splitplane::datapath
