// Each instruction, compiled and interpreted, on random frames: test_specs/instructions.spec mixes lengths and byte
// orders, jumps and actions, headers that come, go and move, registers of any size.
#include <gmock/gmock.h>

#include "card/spec/test_programs.h"
#include "card/swx/swx_pipeline.h"
#include "card/test_card.h"

namespace splitplane::nic {

CompiledPrograms instruction_programs();  // cmake/programs.cmake makes it

namespace {

using test::Bytes;

constexpr unsigned kOutputs = 4;
constexpr std::string_view kInstructions = SPLITPLANE_TEST_SPECS "/instructions.spec";

// A pipeline with its ports.
struct Tested {
  explicit Tested(bool is_compiled) {
    const auto spec = read_spec(std::string(kInstructions));
    if (!spec) throw std::runtime_error(spec.error().message);
    if (is_compiled) {
      const CompiledProgram* const program = find_compiled(instruction_programs(), *spec);
      if (program == nullptr) throw std::runtime_error("the program was not compiled");
      auto made = program->make(*spec, io, 0);
      if (!made) throw std::runtime_error(made.error().message);
      pipeline = std::move(*made);
    } else {
      auto made = SwxPipeline::build(*spec, io, 0);
      if (!made) throw std::runtime_error(made.error().message);
      pipeline = std::move(*made);
    }
    pipeline->set_mirror(2, 1, false);
    pipeline->set_mirror(3, kOutputs, false);
  }
  std::vector<std::vector<Bytes>> run(const std::vector<Bytes>& frames, std::size_t at_once) {
    std::vector<rte_mbuf*> mbufs;
    for (const Bytes& frame : frames) mbufs.push_back(pool.make(frame));
    for (std::size_t at = 0; at < mbufs.size(); at += at_once) {
      io.hand(mbufs.data() + at, static_cast<unsigned>(std::min(at_once, mbufs.size() - at)));
      pipeline->drain();
    }
    std::vector<std::vector<Bytes>> out;
    for (PipelineOutput& output : io.outputs) {
      auto& sent = out.emplace_back();
      for (rte_mbuf* m : output.mbufs) {
        const auto* first = rte_pktmbuf_mtod(m, const std::uint8_t*);
        sent.emplace_back(first, first + m->data_len);
        rte_pktmbuf_free(m);
      }
      output.mbufs.clear();
    }
    io.pending.clear();
    return out;
  }
  std::vector<std::uint64_t> registers() {
    std::vector<std::uint64_t> all{pipeline->dropped(), io.sent, io.clones_sunk};
    for (const SpecRegisters& array : pipeline->spec().registers) {
      PipelineRegisters registers = pipeline->registers(array.name);
      for (std::uint32_t i = 0; i < 0x2000; ++i) all.push_back(registers.read(i));
    }
    return all;
  }

  datapath::test::Pool pool{512};
  PipelineIo io{kOutputs};
  std::unique_ptr<Pipeline> pipeline;
};

// The first frame that differs, or nothing.
std::string difference(const std::vector<Bytes>& got, const std::vector<Bytes>& expected) {
  if (got.size() != expected.size()) return fmt::format("{} frames, expected {}", got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == expected[i]) continue;
    return fmt::format("frame {}:\n  got {:02x}\n  not {:02x}", i, fmt::join(got[i], ""), fmt::join(expected[i], ""));
  }
  return "";
}

constexpr std::array<std::string_view, 8> kValues{"one", "two", "four", "six", "eight", "slot", "limit", "session"};

class Instructions : public testing::Test {
 protected:
  void set(const char* table, std::vector<std::uint64_t> key, const char* action, std::array<std::uint64_t, 8> values) {
    for (Tested* side : {&compiled_, &interpreted_}) {
      PipelineTable* const at = side->pipeline->table(table);
      const auto bound = at->action(action, kValues);
      ASSERT_TRUE(bound) << bound.error().message;
      ASSERT_TRUE(at->set(key, *bound, values)) << table;
    }
  }
  Bytes frame() {
    Bytes octets(kIntrinsicBytes + 60 + random_() % 40);
    for (std::uint8_t& octet : octets) octet = static_cast<std::uint8_t>(random_());
    octets[0] = 0;
    octets[1] = static_cast<std::uint8_t>(random_() % 4);
    const std::size_t tail = random_() % 3 == 0 ? kIntrinsicBytes : kIntrinsicBytes + 24;
    if (tail == kIntrinsicBytes) octets[tail] = 0x12, octets[tail + 1] = 0x34;
    if (random_() % 2 == 0) octets[tail + 2] = static_cast<std::uint8_t>(random_() % 8);
    if (random_() % 16 == 0) octets[tail + 2] = random_() % 2 == 0 ? 0xff : 0x61;
    return octets;
  }

  std::mt19937_64 random_{20'266};
  Tested compiled_{true}, interpreted_{false};
};

TEST_F(Instructions, do_the_same_compiled_and_interpreted) {
  for (std::uint64_t one = 0; one < 4; ++one) {
    for (const std::uint64_t two : {0U, 4U}) {
      constexpr std::array<const char*, 4> kActions{"set", "clone", "set", "lose"};
      if (one == 2 && two == 4) continue;  // misses
      set("small", {one, two}, kActions[one],
          {random_(), random_(), random_(), random_(), random_(), 0, 0, 2 + one % 2});
    }
  }
  for (std::uint64_t key = 0; key < 48; ++key)
    set("large", {key, 0x1234}, key % 16 == 15 ? "lose" : "slot", {0, 0, 0, 0, 0, random_(), random_(), 0});
  for (unsigned round = 0; round < 200; ++round) {
    std::vector<Bytes> frames;
    for (unsigned i = 0; i < 50; ++i) frames.push_back(frame());
    const auto got = compiled_.run(frames, 32), expected = interpreted_.run(frames, 1);
    for (std::size_t port = 0; port < expected.size(); ++port)
      ASSERT_EQ(difference(got[port], expected[port]), "") << "port " << port << ", round " << round;
  }
  EXPECT_EQ(compiled_.registers(), interpreted_.registers());
  EXPECT_GT(compiled_.io.sent, 5'000U);
  EXPECT_GT(compiled_.pipeline->dropped(), 100U);
  EXPECT_GT(compiled_.io.clones_sunk + compiled_.io.outputs[1].clones, 100U);
}

// A table holds as many entries as its size says, whatever the keys are, and no more.
TEST_F(Instructions, a_compiled_table_is_full_at_its_size) {
  PipelineTable* const table = compiled_.pipeline->table("large");
  const auto action = table->action("slot", kValues);
  ASSERT_TRUE(action);
  const std::array<std::uint64_t, 8> values{};
  std::vector<std::array<std::uint64_t, 2>> keys;
  for (std::uint64_t i = 0; i < table->size(); ++i) keys.push_back({i << 16 | 7, i % 3});
  for (const auto& key : keys) ASSERT_TRUE(table->set(key, *action, values));
  EXPECT_FALSE(table->set(std::array<std::uint64_t, 2>{1, 1}, *action, values));
  EXPECT_TRUE(table->set(keys[5], *action, values)) << "it is there already";
  std::ranges::shuffle(keys, random_);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    table->remove(keys[i]);
    table->remove(keys[i]);
    EXPECT_TRUE(table->set(std::array<std::uint64_t, 2>{i, 9}, *action, values));
  }
  EXPECT_FALSE(table->set(std::array<std::uint64_t, 2>{1, 1}, *action, values));
}

TEST(CompiledPrograms, a_changed_or_foreign_spec_has_none_and_is_interpreted) {
  const std::string text = test::generated("gnb-mat");
  EXPECT_NE(find_compiled(compiled_programs(), test::parsed(text)), nullptr);
  EXPECT_EQ(find_compiled(compiled_programs(), test::parsed(test::kForwarder)), nullptr);
  const SpecFile changed = test::parsed(test::replaced(text, "0x88B5", "0x88B4"));
  EXPECT_EQ(find_compiled(compiled_programs(), changed), nullptr);
  const auto card = Card::make(changed, {});
  ASSERT_TRUE(card) << card.error().message;
  EXPECT_FALSE((*card)->is_compiled());
}

}  // namespace
}  // namespace splitplane::nic
