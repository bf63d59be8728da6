// For full_bench: a gNB worker in full mode with UEs that have data in each slot, and which acknowledge everything.
#pragma once

#include <fmt/format.h>
#include <rte_cycles.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench_keys.h"
#include "buffers.h"
#include "gnb/datapath/gnb.h"
#include "radio/downlink_slots.h"
#include "wire/rlc_status.h"

namespace splitplane::bench {

using datapath::FeatureSet;
using datapath::Stage;

inline constexpr std::uint32_t kPerKey = 32;
inline constexpr unsigned kBlocks = 16;  // transport blocks of a UE that HARQ may hold

struct Kind {
  const char* name;
  ran::SecurityConfig security;
};

struct Load {
  unsigned ues, sdus;  // of each UE in a slot
  bool scheduled = false;
};

// No packet leaves by a port.
struct NoSink {
  static unsigned send(rte_mbuf** /*mbufs*/, unsigned /*n*/) { return 0; }
};

using Times = std::map<std::string, double>;  // nanoseconds per packet

class Slots {
 public:
  Slots(const Kind& kind, const Load& load, unsigned bytes, rte_mempool* pool,
        const std::shared_ptr<datapath::BearerKeys>& keys)
      : load_(load), bytes_(bytes), pool_(pool) {
    const std::uint64_t ms = rte_get_tsc_hz() / 1000;
    context_->n3.ipv4 = __builtin_bswap32(0x0a640001);
    context_->n3.source_mask = ~0U;
    context_->pool = pool;
    context_->pdcp =
        value_of(datapath::WorkerPdcp::create({.pool = pool, .ticks_per_ms = ms, .now = rte_rdtsc()}, keys));
    context_->cell = std::make_unique<datapath::Cell>(
        datapath::Cell::Settings{.pool = pool, .ticks_per_ms = ms, .now = rte_rdtsc()}, context_->stats);
    context_->cell->attach(ShardId{0}, load.ues);
    context_->secured_bearers.attach(ShardId{0}, load.ues);
    for (std::uint32_t i = 0; i < load.ues; ++i) add(kind, i);
    context_->bearers.attach(ShardId{0}, {downlink_.data(), uplink_.data(), drops_.data(), load.ues});
    frame_ = make_frame_template({.ipv4 = context_->n3.ipv4}, 58 + bytes);
    // SDAP, PDCP, RLC and MAC of each SDU, and its MAC-I.
    grant_ = load.sdus * (bytes + 1 + 3 + 3 + 3 + (kind.security.integrity == ran::Integrity::kNone ? 0 : 4));
    for (auto& order : orders_) order.tb_bytes = grant_;
    if (load.scheduled) {
      slots_.emplace(datapath::DownlinkSlots::Settings{.shape = {.table = phy::McsTable::k256Qam, .layers = 4},
                                                       .mcs = 27,
                                                       .most_ues = load.ues,
                                                       .most_blocks = 1024});
    } else {
      blocks_.resize(std::size_t{load.ues} * kBlocks * grant_);
    }
  }
  ~Slots() {
    datapath::UeParts out;
    for (std::uint32_t i = 0; i < load_.ues; ++i) {
      context_->pdcp->detach(*context_->secured_bearers.find(id(i)));
      if (slots_) slots_->remove(*context_->cell->find(id(i))->ue);
      context_->cell->detach(BearerId{id(i)}, out);
    }
  }
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;

  [[nodiscard]] std::vector<double>& slot_times() { return slot_times_; }

  // One slot in its parts. prepare(): the frames as a port delivers them. queue(): N3 to RLC. build(): the transport
  // blocks. prepare_status() and acknowledge(): the UEs acknowledge all of it.
  void prepare() { take_frames(); }
  void queue() {
    for (std::size_t at = 0; at < mbufs_.size(); at += datapath::kBurst) process(at);
  }
  void build() { build_blocks(); }
  void prepare_status() { make_status(); }
  void acknowledge() { take_status(); }
  [[nodiscard]] std::size_t packets() const { return std::size_t{load_.ues} * load_.sdus; }
  [[nodiscard]] bool is_clean() const { return context_->stats.dropped() == 0 && context_->cell->held() == 0; }

  // Runs `slots` slots.
  Times run(unsigned slots) {
    std::uint64_t queue_time = 0, build_time = 0, give_back = 0;
    const auto before = sampled();
    for (unsigned i = 0; i < slots; ++i) {
      prepare();
      const std::uint64_t begin = rte_rdtsc_precise();
      queue();
      const std::uint64_t queued = rte_rdtsc_precise();
      build();
      const std::uint64_t built = rte_rdtsc_precise();
      queue_time += queued - begin;
      build_time += built - queued;
      slot_times_.push_back(ns(built - queued) / 1000);
      prepare_status();
      const std::uint64_t heard = rte_rdtsc_precise();
      acknowledge();
      give_back += rte_rdtsc_precise() - heard;
    }
    if (!is_clean())
      throw std::runtime_error(
          fmt::format("{} packets were dropped, {} are held", context_->stats.dropped(), context_->cell->held()));
    const double packets = static_cast<double>(slots) * static_cast<double>(mbufs_.size());
    Times times{{"queue", ns(queue_time) / packets},
                {"build", ns(build_time) / packets},
                {"acknowledge", ns(give_back) / packets}};
    times["all"] = times["queue"] + times["build"] + times["acknowledge"];
    const auto after = sampled();
    for (std::size_t i = 0; i < kStages.size(); ++i) {
      const auto& [then_packets, then_cycles] = before[i];
      const auto& [packets_now, cycles_now] = after[i];
      times[std::string(name_of(kStages[i]))] =
          ns(cycles_now - then_cycles) / static_cast<double>(std::max<std::uint64_t>(1, packets_now - then_packets));
    }
    return times;
  }

 private:
  static constexpr std::array kStages{Stage::dl_parse, Stage::dl_bearer, Stage::dl_pdcp, Stage::dl_rlc};

  // Packets and cycles that the path has sampled of each stage.
  [[nodiscard]] std::array<std::pair<std::uint64_t, std::uint64_t>, kStages.size()> sampled() const {
    std::array<std::pair<std::uint64_t, std::uint64_t>, kStages.size()> all;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto& stage = context_->stats.stages[static_cast<std::size_t>(kStages[i])];
      all[i] = {stage.sampled_packets.get(), stage.sampled_cycles.get()};
    }
    return all;
  }
  static double ns(std::uint64_t cycles) {
    return static_cast<double>(cycles) * 1e9 / static_cast<double>(rte_get_tsc_hz());
  }
  static std::uint32_t id(std::uint32_t i) { return ran::make_teid(1, ShardId{0}, i); }

  void add(const Kind& kind, std::uint32_t i) {
    ran::BearerConfig config{.id = BearerId{id(i)},
                             .uplink_teid = Teid{id(i)},
                             .upf = IpAddress::v4({10, 100, 0, 2}),
                             .security = kind.security};
    config.security->key = 1 + i / kPerKey;
    config.security->drb = static_cast<std::uint8_t>(1 + i % kPerKey);
    downlink_.push_back(ran::make_downlink(config));
    uplink_.push_back(ran::make_uplink(config, PeerId{0}));
    drops_.emplace_back();
    context_->secured_bearers.exchange(id(i), value_of(context_->pdcp->make(config, Count{0}, Count{0})));
    auto parts = value_of(context_->cell->make({&config, 1}));
    orders_.push_back({.rnti = parts.ue->rnti.value(), .tb_bytes = 0, .block = {}});
    context_->cell->attach(parts, rte_rdtsc());
  }

  // The frames of a slot, as the N3 port delivers them: packet n is for UE n modulo their number.
  void take_frames() {
    mbufs_.resize(std::size_t{load_.ues} * load_.sdus);
    if (rte_pktmbuf_alloc_bulk(pool_, mbufs_.data(), static_cast<unsigned>(mbufs_.size())) != 0)
      throw std::runtime_error("no buffers");
    for (std::size_t n = 0; n < mbufs_.size(); ++n) {
      rte_mbuf* const m = mbufs_[n];
      m->data_len = static_cast<std::uint16_t>(58 + bytes_);
      m->pkt_len = m->data_len;
      auto* const octets = rte_pktmbuf_mtod(m, std::uint8_t*);
      std::memcpy(octets, frame_.head.data(), 58);
      std::memset(octets + 58, 0x45, bytes_);
      const std::uint32_t teid = __builtin_bswap32(id(static_cast<std::uint32_t>(n % load_.ues)));
      std::memcpy(octets + 46, &teid, 4);
    }
  }
  void process(std::size_t at) {
    const auto size = [&](std::size_t from) {
      return from >= mbufs_.size()
                 ? 0U
                 : static_cast<unsigned>(std::min<std::size_t>(datapath::kBurst, mbufs_.size() - from));
    };
    datapath::Burst burst;
    burst.size = size(at);
    std::copy_n(mbufs_.begin() + static_cast<std::ptrdiff_t>(at), burst.size, burst.mbuf.begin());
    burst.ahead = mbufs_.data() + at + burst.size;
    burst.ahead_size = size(at + burst.size);
    downlink_path_.process(burst);
  }
  void build_blocks() {
    if (slots_) {
      at_ = phy::after(at_, 1);
      sent_ = slots_->run(*context_->cell, at_, slot_ + 1, rte_rdtsc(), slot_);
      ++slot_;
      return;
    }
    for (std::uint32_t i = 0; i < load_.ues; ++i) {
      orders_[i].block = {blocks_.data() + (std::size_t{i} * kBlocks + slot_ % kBlocks) * grant_, grant_};
    }
    context_->cell->build(orders_, rte_rdtsc());
    ++slot_;
  }
  // STATUS PDUs of all UEs, which acknowledge everything.
  void make_status() {
    status_.clear();
    for (std::uint32_t i = 0; i < load_.ues; ++i) {
      rte_mbuf* const m = rte_pktmbuf_alloc(pool_);
      if (m == nullptr) throw std::runtime_error("no buffers");
      std::array<std::uint8_t, 16> octets;
      wire::rlc::StatusWriter writer(octets, 18);
      const std::size_t bytes = writer.finish(static_cast<std::uint32_t>(slot_ * load_.sdus) & 0x3ffff);
      std::memcpy(rte_pktmbuf_append(m, static_cast<std::uint16_t>(bytes)), octets.data(), bytes);
      status_.push_back(m);
    }
  }
  void take_status() {
    const std::uint64_t now = rte_rdtsc();
    for (const auto& [grant, block] : sent_) {
      (void)slots_->feedback(*context_->cell->find(datapath::Rnti{grant.rnti}), grant.slot, true);
    }
    for (std::uint32_t i = 0; i < load_.ues; ++i) {
      context_->cell->receive(*context_->cell->find(id(i)), datapath::MbufBuffer(status_[i]), now,
                              [](const datapath::LogicalChannel&, const datapath::MbufBuffer&) {});
    }
    for (unsigned rounds = 0; context_->cell->held() != 0 && rounds < 10000; ++rounds) context_->cell->serve(now);
  }

  Load load_;
  unsigned bytes_;
  rte_mempool* pool_;
  std::unique_ptr<datapath::GnbContext> context_ = std::make_unique<datapath::GnbContext>();
  std::vector<ran::BearerDownlink> downlink_;
  std::vector<ran::BearerUplink> uplink_;
  std::vector<ran::BearerDrops> drops_;
  FrameTemplate frame_;
  std::size_t grant_ = 0;
  std::uint64_t slot_ = 0;
  std::optional<datapath::DownlinkSlots> slots_;
  phy::Slot at_{{1}, 0, 0};
  std::span<const datapath::DownlinkSlots::Sent> sent_;
  std::vector<double> slot_times_;  // microseconds
  std::vector<std::uint8_t> blocks_;
  std::vector<datapath::Cell::BlockOrder> orders_;
  std::vector<rte_mbuf*> mbufs_, status_;
  datapath::GnbDownlink<FeatureSet::full, NoSink, datapath::SampledCycles> downlink_path_{*context_, NoSink{},
                                                                                          NoSink{}};
};

}  // namespace splitplane::bench
