// For tests of RLC AM on a gNB worker only: real mbufs, the STATUS PDUs of a peer written by hand, and the account of
// buffers. The windows are in the worker (`baas: inline`) or in a buffering service on the same thread (`baas:
// process`).
#pragma once

#include <gtest/gtest.h>

#include "baas/test_service.h"
#include "gnb/datapath/downlink.h"
#include "gnb/datapath/test_gnb.h"
#include "gnb/datapath/uplink.h"
#include "wire/rlc_status.h"

namespace splitplane::datapath::test {

inline constexpr std::uint32_t kArqBearer = 5;
inline constexpr std::uint8_t kEpoch = 0x5a;

inline bool windows_are_away = false;  // for rigs from now on

// A test of what must not depend on where the windows are.
class AnyWindows : public testing::TestWithParam<bool> {
 protected:
  AnyWindows() { windows_are_away = GetParam(); }
  ~AnyWindows() override { windows_are_away = false; }
};
inline std::string window_place(const testing::TestParamInfo<bool>& info) {
  return info.param ? "in_the_service" : "inline";
}

// A gNB worker with one acknowledged bearer, and the PDUs of its UE.
template <class Sink = TestSink>
struct ArqRig : TestGnb {
  static constexpr std::uint32_t kBearer = kArqBearer;

  explicit ArqRig(ran::BearerConfig bearer = {}) {
    Arq::Settings settings{.sends = Direction::kDownlink,
                           .ethernet = context->air_header,
                           .pool = pool.get(),
                           .ticks_per_ms = rte_get_tsc_hz() / 1000,
                           .now = rte_rdtsc()};
    if (windows_are_away) {
      service.emplace();
      settings.service = {service->channel()};
      settings.max_bearers = kLines;
    }
    context->arq = std::make_unique<Arq>(settings);
    if (service) {
      context->arq->service()->connect();
      service->start();
    }
    context->arq_bearers.attach(ShardId{1}, kLines);
    bearer.acknowledged = true;
    add(kBearer, bearer, kPeerV4);
    auto arq = context->arq->make(config(kBearer), kEpoch);
    ran::set_epoch(downlink[kBearer], kEpoch);
    context->arq_bearers.exchange(teid(kBearer), std::move(arq));
    set_count_limit(*context, downlink[kBearer]);
  }
  ~ArqRig() {
    const auto arq = context->arq_bearers.exchange(teid(kBearer), nullptr);
    if (arq) context->arq->detach(*arq);
    EXPECT_EQ(pool.in_use(), 0U);
  }
  // Rounds of the worker, and of the service if there is one, until nothing is left to say.
  void serve() {
    function.serve_acknowledged();
    for (unsigned i = 0; i < 3 && service; ++i) {
      service->round();
      function.serve_acknowledged();
    }
  }
  // STATUS PDUs that were of no use, where the windows are.
  [[nodiscard]] std::uint64_t malformed() const {
    return service ? service->stats.rlc_status_malformed.get() : context->arq->counters().status_malformed;
  }
  ArqBearer& bearer() { return *context->arq_bearers.find(teid(kBearer)); }

  // Sends `n` SDUs, in one burst each or all in one burst.
  void send(unsigned n, bool one_burst = false) {
    std::vector<Bytes> frames;
    for (unsigned i = 0; i < n; ++i) frames.push_back(to_bearer(kBearer).make());
    if (one_burst) return process(frames);
    for (const Bytes& frame : frames) process({frame});
  }
  void process(const std::vector<Bytes>& frames) {
    Burst burst = burst_of(pool, frames);
    function.process(burst);
  }
  // A STATUS PDU of the UE.
  void status(std::uint32_t ack, const std::vector<wire::rlc::Nack>& nacks = {}) {
    Bytes pdu(10 + 200);
    const unsigned bits = config(kBearer).rlc_sn_bits;
    wire::store_be64(pdu.data(), wire::airhdr::encode({.direction = Direction::kUplink,
                                                       .rlc_sn_bits = static_cast<std::uint8_t>(bits),
                                                       .pdcp_sn_bits = config(kBearer).pdcp_sn_bits,
                                                       .epoch = kEpoch,
                                                       .bearer = BearerId{teid(kBearer)}}));
    wire::rlc::StatusWriter writer(wire::MutableOctets(pdu).subspan(10), bits);
    for (const auto& nack : nacks) ASSERT_TRUE(writer.add(nack));
    pdu.resize(10 + writer.finish(ack));
    from_air(pdu);
  }
  void from_air(const Bytes& from_airhdr) {
    Burst burst = burst_of(pool, {from_ue(from_airhdr)});
    upward.process(burst);
  }
  [[nodiscard]] static std::uint32_t sn_of(const Bytes& frame) { return wire::load_be24(&frame[24]) & 0x3ffff; }
  [[nodiscard]] static bool polls(const Bytes& frame) { return (frame[24] & kPollBit) != 0; }

  std::optional<baas::test::TestService> service;
  Taken air, n3;
  GnbDownlink<FeatureSet::clone, Sink, SampledCycles> function{*context, Sink{&air}, Sink{&air}};
  GnbUplink<FeatureSet::clone, TestSink, SampledCycles> upward{*context, TestSink{&n3}};
};

}  // namespace splitplane::datapath::test
