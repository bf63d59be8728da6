#include "ran/mac/ciphering/cipher_gather.h"

#include <gtest/gtest.h>

#include <memory>

#include "crypto/key_store.h"
#include "ran/mac/downlink.h"
#include "ran/mac/gather.h"
#include "ran/rlc/test_entities.h"
#include "wire/pdcp.h"

namespace splitplane::ran::mac {
namespace {

using rlc::test::Buffer;
using rlc::test::Bytes;
using rlc::test::Home;
using rlc::test::pattern;
using rlc::test::Random;

constexpr std::size_t kPdcpHeader = 3;
constexpr Time kTicks = 1'000'000'000;

TEST(SentCount, is_found_from_the_sn_across_its_wraps) {
  for (const unsigned bits : {12U, 18U}) {
    for (const std::uint32_t next : {1U, 5U, 4096U, 4097U, 262144U, 262150U, 0xFFFF0000U}) {
      for (const std::uint32_t ago : {1U, 2U, 100U, (1U << (bits - 1))}) {
        if (ago > next) continue;
        const std::uint32_t count = next - ago;
        EXPECT_EQ(sent_count({next}, count & ((1U << bits) - 1), bits).value, count) << next << " " << ago;
      }
    }
  }
}

struct CipheringFixture : testing::Test {
  void SetUp() override {
    auto store = crypto::KeyStore::create();
    auto engine = crypto::Engine::create();
    ASSERT_TRUE(store && engine);
    store_ = std::move(*store);
    engine_ = std::move(*engine);
    for (std::uint8_t i = 0; i < 2; ++i) {
      auto secret = crypto::Secret::from_octets(std::array<std::uint8_t, 16>{i, 2, 3});
      auto key = store_->make(crypto::CipherAlgorithm::nea2, std::move(*secret));
      ASSERT_TRUE(key);
      keys_.push_back(std::move(*key));
    }
  }
  // A PDCP PDU in clear: an 18-bit SN, then octets.
  static Bytes pdcp(std::uint32_t sn, std::size_t octets) {
    Bytes out = pattern(kPdcpHeader + octets, sn);
    (void)wire::pdcp::write_data(out, 18, sn & 0x3FFFF);
    return out;
  }
  // What of() says: channel 4 and 5 have keys of their own, channel 6 has none.
  [[nodiscard]] Ciphering ciphering(std::uint32_t channel, Octets sdu) const {
    if (channel == 6) return {};
    const auto header = wire::pdcp::parse_data(sdu, 18);
    return {.key = keys_[channel - 4].get(),
            .count = sent_count({next}, header->sn, 18),
            .bearer = static_cast<std::uint8_t>(channel),
            .direction = Direction::kDownlink,
            .clear_octets = kPdcpHeader};
  }
  // The same PDU as PDCP gives it when it ciphers itself.
  Bytes ciphered(std::uint32_t channel, Bytes pdu) {
    const Ciphering c = ciphering(channel, pdu);
    if (c.key == nullptr) return pdu;
    const crypto::CipherJob job{.key = c.key,
                                .count = c.count,
                                .bearer = c.bearer,
                                .direction = c.direction,
                                .in = pdu.data() + kPdcpHeader,
                                .out = pdu.data() + kPdcpHeader,
                                .length = static_cast<std::uint32_t>(pdu.size() - kPdcpHeader)};
    EXPECT_TRUE(engine_->cipher({&job, 1}));
    return pdu;
  }

  std::uint32_t next = 0;
  std::unique_ptr<crypto::KeyStore> store_;
  std::unique_ptr<crypto::Engine> engine_;
  std::vector<crypto::KeyStore::CipherKeyPtr> keys_;
};

// Two UEs; one gets SDUs that are ciphered already and gathers them, the other one ciphers on the way into the block.
// Grants cut SDUs anywhere, and every few blocks what was sent is sent again.
TEST_F(CipheringFixture, gives_the_block_that_ciphering_before_gives) {
  const auto of = [this](std::uint32_t channel, Octets sdu) { return ciphering(channel, sdu); };
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Random random(seed);
    next = 262100;  // the SN wraps
    Home before_home, home;
    struct Ue {
      explicit Ue(Home& home)
          : am(rlc::test::am18(), home.memory), um({.sn_bits = 12}, home.memory), plain({.sn_bits = 12}, home.memory) {
        EXPECT_TRUE(downlink.mux().add({.lcid = 4}, am, 0) && downlink.mux().add({.lcid = 5}, um, 0) &&
                    downlink.mux().add({.lcid = 6}, plain, 0));
      }
      bool send(std::uint32_t channel, Buffer sdu) {
        return channel == 4 ? am.send(sdu) : channel == 5 ? um.send(sdu) : plain.send(sdu);
      }
      rlc::AmEntity<Buffer> am;
      rlc::UmSend<Buffer> um, plain;
      Downlink<Buffer> downlink{kTicks};
    } before(before_home), ue(home);
    Gather<Buffer> gather;
    CipherGather<Buffer, decltype(of)> cipher_gather(*engine_, of);
    for (Time now = 0; now < 400; ++now) {
      for (unsigned n = random() % 5; n != 0; --n) {
        const std::uint32_t channel = 4 + random() % 3;
        const std::size_t octets = random.percent(20) ? 1 + random() % 20 : 1 + random() % 600;
        const Bytes pdu = pdcp(next++, octets);
        ASSERT_TRUE(before.send(channel, before_home.make(ciphered(channel, pdu))));
        ASSERT_TRUE(ue.send(channel, home.make(pdu)));
      }
      const std::size_t bytes = 1 + random() % (random.percent(50) ? 60 : 3000);
      Bytes expected(bytes, 0xE5), built(bytes, 0xE5);
      MutableOctets expected_block(expected), block(built);
      ASSERT_TRUE(before.downlink.build(gather, expected_block, bytes, now));
      ASSERT_TRUE(ue.downlink.build(cipher_gather, block, bytes, now));
      gather.flush();
      cipher_gather.flush();
      ASSERT_EQ(built, expected) << "seed " << seed << ", block " << now;
      if (now % 16 == 15 && ue.am.retx().next() != ue.am.retx().next_ack()) {
        // The receiver has nothing: all of it is sent again, cut at other places.
        const Bytes status = rlc::test::status_pdu(18, ue.am.retx().next(), {{.sn = ue.am.retx().next() - 1}});
        before.am.receive(before_home.make(status), now, [](auto) {}, [](std::uint32_t) {});
        ue.am.receive(home.make(status), now, [](auto) {}, [](std::uint32_t) {});
      }
    }
    EXPECT_EQ(cipher_gather.failed(), 0U);
    EXPECT_GT(cipher_gather.ciphered_octets(), 50'000U);
    EXPECT_GT(ue.am.retx().counters().pdus, 10U);
    EXPECT_EQ(ue.am.retx().counters().pdus, before.am.retx().counters().pdus);
  }
}

TEST_F(CipheringFixture, each_cut_of_an_sdu_gives_the_same_key_stream) {
  next = 8;
  const Bytes clear = pdcp(7, 100), expected = ciphered(4, clear);
  const auto of = [this](std::uint32_t channel, Octets sdu) { return ciphering(channel, sdu); };
  CipherGather<Buffer, decltype(of)> scheme(*engine_, of);
  Home home;
  for (std::uint16_t first = 0; first < clear.size(); ++first) {
    for (std::uint16_t last = first + 1; last <= clear.size(); last = static_cast<std::uint16_t>(last + 7)) {
      wire::test::HeapOctets memory(2 + last - first);
      MutableOctets block = memory.all();
      ASSERT_TRUE(scheme.begin(block, block.size()));
      rlc::Pdu<Buffer> pdu;
      pdu.sdu = home.make(clear);
      pdu.offset = first;
      pdu.length = static_cast<std::uint16_t>(last - first);
      scheme.sdu(4, std::move(pdu));
      EXPECT_EQ(scheme.finish(), 0U);
      scheme.flush();
      ASSERT_TRUE(std::equal(block.begin() + 2, block.end(), expected.begin() + first)) << first << " " << last;
    }
  }
}

TEST_F(CipheringFixture, nothing_leaves_in_clear_when_the_engine_refuses) {
  auto secret = crypto::Secret::from_octets(std::array<std::uint8_t, 16>{9});
  const auto snow = store_->make(crypto::CipherAlgorithm::nea1, std::move(*secret));
  ASSERT_TRUE(snow);
  // NEA1 cannot begin inside its key stream.
  const auto of = [&](std::uint32_t, Octets) { return Ciphering{.key = snow->get(), .clear_octets = 3}; };
  CipherGather<Buffer, decltype(of)> scheme(*engine_, of);
  Home home;
  Bytes memory(2 + 60, 0xE5);
  MutableOctets block(memory);
  ASSERT_TRUE(scheme.begin(block, memory.size()));
  rlc::Pdu<Buffer> pdu;
  pdu.sdu = home.make(pdcp(1, 100));
  pdu.offset = 40;
  pdu.length = 60;
  scheme.sdu(4, std::move(pdu));
  scheme.finish();
  scheme.flush();
  EXPECT_EQ(Bytes(memory.begin() + 2, memory.end()), Bytes(60, 0));
  EXPECT_EQ(scheme.failed(), 1U);
}

}  // namespace
}  // namespace splitplane::ran::mac
