#include "chained/chain.h"

#include <gtest/gtest.h>

#include <memory>

#include "engine/test_environment.h"
#include "ran/mac/downlink.h"
#include "ran/mac/gather.h"
#include "ran/mac/uplink.h"
#include "ran/rlc/am_entity.h"
#include "ran/rlc/um_entity.h"

namespace splitplane::datapath::test {
namespace {

using ran::mac::ChannelConfig;
using ran::mac::ControlElement;
using ran::mac::Downlink;
using ran::mac::Gather;
using Pdu = ran::rlc::Pdu<MbufBuffer>;

constexpr ran::rlc::MemorySizes kSmall{.sent_pages = 64,
                                       .received_pages = 64,
                                       .queue_pages = 64,
                                       .directories = 16,
                                       .segments = 64,
                                       .assemblies = 64,
                                       .intervals = 64};

Bytes numbered(std::size_t octets, unsigned salt) {
  Bytes out(octets);
  for (std::size_t i = 0; i < octets; ++i) out[i] = static_cast<std::uint8_t>(i * 3 + salt * 17 + 1);
  return out;
}

template <class S>
class AnyChain : public testing::Test {
 protected:
  MbufBuffer make(const Bytes& octets) { return MbufBuffer(sdus.make(octets)); }
  Pdu pdu(const Bytes& octets) {
    Pdu p;
    p.sdu = make(octets);
    p.length = static_cast<std::uint16_t>(octets.size());
    return p;
  }
  static Bytes take(rte_mbuf* block) {
    EXPECT_EQ(block->nb_segs, 1);
    EXPECT_EQ(block->pkt_len, block->data_len);
    const auto* const at = rte_pktmbuf_mtod(block, const std::uint8_t*);
    Bytes out(at, at + block->data_len);
    rte_pktmbuf_free(block);
    return out;
  }

  Pool sdus{512}, parts{64}, blocks{8, UINT16_MAX};
  S scheme{blocks.get(), parts.get()};
};
using Chains = testing::Types<ChainAtTheEnd, ChainLinearize>;
TYPED_TEST_SUITE(AnyChain, Chains);

TYPED_TEST(AnyChain, searches_the_list_as_often_as_the_paper_says) {
  for (const unsigned n : {1U, 2U, 3U, 20U, 100U, 300U}) {
    const std::uint64_t before = this->scheme.counters().searched;
    rte_mbuf* block = nullptr;
    ASSERT_TRUE(this->scheme.begin(block, n * 12));
    std::uint64_t walked = 0;
    for (unsigned i = 0; i < n; ++i) {
      // What rte_pktmbuf_chain() has to walk: each mbuf of the list until the last one.
      if (i != 0) {
        for (const rte_mbuf* m = this->scheme.list(); m != nullptr; m = m->next) ++walked;
      }
      this->scheme.sdu(4, this->pdu(numbered(10, i)));
    }
    this->scheme.finish();
    rte_pktmbuf_free(block);
    constexpr bool kEach = std::is_same_v<TypeParam, ChainLinearize>;
    EXPECT_EQ(walked, kEach ? n - 1 : std::uint64_t{n} * (n - 1) / 2);
    EXPECT_EQ(this->scheme.counters().searched - before, walked);
  }
}

TYPED_TEST(AnyChain, linearizes_once_or_after_each_subpdu_and_copies_each_octet_once) {
  rte_mbuf* block = nullptr;
  ASSERT_TRUE(this->scheme.begin(block, 20 * 12 + 5));
  for (unsigned i = 0; i < 20; ++i) this->scheme.sdu(4, this->pdu(numbered(10, i)));
  EXPECT_EQ(this->scheme.finish(), 5U);
  rte_pktmbuf_free(block);
  EXPECT_EQ(this->scheme.counters().linearized, (std::is_same_v<TypeParam, ChainLinearize>) ? 19U : 1U);
  EXPECT_EQ(this->scheme.copied_octets(), 20U * 12);
}

// Two UEs with the same SDUs; one has its blocks gathered, the other one chained. Their octets are the same, with AM
// (whose buffers are shared), UM, segments, elements and padding.
TYPED_TEST(AnyChain, makes_the_same_blocks_as_gather) {
  struct Ue {
    explicit Ue(Pool& of_sdus) : pool(of_sdus) {
      EXPECT_TRUE(downlink.mux().add({.lcid = 4}, am, 0));
      EXPECT_TRUE(downlink.mux().add({.lcid = 500, .lcp = {.priority = 2}}, um, 0));
    }
    void fill(unsigned round) {
      for (unsigned i = 0; i < round % 6; ++i) {
        MbufBuffer a(pool.make(numbered(1 + (round * 37 + i * 91) % 400, round + i)));
        MbufBuffer b(pool.make(numbered(1 + (round * 53 + i * 19) % 300, round + i + 1)));
        EXPECT_TRUE(am.send(a) && um.send(b));
      }
      if (round % 3 == 0) {
        EXPECT_TRUE(downlink.add(ControlElement::of(wire::mac::TimingAdvance{1, 2})));
      }
    }
    Pool& pool;
    ran::rlc::Memory<MbufBuffer> memory{kSmall};
    ran::rlc::AmEntity<MbufBuffer> am{{.poll_pdu = 4}, memory};
    ran::rlc::UmSend<MbufBuffer> um{{.sn_bits = 12}, memory};
    Downlink<MbufBuffer> downlink{1'000'000'000};
  };
  Ue one(this->sdus), other(this->sdus);
  Gather<MbufBuffer> gather;
  for (unsigned round = 0; round < 150; ++round) {
    for (Ue* ue : {&one, &other}) ue->fill(round);
    const std::size_t bytes = 1 + (round * 131) % 1500;
    Bytes expected(bytes, 0xEE);
    wire::MutableOctets memory(expected);
    ASSERT_TRUE(one.downlink.build(gather, memory, bytes, round));
    gather.flush();
    rte_mbuf* block = nullptr;
    ASSERT_TRUE(other.downlink.build(this->scheme, block, bytes, round));
    ASSERT_EQ(this->take(block), expected) << round;
    for (Ue* ue : {&one, &other}) {
      ue->am.restart_at(ue->am.sender().next());
    }
  }
  EXPECT_GT(this->scheme.counters().unshared, 0U);
  EXPECT_GT(one.downlink.mux().counters().sdus, 300U);
}

// AM shares its SDUs, so each is copied into a part. The first part goes back at once; the second one, which is the
// last mbuf, stays in the list.
using OneChain = AnyChain<ChainAtTheEnd>;
TEST_F(OneChain, elements_without_an_mbuf_wait_for_the_next_block) {
  ran::rlc::Memory<MbufBuffer> memory{kSmall};
  ran::rlc::AmEntity<MbufBuffer> am{{}, memory};
  ran::mac::Uplink<MbufBuffer> uplink({.phr = ran::mac::PhrConfig{}});
  ASSERT_TRUE(uplink.add({.lcid = 4}, am, 0));
  uplink.identify(0x4601);
  for (unsigned i = 0; i < 2; ++i) {
    MbufBuffer sdu(make(numbered(20, i)));
    ASSERT_TRUE(am.send(sdu));
  }
  std::vector<rte_mbuf*> taken;
  while (rte_mbuf* m = rte_pktmbuf_alloc(parts.get())) taken.push_back(m);
  rte_pktmbuf_free(taken.back());
  taken.pop_back();
  const auto lcids = [&](rte_mbuf* block) {
    std::vector<std::uint32_t> all;
    const Bytes octets = take(block);
    wire::mac::Cursor cursor(octets, Direction::kUplink);
    for (wire::mac::SubPdu s; cursor.next(s);) all.push_back(s.lcid);
    return all;
  };
  rte_mbuf* block = nullptr;
  ASSERT_TRUE(uplink.build(scheme, block, 100, {}, 0));
  EXPECT_EQ(lcids(block), (std::vector<std::uint32_t>{4, 4, 63}));
  EXPECT_TRUE(uplink.bsr().regular());
  for (rte_mbuf* m : taken) rte_pktmbuf_free(m);
  ASSERT_TRUE(uplink.build(scheme, block, 100, {}, 0));
  EXPECT_EQ(lcids(block), (std::vector<std::uint32_t>{58, 61, 57, 63}));
  EXPECT_FALSE(uplink.bsr().triggered());
  am.restart_at(0);
}

TYPED_TEST(AnyChain, a_shared_sdu_that_no_part_holds_goes_in_segments) {
  Pool large{8, 8192};
  ran::rlc::Memory<MbufBuffer> memory{kSmall};
  ran::rlc::AmEntity<MbufBuffer> am{{}, memory};
  Downlink<MbufBuffer> downlink{1'000'000'000};
  ASSERT_TRUE(downlink.mux().add({.lcid = 4}, am, 0));
  MbufBuffer sdu(large.make(numbered(5000, 1)));
  ASSERT_TRUE(am.send(sdu));
  rte_mbuf* block = nullptr;
  ASSERT_TRUE(downlink.build(this->scheme, block, 6000, 0));
  const Bytes octets = this->take(block);
  ASSERT_EQ(octets.size(), 6000U);
  std::size_t segments = 0, payload = 0;
  wire::mac::Cursor cursor(octets, Direction::kDownlink);
  for (wire::mac::SubPdu s; cursor.next(s);) {
    if (s.kind != wire::mac::Kind::kSdu) continue;
    payload += s.payload.size() - (segments == 0 ? 3 : 5);  // AMD PDU with an 18-bit SN; SO from the second one on
    ++segments;
  }
  EXPECT_EQ(segments, 3U);
  EXPECT_EQ(payload, 5000U);
  am.restart_at(0);
}

TYPED_TEST(AnyChain, a_grant_beyond_one_mbuf_is_refused_and_counted) {
  rte_mbuf* block = nullptr;
  const std::size_t most = UINT16_MAX - RTE_PKTMBUF_HEADROOM;
  EXPECT_FALSE(this->scheme.begin(block, most + 1));
  EXPECT_EQ(block, nullptr);
  EXPECT_EQ(this->scheme.counters().too_large, 1U);
  ASSERT_TRUE(this->scheme.begin(block, most));
  EXPECT_EQ(this->scheme.finish(), most);
  EXPECT_EQ(this->take(block).size(), most);
}

TYPED_TEST(AnyChain, without_a_free_mbuf_there_is_no_block_and_no_room) {
  std::vector<rte_mbuf*> taken;
  rte_mbuf* block = nullptr;
  while (rte_mbuf* m = rte_pktmbuf_alloc(this->blocks.get())) taken.push_back(m);
  EXPECT_FALSE(this->scheme.begin(block, 100));
  EXPECT_EQ(this->scheme.counters().no_mbuf, 1U);
  for (rte_mbuf* m : taken) rte_pktmbuf_free(m);
  taken.clear();
  while (rte_mbuf* m = rte_pktmbuf_alloc(this->parts.get())) taken.push_back(m);
  ASSERT_TRUE(this->scheme.begin(block, 100));
  EXPECT_EQ(this->scheme.room(), 0U);
  EXPECT_TRUE(this->scheme.open(10).empty());
  EXPECT_EQ(this->scheme.finish(), 100U);
  for (rte_mbuf* m : taken) rte_pktmbuf_free(m);
  rte_pktmbuf_free(block);
}

}  // namespace
}  // namespace splitplane::datapath::test
