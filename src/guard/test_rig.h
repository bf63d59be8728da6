// For the mutation test and the fuzz target of the guard: one worker's guard with a clock that a test steps. It is fed
// in bursts, and each received buffer is followed by its address, so that a reply is known from what it answers. After
// every burst the rig judges: what was answered, how long the answer is, what passed unchanged, and the account of
// packets, outcomes and buffers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "engine/test_environment.h"
#include "guard/guard_function.h"
#include "guard/segment/test_slow_read.h"
#include "guard/state/test_memory.h"

namespace splitplane::guard::test {

// What the guard does with a packet of each outcome.
inline Way way_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::passed:
    case Outcome::passed_unarmed:
    case Outcome::passed_proven:
    case Outcome::passed_unproven:
    case Outcome::passed_server:
    case Outcome::translated:
    case Outcome::connected:
    case Outcome::reconnected:
    case Outcome::refused_by_server:
      return Way::kForward;
    case Outcome::challenged_rst:
    case Outcome::challenged_syn:
    case Outcome::handshake:
    case Outcome::older_reset:
    case Outcome::half_open_reset:
      return Way::kReply;
    case Outcome::proved_rst:
      return Way::kConsume;
    default:
      return Way::kDrop;
  }
}

// How a frame lies in its buffer.
struct Lie {
  std::size_t first_bytes = 0;  // in the first of two segments; 0: one segment
  bool no_tailroom = false;
  std::uint64_t ol_flags = 0;
};

class Rig {
 public:
  struct Ticks {  // one is a microsecond
    const std::uint64_t* now = nullptr;
    std::uint64_t operator()() const { return *now; }
  };
  struct Source {
    std::vector<rte_mbuf*>* queue = nullptr;
    unsigned receive(datapath::Burst& burst) {
      burst.size = static_cast<unsigned>(std::min<std::size_t>(queue->size(), datapath::kBurst));
      std::copy_n(queue->begin(), burst.size, burst.mbuf.begin());
      queue->erase(queue->begin(), queue->begin() + burst.size);
      return burst.size;
    }
    [[nodiscard]] int waiting() const { return static_cast<int>(queue->size()); }
    [[nodiscard]] unsigned entries() const { return datapath::kBurst; }
    [[nodiscard]] datapath::WakeSource wake_source() const { return {}; }
  };
  struct Out {
    std::vector<rte_mbuf*> sent;
    unsigned room = ~0U;
  };
  struct Sink {
    Out* out = nullptr;
    unsigned send(rte_mbuf* const* mbufs, unsigned n) {
      n = std::min(n, out->room);
      if (out->room != ~0U) out->room -= n;
      out->sent.insert(out->sent.end(), mbufs, mbufs + n);
      return n;
    }
  };
  using Function = GuardFunction<Source, Sink, Ticks>;

  // `pool` outlives the rig; its buffers have kRoom octets.
  static constexpr std::uint16_t kRoom = 2048 + RTE_PKTMBUF_HEADROOM;
  Rig(const GuardSettings& settings, datapath::test::Pool& pool)
      : pool_(pool),
        sources_(SourceTable::memory_bytes(settings.sources)),
        flows_(FlowTable::memory_bytes(settings.flows)),
        guard(settings, {sources_.span(), flows_.span(), &keys_, 0x5eed}),
        function(guard, GuardClock(1'000'000, 0, 0), {{&in_[0]}, {&in_[1]}, {&out_[0]}, {&out_[1]}}, Ticks{&now_}) {}
  ~Rig() { EXPECT_EQ(pool_.in_use(), 0U) << "mbufs left at the end"; }
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;

  void protect(const ServerRule& rule) {
    const auto index = guard.put_server(rule);
    ASSERT_TRUE(index) << index.error().message;
    function.show_servers();
  }
  void pass_ms(std::uint64_t ms) {
    now_ += ms * 1000;
    guard.time.ticks = now_;
    guard.time.milliseconds = now_ / 1000;
    guard.time.seconds = static_cast<std::uint32_t>(now_ / 1'000'000);
  }
  void limit_room(Side side, unsigned room) { out_[static_cast<std::size_t>(side)].room = room; }

  // A frame for the next run(). Nothing more than a burst.
  void add(std::span<const std::uint8_t> octets, const Lie& lie = Lie{}) {
    ASSERT_LT(given_, datapath::kBurst);
    Given& given = givens_[given_];
    given.octets.assign(octets.begin(), octets.end());
    const bool chained = lie.first_bytes != 0 && lie.first_bytes < octets.size();
    const std::size_t first = chained ? lie.first_bytes : octets.size();
    const auto headroom = static_cast<std::uint16_t>(lie.no_tailroom ? kRoom - first : RTE_PKTMBUF_HEADROOM);
    given.mbuf = make(octets.first(first), headroom);
    if (chained && rte_pktmbuf_chain(given.mbuf, make(octets.subspan(first), RTE_PKTMBUF_HEADROOM)) != 0)
      throw std::runtime_error("no chain");
    given.mbuf->ol_flags = lie.ol_flags;
    given.ol_flags = lie.ol_flags;
    given.is_chained = chained;
    ++given_;
  }
  [[nodiscard]] unsigned given() const { return given_; }

  // One round of the worker with these frames, received from `from`. `starved`: there is no buffer for packets of the
  // guard's own.
  void run(Side from, bool starved = false) {
    const auto before = counts();
    auto& queue = in_[static_cast<std::size_t>(from)];
    for (unsigned i = 0; i < given_; ++i) queue.push_back(givens_[i].mbuf);
    std::vector<rte_mbuf*> held;
    while (starved) {
      rte_mbuf* const m = rte_pktmbuf_alloc(pool_.get());
      if (m == nullptr) break;
      held.push_back(m);
    }
    datapath::Burst burst;
    for (auto& receive : function.queues()) {
      while (receive.receive(burst) != 0) function.process(receive, burst);
    }
    function.flush();
    judge(from, before);
    for (rte_mbuf* const m : held) rte_pktmbuf_free(m);
    for (Out& out : out_) {
      for (rte_mbuf* const m : out.sent) rte_pktmbuf_free(m);
      out.sent.clear();
      out.room = ~0U;
    }
    EXPECT_EQ(pool_.in_use(), 0U) << "mbufs that nobody holds";
    given_ = 0;
  }

  [[nodiscard]] std::uint64_t count(Outcome outcome) const {
    return guard.stats.of(Side::kClient, outcome).get() + guard.stats.of(Side::kServer, outcome).get();
  }
  [[nodiscard]] std::uint64_t packets() const { return packets_; }

 private:
  using Bytes = std::vector<std::uint8_t>;
  using Counts = std::array<std::array<std::uint64_t, kOutcomeCount>, 2>;
  struct Given {
    rte_mbuf* mbuf = nullptr;
    Bytes octets;
    std::uint64_t ol_flags = 0;
    bool is_chained = false;
    unsigned seen = 0;  // times that it came out
  };

  // The same ones each time, so that what a test finds it finds again.
  [[nodiscard]] static CookieJar::Keys some_keys() {
    CookieJar::Keys keys;
    for (std::size_t i = 0; i < 32; ++i) keys.key[i / 16][i % 16] = static_cast<std::uint8_t>(37 * i + 11);
    return keys;
  }

  rte_mbuf* make(std::span<const std::uint8_t> octets, std::uint16_t headroom) {
    rte_mbuf* const m = rte_pktmbuf_alloc(pool_.get());
    if (m == nullptr) throw std::runtime_error("no mbuf");
    m->data_off = headroom;
    m->data_len = static_cast<std::uint16_t>(octets.size());
    m->pkt_len = m->data_len;
    if (!octets.empty()) std::memcpy(datapath::octets(m), octets.data(), octets.size());
    return m;
  }

  [[nodiscard]] Counts counts() const {
    Counts all{};
    for (std::size_t side = 0; side < 2; ++side) {
      for (std::size_t i = 0; i < kOutcomeCount; ++i) all[side][i] = guard.stats.outcomes[side][i].get();
    }
    return all;
  }
  [[nodiscard]] std::uint64_t made() const {
    std::uint64_t all = 0;
    for (const Counter& counter : guard.stats.made) all += counter.get();
    return all;
  }
  [[nodiscard]] Given* given_as(const rte_mbuf* m) {
    for (unsigned i = 0; i < given_; ++i) {
      if (givens_[i].mbuf == m) return &givens_[i];
    }
    return nullptr;
  }
  [[nodiscard]] static std::span<const std::uint8_t> octets_of(rte_mbuf* m) {
    return {datapath::octets(m), m->data_len};
  }
  [[nodiscard]] static bool is_unchanged(const Given& given) {
    std::size_t at = 0;
    for (const rte_mbuf* m = given.mbuf; m != nullptr; m = m->next) {
      const auto* const octets = rte_pktmbuf_mtod(m, const std::uint8_t*);
      if (at + m->data_len > given.octets.size() ||
          !std::equal(octets, octets + m->data_len, given.octets.begin() + static_cast<std::ptrdiff_t>(at)))
        return false;
      at += m->data_len;
    }
    return at == given.octets.size() && given.mbuf->ol_flags == given.ol_flags;
  }

  void judge(Side from, const Counts& before) {
    const auto side = static_cast<std::size_t>(from);
    const Counts after = counts();
    std::array<std::uint64_t, 4> by_way{};  // what the outcomes say
    std::uint64_t changed = 0;              // forwarded, and not as it came
    for (std::size_t i = 0; i < kOutcomeCount; ++i) {
      const std::uint64_t n = after[side][i] - before[side][i];
      const auto outcome = static_cast<Outcome>(i);
      by_way[static_cast<std::size_t>(way_of(outcome))] += n;
      if (outcome == Outcome::translated || outcome == Outcome::connected || outcome == Outcome::reconnected ||
          outcome == Outcome::refused_by_server)
        changed += n;
      EXPECT_EQ(after[1 - side][i], before[1 - side][i]) << "an outcome of the side that received nothing";
    }
    EXPECT_EQ(by_way[0] + by_way[1] + by_way[2] + by_way[3], given_) << "each packet has one outcome";
    EXPECT_EQ(after[side][static_cast<std::size_t>(Outcome::ok)], 0U) << "dropped for no reason";
    packets_ += given_;

    for (unsigned i = 0; i < given_; ++i) givens_[i].seen = 0;
    std::uint64_t forwarded = 0, replied = 0, own = 0;
    for (const Side to : {Side::kClient, Side::kServer}) {
      for (rte_mbuf* const m : out_[static_cast<std::size_t>(to)].sent) {
        Given* const given = given_as(m);
        if (given == nullptr) {
          ++own;
          judge_own(m, to);
          continue;
        }
        EXPECT_EQ(++given->seen, 1U) << "sent twice";
        if (to == from) {
          ++replied;
          judge_reply(*given, from);
        } else {
          ++forwarded;
          judge_forwarded(*given, changed);
        }
      }
    }
    EXPECT_EQ(forwarded, by_way[static_cast<std::size_t>(Way::kForward)]);
    EXPECT_EQ(replied, by_way[static_cast<std::size_t>(Way::kReply)]);
    EXPECT_EQ(made() - made_, own) << "packets of the guard's own, and their counter";
    made_ = made();
  }

  // Only a sound SYN gets a SYN-ACK, and only a server that was asked for a connection gets an ACK or a RST.
  void judge_reply(const Given& given, Side from) const {
    EXPECT_FALSE(given.is_chained);
    EXPECT_LE(given.mbuf->pkt_len, given.octets.size()) << "a reply is longer than its cause";
    EXPECT_EQ(given.mbuf->nb_segs, 1);
    const auto cause = SlowReader(given.octets).tcp();
    const auto reply = SlowReader(octets_of(given.mbuf)).tcp();
    ASSERT_TRUE(cause && reply) << "a reply to what is no segment";
    EXPECT_TRUE(cause->is_sound()) << "a reply to garbage";
    EXPECT_TRUE(reply->is_sound()) << "a reply with a bad checksum";
    EXPECT_TRUE(std::ranges::equal(reply->from, cause->to) && std::ranges::equal(reply->to, cause->from));
    EXPECT_TRUE(reply->from_port == cause->to_port && reply->to_port == cause->from_port);
    EXPECT_TRUE(std::equal(given.octets.begin(), given.octets.begin() + 6, datapath::octets(given.mbuf) + 6));
    EXPECT_TRUE(std::equal(given.octets.begin() + 6, given.octets.begin() + 12, datapath::octets(given.mbuf)));
    constexpr std::uint8_t kKind = 0x17;  // ACK RST SYN FIN
    const auto kind = [](const SlowSegment& s) { return s.flags & kKind; };
    if (from == Side::kClient) {
      EXPECT_EQ(kind(*cause), 0x02) << "no SYN was answered";
      EXPECT_EQ(kind(*reply), 0x12);
      EXPECT_TRUE(guard.servers.match(cause->is_v6, cause->to.data(), cause->to_port) != ServerList::kNone);
    } else {
      EXPECT_NE(cause->flags & 0x10, 0) << "a server's segment without ACK was answered";
      EXPECT_EQ(cause->flags & 0x04, 0) << "a RST was answered";
      EXPECT_TRUE(kind(*reply) == 0x10 || kind(*reply) == 0x04) << int{reply->flags};
      EXPECT_TRUE(guard.servers.match(cause->is_v6, cause->from.data(), cause->from_port) != ServerList::kNone);
    }
  }

  // `changed`: how many of the burst were not to pass as they came.
  void judge_forwarded(const Given& given, std::uint64_t& changed) const {
    if (is_unchanged(given)) return;  // a translated one may be, where all that changes is 0
    EXPECT_GT(changed, 0U) << "a packet changed that was to pass as it came";
    if (changed > 0) --changed;
    EXPECT_TRUE(std::equal(given.octets.begin(), given.octets.begin() + 12, datapath::octets(given.mbuf)));
    if (given.is_chained) return;
    const auto cause = SlowReader(given.octets).tcp();
    const auto now = SlowReader(octets_of(given.mbuf)).tcp();
    if (!cause) return;  // an ICMP error
    ASSERT_TRUE(now);
    EXPECT_EQ(now->is_sound(), cause->is_sound()) << "checksums go bad, or become good, on the way";
    EXPECT_TRUE(std::ranges::equal(now->from, cause->from) && std::ranges::equal(now->to, cause->to));
    EXPECT_TRUE(now->from_port == cause->from_port && now->to_port == cause->to_port);
  }

  static void judge_own(rte_mbuf* m, Side to) {
    const auto own = SlowReader(octets_of(m)).tcp();
    ASSERT_TRUE(own);
    EXPECT_TRUE(own->is_sound());
    // A window update, or an ACK or a SYN to a server.
    const int kind = own->flags & 0x17;
    EXPECT_TRUE(kind == 0x10 || (to == Side::kServer && kind == 0x02)) << kind;
  }

  datapath::test::Pool& pool_;
  std::array<std::vector<rte_mbuf*>, 2> in_;
  std::array<Out, 2> out_;
  TableMemory sources_, flows_;
  CookieJar::Keys keys_ = some_keys();
  std::uint64_t now_ = 1'000'000'000;
  std::array<Given, datapath::kBurst> givens_;
  unsigned given_ = 0;
  std::uint64_t packets_ = 0, made_ = 0;

 public:
  WorkerGuard guard;
  Function function;
};

}  // namespace splitplane::guard::test
