// The far end of a bench, in lock-step: what it sees of bearers that get their numbers from one table for all rings, or
// from one table for each ring.
#include "bypass/bench_wire.h"

#include <gtest/gtest.h>

#include "bypass/bed.h"
#include "bypass/cpu_drivers.h"
#include "gpu/nic/host_memory.h"
#include "gpu/rings/launch.h"
#include "gpu/rings/pdcp_nea2.h"

namespace splitplane::bypass {
namespace {

struct Seen {
  std::uint64_t returned = 0, wrong = 0, repeated = 0, missing = 0;
};

template <class Function, class Make>
Seen run(FunctionKind kind, std::size_t tables, Make make) {
  Scenario s{.function = kind, .rings = 4, .frame_bytes = 200, .flows = 40, .window = 64, .packets = 4000};
  BenchWire wire(s);
  wire.use_measured();
  gpu::HostMemory provider({.hugepages = false});
  const auto memory = allocate(provider, s);
  EXPECT_TRUE(memory);
  const auto bed = Bed::make(s, *memory, wire);
  EXPECT_TRUE(bed) << bed.error().message;
  std::vector<GnbBearers> bearers(tables, GnbBearers(s));
  std::vector<Function> functions;
  for (std::uint32_t ring = 0; ring < s.rings; ++ring) functions.push_back(make(bearers[ring % tables]));
  gpu::RingSet<Function> set((*bed)->rings(), functions, (*bed)->view().stop);
  std::uint64_t now = 1;
  set.step(now);
  EXPECT_TRUE((*bed)->open());
  for (unsigned rounds = 0; !wire.measured().done() && rounds < 100'000; ++rounds) {
    (*bed)->model().step(32, now += 1000);
    set.step(now);
  }
  EXPECT_TRUE((*bed)->close());
  const nicmodel::PeerCounters& c = wire.measured().counters();
  return {.returned = c.returned.get(),
          .wrong = c.changed.get() + c.foreign.get() + c.duplicated.get(),
          .repeated = wire.numbers().repeated(),
          .missing = wire.numbers().missing()};
}

Seen run(FunctionKind kind, std::size_t tables) {
  const auto headers = [](GnbBearers& b) { return gnb_headers(b.lines().data(), b.capacity()); };
  if (kind == FunctionKind::gnb_headers) return run<gpu::GnbHeaders>(kind, tables, headers);
  return run<gpu::PdcpNea2>(kind, tables,
                            [&](GnbBearers& b) { return gpu::PdcpNea2(headers(b), &gpu::kAesTable, b.keys().data()); });
}

TEST(BenchWire, one_table_for_all_rings_gives_each_number_once) {
  for (const auto kind : {FunctionKind::gnb_headers, FunctionKind::pdcp_nea2}) {
    const Seen seen = run(kind, 1);
    EXPECT_EQ(seen.returned, 4000U);
    EXPECT_EQ(seen.wrong, 0U);
    EXPECT_EQ(seen.repeated, 0U);
    EXPECT_EQ(seen.missing, 0U);
  }
}

TEST(BenchWire, a_table_for_each_ring_is_found_although_every_frame_deciphers) {
  for (const auto kind : {FunctionKind::gnb_headers, FunctionKind::pdcp_nea2}) {
    const Seen seen = run(kind, 4);
    EXPECT_EQ(seen.returned, 4000U);
    EXPECT_EQ(seen.wrong, 0U) << "no payload shows it";
    EXPECT_GT(seen.repeated, 1000U);
  }
}

}  // namespace
}  // namespace splitplane::bypass
