#include "ran/mac/slot_batch.h"

#include <gtest/gtest.h>

#include "ran/mac/test_blocks.h"

namespace splitplane::ran::mac::test {
namespace {

// UEs whose grants are built in a batch, and the same UEs one by one.
TEST(SlotBatch, gives_each_ue_the_block_that_it_gets_alone) {
  constexpr unsigned kUes = 37;
  std::vector<std::unique_ptr<Sender>> batch, alone;
  std::vector<std::size_t> grants;
  for (unsigned ue = 0; ue < kUes; ++ue) {
    grants.push_back(ue % 9 == 0 ? ue % 3 : 20 + ue * 13);
    for (auto* side : {&batch, &alone}) {
      side->push_back(std::make_unique<Sender>());
      auto& am = side->back()->am({.lcid = 4});
      auto& um = side->back()->um({.lcid = 5, .lcp = {.priority = 2}});
      for (unsigned i = 0; i < ue % 5; ++i) side->back()->send(am, pattern(30 + ue, i));
      for (unsigned i = 0; i < ue % 7; ++i) side->back()->send(um, pattern(20 + ue, i));
      if (ue % 4 == 1) {
        ASSERT_TRUE(side->back()->downlink.add(ControlElement::of(wire::mac::TimingAdvance{0, 9})));
      }
    }
  }
  Gather<Buffer> scheme;
  std::vector<Bytes> memory;
  std::vector<MutableOctets> blocks;
  std::vector<BlockOrder<Gather<Buffer>, Buffer>> orders;
  for (unsigned ue = 0; ue < kUes; ++ue) memory.emplace_back(grants[ue], kStale);
  for (unsigned ue = 0; ue < kUes; ++ue) blocks.emplace_back(memory[ue]);
  for (unsigned ue = 0; ue < kUes; ++ue) {
    orders.push_back({.tb_bytes = grants[ue], .ue = &batch[ue]->downlink, .block = &blocks[ue]});
  }
  build_slot(scheme, std::span(orders), 0);
  for (unsigned ue = 0; ue < kUes; ++ue) {
    GatherMaker maker;
    const Bytes expected = maker.make(
        grants[ue], [&](auto& one, auto& block) { return alone[ue]->downlink.build(one, block, grants[ue], 0); });
    EXPECT_EQ(orders[ue].built, grants[ue] != 0) << ue;
    EXPECT_EQ(memory[ue], expected) << ue;
  }
}

}  // namespace
}  // namespace splitplane::ran::mac::test
