// New keys for bearers that live, on a gNB worker: the UE's end is another set of the same classes, which gets each
// frame that the worker sends.
#include "secured/rekey.h"

#include <gtest/gtest.h>

#include <map>

#include "gnb/datapath/test_arq.h"
#include "secured/test_key_file.h"

namespace splitplane::datapath::test {
namespace {

using ran::pdcp::Refusal;
using ran::pdcp::RxOutcome;

ran::BearerConfig config_of(RlcMode mode, std::uint8_t pdcp_sn_bits = 18,
                            ran::Integrity integrity = ran::Integrity::kNia2) {
  return {.rlc_mode = mode,
          .rlc_sn_bits = static_cast<std::uint8_t>(mode == RlcMode::kAm ? 18 : 12),
          .pdcp_sn_bits = pdcp_sn_bits,
          .arq = {.max_retx = 4, .max_unacked = 1024},
          .security = ran::SecurityConfig{.integrity = integrity, .key = 1, .drb = 7, .t_reordering_ms = 10}};
}

// A frame of the air as the UE reads it.
struct AirFrame {
  std::uint8_t epoch;
  std::uint32_t rlc_sn;
  bool is_data;
  Bytes pdu;  // of PDCP
};

// A gNB worker with a secured bearer in epoch kEpoch with keys 1, and its UE.
struct RekeyRig : TestGnb {
  static constexpr std::uint32_t kIndex = 6;

  explicit RekeyRig(ran::BearerConfig bearer) : is_am(bearer.rlc_mode == RlcMode::kAm) {
    const std::uint64_t ticks_per_ms = rte_get_tsc_hz() / 1000;
    Arq::Settings settings{.sends = Direction::kDownlink,
                           .ethernet = context->air_header,
                           .pool = pool.get(),
                           .ticks_per_ms = ticks_per_ms,
                           .now = rte_rdtsc()};
    if (windows_are_away) {
      service.emplace(baas::test::TestService::Settings{.max_copies = 2048});
      settings.service = {service->channel()};
      settings.max_bearers = kLines;
    }
    context->arq = std::make_unique<Arq>(settings);
    if (service) start_service();
    context->arq_bearers.attach(ShardId{1}, kLines);
    const auto pdcp_of = [&](Direction sends) {
      auto made = WorkerPdcp::create(
          {.sends = sends, .pool = pool.get(), .max_held = 256, .ticks_per_ms = ticks_per_ms, .now = rte_rdtsc()},
          file.keys());
      EXPECT_TRUE(made);
      return std::move(*made);
    };
    context->pdcp = pdcp_of(Direction::kDownlink);
    context->secured_bearers.attach(ShardId{1}, kLines);
    ue_pdcp = pdcp_of(Direction::kUplink);
    bearer.acknowledged = is_am;
    add(kIndex, bearer, kPeerV4);
    auto made = context->pdcp->make(config(kIndex), Count{0}, Count{0});
    auto ue_made = ue_pdcp->make(config(kIndex), Count{0}, Count{0});
    EXPECT_TRUE(made && ue_made);
    (*made)->epoch = (*ue_made)->epoch = kEpoch;
    context->secured_bearers.exchange(teid(kIndex), std::move(*made));
    ue = std::move(*ue_made);
    if (is_am) context->arq_bearers.exchange(teid(kIndex), context->arq->make(config(kIndex), kEpoch));
    ran::set_epoch(downlink[kIndex], kEpoch);
    set_count_limit(*context, downlink[kIndex]);
  }
  ~RekeyRig() {
    if (is_am) context->arq->detach(*rlc());
    context->arq_bearers.exchange(teid(kIndex), nullptr);
    context->pdcp->detach(gnb());
    ue_pdcp->detach(*ue);
    context->secured_bearers.exchange(teid(kIndex), nullptr);
    EXPECT_EQ(pool.in_use(), 0U);
  }
  void start_service() {
    context->arq->service()->connect();
    service->start();
  }
  SecuredBearer& gnb() { return *context->secured_bearers.find(teid(kIndex)); }
  ArqBearer* rlc() { return is_am ? context->arq_bearers.find(teid(kIndex)) : nullptr; }

  NewKeys keys(WorkerPdcp& pdcp, std::uint32_t number, std::uint8_t epoch, bool begins_anew) {
    NewKeys fresh{.pair = {}, .security = *config(kIndex).security, .epoch = epoch, .begins_anew = begins_anew};
    fresh.security.key = number;
    auto pair = pdcp.keys().make(fresh.security);
    EXPECT_TRUE(pair);
    fresh.pair = std::move(*pair);
    return fresh;
  }
  // As the control thread of the gNB does it.
  Refusal rekey_gnb(std::uint32_t number, std::uint8_t epoch, bool begins_anew) {
    NewKeys fresh = keys(*context->pdcp, number, epoch, begins_anew);
    const Refusal refusal = datapath::rekey({*context->pdcp, gnb(), context->arq.get(), rlc()}, fresh, rte_rdtsc());
    if (refusal != Refusal::kNone) return refusal;
    ran::set_epoch(downlink[kIndex], epoch);
    downlink[kIndex].pdcp_tx_next = gnb().entity.tx().tx_next();
    if (is_am) {
      downlink[kIndex].rlc_tx_next = rlc()->next();
      context->arq->await_peer(*rlc(), rte_rdtsc());
    }
    set_count_limit(*context, downlink[kIndex]);
    return refusal;
  }
  Refusal rekey_ue(std::uint32_t number, std::uint8_t epoch, bool begins_anew) {
    NewKeys fresh = keys(*ue_pdcp, number, epoch, begins_anew);
    fresh.peer_has_them = true;
    return ue_pdcp->change_keys(*ue, fresh, rte_rdtsc());
  }

  // Sends SDUs, each of other octets.
  void send(unsigned n) {
    for (unsigned i = 0; i < n; ++i) {
      N3Frame frame = to_bearer(kIndex);
      wire::store_be32(frame.payload.data() + frame.payload.size() - 4, sent);
      payload_bytes = frame.payload.size();
      ++sent;
      Burst burst = burst_of(pool, {frame.make()});
      function.process(burst);
    }
  }
  [[nodiscard]] AirFrame parse(const Bytes& frame) const {
    const std::size_t front = 24 + (is_am ? 3U : 1U);
    AirFrame parsed{.epoch = frame[17], .rlc_sn = 0, .is_data = true, .pdu = {}};
    if (is_am) {
      parsed.is_data = (frame[24] & 0x80) != 0;
      parsed.rlc_sn = wire::load_be24(&frame[24]) & 0x3ffff;
    }
    parsed.pdu.assign(frame.begin() + static_cast<std::ptrdiff_t>(std::min(front, frame.size())), frame.end());
    return parsed;
  }
  // Numbers of the SDUs that the UE delivers of a PDU.
  std::vector<std::uint32_t> at_ue(const Bytes& pdu) {
    ue_pdcp->incoming.add(*ue, pool.make(pdu));
    std::vector<std::uint32_t> delivered;
    ue_pdcp->receive(ue_pdcp->incoming, rte_rdtsc(), [&](BearerId, MbufBuffer sdu) {
      EXPECT_EQ(sdu.size(), payload_bytes + 1);
      delivered.push_back(wire::load_be32(sdu.data() + sdu.size() - 4));
    });
    outcome = ue_pdcp->incoming.item[0].outcome;
    ue_pdcp->incoming.item[0].pdu.release();
    ue_pdcp->incoming.size = 0;
    return delivered;
  }
  // The frame of the UE's next SDU.
  Bytes of_ue(std::uint8_t salt) {
    Bytes sdu(60, salt);
    sdu[0] = 0x89;
    sdu[1] = 0x45;
    ue_pdcp->outgoing.add(*ue, pool.make(sdu));
    ue_pdcp->protect(ue_pdcp->outgoing);
    rte_mbuf* const m = ue_pdcp->outgoing.item[0].buffer.detach();
    ue_pdcp->outgoing.size = 0;
    Bytes whole(10);
    wire::store_be64(whole.data(), wire::airhdr::encode({.direction = Direction::kUplink,
                                                         .rlc_mode = config(kIndex).rlc_mode,
                                                         .rlc_sn_bits = config(kIndex).rlc_sn_bits,
                                                         .pdcp_sn_bits = config(kIndex).pdcp_sn_bits,
                                                         .epoch = ue->epoch,
                                                         .bearer = BearerId{teid(kIndex)}}));
    if (!is_am) whole.push_back(0);
    if (is_am) {
      for (const unsigned octet : {0x80U | ue_sn >> 16, ue_sn >> 8, ue_sn}) whole.push_back(octet & 0xff);
      ++ue_sn;
    }
    const Bytes pdu = content(m);
    rte_pktmbuf_free(m);
    whole.insert(whole.end(), pdu.begin(), pdu.end());
    return from_ue(whole);
  }
  void uplink_frame(const Bytes& frame) {
    Burst burst = burst_of(pool, {frame});
    upward.process(burst);
  }
  void status(std::uint8_t epoch, std::uint32_t ack, const std::vector<std::uint32_t>& missing = {}) {
    Bytes pdu(10 + 200);
    wire::store_be64(pdu.data(), wire::airhdr::encode({.direction = Direction::kUplink,
                                                       .pdcp_sn_bits = config(kIndex).pdcp_sn_bits,
                                                       .epoch = epoch,
                                                       .bearer = BearerId{teid(kIndex)}}));
    wire::rlc::StatusWriter writer(wire::MutableOctets(pdu).subspan(10), 18);
    for (const std::uint32_t sn : missing) ASSERT_TRUE(writer.add({.sn = sn}));
    pdu.resize(10 + writer.finish(ack));
    Burst burst = burst_of(pool, {from_ue(pdu)});
    upward.process(burst);
  }
  // Rounds of the worker until it has nothing to send.
  void serve_all() {
    for (int i = 0; i < 100 && service; ++i) {
      function.serve_acknowledged();
      service->round();
    }
    if (service) return;
    for (int i = 0; i < 1000 && rlc()->retx.has_pending(); ++i) function.serve_acknowledged();
    EXPECT_FALSE(rlc()->retx.has_pending());
  }
  // What the UE of these frames delivers, by RLC data PDUs of one epoch.
  std::vector<std::uint32_t> deliver_all(std::size_t from, std::uint8_t epoch) {
    std::vector<std::uint32_t> all;
    for (std::size_t i = from; i < air.frames.size(); ++i) {
      const AirFrame frame = parse(air.frames[i]);
      if (!frame.is_data) continue;
      EXPECT_EQ(frame.epoch, epoch);
      for (const std::uint32_t number : at_ue(frame.pdu)) all.push_back(number);
      EXPECT_EQ(outcome, RxOutcome::accepted);
    }
    return all;
  }

  const bool is_am;
  std::optional<baas::test::TestService> service;
  TestKeyFile file{16};
  std::unique_ptr<WorkerPdcp> ue_pdcp;
  std::unique_ptr<SecuredBearer> ue;
  RxOutcome outcome{};
  std::uint32_t sent = 0, ue_sn = 0;
  std::size_t payload_bytes = 0;
  Taken air, n3;
  GnbDownlink<FeatureSet::clone, TestSink, SampledCycles> function{*context, TestSink{&air}, TestSink{&air}};
  GnbUplink<FeatureSet::clone, TestSink, SampledCycles> upward{*context, TestSink{&n3}};
};

std::vector<std::uint32_t> numbers(std::uint32_t from, std::uint32_t to) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = from; i < to; ++i) all.push_back(i);
  return all;
}

constexpr std::uint8_t kNext = kEpoch + 1;

TEST(Rekey, um_begins_anew_in_both_directions_and_delivers_what_it_held) {
  for (const std::uint8_t bits : {std::uint8_t{12}, std::uint8_t{18}}) {
    RekeyRig rig(config_of(RlcMode::kUm, bits));
    rig.send(10);
    EXPECT_EQ(rig.deliver_all(0, kEpoch), numbers(0, 10));
    const Bytes lost = rig.of_ue(1), late = rig.of_ue(2), later = rig.of_ue(3);
    rig.uplink_frame(late);
    EXPECT_EQ(rig.context->pdcp->held(), 1U);
    ASSERT_EQ(rig.rekey_gnb(2, kNext, true), Refusal::kNone);
    EXPECT_EQ(rig.n3.frames.size(), 0U);
    EXPECT_FALSE(rig.context->pdcp->idle());
    EXPECT_EQ(rig.context->pdcp->next_work(), 0U) << "the worker does not sleep";
    rig.upward.serve_reordering();
    EXPECT_EQ(rig.n3.frames.size(), 1U);
    EXPECT_EQ(rig.context->pdcp->held(), 0U);
    rig.uplink_frame(later);
    rig.uplink_frame(lost);
    EXPECT_EQ(rig.n3.frames.size(), 1U);
    EXPECT_EQ(rig.dropped(DropReason::rlc_other_epoch), 2U);
    ASSERT_EQ(rig.rekey_ue(2, kNext, true), Refusal::kNone);
    const std::size_t before = rig.air.frames.size();
    rig.send(5);
    EXPECT_EQ(rig.gnb().entity.tx().tx_next(), 5U);
    EXPECT_EQ(rig.deliver_all(before, kNext), numbers(10, 15));
    rig.uplink_frame(rig.of_ue(4));
    EXPECT_EQ(rig.n3.frames.size(), 2U);
    EXPECT_EQ(rig.uplink[RekeyRig::kIndex].pdcp_rx_next, 1U);
  }
}

TEST(Rekey, what_um_held_and_its_bearer_did_not_deliver_any_more_is_given_back) {
  RekeyRig rig(config_of(RlcMode::kUm));
  (void)rig.of_ue(1);
  rig.uplink_frame(rig.of_ue(2));
  ASSERT_EQ(rig.rekey_gnb(2, kNext, true), Refusal::kNone);
  EXPECT_EQ(rig.context->pdcp->detach(rig.gnb()), 1U);
  EXPECT_EQ(rig.context->pdcp->held(), 0U);
  EXPECT_TRUE(rig.context->pdcp->idle());
}

// Without integrity protection nothing tells PDUs of the keys before apart but their epoch.
TEST(Rekey, um_without_integrity_delivers_nothing_that_other_keys_protected) {
  RekeyRig rig(config_of(RlcMode::kUm, 18, ran::Integrity::kNone));
  std::vector<Bytes> old;
  for (std::uint8_t i = 0; i < 20; ++i) old.push_back(rig.of_ue(i));
  ASSERT_EQ(rig.rekey_gnb(2, kNext, true), Refusal::kNone);
  for (const Bytes& frame : old) rig.uplink_frame(frame);
  rig.upward.serve_reordering();
  EXPECT_TRUE(rig.n3.frames.empty());
  EXPECT_EQ(rig.dropped(DropReason::rlc_other_epoch), 20U);
  EXPECT_EQ(rig.drops[RekeyRig::kIndex].uplink, 20U);
  rig.expect_balance(20);
}

class RekeyAnywhere : public AnyWindows {};
INSTANTIATE_TEST_SUITE_P(Windows, RekeyAnywhere, testing::Bool(), window_place);

// A new service is told of frames that have the new keys already, and of others that do not.
TEST_P(RekeyAnywhere, each_frame_is_protected_once_whatever_becomes_of_the_service) {
  for (const unsigned rounds : {0U, 1U, 2U}) {
    RekeyRig rig(config_of(RlcMode::kAm));
    rig.send(100);  // as many as there are buffers for them and for copies
    rig.air.frames.clear();
    if (rig.service && rounds == 2) rig.service->kill();  // its rings stay, and are read no more
    ASSERT_EQ(rig.rekey_gnb(2, kNext, false), Refusal::kNone);
    ASSERT_EQ(rig.rekey_ue(2, kNext, false), Refusal::kNone);
    for (unsigned n = 0; n < rounds; ++n) rig.function.serve_acknowledged();
    if (rig.service) {
      rig.service->kill();
      rig.context->arq->service()->disconnect();
      rig.start_service();
    }
    rig.serve_all();
    EXPECT_EQ(rig.deliver_all(0, kNext), numbers(0, 100));
    // Once more, while the UE has not said what it has.
    rig.air.frames.clear();
    ASSERT_EQ(rig.rekey_gnb(3, kNext + 1, false), Refusal::kNone);
    ASSERT_EQ(rig.rekey_gnb(4, kNext + 2, false), Refusal::kNone);
    rig.serve_all();
    std::size_t data = 0;
    for (const Bytes& frame : rig.air.frames) data += rig.parse(frame).is_data ? 1 : 0;
    EXPECT_GE(data, 100U);
    for (const Bytes& frame : rig.air.frames) EXPECT_EQ(rig.parse(frame).epoch, kNext + 2);
  }
}

TEST_P(RekeyAnywhere, am_sends_what_is_not_acknowledged_again_with_its_counts_and_the_new_keys) {
  for (const std::uint8_t bits : {std::uint8_t{12}, std::uint8_t{18}}) {
    RekeyRig rig(config_of(RlcMode::kAm, bits));
    rig.send(100);
    std::map<std::uint32_t, Bytes> old;
    for (std::uint32_t i = 0; i < 100; ++i) old[i] = rig.parse(rig.air.frames[i]).pdu;
    // The UE has 0 to 9, 12, and 50; the others are lost.
    for (const std::uint32_t i : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 50}) (void)rig.at_ue(old[i]);
    rig.status(kEpoch, 13, {10, 11});
    if (rig.service) rig.serve_all();  // which has to say what the UE has
    rig.air.frames.clear();
    ASSERT_EQ(rig.rekey_gnb(2, kNext, false), Refusal::kNone);
    ASSERT_EQ(rig.rekey_ue(2, kNext, false), Refusal::kNone);
    EXPECT_EQ(rig.ue_pdcp->held(), 2U) << "what is out of order stays";
    rig.serve_all();
    std::vector<std::uint32_t> counts;
    std::vector<std::uint32_t> delivered;
    for (const Bytes& frame : rig.air.frames) {
      const AirFrame again = rig.parse(frame);
      if (!again.is_data) continue;
      EXPECT_EQ(again.epoch, kNext);
      EXPECT_EQ(again.rlc_sn, counts.size()) << "RLC begins with 0";
      const std::uint32_t count =
          bits == 12 ? wire::load_be16(again.pdu.data()) & 0xfffU : wire::load_be24(again.pdu.data()) & 0x3ffffU;
      EXPECT_TRUE(counts.empty() || counts.back() < count);
      counts.push_back(count);
      EXPECT_EQ(again.pdu.size(), old[count].size());
      EXPECT_NE(again.pdu, old[count]);
      for (const std::uint32_t number : rig.at_ue(again.pdu)) delivered.push_back(number);
      EXPECT_EQ(rig.outcome, count == 50 ? RxOutcome::too_old : RxOutcome::accepted) << "50 was there before";
    }
    EXPECT_EQ(counts.size(), 89U);
    EXPECT_EQ(delivered, numbers(10, 100));
    const std::size_t before = rig.air.frames.size();
    rig.send(3);
    EXPECT_EQ(rig.gnb().entity.tx().tx_next(), 103U);
    EXPECT_EQ(rig.deliver_all(before, kNext), numbers(100, 103));
  }
}

TEST(Rekey, a_round_protects_no_more_than_it_sends) {
  RekeyRig rig(config_of(RlcMode::kAm));
  rig.send(200);
  rig.air.frames.clear();
  ASSERT_EQ(rig.rekey_gnb(2, kNext, false), Refusal::kNone);
  EXPECT_EQ(rig.rlc()->to_protect, 0U) << "the command itself protects nothing";
  std::uint32_t before = 0;
  for (int rounds = 0; rig.rlc()->protect_again; ++rounds) {
    ASSERT_LT(rounds, 100);
    rig.function.serve_acknowledged();
    EXPECT_LE(rig.rlc()->to_protect - before, 16U);
    before = rig.rlc()->to_protect;
  }
  rig.serve_all();
  ASSERT_EQ(rig.rekey_ue(2, kNext, false), Refusal::kNone);
  EXPECT_EQ(rig.deliver_all(0, kNext), numbers(0, 200));
}

TEST(Rekey, keys_may_change_again_before_all_is_sent_again) {
  RekeyRig rig(config_of(RlcMode::kAm));
  rig.send(60);
  ASSERT_EQ(rig.rekey_gnb(2, kNext, false), Refusal::kNone);
  rig.function.serve_acknowledged();
  rig.send(20);  // between those that wait to be protected
  EXPECT_TRUE(rig.rlc()->protect_again);
  ASSERT_EQ(rig.rekey_gnb(3, kNext + 1, false), Refusal::kNone);
  rig.function.serve_acknowledged();
  ASSERT_EQ(rig.rekey_gnb(4, kNext + 2, false), Refusal::kNone);
  rig.air.frames.clear();
  rig.serve_all();
  ASSERT_EQ(rig.rekey_ue(4, kNext + 2, false), Refusal::kNone);
  EXPECT_EQ(rig.deliver_all(0, kNext + 2), numbers(0, 80));
}

TEST(Rekey, re_establishment_of_rlc_alone_mixes_no_keys) {
  RekeyRig rig(config_of(RlcMode::kAm));
  rig.send(60);
  ASSERT_EQ(rig.rekey_gnb(2, kNext, false), Refusal::kNone);
  rig.function.serve_acknowledged();
  rig.context->arq->reestablish(*rig.rlc(), kNext + 1, rte_rdtsc());
  rig.air.frames.clear();
  rig.serve_all();
  ASSERT_EQ(rig.rekey_ue(2, kNext + 1, false), Refusal::kNone);
  EXPECT_EQ(rig.deliver_all(0, kNext + 1), numbers(0, 60));
}

TEST(Rekey, frames_that_the_port_still_has_are_not_written_to) {
  RekeyRig rig(config_of(RlcMode::kAm));
  rig.send(4);
  std::vector<rte_mbuf*> at_port;
  std::vector<Bytes> before;
  for (std::uint32_t sn = 0; sn < 4; ++sn) {
    rte_mbuf* const m = rig.rlc()->retx.kept(sn)->get();
    rte_mbuf_refcnt_update(m, 1);
    at_port.push_back(m);
    before.push_back(content(m));
  }
  rig.air.frames.clear();
  ASSERT_EQ(rig.rekey_gnb(2, kNext, false), Refusal::kNone);
  rig.serve_all();
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(content(at_port[i]), before[i]);
    rte_pktmbuf_free(at_port[i]);
  }
  ASSERT_EQ(rig.rekey_ue(2, kNext, false), Refusal::kNone);
  EXPECT_EQ(rig.deliver_all(0, kNext), numbers(0, 4));
}

TEST(Rekey, what_is_sent_a_third_time_is_not_protected_a_third_time) {
  RekeyRig rig(config_of(RlcMode::kAm));
  rig.send(40);
  rig.air.frames.clear();
  ASSERT_EQ(rig.rekey_gnb(2, kNext, false), Refusal::kNone);
  rig.function.serve_acknowledged();
  rig.status(kNext, 8, {0, 3});
  rig.serve_all();
  ASSERT_EQ(rig.rekey_ue(2, kNext, false), Refusal::kNone);
  std::map<std::uint32_t, Bytes> seen;
  for (const Bytes& frame : rig.air.frames) {
    const AirFrame one = rig.parse(frame);
    if (one.is_data) {
      EXPECT_EQ(seen.try_emplace(one.rlc_sn, one.pdu).first->second, one.pdu);
    }
  }
  ASSERT_EQ(seen.size(), 40U);
  std::vector<std::uint32_t> delivered;
  for (const auto& [sn, pdu] : seen) {
    for (const std::uint32_t number : rig.at_ue(pdu)) delivered.push_back(number);
  }
  EXPECT_EQ(delivered, numbers(0, 40));
}

TEST(Rekey, am_at_the_end_of_its_counts_begins_anew_with_what_it_keeps) {
  RekeyRig rig(config_of(RlcMode::kAm));
  rig.gnb().entity.tx().set_tx_next(Count{ran::kCountEnd - 5});
  rig.ue->entity.rx().set_rx_deliv(Count{ran::kCountEnd - 5});
  rig.send(8);
  EXPECT_EQ(rig.dropped(DropReason::count_exhausted), 3U);
  EXPECT_TRUE(datapath::goes_on(*rig.ue, ran::kCountEnd, 0));
  rig.air.frames.clear();
  ASSERT_EQ(rig.rekey_gnb(2, kNext, true), Refusal::kNone);
  EXPECT_EQ(rig.gnb().entity.tx().tx_next(), 5U) << "what RLC keeps has the first COUNTs";
  EXPECT_FALSE(datapath::goes_on(*rig.ue, 5, 0)) << "so the UE sees it";
  ASSERT_EQ(rig.rekey_ue(2, kNext, true), Refusal::kNone);
  rig.send(3);
  rig.serve_all();
  std::map<std::uint32_t, Bytes> by_count;
  for (const Bytes& frame : rig.air.frames) {
    const AirFrame one = rig.parse(frame);
    if (one.is_data) by_count[wire::load_be24(one.pdu.data()) & 0x3ffff] = one.pdu;
  }
  std::vector<std::uint32_t> delivered;
  for (const auto& [count, pdu] : by_count) {
    for (const std::uint32_t number : rig.at_ue(pdu)) delivered.push_back(number);
  }
  EXPECT_EQ(by_count.size(), 8U);
  EXPECT_EQ(delivered, (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 8, 9, 10}));
}

TEST(Rekey, an_end_tells_counts_that_go_on_from_those_that_begin_anew) {
  RekeyRig rig(config_of(RlcMode::kAm));
  auto& entity = rig.ue->entity;
  entity.tx().set_tx_next(Count{100});
  entity.rx().set_rx_deliv(Count{200});
  EXPECT_TRUE(datapath::goes_on(*rig.ue, 200, 100));
  EXPECT_TRUE(datapath::goes_on(*rig.ue, 5000, 90)) << "the rest is on its way";
  EXPECT_FALSE(datapath::goes_on(*rig.ue, 199, 100));
  EXPECT_FALSE(datapath::goes_on(*rig.ue, 200, 101));
  entity.tx().set_tx_next(Count{ran::kCountEnd});  // the uplink alone was at its end
  EXPECT_TRUE(datapath::goes_on(*rig.ue, 300, ran::kCountEnd - 10));
  EXPECT_FALSE(datapath::goes_on(*rig.ue, 300, 0));
}

TEST(Rekey, keys_that_are_those_of_now_are_refused_and_nothing_changes) {
  for (const RlcMode mode : {RlcMode::kUm, RlcMode::kAm}) {
    RekeyRig rig(config_of(mode));
    rig.send(2);
    EXPECT_EQ(rig.rekey_gnb(1, kNext, mode == RlcMode::kUm), Refusal::kKeyReused);
    rig.send(1);
    EXPECT_EQ(rig.gnb().entity.tx().tx_next(), 3U);
    EXPECT_EQ(rig.gnb().epoch, kEpoch);
    EXPECT_EQ(rig.deliver_all(0, kEpoch), numbers(0, 3));
  }
}

TEST(Rekey, silence_of_a_ue_that_does_not_know_yet_is_no_radio_link_failure) {
  RekeyRig rig(config_of(RlcMode::kAm));
  rig.send(3);
  ASSERT_EQ(rig.rekey_gnb(2, kNext, false), Refusal::kNone);
  const auto wait = [&rig] {
    const std::uint64_t end = rte_rdtsc() + rte_get_tsc_hz() / 2;  // more than max_retx times t-PollRetransmit
    while (rte_rdtsc() < end) rig.function.serve_acknowledged();
  };
  wait();
  EXPECT_FALSE(rig.rlc()->failed);
  EXPECT_EQ(rig.rlc()->retx.unacked(), 3U);
  rig.status(kNext, 1);
  EXPECT_FALSE(rig.rlc()->peer_is_elsewhere);
  EXPECT_EQ(rig.rlc()->retx.unacked(), 2U);
  wait();
  EXPECT_TRUE(rig.rlc()->failed) << "it has followed, and answers no more";
  rig.function.serve_acknowledged();
}

TEST(Rekey, a_ue_that_never_follows_keeps_nothing_here_for_ever) {
  RekeyRig rig(config_of(RlcMode::kAm));
  rig.send(3);
  ASSERT_EQ(rig.rekey_gnb(2, kNext, false), Refusal::kNone);
  EXPECT_GT(rig.rlc()->elsewhere_until, rte_rdtsc() + 9 * rte_get_tsc_hz());
  rig.rlc()->elsewhere_until = rte_rdtsc();
  const std::uint64_t end = rte_rdtsc() + rte_get_tsc_hz();
  while (rte_rdtsc() < end && rig.context->arq->unacked() != 0) rig.function.serve_acknowledged();
  EXPECT_TRUE(rig.rlc()->failed);
  EXPECT_EQ(rig.context->arq->unacked(), 0U);
}

// Milliseconds from now until an end gives up what is missing, or until a pause is over.
double gives_up_in_ms(const SecuredBearer& bearer) {
  const auto ticks = static_cast<std::int64_t>(bearer.entity.rx().next_deadline() - rte_rdtsc());
  return static_cast<double>(ticks) * 1e3 / static_cast<double>(rte_get_tsc_hz());
}

TEST(Rekey, what_is_missing_from_a_ue_without_the_keys_is_waited_for_as_long_as_it_sends_with_those_before) {
  RekeyRig rig(config_of(RlcMode::kAm));
  const Bytes missing = rig.of_ue(0), held = rig.of_ue(1), old = rig.of_ue(2);
  rig.uplink_frame(held);
  EXPECT_LT(gives_up_in_ms(rig.gnb()), 11);
  ASSERT_EQ(rig.rekey_gnb(2, kNext, false), Refusal::kNone);
  EXPECT_GT(gives_up_in_ms(rig.gnb()), 9'000);
  rig.gnb().entity.rx().prolong_pause(rte_rdtsc());  // as if the time were nearly over
  rig.uplink_frame(old);
  EXPECT_GT(gives_up_in_ms(rig.gnb()), 9'000);
  EXPECT_EQ(rig.gnb().entity.rx().held(), 1U);
  ASSERT_EQ(rig.rekey_ue(2, kNext, false), Refusal::kNone);
  rig.ue_sn = 0;
  rig.uplink_frame(rig.of_ue(3));
  EXPECT_LT(gives_up_in_ms(rig.gnb()), 11) << "the UE has followed";
  rig.uplink_frame(old);
  EXPECT_LT(gives_up_in_ms(rig.gnb()), 11) << "a late frame prolongs nothing";
}

TEST(Rekey, a_ue_that_follows_waits_no_longer_than_the_gnb_takes_to_send_again) {
  RekeyRig rig(config_of(RlcMode::kAm));
  rig.send(2);
  EXPECT_TRUE(rig.at_ue(rig.parse(rig.air.frames[1]).pdu).empty());
  ASSERT_EQ(rig.rekey_gnb(2, kNext, false), Refusal::kNone);
  ASSERT_EQ(rig.rekey_ue(2, kNext, false), Refusal::kNone);
  EXPECT_GT(gives_up_in_ms(*rig.ue), 500);
  EXPECT_LT(gives_up_in_ms(*rig.ue), 1'011);
}

TEST(Rekey, a_ue_in_the_epoch_before_is_shown_the_new_one) {
  RekeyRig rig(config_of(RlcMode::kAm));
  const Bytes old = rig.of_ue(1);
  ASSERT_EQ(rig.rekey_gnb(2, kNext, false), Refusal::kNone);
  rig.uplink_frame(old);
  EXPECT_TRUE(rig.n3.frames.empty());
  EXPECT_EQ(rig.dropped(DropReason::rlc_other_epoch), 1U);
  rig.function.serve_acknowledged();
  ASSERT_EQ(rig.air.frames.size(), 1U);
  const AirFrame shown = rig.parse(rig.air.frames[0]);
  EXPECT_FALSE(shown.is_data);
  EXPECT_EQ(shown.epoch, kNext);
}

}  // namespace
}  // namespace splitplane::datapath::test
