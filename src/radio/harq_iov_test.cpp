// HARQ with the scatter lists of MAC as its transport blocks: a retransmission reads the octets of the first
// transmission although RLC has let go of them, and an ACK gives buffers and memory back without an allocation.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "engine/test_environment.h"
#include "phy/slots/harq_sender.h"
#include "ran/mac/iov.h"

namespace splitplane::datapath::test {
namespace {

using Block = ran::mac::IovBlock<MbufBuffer>;

class HarqOfScatterLists : public testing::Test {
 protected:
  HarqOfScatterLists() {
    for (std::size_t i = 0; i < kBlocks; ++i) free_.emplace_back(std::size_t{8}, std::size_t{64});
  }
  // Makes a block of two SDUs and hands it to a process.
  phy::Grant start(unsigned number) {
    Block block = std::move(free_.back());
    free_.pop_back();
    EXPECT_TRUE(scheme_.begin(block, kBytes));
    for (unsigned i = 0; i < 2; ++i) {
      ran::rlc::Pdu<MbufBuffer> pdu;
      pdu.sdu = MbufBuffer(pool_.make(Bytes(40, static_cast<std::uint8_t>(2 * number + i))));
      pdu.length = 40;
      scheme_.sdu(4, std::move(pdu));
    }
    scheme_.finish();
    phy::Grant grant{.slot = slot_, .process = sender_.free_process(), .tb_bytes = kBytes};
    grant.ndi = sender_.next_ndi(grant.process);
    sender_.start(grant, std::move(block));
    return grant;
  }
  auto release() {
    return [this](Block block) {
      block.release();
      free_.push_back(std::move(block));
    };
  }
  Bytes octets(std::uint8_t process) {
    Bytes out(sender_.block(process).size());
    sender_.block(process).linearize(out);
    return out;
  }
  // The memory of all blocks: a scheme that begins says where its first piece is.
  std::vector<const std::uint8_t*> memory() {
    std::vector<const std::uint8_t*> all;
    for (Block& block : free_) {
      EXPECT_TRUE(scheme_.begin(block, 1));
      scheme_.finish();
      all.push_back(block.pieces()[0].data);
      block.release();
    }
    std::ranges::sort(all);
    return all;
  }

  static constexpr std::size_t kBlocks = 4;
  static constexpr std::uint32_t kBytes = 100;
  Pool pool_{255};
  std::vector<Block> free_;
  ran::mac::Iov<MbufBuffer> scheme_;
  phy::HarqSender<Block> sender_{{.processes = kBlocks, .max_retransmissions = 3, .feedback_slots = 10}};
  phy::Slot slot_{{1}, 0, 0};
};

TEST_F(HarqOfScatterLists, blocks_go_round_with_the_memory_that_they_began_with) {
  std::mt19937 random(5);
  const auto memory_before = memory();
  unsigned again = 0;
  for (unsigned number = 0; number < 60; ++number) {
    const phy::Grant grant = start(number);
    const Bytes first = octets(grant.process);
    EXPECT_EQ(first.size(), kBytes);
    phy::Feedback what = phy::Feedback::idle;
    do {
      EXPECT_EQ(octets(grant.process), first);
      EXPECT_EQ(pool_.in_use(), 2U) << "the block holds what it names";
      what = sender_.feedback(grant.process, slot_, random() % 3 != 0, release());
      slot_ = phy::after(slot_, 1);
      if (what != phy::Feedback::nacked) continue;
      ++again;
      sender_.retransmit(grant.process, slot_);
    } while (what == phy::Feedback::nacked);
    EXPECT_EQ(pool_.in_use(), 0U);
    ASSERT_EQ(free_.size(), kBlocks);
  }
  EXPECT_GT(again, 5U);
  EXPECT_EQ(memory(), memory_before);
}

TEST_F(HarqOfScatterLists, discarded_blocks_give_all_buffers_back) {
  for (unsigned i = 0; i < kBlocks; ++i) (void)start(i);
  EXPECT_EQ(pool_.in_use(), 2 * kBlocks);
  sender_.discard_all(release());
  EXPECT_EQ(pool_.in_use(), 0U);
  EXPECT_EQ(free_.size(), kBlocks);
  (void)start(9);
  sender_.discard_all(release());
}

}  // namespace
}  // namespace splitplane::datapath::test
