// Secured bearers on a gNB worker: what the other end of the air deciphers, in both directions, with and without RLC
// AM.
#include <gtest/gtest.h>

#include "gnb/datapath/downlink.h"
#include "gnb/datapath/test_gnb.h"
#include "gnb/datapath/uplink.h"
#include "secured/test_key_file.h"

namespace splitplane::datapath::test {
namespace {

constexpr std::uint32_t kSecuredIndex = 6, kPlainIndex = 1;

ran::BearerConfig secured_config(RlcMode mode, std::uint8_t pdcp_sn_bits, bool sdap = true) {
  return {.rlc_mode = mode,
          .rlc_sn_bits = static_cast<std::uint8_t>(mode == RlcMode::kAm ? 18 : 12),
          .pdcp_sn_bits = pdcp_sn_bits,
          .sdap_header_dl = sdap,
          .sdap_header_ul = sdap,
          .security = ran::SecurityConfig{.key = 3, .drb = 7, .t_reordering_ms = 10}};
}

// A gNB worker with a secured bearer, and the PDCP entity of its UE.
template <class Sink = TestSink>
struct SecuredRig : TestGnb {
  explicit SecuredRig(const ran::BearerConfig& bearer, unsigned ue_salt = 0) : ue_file(8, ue_salt) {
    const auto pdcp_of = [&](Direction sends, const TestKeyFile& keys) {
      auto made = WorkerPdcp::create({.sends = sends,
                                      .pool = pool.get(),
                                      .max_held = 256,
                                      .ticks_per_ms = rte_get_tsc_hz() / 1000,
                                      .now = rte_rdtsc()},
                                     keys.keys());
      EXPECT_TRUE(made);
      return std::move(*made);
    };
    context->pdcp = pdcp_of(Direction::kDownlink, file);
    context->secured_bearers.attach(ShardId{1}, kLines);
    ue_pdcp = pdcp_of(Direction::kUplink, ue_file);
    add(kSecuredIndex, bearer, kPeerV4);
    auto made = context->pdcp->make(config(kSecuredIndex), Count{0}, Count{0});
    EXPECT_TRUE(made);
    context->secured_bearers.exchange(teid(kSecuredIndex), std::move(*made));
    auto ue_made = ue_pdcp->make(config(kSecuredIndex), Count{0}, Count{0});
    EXPECT_TRUE(ue_made);
    ue = std::move(*ue_made);
  }
  ~SecuredRig() {
    context->pdcp->detach(gnb_end());
    ue_pdcp->detach(*ue);
    context->secured_bearers.exchange(teid(kSecuredIndex), nullptr);
    EXPECT_EQ(pool.in_use(), 0U);
  }
  SecuredBearer& gnb_end() { return *context->secured_bearers.find(teid(kSecuredIndex)); }
  [[nodiscard]] unsigned rlc_bytes() const { return config(kSecuredIndex).rlc_mode == RlcMode::kAm ? 3 : 1; }

  void downlink_burst(const std::vector<Bytes>& frames) {
    Burst burst = burst_of(pool, frames);
    function.process(burst);
  }
  // What the UE delivers of an air frame, with the SDAP octet.
  std::vector<Bytes> at_ue(const Bytes& frame) {
    const std::size_t front = 14 + 10 + rlc_bytes();
    ue_pdcp->incoming.add(*ue, pool.make(Bytes(frame.begin() + static_cast<std::ptrdiff_t>(front), frame.end())));
    std::vector<Bytes> delivered;
    ue_pdcp->receive(ue_pdcp->incoming, rte_rdtsc(),
                     [&](BearerId, MbufBuffer sdu) { delivered.push_back(content(sdu.get())); });
    outcome = ue_pdcp->incoming.item[0].outcome;
    ue_pdcp->incoming.item[0].pdu.release();
    ue_pdcp->incoming.size = 0;
    return delivered;
  }
  // The air frame of the UE's next SDU.
  Bytes of_ue(const Bytes& ip, std::uint8_t qfi = 9) {
    Bytes sdu;
    if (config(kSecuredIndex).sdap_header_ul) sdu.push_back(static_cast<std::uint8_t>(0x80 | qfi));
    sdu.insert(sdu.end(), ip.begin(), ip.end());
    ue_pdcp->outgoing.add(*ue, pool.make(sdu));
    ue_pdcp->protect(ue_pdcp->outgoing);
    rte_mbuf* const m = ue_pdcp->outgoing.item[0].buffer.detach();
    ue_pdcp->outgoing.size = 0;
    const Bytes pdu = content(m);
    rte_pktmbuf_free(m);
    Bytes whole(10);
    wire::store_be64(whole.data(), wire::airhdr::encode({.direction = Direction::kUplink,
                                                         .rlc_mode = config(kSecuredIndex).rlc_mode,
                                                         .rlc_sn_bits = config(kSecuredIndex).rlc_sn_bits,
                                                         .pdcp_sn_bits = config(kSecuredIndex).pdcp_sn_bits,
                                                         .sdap_header = config(kSecuredIndex).sdap_header_ul,
                                                         .bearer = BearerId{teid(kSecuredIndex)}}));
    if (rlc_bytes() == 1) whole.push_back(0);
    if (rlc_bytes() == 3) {
      for (const unsigned octet : {0x80U | rlc_sn >> 16, rlc_sn >> 8, rlc_sn}) whole.push_back(octet & 0xff);
      ++rlc_sn;
    }
    whole.insert(whole.end(), pdu.begin(), pdu.end());
    return from_ue(whole);
  }
  void uplink_burst(const std::vector<Bytes>& frames) {
    Burst burst = burst_of(pool, frames);
    upward.process(burst);
  }
  static Bytes ip_packet(std::size_t size, std::uint8_t salt = 0) {
    Bytes ip(size, salt);
    ip[0] = 0x45;
    return ip;
  }
  // The inner packet of a frame for N3.
  static Bytes inner(const Bytes& frame, std::size_t bytes) {
    return {frame.end() - static_cast<std::ptrdiff_t>(bytes), frame.end()};
  }

  TestKeyFile file, ue_file;
  std::unique_ptr<WorkerPdcp> ue_pdcp;
  std::unique_ptr<SecuredBearer> ue;
  ran::pdcp::RxOutcome outcome{};
  std::uint32_t rlc_sn = 0;
  Taken air, n3;
  GnbDownlink<FeatureSet::mat, Sink, SampledCycles> function{*context, Sink{&air}, Sink{&air}};
  GnbUplink<FeatureSet::mat, TestSink, SampledCycles> upward{*context, TestSink{&n3}};
};

using PlainRig = SecuredRig<>;

struct Variant {
  RlcMode mode;
  std::uint8_t pdcp_sn_bits;
  bool sdap;
};

class SecuredBearers : public ::testing::TestWithParam<Variant> {
 protected:
  [[nodiscard]] static ran::BearerConfig bearer() {
    return secured_config(GetParam().mode, GetParam().pdcp_sn_bits, GetParam().sdap);
  }
};

TEST_P(SecuredBearers, the_ue_deciphers_the_downlink) {
  PlainRig rig(bearer());
  const unsigned pdcp_bytes = GetParam().pdcp_sn_bits == 12 ? 2 : 3;
  for (std::uint32_t count = 0; count < 40; ++count) {
    const N3Frame frame = rig.to_bearer(kSecuredIndex);
    rig.downlink_burst({frame.make()});
    ASSERT_EQ(rig.air.frames.size(), count + 1);
    const Bytes& sent = rig.air.frames.back();
    Bytes expected = frame.payload;
    if (GetParam().sdap) expected.insert(expected.begin(), 9);
    EXPECT_EQ(sent.size(), 14 + 10 + rig.rlc_bytes() + pdcp_bytes + expected.size() + 4);
    if (GetParam().sdap) {
      EXPECT_EQ(sent[24 + rig.rlc_bytes() + pdcp_bytes], 9) << "the SDAP header stays clear";
    }
    EXPECT_NE(PlainRig::inner(sent, expected.size() - 1 + 4), PlainRig::inner(expected, expected.size() - 1));
    EXPECT_EQ(rig.at_ue(sent), std::vector<Bytes>{expected});
  }
  EXPECT_EQ(rig.downlink[kSecuredIndex].pdcp_tx_next, 40U);
  rig.expect_balance(40);
}

TEST_P(SecuredBearers, the_headers_before_the_pdu_are_those_of_a_bearer_without_security) {
  PlainRig rig(bearer());
  ran::BearerConfig plain = bearer();
  plain.security.reset();
  rig.add(7, plain, kPeerV4);
  for (int i = 0; i < 70; ++i) {  // with polls
    rig.downlink_burst({rig.to_bearer(kSecuredIndex).make(), rig.to_bearer(7).make()});
    const std::size_t n = rig.air.frames.size();
    ASSERT_EQ(n, 2U * static_cast<unsigned>(i) + 2);
    const std::size_t bytes = 24 + rig.rlc_bytes() + (plain.pdcp_sn_bits == 12 ? 2 : 3);
    Bytes secured = rig.air.frames[n - 1], other = rig.air.frames[n - 2];  // secured ones go behind the others
    wire::store_be16(&secured[22], wire::load_be16(&secured[22]) - 4U);    // MAC-I
    wire::store_be32(&secured[18], 0);
    wire::store_be32(&other[18], 0);
    EXPECT_EQ(Bytes(secured.begin(), secured.begin() + static_cast<std::ptrdiff_t>(bytes)),
              Bytes(other.begin(), other.begin() + static_cast<std::ptrdiff_t>(bytes)));
  }
}

TEST_P(SecuredBearers, the_uplink_is_deciphered_and_goes_to_the_upf) {
  PlainRig rig(bearer());
  for (std::uint8_t i = 0; i < 40; ++i) {
    const Bytes ip = PlainRig::ip_packet(40 + i, i);
    rig.uplink_burst({rig.of_ue(ip)});
    ASSERT_EQ(rig.n3.frames.size(), i + 1U);
    EXPECT_EQ(PlainRig::inner(rig.n3.frames.back(), ip.size()), ip);
  }
  EXPECT_EQ(rig.uplink[kSecuredIndex].received, 40U);
  EXPECT_EQ(rig.uplink[kSecuredIndex].pdcp_rx_next, 40U);
  rig.expect_balance(40);
}

TEST_P(SecuredBearers, uplink_frames_are_those_of_a_bearer_without_security) {
  PlainRig rig(bearer());
  ran::BearerConfig plain = bearer();
  plain.security.reset();
  rig.add(7, plain, kPeerV4);
  rig.uplink[7].uplink_teid = rig.uplink[kSecuredIndex].uplink_teid;
  const Bytes ip = PlainRig::ip_packet(200, 5);
  rig.uplink_burst({rig.of_ue(ip), rig.from_ue(7, 0, ip)});
  ASSERT_EQ(rig.n3.frames.size(), 2U);
  EXPECT_EQ(rig.n3.frames[0], rig.n3.frames[1]);
}

INSTANTIATE_TEST_SUITE_P(Modes, SecuredBearers,
                         ::testing::Values(Variant{RlcMode::kUm, 12, true}, Variant{RlcMode::kUm, 18, false},
                                           Variant{RlcMode::kAm, 18, true}, Variant{RlcMode::kAm, 12, false}));

TEST(SecuredUplink, late_pdus_are_put_in_order) {
  PlainRig rig(secured_config(RlcMode::kUm, 18));
  std::vector<Bytes> sdus, frames;
  for (std::uint8_t i = 0; i < 6; ++i) {
    sdus.push_back(PlainRig::ip_packet(60, i));
    frames.push_back(rig.of_ue(sdus.back()));
  }
  rig.uplink_burst({frames[1], frames[2], frames[5]});
  EXPECT_EQ(rig.n3.frames.size(), 0U);
  EXPECT_EQ(rig.context->pdcp->held(), 3U);
  EXPECT_EQ(rig.context->stats.pdcp_held.get(), 3U);
  rig.uplink_burst({frames[0], frames[1]});
  EXPECT_EQ(rig.dropped(DropReason::pdcp_old), 1U);
  rig.uplink_burst({frames[5], frames[4], frames[3]});
  EXPECT_EQ(rig.dropped(DropReason::pdcp_duplicate), 1U);
  ASSERT_EQ(rig.n3.frames.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(PlainRig::inner(rig.n3.frames[i], 60), sdus[i]);
  rig.expect_balance(8);
}

TEST(SecuredUplink, a_missing_pdu_is_waited_for_until_t_reordering_runs_out) {
  ran::BearerConfig config = secured_config(RlcMode::kUm, 18);
  config.security->t_reordering_ms = 1000;  // longer than what comes before it takes on any machine
  PlainRig rig(config);
  std::vector<Bytes> frames;
  for (std::uint8_t i = 0; i < 100; ++i) frames.push_back(rig.of_ue(PlainRig::ip_packet(60, i)));
  for (std::size_t i = 1; i < 100; ++i) rig.uplink_burst({frames[i]});
  rig.upward.serve_reordering();
  EXPECT_EQ(rig.n3.frames.size(), 0U);
  EXPECT_LT(rig.context->pdcp->next_work(), rte_rdtsc() + 2 * rte_get_tsc_hz());
  const std::uint64_t end = rte_rdtsc() + 30 * rte_get_tsc_hz();
  while (rte_rdtsc() < end && rig.n3.frames.empty()) rig.upward.serve_reordering();
  EXPECT_EQ(rig.n3.frames.size(), 99U) << "more than a burst is delivered at once";
  EXPECT_TRUE(rig.context->pdcp->idle());
  rig.expect_balance(99);
}

TEST(SecuredUplink, what_another_key_protected_is_not_delivered) {
  PlainRig rig(secured_config(RlcMode::kUm, 18), 0x11);
  for (std::uint8_t i = 0; i < 10; ++i) rig.uplink_burst({rig.of_ue(PlainRig::ip_packet(60, i))});
  EXPECT_EQ(rig.n3.frames.size(), 0U);
  EXPECT_EQ(rig.dropped(DropReason::pdcp_integrity_failed), 10U);
  EXPECT_EQ(rig.drops[kSecuredIndex].uplink, 10U);
  rig.downlink_burst({rig.to_bearer(kSecuredIndex).make()});
  EXPECT_TRUE(rig.at_ue(rig.air.frames.back()).empty());
  EXPECT_EQ(rig.outcome, ran::pdcp::RxOutcome::integrity_failed);
  rig.expect_balance(11);
}

TEST(SecuredUplink, one_changed_bit_is_noticed_and_short_pdus_are_refused) {
  PlainRig rig(secured_config(RlcMode::kAm, 18));
  const Bytes good = rig.of_ue(PlainRig::ip_packet(80));
  for (std::size_t at = 27; at < good.size(); ++at) {  // behind RLC
    Bytes forged = good;
    forged[at] ^= 1;
    rig.uplink_burst({forged});
  }
  for (std::size_t size = 24; size < 36; ++size) {
    Bytes shorter(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
    wire::store_be16(&shorter[22], static_cast<std::uint32_t>(size - 24));
    rig.uplink_burst({shorter});
  }
  EXPECT_EQ(rig.n3.frames.size(), 0U);
  rig.uplink_burst({good});
  EXPECT_EQ(rig.n3.frames.size(), 1U);
}

TEST(SecuredUplink, a_bearer_without_keys_delivers_and_sends_nothing) {
  PlainRig rig(secured_config(RlcMode::kUm, 18));
  rig.add(7, secured_config(RlcMode::kUm, 18), kPeerV4);  // and no entity
  rig.downlink_burst({rig.to_bearer(7).make()});
  Bytes frame = rig.of_ue(PlainRig::ip_packet(60));
  wire::store_be32(&frame[18], TestGnb::teid(7));
  rig.uplink_burst({frame});
  EXPECT_EQ(rig.dropped(DropReason::pdcp_no_keys), 2U);
  EXPECT_TRUE(rig.air.frames.empty() && rig.n3.frames.empty());
  rig.expect_balance(2);
}

TEST(SecuredDownlink, bursts_mix_secured_and_other_bearers) {
  PlainRig rig(secured_config(RlcMode::kUm, 18));
  std::vector<Bytes> frames;
  for (unsigned i = 0; i < kBurst; ++i)
    frames.push_back(rig.to_bearer(i % 3 == 0 ? kSecuredIndex : kPlainIndex).make());
  rig.downlink_burst(frames);
  EXPECT_EQ(rig.air.frames.size(), kBurst);
  EXPECT_EQ(rig.downlink[kSecuredIndex].received, 11U);
  EXPECT_EQ(rig.downlink[kPlainIndex].received, 21U);
  unsigned deciphered = 0;
  for (const Bytes& frame : rig.air.frames) {
    if (wire::load_be32(&frame[18]) == TestGnb::teid(kSecuredIndex)) deciphered += rig.at_ue(frame).size() == 1;
  }
  EXPECT_EQ(deciphered, 11U);
  rig.expect_balance(kBurst);
}

TEST(SecuredDownlink, no_count_beyond_the_lease_is_used) {
  PlainRig rig(secured_config(RlcMode::kUm, 18));
  std::vector<ran::CountLease> leases(kLines);
  rig.context->bearers.attach(ShardId{1},
                              {rig.downlink.data(), rig.uplink.data(), rig.drops.data(), kLines, leases.data()});
  leases[kSecuredIndex] = {.end = 5, .mark = 5};
  for (int i = 0; i < 8; ++i) rig.downlink_burst({rig.to_bearer(kSecuredIndex).make()});
  EXPECT_EQ(rig.air.frames.size(), 5U);
  EXPECT_EQ(rig.dropped(DropReason::count_lease_ended), 3U);
  grant_lease(*rig.context, BearerId{TestGnb::teid(kSecuredIndex)}, 5, {.end = 7, .mark = 7});
  for (int i = 0; i < 8; ++i) rig.downlink_burst({rig.to_bearer(kSecuredIndex).make()});
  EXPECT_EQ(rig.air.frames.size(), 7U);
  EXPECT_EQ(rig.gnb_end().entity.tx().tx_next(), 7U);
  rig.expect_balance(16);
}

TEST(SecuredDownlink, what_does_not_fit_the_air_has_no_count) {
  PlainRig rig(secured_config(RlcMode::kUm, 18));
  const N3Frame frame = rig.to_bearer(kSecuredIndex);
  rig.context->air_frame_bytes = static_cast<unsigned>(14 + 10 + 1 + 3 + 1 + frame.payload.size() + 4);
  rig.downlink_burst({frame.make()});
  --rig.context->air_frame_bytes;
  rig.downlink_burst({frame.make()});
  EXPECT_EQ(rig.dropped(DropReason::above_mtu), 1U);
  EXPECT_EQ(rig.gnb_end().entity.tx().tx_next(), 1U);
  rig.expect_balance(2);
}

TEST(SecuredDownlink, each_algorithm_is_that_of_the_configuration) {
  for (const auto cipher : {ran::Cipher::kNea0, ran::Cipher::kNea1, ran::Cipher::kNea2, ran::Cipher::kNea3}) {
    for (const auto integrity : {ran::Integrity::kNone, ran::Integrity::kNia0, ran::Integrity::kNia1,
                                 ran::Integrity::kNia2, ran::Integrity::kNia3}) {
      ran::BearerConfig bearer = secured_config(RlcMode::kUm, 18, false);
      bearer.security->cipher = cipher;
      bearer.security->integrity = integrity;
      PlainRig rig(bearer);
      const auto security = rig.gnb_end().keys.security();
      EXPECT_EQ(name_of(security.cipher->algorithm()), ran::kCipherNames[static_cast<std::size_t>(cipher)]);
      EXPECT_EQ(security.integrity == nullptr ? "none" : name_of(security.integrity->algorithm()),
                ran::kIntegrityNames[static_cast<std::size_t>(integrity)]);
      const N3Frame frame = rig.to_bearer(kSecuredIndex);
      rig.downlink_burst({frame.make()});
      EXPECT_EQ(rig.at_ue(rig.air.frames.back()), std::vector<Bytes>{frame.payload});
    }
  }
}

}  // namespace
}  // namespace splitplane::datapath::test
