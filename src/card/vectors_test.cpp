// The vectors of tests/p4/vectors, which p4testgen found in the v1model build of the P4 programs (p4/vectors.py):
// packet, table entries, and what must come out. Here the card's pipeline gets the same.
//
// What differs from v1model by construction, and is counted:
// - v1model makes clones in egress, which a frame that is dropped does not reach. Here its clone is made before.
// - A port 511 in v1model drops, before egress makes a clone; here it is a sink behind the ports, and clones are made.
// - Sessions and the ports of clones are any numbers; here they are one session and one port of the test.
// - A short frame of a VF: v1model sends it on as it is, because its parser stopped; the card drops it
// (returned_wrong).
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "card/card.h"
#include "card/compiled/programs.h"
#include "card/punt_reason.h"
#include "card/spec/test_programs.h"
#include "card/swx/swx_pipeline.h"
#include "engine/test_environment.h"
#include "wire/bytes.h"

namespace splitplane::nic::vectors {
namespace {

using datapath::test::Bytes;
using nlohmann::json;

constexpr unsigned kPorts = 10, kClonePort = 9, kSession = 1;  // frames come in by ports 0 to 8
constexpr std::uint64_t kV1modelDrop = 511;

struct Entry {
  std::string table, action;
  std::vector<std::uint64_t> key;  // none: the default action
  std::vector<std::string> names;
  std::vector<std::uint64_t> values;
};

struct Register {
  std::string name;
  std::uint32_t index = 0;
  std::uint64_t value = 0;
};

using Sent = std::pair<unsigned, Bytes>;  // port and octets

// A program that is running, interpreted or compiled ahead of time.
class Program {
 public:
  Program(const SpecFile& spec, bool compiled) {
    if (compiled) {
      const CompiledProgram* const found = find_compiled(compiled_programs(), spec);
      if (found == nullptr) throw std::runtime_error("not compiled: " + spec.path);
      keep(found->make(spec, io_, 0));
    } else {
      keep(SwxPipeline::build(spec, io_, 0));
    }
    pipeline_->set_mirror(kSession, kClonePort, true);
  }

  void fill(const Entry& e) {
    PipelineTable* const table = pipeline_->table(e.table);
    ASSERT_NE(table, nullptr) << e.table;
    const std::vector<std::string_view> names(e.names.begin(), e.names.end());
    const auto action = table->action(e.action, names);
    ASSERT_TRUE(action) << action.error().message;
    if (e.key.empty()) return table->set_default(*action, e.values);
    ASSERT_TRUE(table->set(e.key, *action, e.values)) << e.table;
  }
  void write(const Register& r) { pipeline_->registers(r.name).write(r.index, r.value); }
  // Undoes fill().
  void clear(const Entry& e) {
    PipelineTable* const table = pipeline_->table(e.table);
    if (e.key.empty()) {
      table->set_default(*table->action("miss", {}), {});
    } else {
      table->remove(e.key);
    }
  }
  std::vector<Sent> give(unsigned port, const Bytes& frame) {
    rte_mbuf* m = pool_.make(frame);
    auto* const intrinsic = reinterpret_cast<std::uint8_t*>(rte_pktmbuf_prepend(m, kIntrinsicBytes));
    wire::store_be64(intrinsic, std::uint64_t{port} << 48 | std::uint64_t{frame.size()} << 16);
    io_.hand(&m, 1);
    pipeline_->drain();
    std::vector<Sent> sent;
    for (unsigned out = 0; out < kPorts; ++out) {
      for (rte_mbuf* mbuf : io_.outputs[out].mbufs) {
        const auto* at = rte_pktmbuf_mtod(mbuf, const std::uint8_t*);
        sent.emplace_back(out, Bytes(at, at + mbuf->data_len));
        rte_pktmbuf_free(mbuf);
      }
      io_.outputs[out].mbufs.clear();
    }
    io_.pending.clear();
    return sent;
  }
  [[nodiscard]] std::uint64_t counted(std::string_view counters, std::uint32_t index) {
    return pipeline_->registers(counters).read(index);
  }

 private:
  template <class Built>
  void keep(Built built) {
    if (!built) throw std::runtime_error(built.error().message);
    pipeline_ = std::move(*built);
  }

  datapath::test::Pool pool_{64};
  PipelineIo io_{kPorts};
  std::unique_ptr<Pipeline> pipeline_;
};

Bytes octets_of(std::string_view hex) {
  Bytes octets;
  for (std::size_t at = 0; at + 1 < hex.size(); at += 2)
    octets.push_back(static_cast<std::uint8_t>(std::stoul(std::string(hex.substr(at, 2)), nullptr, 16)));
  return octets;
}

Entry entry_of(const json& from) {
  Entry e{.table = from.at("table"), .action = from.at("action"), .key = {}, .names = {}, .values = {}};
  for (const json& key : from.at("key")) {
    // An IPv6 address's halves are separate keys, so that 64 bits are enough.
    e.key.push_back(key);
  }
  for (const auto& [name, value] : from.at("values").items()) {
    e.names.push_back(name);
    std::uint64_t number = value;
    if (name == "port" && number == kV1modelDrop) number = kPorts;
    if (name == "session" && number != 0) number = kSession;
    e.values.push_back(number);
  }
  return e;
}

struct Tally {
  unsigned equal = 0, to_511 = 0, short_equal = 0, short_dropped = 0, clones = 0, clones_of_dropped = 0;
};

class Replay {
 public:
  explicit Replay(Program& program) : program_(program) {}

  void one(const json& vector) {
    std::vector<Entry> entries;
    bool to_511 = false;
    for (const json& from : vector.value("entries", json::array())) {
      entries.push_back(entry_of(from));
      const json& values = from.at("values");
      to_511 = to_511 || (values.contains("port") && values.at("port") == kV1modelDrop);
      program_.fill(entries.back());
    }
    std::vector<Register> registers;
    for (const json& from : vector.value("registers", json::array())) {
      registers.push_back({.name = from.at(0), .index = from.at(1), .value = from.at(2)});
      program_.write(registers.back());
    }
    const std::uint64_t refused = returned_wrong();
    const Bytes frame = octets_of(vector.at("frame").get<std::string>());
    std::vector<Sent> sent = program_.give(vector.at("port"), frame);
    if (to_511 || vector.at("out").empty()) {
      const auto clones = std::erase_if(sent, [](const Sent& s) { return s.first == kClonePort; });
      tally.clones_of_dropped += static_cast<unsigned>(clones);
    }
    compare(vector, sent, frame, returned_wrong() != refused);
    if (to_511) ++tally.to_511;
    for (const Entry& e : entries) program_.clear(e);
    for (const Register& r : registers) program_.write({.name = r.name, .index = r.index, .value = 0});
  }

  Tally tally;

 private:
  Program& program_;

  [[nodiscard]] std::uint64_t returned_wrong() const {
    return program_.counted("drops", static_cast<std::uint32_t>(CardDrop::returned_wrong));
  }

  void compare(const json& vector, const std::vector<Sent>& sent, const Bytes& frame, bool refused) {
    const bool is_short = vector.value("short", false);
    const bool from_vf = std::ranges::any_of(vector.value("entries", json::array()),
                                             [](const json& e) { return e.at("action") == "from_vf"; });
    if (is_short && from_vf && refused) {
      EXPECT_TRUE(sent.empty());
      for (const json& out : vector.at("out")) EXPECT_EQ(octets_of(out[1].get<std::string>()), frame);
      ++tally.short_dropped;
      return;
    }
    std::vector<Sent> expected;
    for (const json& out : vector.at("out")) {
      const bool is_clone = out[1].is_null();
      expected.emplace_back(is_clone ? kClonePort : out[0].get<unsigned>(),
                            is_clone ? Bytes{} : octets_of(out[1].get<std::string>()));
      if (is_clone) ++tally.clones;
    }
    // A clone is of the finished frame.
    for (Sent& clone : expected) {
      for (const Sent& original : expected)
        if (clone.second.empty()) clone.second = original.second;
    }
    EXPECT_THAT(sent, testing::UnorderedElementsAreArray(expected));
    ++(is_short ? tally.short_equal : tally.equal);
  }
};

class Vectors : public testing::TestWithParam<std::tuple<std::filesystem::path, bool>> {};

TEST_P(Vectors, come_out_as_p4testgen_says) {
  const auto& [path, compiled] = GetParam();
  const json file = json::parse(std::ifstream(path));
  Program program(test::parsed(test::generated(file.at("program").get<std::string>())), compiled);
  Replay replay(program);
  unsigned number = 0;
  for (const json& vector : file.at("vectors")) {
    SCOPED_TRACE(::testing::Message() << file.at("program") << ", vector " << number++ << ": " << vector.dump());
    replay.one(vector);
  }
  const Tally& t = replay.tally;
  std::printf("%s, %s: %u vectors, %s of %s statements of the P4 program\n", path.stem().c_str(),
              compiled ? "compiled" : "interpreted", number, file.at("covered").dump().c_str(),
              file.at("statements").dump().c_str());
  std::printf(
      "  equal %u (of them short frames %u, clones %u, to v1model's drop port %u, clones of dropped frames, which "
      "v1model "
      "does not make, %u); short frames of a VF that v1model sends on and the card drops: %u\n",
      t.equal + t.short_equal, t.short_equal, t.clones, t.to_511, t.clones_of_dropped, t.short_dropped);
  EXPECT_EQ(t.equal + t.short_equal + t.short_dropped, number);
  EXPECT_GT(t.equal, 0U);
}

std::vector<std::filesystem::path> files() {
  const auto folder = std::filesystem::path(spec_path("", "x")).parent_path() / "../../tests/p4/vectors";
  std::vector<std::filesystem::path> found;
  for (const auto& file : std::filesystem::directory_iterator(folder)) found.push_back(file.path());
  std::ranges::sort(found);
  return found;
}

std::string name_of(const testing::TestParamInfo<std::tuple<std::filesystem::path, bool>>& info) {
  const auto& [path, compiled] = info.param;
  std::string name = path.stem().string() + (compiled ? "_compiled" : "_interpreted");
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Programs, Vectors, testing::Combine(testing::ValuesIn(files()), testing::Bool()), name_of);

}  // namespace
}  // namespace splitplane::nic::vectors
