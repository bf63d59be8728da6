// For tests of this room only: a gNB with the RLC entities of radio::Cell, HARQ of both directions, grants after
// scheduling requests and buffer status reports, and an air that loses transport blocks and DCIs. A slot is 1 ms.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>

#include "engine/test_environment.h"
#include "phy/emulator/terminals.h"
#include "phy/scheduler/uplink_demand.h"
#include "phy/slots/harq_sender.h"
#include "radio/cell.h"
#include "wire/mac_ce.h"

namespace splitplane::ue::test {

using datapath::LogicalChannel;
using datapath::MbufBuffer;
using datapath::Time;
using datapath::test::Bytes;
using datapath::test::Pool;

inline constexpr std::uint64_t kMs = 100;  // ticks
inline constexpr ShardId kShard{2};

inline Bytes octets_of(const MbufBuffer& buffer) {
  return {buffer.data(), buffer.data() + buffer.size()};
}

class Gnb {
 public:
  struct NoBlock {};
  struct Ue {
    phy::Rnti rnti = 0;  // on the air; the cell has numbers of its own
    datapath::RadioUe* radio = nullptr;
    phy::HarqSender<Bytes> down{phy::HarqSettings{}};
    phy::HarqSender<NoBlock> up{phy::HarqSettings{}};
    phy::UplinkDemand demand;
    std::map<std::uint8_t, Bytes> last;  // uplink, by process: what was sent first
    bool asked = false;
  };
  struct Loss {
    unsigned down = 0, up = 0, dci = 0;  // percent
  };
  using Deliver = std::function<void(LogicalChannel&, MbufBuffer)>;

  explicit Gnb(unsigned mbufs = 4095, std::size_t max_sdus = 2048)
      : pool(mbufs), cell({.pool = pool.get(), .max_sdus = max_sdus, .ticks_per_ms = kMs}, stats) {
    cell.attach(kShard, 20000);
  }
  ~Gnb() {
    for (const BearerId id : ids_) {
      datapath::UeParts parts;
      cell.detach(id, parts);
    }
    EXPECT_EQ(cell.held(), 0U);
  }

  Ue& add(std::span<const ran::BearerConfig> bearers) {
    auto made = cell.make(bearers);
    EXPECT_TRUE(made);
    Ue& ue = ues.emplace_back();
    ue.radio = made->ue.get();
    ue.rnti = next_rnti_++;
    cell.attach(*made, now);
    for (const auto& one : bearers) ids_.push_back(one.id);
    return ue;
  }
  [[nodiscard]] LogicalChannel& channel(BearerId id) { return *cell.find(id.value); }
  bool send(BearerId id, MbufBuffer sdu) {
    LogicalChannel& to = channel(id);
    return cell.has_room() && to.room() != 0 && cell.send(to, sdu);
  }
  // As full mode does it: RLC begins anew, and the UE has another C-RNTI.
  void reestablish(Ue& ue, BearerId id) {
    channel(id).reestablish();
    (void)cell.pull(channel(id), {}, now);
    ue.rnti = next_rnti_++;
    ue.down.discard_all([](Bytes) {});
    ue.up.discard_all([](NoBlock) {});
    ue.demand = {};
    ue.last.clear();
  }

  void run(phy::Terminals& terminals) {
    now += kMs;
    cell.serve(now);
    for (Ue& ue : ues) downlink(ue, terminals);
    for (Ue& ue : ues) grant(ue, terminals);
    while (!pusch_.empty() && phy::distance(pusch_.front().grant.slot, slot) >= 0) {
      if (pusch_.front().grant.slot == slot) uplink(pusch_.front(), terminals);
      pusch_.pop_front();
    }
    for (Ue& ue : ues) {
      if (!terminals.requests(ue.rnti, slot)) continue;
      ue.asked = true;
      ue.demand.requested();
    }
    terminals.end_slot(slot);
    slot = phy::after(slot, 1);
    ++number_;
  }
  [[nodiscard]] bool silent() const {
    for (const Ue& ue : ues) {
      if (ue.down.active() || ue.up.active()) return false;
    }
    return cell.held() == 0;
  }

  Pool pool;
  datapath::WorkerStats stats;
  datapath::Cell cell;
  std::deque<Ue> ues;
  Loss loss;
  std::size_t most_down = 3000, most_up = 3000;  // octets of a block
  Deliver deliver;
  Time now = 0;
  phy::Slot slot{{0}, 1020, 0};  // frame numbers go round soon
  std::uint64_t repetitions = 0, short_bsrs = 0, long_bsrs = 0, power_reports = 0, blocks = 0;

 private:
  static constexpr unsigned kAhead = 4;  // slots from a grant to its PUSCH
  struct Pusch {
    Ue* ue;
    phy::Grant grant;
  };

  bool lost(unsigned percent) { return random_() % 100 < percent; }
  template <class Tb>
  static std::uint8_t waiting(const phy::HarqSender<Tb>& sender) {
    for (std::uint8_t process = 0; process < phy::kHarqProcesses; ++process) {
      if (sender.waits(process)) return process;
    }
    return phy::kNoProcess;
  }
  // The grant of a block that was not decoded, or of a new one of `bytes` octets; none if neither is to be sent.
  template <class Tb, class Make>
  std::optional<phy::Grant> next(Ue& ue, phy::HarqSender<Tb>& sender, phy::Slot when, std::size_t bytes, Make make) {
    sender.expire(slot, [](std::uint8_t) {}, [](Tb) {});
    phy::Grant grant{.slot = when, .rnti = ue.rnti};
    if (const std::uint8_t again = waiting(sender); again != phy::kNoProcess) {
      const phy::Retransmission what = sender.waiting(again, 0);
      grant.process = again;
      grant.ndi = what.ndi;
      grant.rv = what.rv;
      grant.tb_bytes = what.tb_bytes;
      grant.retransmission = true;
      sender.retransmit(again, when);
      return grant;
    }
    grant.process = sender.free_process();
    if (bytes == 0 || grant.process == phy::kNoProcess) return std::nullopt;
    grant.ndi = sender.next_ndi(grant.process);
    grant.tb_bytes = static_cast<std::uint32_t>(bytes);
    EXPECT_TRUE(sender.start(grant, make(bytes)));
    return grant;
  }
  std::size_t size(std::uint64_t wanted, std::size_t most) {
    return wanted == 0 ? 0 : std::min<std::size_t>(wanted + 10, 20 + random_() % most);
  }

  void downlink(Ue& ue, phy::Terminals& terminals) {
    std::uint64_t volume = 0;
    for (const LogicalChannel* const one : ue.radio->all()) volume += one->volume();
    const auto grant = next(ue, ue.down, slot, size(volume, most_down), [&](std::size_t bytes) {
      Bytes block(bytes);
      datapath::Cell::BlockOrder order{.rnti = ue.radio->rnti.value(), .tb_bytes = bytes, .block = block};
      cell.build({&order, 1}, now);
      EXPECT_TRUE(order.built);
      return block;
    });
    if (!grant) return;
    const auto& block = ue.down.block(grant->process);
    const bool seen = !lost(loss.dci);
    const auto answer = seen ? terminals.receive(*grant, block, !lost(loss.down), slot) : phy::Answer::kNone;
    (void)ue.down.feedback(grant->process, slot, answer == phy::Answer::kAck, [](Bytes) {});
  }
  void grant(Ue& ue, phy::Terminals& terminals) {
    const auto grant = next(ue, ue.up, phy::after(slot, kAhead), size(ue.demand.bytes(), most_up),
                            [](std::size_t) { return NoBlock{}; });
    if (!grant) return;
    if (!grant->retransmission) ue.demand.granted(number_ + kAhead, grant->tb_bytes);
    pusch_.push_back({&ue, *grant});
    pusch_.back().grant.direction = Direction::kUplink;
    if (!lost(loss.dci)) terminals.granted(pusch_.back().grant);
  }
  void uplink(const Pusch& one, phy::Terminals& terminals) {
    Ue& ue = *one.ue;
    if (one.grant.rnti != ue.rnti) return;
    const auto sent = terminals.transmit(ue.rnti, slot);
    const Bytes block(sent.begin(), sent.end());
    if (!block.empty()) {
      EXPECT_EQ(block.size(), one.grant.tb_bytes);
      Bytes& first = ue.last[one.grant.process];
      if (one.grant.retransmission && loss.dci == 0) {
        EXPECT_EQ(block, first);
        ++repetitions;
      }
      first = block;
    }
    const bool decoded = !block.empty() && !lost(loss.up);
    const auto what = ue.up.feedback(one.grant.process, slot, decoded, [](NoBlock) {});
    if (what == phy::Feedback::acked) take(ue, block, ue.up.first_slot(one.grant.process));
  }
  void take(Ue& ue, const Bytes& block, phy::Slot built_in) {
    ++blocks;
    const std::uint64_t sent_in = number_ - static_cast<std::uint64_t>(phy::distance(built_in, slot));
    wire::mac::Cursor cursor(block, Direction::kUplink);
    for (wire::mac::SubPdu s; cursor.next(s);) {
      if (s.kind != wire::mac::Kind::kControlElement) continue;
      namespace ul = wire::mac::ul;
      if (s.lcid == ul::kShortBsr || s.lcid == ul::kShortTruncatedBsr) {
        ++short_bsrs;
        ue.demand.report(sent_in, *wire::mac::parse_short_bsr(s.payload), s.lcid == ul::kShortTruncatedBsr);
      } else if (s.lcid == ul::kLongBsr) {
        ++long_bsrs;
        ue.demand.report(sent_in, *wire::mac::parse_long_bsr(s.payload));
      } else if (s.lcid == ul::kLongTruncatedBsr) {
        ue.demand.report(sent_in, *wire::mac::parse_long_truncated_bsr(s.payload));
      } else if (s.lcid == ul::kSinglePhr) {
        ++power_reports;
      }
    }
    EXPECT_EQ(cursor.reason(), wire::Reason::ok);
    cell.demultiplex(*ue.radio, block, [&](LogicalChannel& channel, rte_mbuf* pdu) {
      cell.receive(channel, MbufBuffer(pdu), now,
                   [&](LogicalChannel& from, MbufBuffer sdu) { deliver(from, std::move(sdu)); });
    });
  }

  std::deque<Pusch> pusch_;
  std::vector<BearerId> ids_;
  std::mt19937 random_{11};
  phy::Rnti next_rnti_ = 17;
  std::uint64_t number_ = 0;
};

inline ran::BearerConfig bearer(std::uint32_t index, RlcMode mode = RlcMode::kAm, std::uint8_t sn_bits = 12) {
  return {.id = BearerId{ran::make_teid(0, kShard, index)},
          .rlc_mode = mode,
          .rlc_sn_bits = sn_bits,
          .security = ran::SecurityConfig{.key = 1, .t_reordering_ms = 300}};
}

// SDUs with their number in the first four octets.
inline Bytes numbered(std::uint32_t number, std::size_t bytes) {
  Bytes sdu(std::max<std::size_t>(bytes, 4));
  for (std::size_t i = 0; i < sdu.size(); ++i) sdu[i] = static_cast<std::uint8_t>(number * 31 + i * 7);
  for (unsigned i = 0; i < 4; ++i) sdu[i] = static_cast<std::uint8_t>(number >> 8 * i);
  return sdu;
}
inline std::uint32_t number_of(const Bytes& sdu) {
  return sdu[0] | sdu[1] << 8 | sdu[2] << 16 | static_cast<std::uint32_t>(sdu[3]) << 24;
}

}  // namespace splitplane::ue::test
