// A dispatching worker. It reads the TEID (downlink) or the bearer identity (uplink) of every packet and hands the
// packet off to the worker that owns the shard. It serves NICs that cannot steer by themselves.
#pragma once

#include <rte_cycles.h>
#include <rte_ring.h>

#include <array>
#include <vector>

#include "engine/endpoints.h"
#include "engine/handoff_rings.h"
#include "engine/limits.h"
#include "engine/probe.h"
#include "gnb/datapath/bearer_lookup.h"
#include "gnb/datapath/slow_path.h"
#include "n3/parse.h"
#include "n3/rx_checksum.h"
#include "ran/bearer_config.h"
#include "wire/ethernet.h"

namespace splitplane::datapath {

struct DispatchContext {
  N3Addresses n3;
  std::vector<WorkerRings> workers;                          // at most kMaxWorkers
  std::array<std::uint8_t, ran::kShards> worker_of_shard{};  // index into workers; kNoWorker: no worker owns the shard
  BearerLookup keys;                                         // keys of all the workers that this worker feeds
  Punts punt;
  ChecksumMode checksums = ChecksumMode::off;  // of the packets that this worker receives from N3
  WorkerStats stats;

  static constexpr std::uint8_t kNoWorker = 0xff;
};

class Dispatch {
 public:
  struct Queue : Lookahead<EthSource> {
    Direction direction;
  };

  Dispatch(DispatchContext& context, std::vector<Queue> queues) : context_(context), queues_(std::move(queues)) {}

  std::vector<Queue>& queues() { return queues_; }

  void process(Queue& queue, Burst& burst) {
    Drops drops(context_.stats);
    probe_.begin(context_.stats);
    if (context_.checksums != ChecksumMode::off && queue.direction == Direction::kDownlink) [[unlikely]] {
      drop_wrong_checksums(burst, context_.checksums, drops);
    }
    for (unsigned i = 0; i < burst.size; ++i) {
      rte_mbuf* m = burst.mbuf[i];
      burst.prefetch_mbuf_ahead(i);
      burst.prefetch_octets_ahead(i);
      std::uint32_t id = 0;
      const bool addressed = queue.direction == Direction::kDownlink ? read_teid(m, id, drops) : read_id(m, id, drops);
      if (!addressed) continue;
      const std::uint8_t worker = context_.worker_of_shard[ran::shard_of(id).value];
      if (worker >= context_.workers.size()) [[unlikely]] {
        if (queue.direction == Direction::kDownlink) {  // no worker owns the TEID's shard
          drop_and_tell(context_.punt, m, DropReason::shard_unowned, rte_rdtsc(), context_.stats, drops);
        } else {
          drops.add(m, DropReason::shard_unowned);
        }
      } else {
        Burst& out = out_[worker];
        out.mbuf[out.size++] = m;
      }
    }
    for (std::size_t worker = 0; worker < context_.workers.size(); ++worker) {
      const WorkerRings& rings = context_.workers[worker];
      hand_off(rings.of(queue.direction), rings.worker, out_[worker]);
    }
    probe_.stage(Stage::dispatch, burst.size);
  }

  void flush() {}

 private:
  bool read_teid(rte_mbuf* m, std::uint32_t& teid, Drops& drops) {
    GPdu gpdu;
    const N3Addresses& n3 = context_.n3;
    const bool fast =
        m->nb_segs == 1 && (n3.sends_tagged() ? parse_n3_fast<true>(octets(m), m->data_len, n3.ipv4, n3.vlan, gpdu)
                                              : parse_n3_fast<false>(octets(m), m->data_len, n3.ipv4, n3.vlan, gpdu));
    if (!fast) [[unlikely]] {
      if (!parse_slow(m, context_.n3, context_.punt, context_.stats, drops, gpdu)) return false;
    }
    teid = identity_of(context_.keys, m, gpdu);
    if (teid != 0 || !context_.keys.by_ue_address) [[likely]]
      return true;
    drops.add(m, DropReason::ue_unknown);
    return false;
  }

  static bool read_id(rte_mbuf* m, std::uint32_t& id, Drops& drops) {
    const std::uint8_t* frame = octets(m);
    if (m->data_len < 22 || wire::load_be16(frame + 12) != wire::ethernet::kTypeAirhdr) [[unlikely]] {
      drops.add(m, DropReason::not_air_frame);
      return false;
    }
    id = wire::load_be32(frame + 18);
    return true;
  }

  void hand_off(rte_ring* ring, Wakeup* reader, Burst& out) {
    if (out.size == 0) return;
    const unsigned taken = RingSink{ring}.send(out.mbuf.data(), out.size);
    context_.stats.dispatched.add(taken);
    if (reader != nullptr) reader->wake();
    if (taken < out.size) [[unlikely]] {
      context_.stats.drop(DropReason::worker_full, out.size - taken);
      rte_pktmbuf_free_bulk(out.mbuf.data() + taken, out.size - taken);
    }
    out.size = 0;
  }

  DispatchContext& context_;
  std::vector<Queue> queues_;
  std::array<Burst, kMaxWorkers> out_;
  SampledCycles probe_;
};

}  // namespace splitplane::datapath
