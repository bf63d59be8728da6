// For tests of radio only: two cells with one channel each, as gNB and UE would have them, and the air between them.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "engine/test_environment.h"
#include "radio/cell.h"

namespace splitplane::datapath::test {

inline constexpr std::uint32_t kId = ran::make_teid(0, ShardId{2}, 1);
inline constexpr std::uint64_t kMs = 100;  // ticks

inline Bytes content(const MbufBuffer& buffer) {
  return {buffer.data(), buffer.data() + buffer.size()};
}

inline ran::BearerConfig bearer(RlcMode mode, std::uint8_t sn_bits = 12, std::uint32_t id = kId) {
  return {.id = BearerId{id}, .rlc_mode = mode, .rlc_sn_bits = sn_bits};
}

// One end. SDUs carry their number in their first four octets.
class End {
 public:
  explicit End(const ran::BearerConfig& config, unsigned mbufs = 1023, std::size_t max_sdus = 512,
               std::size_t max_segments = 512)
      : pool(mbufs),
        cell({.pool = pool.get(), .max_sdus = max_sdus, .max_segments = max_segments, .ticks_per_ms = kMs}, stats) {
    cell.attach(ShardId{2}, 4);
    auto made = cell.make({&config, 1});
    EXPECT_TRUE(made);
    cell.attach(*made, 0);
  }
  ~End() {
    release();
    EXPECT_EQ(cell.held(), 0U);
    EXPECT_EQ(stats.rlc_unacked.get(), 0U);
    EXPECT_EQ(pool.in_use(), 0U);
    EXPECT_TRUE(cell.idle());
  }
  void release() {
    UeParts out;
    cell.detach(BearerId{kId}, out);
  }
  LogicalChannel& channel() { return *cell.find(kId); }
  void reestablish() {
    auto rnti = cell.take_rnti();
    ASSERT_TRUE(rnti);
    cell.reestablish(channel(), *rnti, now);
  }

  bool send(const Bytes& sdu) {
    if (!cell.has_room() || channel().room() == 0) return false;
    MbufBuffer buffer(pool.make(sdu));
    const bool sent = buffer && cell.send(channel(), buffer);
    EXPECT_EQ(stats.rlc_unacked.get(), cell.held());
    return sent;
  }
  Bytes pull(std::size_t grant) {
    Bytes out(grant);
    out.resize(cell.pull(channel(), out, now));
    return out;
  }
  // As MAC would hand it over, in a buffer of its own.
  void receive(const Bytes& pdu) {
    MbufBuffer buffer(pool.make(pdu));
    if (!buffer) return;
    cell.receive(channel(), std::move(buffer), now,
                 [this](const LogicalChannel&, MbufBuffer sdu) { delivered.push_back(content(sdu)); });
  }
  void tick(Time time) {
    now = time;
    cell.serve(now);
  }
  // Each PDU and each SDU is counted once.
  void expect_account() {
    std::uint64_t dropped = 0;
    for (const auto reason :
         {DropReason::rlc_failed, DropReason::rlc_duplicate, DropReason::rlc_malformed, DropReason::rlc_no_memory}) {
      dropped += this->dropped(reason);
    }
    EXPECT_EQ(stats.rlc_pdus.get(), stats.rlc_taken.get() + stats.rlc_control.get() + dropped);
    EXPECT_EQ(stats.rlc_delivered.get(), delivered.size() + this->dropped(DropReason::rlc_no_buffer));
    EXPECT_EQ(stats.rlc_unacked.get(), cell.held());
    const RlcView view = channel().view();
    EXPECT_EQ(stats.rlc_queued.get(), view.sent.sdus);
    EXPECT_EQ(view.received.sdus, stats.rlc_delivered.get());
    const std::uint64_t acked = view.am ? view.am->retx.acked : view.sent.sdus - view.held - view.given_up;
    const std::uint64_t not_released = view.am ? view.held - open() : 0;
    EXPECT_EQ(view.sent.sdus, acked - not_released + view.held + view.given_up);
  }
  [[nodiscard]] std::uint64_t dropped(DropReason reason) const {
    return stats.drops[static_cast<std::size_t>(reason)].get();
  }

  Pool pool;
  WorkerStats stats;
  Cell cell;
  Time now = 0;
  std::vector<Bytes> delivered;

 private:
  // AM: SDUs that are here and not acknowledged.
  [[nodiscard]] std::uint64_t open() {
    const RlcView view = channel().view();
    return view.sent.sdus - view.given_up - view.am->retx.acked;
  }
};

inline Bytes numbered(std::uint32_t number, std::size_t bytes) {
  Bytes sdu(std::max<std::size_t>(bytes, 4));
  for (std::size_t i = 0; i < sdu.size(); ++i) sdu[i] = static_cast<std::uint8_t>(number * 31 + i * 7);
  for (unsigned i = 0; i < 4; ++i) sdu[i] = static_cast<std::uint8_t>(number >> 8 * i);
  return sdu;
}
inline std::uint32_t number_of(const Bytes& sdu) {
  return sdu[0] | sdu[1] << 8 | sdu[2] << 16 | static_cast<std::uint32_t>(sdu[3]) << 24;
}

// Loses, doubles and delays.
class Air {
 public:
  Air(std::mt19937& random, unsigned loss_percent, Time most_delay)
      : random_(random), loss_percent_(loss_percent), most_delay_(most_delay) {}
  void put(const Bytes& pdu, Time now) {
    if (pdu.empty() || random_() % 100 < loss_percent_) return;
    flying_.emplace(now + random_() % (most_delay_ + 1), pdu);
    if (random_() % 100 < loss_percent_) flying_.emplace(now + random_() % (most_delay_ + 1), pdu);
  }
  void arrive(Time now, End& at) {
    while (!flying_.empty() && flying_.begin()->first <= now) {
      at.receive(flying_.begin()->second);
      flying_.erase(flying_.begin());
    }
  }
  void set_loss(unsigned percent) { loss_percent_ = percent; }

 private:
  std::mt19937& random_;
  unsigned loss_percent_;
  Time most_delay_;
  std::multimap<Time, Bytes> flying_;
};

}  // namespace splitplane::datapath::test
