// A process may be killed between any two instructions. Here one changes tables, instruction by instruction under
// ptrace, and after each that changed memory the tables are opened as the next process would.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <random>
#include <span>

#include "guard/state/flow_table.h"
#include "guard/state/source_table.h"
#include "guard/state/test_memory.h"

namespace splitplane::guard {
namespace {

using test::numbered_tuple;

constexpr FlowTable::Settings kFewFlows{.entries = 64, .connecting_seconds = 1000};
constexpr SourceTable::Settings kFewSources{.entries = 64, .cookie_seconds = 1000};
constexpr std::uint64_t kStayingFlows = 48, kStayingSources = 40, kOthers = 20;
constexpr std::size_t kMostSteps = 100'000;
const std::size_t kFlowBytes = FlowTable::memory_bytes(kFewFlows);
const std::size_t kBothBytes = kFlowBytes + SourceTable::memory_bytes(kFewSources);

// Both tables in some memory.
struct Tables {
  Tables(std::span<std::uint8_t> octets, unsigned seed)
      : flows(kFewFlows, octets.first(kFlowBytes), seed), sources(kFewSources, octets.subspan(kFlowBytes), seed) {}
  FlowTable flows;
  SourceTable sources;
};

// What both processes map.
struct Shared {
  alignas(64) std::array<std::uint8_t, 8192> octets;
  volatile bool watched;  // the child changes tables, and every instruction counts
  [[nodiscard]] std::span<std::uint8_t> tables() { return std::span(octets).first(kBothBytes); }
};

std::uint32_t number_in(const Flow& flow) {
  return flow.client_next;
}

Flow* put_flow(FlowTable& flows, std::uint64_t number) {
  const FourTuple tuple = numbered_tuple(number);
  Flow* const flow = flows.insert(tuple, flows.hash_of(tuple), 10);
  if (flow != nullptr) flow->client_next = static_cast<std::uint32_t>(number);
  return flow;
}

// One change of tables that are full, so that entries have to move.
void change(Tables& tables, std::uint64_t number, unsigned what) {
  const FourTuple tuple = numbered_tuple(kStayingFlows + number);
  if (Flow* const flow = tables.flows.find(tuple, tables.flows.hash_of(tuple), 10); flow == nullptr)
    (void)put_flow(tables.flows, kStayingFlows + number);
  else if (what % 2 == 0)
    tables.flows.remove(flow);
  const SourceTable::Key key = kStayingSources + 1 + number;
  if (what % 4 == 0)
    (void)tables.sources.remove(key);
  else
    (void)tables.sources.put(key, what % 8 == 1 ? Proof::kVouched : Proof::kCookie, 10 + what % 10);
}

std::size_t entries_that_differ(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < a.size(); i += 8) n += std::memcmp(a.data() + i, b.data() + i, 8) != 0 ? 1 : 0;
  return n;
}

// The child's. It makes each change on a copy first, and is watched where that moves an entry, or now and then.
[[noreturn]] void change_tables(Shared& shared, unsigned seed) {
  Tables tables(shared.tables(), seed);
  if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(77);
  ::raise(SIGSTOP);
  std::mt19937 random(seed);
  test::TableMemory copy(kBothBytes);
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t number = random() % kOthers;
    const auto what = static_cast<unsigned>(random());
    std::memcpy(copy.span().data(), shared.octets.data(), kBothBytes);
    Tables tried(copy.span(), seed);
    change(tried, number, what);
    const bool moves = entries_that_differ(copy.span(), shared.tables()) > 14;
    if (moves || i % 1000 == 0) {
      shared.watched = true;
      ::raise(SIGTRAP);
      change(tables, number, what);
      shared.watched = false;
    } else {
      change(tables, number, what);
    }
  }
  ::_exit(0);
}

TEST(EveryInstant, finds_all_established_flows_and_vouched_sources) {
  void* const at = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(at, MAP_FAILED);
  auto& shared = *static_cast<Shared*>(at);
  ASSERT_LE(kBothBytes, shared.octets.size());
  std::size_t changes = 0, on_their_way = 0, steps = 0;
  for (unsigned seed = 1; seed <= 4; ++seed) {
    std::memset(at, 0, sizeof shared);
    {
      Tables tables(shared.tables(), seed);
      for (std::uint64_t n = 0; n < kStayingFlows; ++n) {
        Flow* const flow = put_flow(tables.flows, n);
        ASSERT_NE(flow, nullptr);
        flow->state = FlowState::kEstablished;
      }
      for (SourceTable::Key key = 1; key <= kStayingSources; ++key)
        ASSERT_TRUE(tables.sources.put(key, Proof::kVouched, 10));
    }
    const pid_t child = ::fork();
    if (child == 0) change_tables(shared, seed);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFEXITED(status)) GTEST_SKIP() << "this machine does not let a process trace its child";

    test::TableMemory before(kBothBytes), copy(kBothBytes);
    while (WIFSTOPPED(status) && steps < kMostSteps / 4 * seed) {
      ++steps;
      ASSERT_EQ(::ptrace(shared.watched ? PTRACE_SINGLESTEP : PTRACE_CONT, child, nullptr, nullptr), 0);
      ::waitpid(child, &status, 0);
      if (!shared.watched || std::memcmp(before.span().data(), at, kBothBytes) == 0) continue;
      ++changes;
      std::memcpy(before.span().data(), at, kBothBytes);
      std::memcpy(copy.span().data(), at, kBothBytes);
      Tables tables(copy.span(), seed);
      for (std::uint64_t n = 0; n < kStayingFlows; ++n) {
        const FourTuple tuple = numbered_tuple(n);
        const Flow* const flow = tables.flows.find(tuple, tables.flows.hash_of(tuple), 20);
        ASSERT_NE(flow, nullptr) << "flow " << n << " is gone after step " << steps;
        ASSERT_EQ(number_in(*flow), n);
        ASSERT_EQ(flow->state, FlowState::kEstablished);
      }
      for (SourceTable::Key key = 1; key <= kStayingSources; ++key)
        ASSERT_EQ(tables.sources.find(key, 20), Proof::kVouched) << "source " << key << " is gone after step " << steps;
      std::size_t used = 0;
      tables.flows.for_each([&](const Flow& flow) {
        ++used;
        const FourTuple tuple = tuple_of(flow);
        ASSERT_EQ(tables.flows.find(tuple, tables.flows.hash_of(tuple), 20), &flow);
        ASSERT_EQ(flow.server_port, 443) << "a flow that was not whole";
      });
      ASSERT_EQ(tables.flows.counts().used, used);
      // Twice in memory, once in the table that the next process opens.
      std::size_t tags = 0;
      for (unsigned i = 0; i < kFewFlows.entries; ++i) {
        std::uint16_t tag = 0;
        std::memcpy(&tag, before.span().data() + sizeof tag * i, sizeof tag);
        tags += tag != 0 ? 1 : 0;
      }
      on_their_way += tags != used ? 1 : 0;
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
  }
  ::munmap(at, sizeof shared);
  EXPECT_GT(changes, 200U);
  EXPECT_GT(on_their_way, 3U);
  RecordProperty("steps", static_cast<int>(steps));
  RecordProperty("changes", static_cast<int>(changes));
  RecordProperty("on_their_way", static_cast<int>(on_their_way));
}

}  // namespace
}  // namespace splitplane::guard
