// What every scheme of ran/mac promises: the same SDUs and elements give the same octets, which a writer made of
// wire/'s functions alone expects.
#include "ran/mac/scheme.h"

#include <gtest/gtest.h>

#include "ran/mac/test_blocks.h"

namespace splitplane::ran::mac::test {
namespace {

static_assert(Scheme<Gather<Buffer>, Buffer>);
static_assert(Scheme<Iov<Buffer>, Buffer>);

template <class Maker>
class AnyScheme : public testing::Test {
 protected:
  Home home;
  Maker maker;
};
using Makers = testing::Types<GatherMaker, IovMaker>;
TYPED_TEST_SUITE(AnyScheme, Makers);

// The block that plain writers make of these SDUs.
Bytes expected_block(std::size_t bytes, const std::vector<std::pair<std::uint32_t, Bytes>>& sdus) {
  Bytes out(bytes, kStale);
  MutableOctets rest(out);
  for (const auto& [lcid, sdu] : sdus) {
    const std::size_t subheader =
        lcid < wire::mac::kFirstExtendedLcid
            ? wire::mac::write_subheader(rest, Direction::kDownlink, static_cast<std::uint8_t>(lcid), sdu.size())
            : wire::mac::write_extended_subheader(rest, lcid, sdu.size());
    EXPECT_NE(subheader, 0U);
    std::copy(sdu.begin(), sdu.end(), rest.begin() + static_cast<std::ptrdiff_t>(subheader));
    rest = rest.subspan(subheader + sdu.size());
  }
  (void)wire::mac::write_padding(rest);
  return out;
}

TYPED_TEST(AnyScheme, grants_of_few_octets_are_padding_of_exactly_that_size) {
  for (std::size_t bytes = 1; bytes < 8; ++bytes) {
    const Bytes block = this->maker.make(bytes, [&](auto& scheme, auto& memory) {
      EXPECT_TRUE(scheme.begin(memory, bytes));
      EXPECT_EQ(scheme.room(), bytes);
      EXPECT_EQ(scheme.finish(), bytes);
      return true;
    });
    EXPECT_EQ(block, expected_block(bytes, {}));
  }
}

TYPED_TEST(AnyScheme, sdus_of_each_length_around_the_long_subheader_and_channel_form) {
  for (const std::size_t length : {1U, 2U, 4U, 5U, 100U, 254U, 255U, 256U, 257U, 1500U, 9000U}) {
    for (const std::uint32_t lcid : {0U, 1U, 4U, 32U, 320U, 65855U}) {
      for (const std::size_t padding : {0U, 1U, 2U, 70U}) {
        const std::vector<std::pair<std::uint32_t, Bytes>> sdus{
            {lcid, pattern(length, 1)}, {4, pattern(20, 2)}, {lcid, pattern(length, 3)}};
        std::size_t bytes = padding;
        for (const auto& [channel, sdu] : sdus)
          bytes += sdu.size() + wire::mac::sdu_subheader_bytes(channel, sdu.size());
        const Bytes block = this->maker.make(bytes, [&](auto& scheme, auto& memory) {
          EXPECT_TRUE(scheme.begin(memory, bytes));
          for (const auto& [channel, sdu] : sdus) scheme.sdu(channel, transparent(this->home.make(sdu)));
          EXPECT_EQ(scheme.room(), padding);
          EXPECT_EQ(scheme.finish(), padding);
          return true;
        });
        ASSERT_EQ(block, expected_block(bytes, sdus)) << length << " " << lcid << " " << padding;
      }
    }
  }
  this->maker.release();
}

TYPED_TEST(AnyScheme, padding_is_zero_whatever_its_length) {
  for (const std::size_t bytes : {20U, 300U, 16383U, 16384U, 16386U, 40000U, 163840U}) {
    const Bytes block = this->maker.make(bytes, [&](auto& scheme, auto& memory) {
      EXPECT_TRUE(scheme.begin(memory, bytes));
      scheme.sdu(4, transparent(this->home.make(pattern(7))));
      scheme.finish();
      return true;
    });
    ASSERT_EQ(block, expected_block(bytes, {{4, pattern(7)}})) << bytes;
  }
  this->maker.release();
}

TYPED_TEST(AnyScheme, a_header_of_rlc_stands_between_subheader_and_payload) {
  const Bytes sdu = pattern(100);
  const Bytes block = this->maker.make(2 + 5 + 40, [&](auto& scheme, auto& memory) {
    EXPECT_TRUE(scheme.begin(memory, 2 + 5 + 40));
    rlc::Pdu<Buffer> pdu;
    pdu.sdu = this->home.make(sdu);
    pdu.offset = 30;
    pdu.length = 40;
    pdu.header = {1, 2, 3, 4, 5};
    pdu.header_bytes = 5;
    scheme.sdu(9, std::move(pdu));
    EXPECT_EQ(scheme.finish(), 0U);
    return true;
  });
  EXPECT_EQ(to_hex(block), "092d0102030405" + to_hex(Octets(sdu).subspan(30, 40)));
  this->maker.release();
}

TYPED_TEST(AnyScheme, octets_that_the_caller_writes_stand_where_they_were_opened) {
  const Bytes block = this->maker.make(20, [&](auto& scheme, auto& memory) {
    EXPECT_TRUE(scheme.begin(memory, 20));
    const auto write = [&](Bytes octets, std::size_t asked) {
      const MutableOctets to = scheme.open(asked);
      EXPECT_GE(to.size(), octets.size());
      std::copy(octets.begin(), octets.end(), to.begin());
      scheme.close(octets.size());
    };
    write({0x3C}, 10);
    write({0x3D, 0x5F}, 2);
    scheme.sdu(4, transparent(this->home.make(Bytes{0xAA, 0xBB})));
    write({}, 5);
    write({0x3B}, 100);
    EXPECT_EQ(scheme.open(100).size(), 12U);
    scheme.close(0);
    EXPECT_EQ(scheme.finish(), 12U);
    return true;
  });
  EXPECT_EQ(to_hex(block), "3c3d5f0402aabb3b3f" + std::string(22, '0'));
  this->maker.release();
}

TYPED_TEST(AnyScheme, buffers_are_given_back_when_the_block_needs_them_no_more) {
  this->maker.make(200, [&](auto& scheme, auto& memory) {
    EXPECT_TRUE(scheme.begin(memory, 200));
    for (unsigned i = 0; i < 3; ++i) scheme.sdu(4, transparent(this->home.make(pattern(10))));
    scheme.finish();
    EXPECT_EQ(this->home.pool.live(), 3U);
    return true;
  });
  EXPECT_EQ(this->home.pool.live(), TypeParam::kKeepsSdus ? 3U : 0U);
  this->maker.release();
  EXPECT_EQ(this->home.pool.live(), 0U);
}

TYPED_TEST(AnyScheme, what_is_copied_is_counted) {
  this->maker.make(200, [&](auto& scheme, auto& memory) {
    EXPECT_TRUE(scheme.begin(memory, 200));
    for (unsigned i = 0; i < 3; ++i) scheme.sdu(4, transparent(this->home.make(pattern(10))));
    scheme.finish();
    return true;
  });
  EXPECT_EQ(this->maker.scheme.copied_octets(), TypeParam::kKeepsSdus ? 0U : 30U);
  this->maker.release();
}

TEST(Gather, copies_wait_across_blocks_and_each_block_gets_its_own) {
  Home home;
  Gather<Buffer> scheme;
  constexpr std::size_t kBlocks = 40, kBytes = 3 * 52 + 1;
  std::vector<Bytes> memory(kBlocks, Bytes(kBytes, kStale));
  for (unsigned b = 0; b < kBlocks; ++b) {
    MutableOctets block(memory[b]);
    ASSERT_TRUE(scheme.begin(block, kBytes));
    for (unsigned i = 0; i < 3; ++i) scheme.sdu(4 + i, transparent(home.make(pattern(50, 3 * b + i))));
    EXPECT_EQ(scheme.finish(), 1U);
  }
  scheme.flush();
  for (unsigned b = 0; b < kBlocks; ++b) {
    EXPECT_EQ(
        memory[b],
        expected_block(kBytes, {{4, pattern(50, 3 * b)}, {5, pattern(50, 3 * b + 1)}, {6, pattern(50, 3 * b + 2)}}));
  }
}

TEST(Gather, refuses_a_block_that_its_memory_cannot_hold) {
  Gather<Buffer> scheme;
  Bytes memory(10);
  MutableOctets block(memory);
  EXPECT_FALSE(scheme.begin(block, 11));
  EXPECT_TRUE(scheme.begin(block, 10));
}

TEST(Iov, names_the_buffers_octets_and_copies_none) {
  Home home;
  Iov<Buffer> scheme;
  IovBlock<Buffer> block(4, 64);
  ASSERT_TRUE(scheme.begin(block, 100));
  Buffer sdu = home.make(pattern(30));
  const std::uint8_t* const octets = sdu.data();
  scheme.sdu(4, transparent(std::move(sdu)));
  scheme.finish();
  ASSERT_EQ(block.pieces().size(), 4U);  // subheader, payload, padding's subheader, zeros
  EXPECT_EQ(block.pieces()[1].data, octets);
  EXPECT_EQ(block.pieces()[1].octets, 30U);
  EXPECT_FALSE(scheme.begin(block, 100)) << "the block still has its references";
  block.release();
  EXPECT_TRUE(scheme.begin(block, 100));
}

TEST(Iov, headers_beside_each_other_are_one_piece) {
  Home home;
  Iov<Buffer> scheme;
  IovBlock<Buffer> block(4, 64);
  ASSERT_TRUE(scheme.begin(block, 40));
  scheme.open(1)[0] = 0x3C;
  scheme.close(1);
  scheme.sdu(4, transparent(home.make(pattern(37))));
  EXPECT_EQ(scheme.finish(), 0U);
  ASSERT_EQ(block.pieces().size(), 2U);
  EXPECT_EQ(block.pieces()[0].octets, 3U);
  block.release();
}

TEST(Iov, takes_no_more_sdus_than_it_has_places_and_pads_the_rest) {
  Home home;
  Iov<Buffer> scheme;
  IovBlock<Buffer> block(4, 64);
  ASSERT_TRUE(scheme.begin(block, 1000));
  unsigned sdus = 0;
  for (; scheme.room() != 0; ++sdus) scheme.sdu(4, transparent(home.make(pattern(9))));
  EXPECT_EQ(sdus, 4U);
  EXPECT_EQ(scheme.finish(), 1000U - 4 * 11);
  EXPECT_EQ(block.size(), 1000U);
  block.release();
  EXPECT_FALSE(scheme.begin(block, kMostBlockBytes + 1));
}

TEST(Iov, a_block_moves_with_its_octets_and_the_one_it_left_holds_nothing) {
  Home home;
  Iov<Buffer> scheme;
  IovBlock<Buffer> from(4, 64), to(4, 64);
  ASSERT_TRUE(scheme.begin(from, 100));
  scheme.sdu(4, transparent(home.make(pattern(30))));
  scheme.finish();
  const std::vector<IovBlock<Buffer>::Piece> pieces(from.pieces().begin(), from.pieces().end());
  to = std::move(from);
  ASSERT_EQ(to.pieces().size(), pieces.size());
  for (std::size_t i = 0; i < pieces.size(); ++i) EXPECT_EQ(to.pieces()[i].data, pieces[i].data);
  EXPECT_EQ(to.size(), 100U);
  EXPECT_EQ(from.size(), 0U);  // NOLINT(bugprone-use-after-move): that is the question
  EXPECT_TRUE(from.pieces().empty());
  from.release();
  EXPECT_FALSE(scheme.begin(from, 100)) << "it has no memory";
  to.release();
  EXPECT_TRUE(scheme.begin(to, 100));
  from = std::move(to);
  EXPECT_EQ(from.size(), 0U);
  EXPECT_TRUE(scheme.begin(from, 100));
}

}  // namespace
}  // namespace splitplane::ran::mac::test
