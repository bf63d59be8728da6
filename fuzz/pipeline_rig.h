// For the fuzz target `pipeline`: both directions of a gNB worker on real mbufs, with acknowledged bearers and one in
// N3 order, and the account of packets and mbufs.
#pragma once

#include "dpdk.h"
#include "gnb/datapath/count_limit.h"
#include "gnb/datapath/downlink.h"
#include "gnb/datapath/test_gnb.h"
#include "gnb/datapath/uplink.h"

namespace splitplane::fuzz {

using namespace datapath;

inline constexpr std::uint32_t kBearers = 8;  // 1 to 4 are TestGnb's; 5 and 6 acknowledged, 7 in N3 order
inline constexpr std::uint32_t kAm18 = 5, kAm12 = 6, kOrdered = 7;

template <FeatureSet F>
class Rig : public datapath::test::TestGnb {
 public:
  // `ticks_per_ms` is for the RLC timers; with 1 all have expired by the next round.
  Rig(bool with_arq, std::uint64_t ticks_per_ms) {
    context->air_frame_bytes = 1400;
    if (with_arq) {
      context->arq = std::make_unique<Arq>(Arq::Settings{.sends = Direction::kDownlink,
                                                         .ethernet = context->air_header,
                                                         .pool = pool.get(),
                                                         .max_unacked = 96,
                                                         .ticks_per_ms = ticks_per_ms,
                                                         .now = rte_rdtsc()});
      context->arq_bearers.attach(ShardId{1}, datapath::test::kLines);
    }
    add(kAm18,
        {.arq = {.t_status_prohibit_ms = 1, .max_retx = 3, .max_unacked = 48},
         .acknowledged = with_arq,
         .ecn = ran::EcnConfig{.target_us = 1000, .classic_target_us = 1000}},
        datapath::test::kPeerV4);
    add(kAm12, {.rlc_sn_bits = 12, .pdcp_sn_bits = 12, .arq = {.max_unacked = 16}, .acknowledged = with_arq},
        datapath::test::kPeerV6);
    add(kOrdered, {.n3_reorder = ran::N3ReorderConfig{.window = 16, .timer_ms = 1000}}, datapath::test::kPeerV4);
    context->reorder.open(BearerId{teid(kOrdered)}, *config(kOrdered).n3_reorder, rte_get_tsc_hz());
    context->reorder.limit(64);
    for (const std::uint32_t index : {kAm18, kAm12}) attach(index);
  }
  ~Rig() {
    for (const std::uint32_t index : {kAm18, kAm12}) detach(index);
    context->reorder.release_all();
    Burst burst;
    while (context->reorder.take_ready(burst) != 0) rte_pktmbuf_free_bulk(burst.mbuf.data(), burst.size);
    for (auto* ring : {&copies, &punt, &inject}) ring->drain();
    same(pool.in_use(), 0U, "mbufs left at the end");
  }

  void receive(const std::vector<Bytes>& frames, bool from_n3) {
    Burst burst;
    for (const Bytes& frame : frames) {
      if (rte_mbuf* m = pool.make(frame); m != nullptr) burst.mbuf[burst.size++] = m;
    }
    received_ += burst.size;
    if (burst.size == 0) return;
    if (from_n3) {
      down_.process(burst);
    } else {
      up_.process(burst);
    }
  }
  void round() {
    down_.flush();
    down_.serve_acknowledged();
  }
  void reestablish(std::uint32_t index) {
    ArqBearer* const arq = context->arq ? context->arq_bearers.find(teid(index)) : nullptr;
    if (arq == nullptr) return;
    context->arq->reestablish(*arq, ++epoch_, rte_rdtsc());
    set_line(index, *arq);
  }
  void attach(std::uint32_t index) {
    if (!context->arq) return;
    downlink[index] = ran::make_downlink(config(index));
    uplink[index] = ran::make_uplink(config(index), PeerId{datapath::test::kPeerV4});
    auto arq = context->arq->make(config(index), ++epoch_);
    set_line(index, *arq);
    context->arq_bearers.exchange(teid(index), std::move(arq));
  }
  void detach(std::uint32_t index) {
    if (!context->arq) return;
    downlink[index] = {};
    uplink[index] = {};
    if (auto old = context->arq_bearers.exchange(teid(index), nullptr); old != nullptr) context->arq->detach(*old);
  }
  [[nodiscard]] std::uint8_t epoch(std::uint32_t index) const {
    const ArqBearer* const arq = context->arq ? context->arq_bearers.find(teid(index)) : nullptr;
    return arq == nullptr ? 0 : arq->epoch;
  }

  void check() {
    const WorkerStats& s = context->stats;
    same(received_,
         s.transmitted_air.get() + s.transmitted_n3.get() + s.returned.get() + s.dropped() + s.punted.get() +
             s.rlc_control.get() + s.rlc_deferred.get() + context->reorder.held(),
         "packets received, and where they went");
    same(dropped(DropReason::ok), std::uint64_t{0}, "packets dropped for no reason");
    const std::uint64_t kept = context->arq ? context->arq->unacked() : 0;
    same(std::uint64_t{pool.in_use()}, copies.count() + punt.count() + inject.count() + kept + context->reorder.held(),
         "mbufs in use, and who holds them");
    same(std::uint64_t{air.frames.size()}, s.transmitted_air.get() + s.rlc_own.get(), "frames on the air");
    same(std::uint64_t{n3.frames.size()}, s.transmitted_n3.get(), "frames on N3");
  }

  datapath::test::Taken air, n3;

 private:
  void set_line(std::uint32_t index, const ArqBearer& arq) {
    ran::set_epoch(downlink[index], arq.epoch);
    downlink[index].rlc_tx_next = arq.retx.next();
    downlink[index].pdu_without_poll = 0;
    set_count_limit(downlink[index], nullptr, &arq);
  }

  GnbDownlink<F, datapath::test::TestSink, SampledCycles> down_{*context, datapath::test::TestSink{&air},
                                                                datapath::test::TestSink{&n3}};
  GnbUplink<F, datapath::test::TestSink, SampledCycles> up_{*context, datapath::test::TestSink{&n3}};
  std::uint64_t received_ = 0;
  std::uint8_t epoch_ = 0;
};

}  // namespace splitplane::fuzz
