// A pipeline on real mbufs with the small program of test_programs.h.
#include "card/swx/swx_pipeline.h"

#include <gmock/gmock.h>

#include "card/test_card.h"
#include "engine/test_environment.h"

namespace splitplane::nic {
namespace {

using datapath::test::Bytes;
using test::kForwarder;
using testing::HasSubstr;

constexpr unsigned kPorts = 4;

Bytes frame_of_type(std::uint16_t type, std::size_t bytes = 60) {
  Bytes frame(bytes, 0xaa);
  for (std::size_t i = 0; i < 6; ++i) frame[i] = 2, frame[6 + i] = 3;
  frame[12] = static_cast<std::uint8_t>(type >> 8);
  frame[13] = static_cast<std::uint8_t>(type);
  return frame;
}

class SwxPipelineTest : public testing::Test {
 protected:
  void build(std::string_view text = kForwarder) {
    auto built = SwxPipeline::build(test::parsed(text), io_, 0);
    ASSERT_TRUE(built) << built.error().message;
    pipeline_ = std::move(*built);
  }
  // A frame from port `from`, with the intrinsic header that the card puts in front of it.
  rte_mbuf* make(const Bytes& frame, unsigned from) {
    rte_mbuf* m = pool_.make(frame);
    auto* at = reinterpret_cast<std::uint8_t*>(rte_pktmbuf_prepend(m, kIntrinsicBytes));
    std::fill_n(at, kIntrinsicBytes, std::uint8_t{0});
    at[1] = static_cast<std::uint8_t>(from);
    return m;
  }
  void run(const std::vector<rte_mbuf*>& mbufs) {
    std::vector<rte_mbuf*> all = mbufs;
    io_.hand(all.data(), static_cast<unsigned>(all.size()));
    pipeline_->drain();
  }
  std::vector<Bytes> taken(unsigned port) {
    std::vector<Bytes> frames;
    for (rte_mbuf* m : io_.outputs[port].mbufs) {
      const auto* at = rte_pktmbuf_mtod(m, const std::uint8_t*);
      EXPECT_EQ(m->pkt_len, m->data_len);
      frames.emplace_back(at, at + m->data_len);
      rte_pktmbuf_free(m);
    }
    io_.outputs[port].mbufs.clear();
    return frames;
  }
  void forward(std::uint64_t from, std::uint64_t to, std::uint64_t src = 0x0a0b0c0d0e0f) {
    PipelineTable* table = pipeline_->table("ports");
    const auto action = table->action("forward", std::array<std::string_view, 3>{"port", "other", "src"});
    ASSERT_TRUE(action) << action.error().message;
    ASSERT_TRUE(table->set(std::array{from}, *action, std::array<std::uint64_t, 3>{to, 99, src}));
  }
  void clone(std::uint64_t from, std::uint64_t to, std::uint64_t session) {
    PipelineTable* table = pipeline_->table("ports");
    const auto action = table->action("forward_and_clone", std::array<std::string_view, 2>{"port", "session"});
    ASSERT_TRUE(action) << action.error().message;
    ASSERT_TRUE(table->set(std::array{from}, *action, std::array<std::uint64_t, 2>{to, session}));
  }

  datapath::test::Pool pool_;
  PipelineIo io_{kPorts};
  std::unique_ptr<SwxPipeline> pipeline_;
};

TEST_F(SwxPipelineTest, a_frame_goes_where_its_entry_says_without_the_intrinsic_header) {
  build();
  forward(3, 2);
  run({make(frame_of_type(0x0800), 3)});
  Bytes expected = frame_of_type(0x0800);
  const Bytes src{0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f};
  std::ranges::copy(src, expected.begin() + 6);
  EXPECT_THAT(taken(2), testing::ElementsAre(expected));
  EXPECT_EQ(io_.sent, 1U);
}

TEST_F(SwxPipelineTest, what_has_no_entry_is_dropped_and_counted) {
  build();
  run({make(frame_of_type(0x0800), 1), make(frame_of_type(0x0800), 2)});
  EXPECT_EQ(pipeline_->dropped(), 2U);
  EXPECT_EQ(io_.sent, 0U);
}

TEST_F(SwxPipelineTest, a_removed_entry_and_a_changed_default_action_count_from_the_next_frame_on) {
  build();
  forward(0, 1);
  pipeline_->table("ports")->remove(std::array<std::uint64_t, 1>{0});
  run({make(frame_of_type(0x0800), 0)});
  EXPECT_EQ(pipeline_->dropped(), 1U);
  PipelineTable* table = pipeline_->table("ports");
  const auto action = table->action("forward", std::array<std::string_view, 2>{"port", "src"});
  ASSERT_TRUE(action);
  table->set_default(*action, std::array<std::uint64_t, 2>{3, 5});
  run({make(frame_of_type(0x0800), 0)});
  EXPECT_EQ(taken(3).size(), 1U);
}

// Longer bursts than SWX has threads, in order within a port.
TEST_F(SwxPipelineTest, a_burst_leaves_completely_and_in_order) {
  build();
  forward(0, 0);
  forward(1, 1);
  std::vector<rte_mbuf*> burst;
  for (unsigned i = 0; i < 100; ++i) {
    Bytes frame = frame_of_type(0x0800);
    frame[20] = static_cast<std::uint8_t>(i);
    burst.push_back(make(frame, i % 2));
  }
  run(burst);
  for (unsigned port = 0; port < 2; ++port) {
    const auto frames = taken(port);
    ASSERT_EQ(frames.size(), 50U);
    for (unsigned i = 0; i < 50; ++i) EXPECT_EQ(frames[i][20], 2 * i + port);
  }
}

TEST_F(SwxPipelineTest, a_clone_is_the_processed_frame_and_shares_its_octets) {
  build();
  pipeline_->set_mirror(3, 3, false);
  clone(0, 1, 3);
  run({make(frame_of_type(0x1234), 0)});
  ASSERT_EQ(io_.outputs[3].mbufs.size(), 1U);
  EXPECT_EQ(io_.outputs[3].mbufs[0], io_.outputs[1].mbufs[0]);
  EXPECT_EQ(rte_mbuf_refcnt_read(io_.outputs[1].mbufs[0]), 2);
  EXPECT_EQ(io_.outputs[3].clones, 1U);
  EXPECT_EQ(io_.outputs[3].frames, 0U);
  const auto original = taken(1);
  EXPECT_EQ(original, taken(3));
  EXPECT_EQ(original[0], frame_of_type(0x4321));
}

// The program writes to later frames while earlier ones still wait to be sent.
TEST_F(SwxPipelineTest, later_frames_do_not_write_to_a_shared_one) {
  build();
  pipeline_->set_mirror(3, 3, false);
  clone(0, 1, 3);
  forward(2, 2);
  run({make(frame_of_type(0x1234), 0)});
  for (unsigned i = 0; i < 40; ++i) run({make(frame_of_type(static_cast<std::uint16_t>(0x5000 + i)), 2)});
  EXPECT_EQ(taken(3)[0], frame_of_type(0x4321));
  EXPECT_EQ(taken(1)[0], frame_of_type(0x4321));
  EXPECT_EQ(taken(2).size(), 40U);
}

TEST_F(SwxPipelineTest, a_copied_clone_has_octets_of_its_own) {
  build();
  pipeline_->set_mirror(3, 3, true);
  clone(0, 1, 3);
  run({make(frame_of_type(0x1234), 0)});
  EXPECT_NE(io_.outputs[3].mbufs[0], io_.outputs[1].mbufs[0]);
  EXPECT_EQ(rte_mbuf_refcnt_read(io_.outputs[1].mbufs[0]), 1);
  EXPECT_EQ(taken(1), taken(3));
}

TEST_F(SwxPipelineTest, the_sink_frees_clones_and_counts_them) {
  build();
  pipeline_->set_mirror(5, io_.sink(), false);
  clone(0, 1, 5);
  run({make(frame_of_type(0x1234), 0)});
  EXPECT_EQ(io_.clones_sunk, 1U);
  EXPECT_EQ(rte_mbuf_refcnt_read(io_.outputs[1].mbufs[0]), 1);
  EXPECT_EQ(taken(1).size(), 1U);
}

TEST_F(SwxPipelineTest, registers_are_found_with_or_without_the_compilers_number) {
  build();
  forward(2, 0);
  run({make(frame_of_type(1), 2), make(frame_of_type(1), 2), make(frame_of_type(1), 1)});
  PipelineRegisters seen = pipeline_->registers("seen");
  EXPECT_EQ(seen.read(2), 2U);
  EXPECT_EQ(seen.read(1), 1U);
  seen.write(2, 40);
  run({make(frame_of_type(1), 2)});
  EXPECT_EQ(seen.read(2), 41U);
  EXPECT_EQ(seen.read(1000), 0U);
  EXPECT_EQ(pipeline_->registers("longest").read(0), 7U);
  EXPECT_FALSE(pipeline_->registers("see"));
  EXPECT_EQ(taken(0).size(), 3U);
}

// DPDK 22.11 uses the first array of the program instead; see spec_repair.h.
TEST_F(SwxPipelineTest, a_register_with_a_constant_index_is_that_of_the_array_named) {
  build(test::replaced(std::string(kForwarder), "LABEL_END :\ttable ports",
                       "LABEL_END :\tregadd longest 0x0 0x5\n\ttable ports"));
  forward(2, 0);
  run({make(frame_of_type(1), 2), make(frame_of_type(0x1234), 2)});
  EXPECT_EQ(pipeline_->registers("longest").read(0), 17U);
  EXPECT_EQ(pipeline_->registers("seen").read(0), 0U);
  EXPECT_EQ(taken(0).size(), 2U);
}

TEST_F(SwxPipelineTest, a_constant_changed_in_the_file_changes_the_octets_that_leave) {
  build(test::replaced(std::string(kForwarder), "0x4321", "0x4322"));
  clone(0, 1, 1);
  pipeline_->set_mirror(1, io_.sink(), false);
  run({make(frame_of_type(0x1234), 0)});
  EXPECT_EQ(taken(1)[0], frame_of_type(0x4322));
}

TEST_F(SwxPipelineTest, takes_65536_entries) {
  build();
  PipelineTable* table = pipeline_->table("ports");
  const auto action = table->action("forward", std::array<std::string_view, 2>{"port", "src"});
  ASSERT_TRUE(action);
  const double begin = test::thread_ms();
  std::uint64_t full = 0;
  for (std::uint64_t i = 0; i < 65536; ++i) {
    full += table->set(std::array{i * 2654435761U & 0xffffffffU}, *action, std::array<std::uint64_t, 2>{1, i}) ? 0 : 1;
  }
  const double took = test::thread_ms() - begin;
  std::printf("65,536 entries in %.1f ms of CPU\n", took);
  EXPECT_EQ(full, 0U);
}

TEST_F(SwxPipelineTest, what_dpdk_does_not_understand_is_named_and_nothing_is_left) {
  struct Mistake {
    std::string_view from, to, complaint;
  };
  for (const Mistake& mistake : std::vector<Mistake>{
           {"mov h.ethernet.type 0x4321", "mov h.ethernet.typo 0x4321", "an instruction of the apply block"},
           {"mov m.session t.session", "mov m.session t.nothing", "an instruction of action forward_and_clone"},
           {"m.from exact", "m.form exact", "table ports"},
           {"table ports\n", "table gates\n", "an instruction of the apply block"}}) {
    const std::string text = test::replaced(std::string(kForwarder), mistake.from, mistake.to);
    const auto built = SwxPipeline::build(test::parsed(text), io_, 0);
    ASSERT_FALSE(built) << mistake.to;
    EXPECT_THAT(built.error().message, testing::AllOf(testing::StartsWith("test.spec:"), HasSubstr(mistake.complaint),
                                                      HasSubstr("; allowed: ")));
  }
}

TEST_F(SwxPipelineTest, an_argument_that_nobody_sets_is_an_error) {
  build();
  const auto action = pipeline_->table("ports")->action("forward", std::array<std::string_view, 1>{"port"});
  ASSERT_FALSE(action);
  EXPECT_THAT(action.error().message, HasSubstr("action forward has the argument src, which nothing sets"));
  EXPECT_FALSE(pipeline_->table("ports")->action("backward", std::array<std::string_view, 1>{"port"}));
  EXPECT_EQ(pipeline_->table("gates"), nullptr);
}

}  // namespace
}  // namespace splitplane::nic
