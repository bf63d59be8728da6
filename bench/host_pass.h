// The host's pipeline over the bench's buffers. pipeline_bench measures it, and nic_bench compares it with a card.
#pragma once

#include <rte_malloc.h>

#include <memory>
#include <stdexcept>

#include "buffers.h"
#include "gnb/datapath/gnb.h"

namespace splitplane::bench {

using datapath::FeatureSet;
inline constexpr unsigned kBuffers = 65536;

// Bearers 0..count-1 of all shards in hugepage memory, as a worker holds them.
class Bearers {
 public:
  Bearers(ran::BearerTable& table, std::size_t count) {
    const auto per_shard = static_cast<std::uint32_t>((count + ran::kShards - 1) / ran::kShards);
    const std::size_t lines = std::size_t{per_shard} * ran::kShards;
    downlink_ = static_cast<ran::BearerDownlink*>(rte_zmalloc("dl", lines * sizeof(ran::BearerDownlink), 64));
    uplink_ = static_cast<ran::BearerUplink*>(rte_zmalloc("ul", lines * sizeof(ran::BearerUplink), 64));
    drops_.resize(lines);
    if (downlink_ == nullptr || uplink_ == nullptr) throw std::runtime_error("not enough memory for the bearers");
    for (unsigned shard = 0; shard < ran::kShards; ++shard) {
      const ShardId id{static_cast<std::uint8_t>(shard)};
      const std::size_t first = std::size_t{shard} * per_shard;
      for (std::uint32_t i = 0; i < per_shard && first + i < count; ++i) {
        ran::BearerConfig config;
        config.id = BearerId{ran::make_teid(1, id, i)};
        config.uplink_teid = Teid{config.id.value};
        config.upf = IpAddress::v4({10, 100, 0, 2});  // the sender of the frames
        if (i % 4 == 1) config.rlc_sn_bits = 12;
        if (i % 4 == 2) config.pdcp_sn_bits = 12;
        if (i % 4 == 3) config.sdap_header_dl = false;
        downlink_[first + i] = ran::make_downlink(config);
        uplink_[first + i] = ran::make_uplink(config, PeerId{0});
        teids_.push_back(config.id.value);
      }
      table.attach(id, {downlink_ + first, uplink_ + first, drops_.data() + first, per_shard});
    }
  }
  ~Bearers() {
    rte_free(downlink_);
    rte_free(uplink_);
  }
  Bearers(const Bearers&) = delete;
  Bearers& operator=(const Bearers&) = delete;
  [[nodiscard]] const std::vector<std::uint32_t>& teids() const { return teids_; }

 private:
  ran::BearerDownlink* downlink_ = nullptr;
  ran::BearerUplink* uplink_ = nullptr;
  std::vector<ran::BearerDrops> drops_;
  std::vector<std::uint32_t> teids_;
};

// Sessions with two bearers each. `qfi` has a rule for the second bearer in every other session.
class Sessions {
 public:
  Sessions(datapath::GnbContext& context, std::size_t count, Qfi qfi) : bearers_(context.bearers, 3 * count) {
    ran::BearerTable& table = context.bearers;
    context.flow_counters = {};  // of other sessions
    const std::vector<std::uint32_t>& all = bearers_.teids();
    for (std::size_t i = 0; i + 2 < all.size(); i += 3) {
      ran::SessionConfig session{.bearers = {{.drb{1}}, {.drb{2}}}, .default_drb{1}, .spare{all[i + 2]}};
      for (std::size_t b = 0; b < 2; ++b) {
        session.bearers[b].config.id = BearerId{all[i + b]};
        session.bearers[b].config.upf = IpAddress::v4({10, 100, 0, 2});
      }
      if (i % 2 == 0) session.bearers[1].flows = {qfi};
      if (ran::refuse(session)) throw std::runtime_error(*ran::refuse(session));
      *table.downlink_line(all[i + 2]) = *table.downlink_line(all[i]);
      *table.downlink_line(all[i]) = ran::make_session(session);
      const std::uint32_t places = table.slab(ran::shard_of(all[i])).capacity;
      auto memory = context.flow_counters.make(session.teid(), places);
      context.flow_counters.open(session.teid(), memory);
      teids_.push_back(all[i]);
    }
  }
  [[nodiscard]] const std::vector<std::uint32_t>& teids() const { return teids_; }

 private:
  Bearers bearers_;
  std::vector<std::uint32_t> teids_;
};

struct ReleaseCopies {
  const FrameTemplate* frame;
  void operator()(rte_mbuf** mbufs, unsigned n) const {
    for (unsigned i = 0; i < n; ++i) release(mbufs[i], *frame);
  }
};

// One pass of all buffers through the downlink; returns cycles per packet.
template <FeatureSet F, class Sink>
double one_pass(datapath::GnbContext& context, Buffers& buffers, Sink sink, bool drain) {
  datapath::GnbDownlink<F, Sink, datapath::SampledCycles> downlink(context, sink, sink);
  datapath::Lookahead<BufferSource> source(BufferSource{&buffers});
  datapath::Burst burst;
  const std::uint64_t begin = rte_rdtsc_precise();
  while (source.receive(burst) != 0) {
    downlink.process(burst);
    if (drain) datapath::consume_copies(context.copies, context.stats, ReleaseCopies{&buffers.frame()});
  }
  return static_cast<double>(rte_rdtsc_precise() - begin) / kBuffers;
}

// `drop` frees its packets. The buffers come back through the pool, so it is timed on buffers that are held twice.
inline double one_drop_pass(datapath::GnbContext& context, Buffers& buffers) {
  for (unsigned i = 0; i < kBuffers; ++i) rte_mbuf_refcnt_set(buffers.order()[i], 2);
  const double cycles = one_pass<FeatureSet::drop>(context, buffers, RestoringSink{&buffers.frame()}, false);
  for (unsigned i = 0; i < kBuffers; ++i) rte_mbuf_refcnt_set(buffers.order()[i], 1);
  return cycles;
}

// The cost that the sinks add to keep the harness running, on buffers as hot as a sink finds them.
inline double restore_cost(Buffers& buffers) {
  constexpr unsigned kHot = 512, kRounds = 128;
  RestoringSink sink{&buffers.frame()};
  const auto round = [&] {
    for (unsigned i = 0; i < kHot; i += datapath::kBurst) sink.send(buffers.order() + i, datapath::kBurst);
  };
  round();
  const std::uint64_t begin = rte_rdtsc_precise();
  for (unsigned r = 0; r < kRounds; ++r) round();
  return static_cast<double>(rte_rdtsc_precise() - begin) / (kHot * kRounds);
}

}  // namespace splitplane::bench
