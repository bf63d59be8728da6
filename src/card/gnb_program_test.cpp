#include "card/gnb_program.h"

#include <gmock/gmock.h>

#include "card/swx/swx_pipeline.h"
#include "card/test_card.h"

namespace splitplane::nic {
namespace {

using testing::HasSubstr;

// A pipeline of a generated program, without a card around it.
class GnbProgramTest : public testing::Test {
 protected:
  void build(std::string_view name, CardSettings with = {.vfs = test::kVfs, .capacity = 1000}) {
    settings = std::move(with);
    auto built = SwxPipeline::build(test::parsed(test::generated(name)), io, 0);
    ASSERT_TRUE(built) << built.error().message;
    pipeline = std::move(*built);
    auto made = GnbProgram::of(*pipeline, settings);
    ASSERT_TRUE(made) << made.error().message;
    program.emplace(std::move(*made));
  }

  CardSettings settings;
  PipelineIo io{kFirstVf + test::kVfs};
  std::unique_ptr<SwxPipeline> pipeline;
  std::optional<GnbProgram> program;
};

TEST_F(GnbProgramTest, a_bearer_is_found_by_its_teid_or_by_its_ue_addresses) {
  CardBearer b = test::bearer(1);
  b.ue_ipv4 = IpAddress::v4({10, 45, 0, 1});
  build("gnb-mat");
  EXPECT_FALSE(program->by_ue_address());
  ASSERT_EQ(program->keys_of(b).count, 1U);
  EXPECT_EQ(program->keys_of(b).begin()->low, b.teid.value);
  build("gnb-clone-ue");
  EXPECT_TRUE(program->by_ue_address());
  ASSERT_EQ(program->keys_of(b).count, 1U);
  EXPECT_EQ(program->keys_of(b).begin()->low, 0x0a2d0001U);
  EXPECT_FALSE(program->keys_of(b).begin()->v6);
}

TEST_F(GnbProgramTest, a_new_bearer_begins_its_numbers_and_a_changed_one_goes_on) {
  build("gnb-mat");
  CardBearer b = test::bearer(1);
  b.next_count = 100;
  b.lease = 50;
  ASSERT_TRUE(program->write_entries(b, 7, GnbProgram::first_numbers(b)));
  program->begin_numbers(b, {7, true}, nullptr, false);
  EXPECT_EQ(program->numbers(7).pdcp_next, 100U);
  EXPECT_EQ(program->numbers(7).lease_end, 150U);
  program->set_lease(b, 7, 300);

  CardBearer changed = b;
  changed.next_count = 500;
  program->begin_numbers(changed, {7, true}, &b, false);
  EXPECT_EQ(program->pdcp_next(7), 100U) << "a change keeps the numbers";
  EXPECT_EQ(program->numbers(7).lease_end, 300U);
  program->begin_numbers(changed, {7, true}, &b, true);
  EXPECT_EQ(program->pdcp_next(7), 500U) << "a restart sets them";
  EXPECT_EQ(program->numbers(7).lease_end, 550U);
}

TEST_F(GnbProgramTest, a_slot_that_another_bearer_had_begins_at_0) {
  build("gnb-mat");
  CardBearer before = test::bearer(1);
  before.next_count = 9;
  before.in_flight = 3;
  program->begin_numbers(before, {0, true}, nullptr, false);
  pipeline->registers("dl_packets").write(0, 77);
  EXPECT_EQ(program->numbers(0).dl_packets, 77U);
  program->begin_numbers(test::bearer(2), {0, false}, nullptr, false);
  EXPECT_EQ(program->numbers(0).pdcp_next, 0U);
  EXPECT_EQ(program->numbers(0).in_flight, 0U);
  EXPECT_EQ(program->numbers(0).dl_packets, 0U);
}

TEST_F(GnbProgramTest, a_peer_needs_a_number_of_the_card_and_an_ipv4_address) {
  build("gnb-mat");
  CardPeer peer{.number = kCardPeers, .from = IpAddress::v4({10, 100, 0, 1}), .to = IpAddress::v4({10, 100, 0, 2})};
  EXPECT_THAT(program->set_peer(peer).error().message, HasSubstr("no such number; allowed: 0 to 255"));
  peer.number = 1;
  EXPECT_TRUE(program->set_peer(peer));
  peer.to = *IpAddress::parse("2001:db8::1");
  EXPECT_THAT(program->set_peer(peer).error().message, HasSubstr("allowed on a card: IPv4"));
  program->unset_peer(1);
  program->unset_peer(kCardPeers);  // ignored, as a number without a peer is
}

TEST_F(GnbProgramTest, a_capacity_beyond_the_programs_tables_is_refused) {
  build("gnb-mat");
  EXPECT_EQ(program->slots(), 1000U);
  const auto refused = GnbProgram::of(*pipeline, {.name = "c", .vfs = test::kVfs, .capacity = 1U << 30});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("card c: capacity is 1073741824; allowed: at most"));
}

TEST_F(GnbProgramTest, a_program_without_a_marker_refuses_markers) {
  build("gnb-mat");
  EXPECT_THAT(program->set_markers(1, 0).error().message, HasSubstr("the program looks at no marker"));
}

}  // namespace
}  // namespace splitplane::nic
