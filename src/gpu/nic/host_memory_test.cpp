// Pieces of host memory: zero, aligned, and with bus addresses that are contiguous or refused.
#include "gpu/nic/host_memory.h"

#include <gmock/gmock.h>
#include <sys/mman.h>

#include <algorithm>
#include <map>

#include "gpu/nic/memory.h"

namespace splitplane::gpu {
namespace {

using testing::HasSubstr;

constexpr std::size_t kHugepage = std::size_t{2} << 20;

TEST(HostMemoryTest, pieces_are_zero_and_on_a_page) {
  HostMemory memory({.hugepages = false});
  auto piece = memory.allocate(10'000);
  ASSERT_TRUE(piece) << piece.error().message;
  EXPECT_EQ(piece->bytes, 12'288U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(piece->host) % 4096, 0U);
  EXPECT_TRUE(std::all_of(piece->host, piece->host + piece->bytes, [](std::uint8_t octet) { return octet == 0; }));
  EXPECT_EQ(piece->bus, reinterpret_cast<std::uintptr_t>(piece->host));
  EXPECT_EQ(piece->engine, piece->host);
  EXPECT_TRUE(memory.notes().empty());
}

TEST(HostMemoryTest, hugepages_or_a_note_that_there_are_none) {
  HostMemory memory;
  auto piece = memory.allocate(kHugepage + 1);
  ASSERT_TRUE(piece) << piece.error().message;
  piece->host[kHugepage] = 1;
  if (memory.notes().empty()) {
    EXPECT_EQ(piece->bytes, 2 * kHugepage);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(piece->host) % kHugepage, 0U);
  } else {
    EXPECT_THAT(memory.notes().front(), HasSubstr("no free hugepages"));
  }
}

TEST(HostMemoryTest, nothing_is_refused) {
  HostMemory memory;
  EXPECT_THAT(memory.allocate(0).error().message, HasSubstr("0 octets"));
  EXPECT_THAT(memory.allocate(std::size_t{1} << 46).error().message, HasSubstr("Cannot allocate memory"));
}

TEST(HostMemoryTest, what_vfio_refuses_to_map_is_an_error) {
  std::map<void*, std::size_t> mapped;
  HostMemory memory({.hugepages = false, .map = [&](void* host, std::size_t bytes) -> Expected<void> {
                       if (!mapped.empty()) return fail("VFIO cannot map");
                       mapped[host] = bytes;
                       return {};
                     }});
  auto piece = memory.allocate(4096);
  ASSERT_TRUE(piece);
  EXPECT_EQ(mapped.at(piece->host), 4096U);
  EXPECT_FALSE(memory.allocate(4096));
}

// Physical addresses need hugepages; a machine without free ones cannot test them.
class PhysicalMemory : public testing::Test {
 protected:
  void SetUp() override {
    HostMemory memory;
    auto piece = memory.allocate(2 * kHugepage);
    if (!piece || !memory.notes().empty()) GTEST_SKIP() << "two free hugepages of 2 MiB are needed";
  }
};

TEST_F(PhysicalMemory, of_pages_that_follow_each_other_is_given) {
  void* first = nullptr;
  HostMemory memory(
      {.addresses = BusAddresses::kPhysical, .frame_of = [&](const void* page) -> Expected<std::uint64_t> {
         if (first == nullptr) first = const_cast<void*>(page);
         return 0x80000 +
                static_cast<std::uint64_t>(static_cast<const std::uint8_t*>(page) - static_cast<std::uint8_t*>(first)) /
                    4096;
       }});
  auto piece = memory.allocate(2 * kHugepage);
  ASSERT_TRUE(piece) << piece.error().message;
  EXPECT_EQ(piece->bus, 0x80000ULL * 4096);
  EXPECT_EQ(piece->host, first);
}

TEST_F(PhysicalMemory, of_scattered_pages_is_refused) {
  std::uint64_t frame = 0;
  HostMemory memory({.addresses = BusAddresses::kPhysical,
                     .frame_of = [&](const void*) -> Expected<std::uint64_t> { return frame += 4096; }});
  EXPECT_THAT(memory.allocate(2 * kHugepage).error().message,
              HasSubstr("are on no 2 hugepages that follow each other"));
  EXPECT_TRUE(memory.allocate(kHugepage));  // one page is always contiguous
}

TEST_F(PhysicalMemory, is_what_the_kernel_says_or_an_error_about_rights) {
  HostMemory memory({.addresses = BusAddresses::kPhysical});
  auto piece = memory.allocate(kHugepage);
  if (!piece) {
    EXPECT_THAT(piece.error().message, HasSubstr("pagemap"));
    return;
  }
  EXPECT_NE(piece->bus, 0U);
  EXPECT_EQ(piece->bus % kHugepage, 0U);
}

TEST(DeviceMemoryOrdering, decides_whether_engines_may_poll) {
  EXPECT_EQ(judge_ordering(100, false, false), OrderingVerdict::kUse);
  EXPECT_EQ(judge_ordering(200, false, false), OrderingVerdict::kUse);
  EXPECT_EQ(judge_ordering(0, true, true), OrderingVerdict::kFlush);
  EXPECT_EQ(judge_ordering(0, true, false), OrderingVerdict::kRefuse);  // for engines that run without the host
  EXPECT_EQ(judge_ordering(0, false, true), OrderingVerdict::kRefuse);
}

TEST(HostMemoryTest, memory_that_is_kept_outlives_its_provider) {
  for (const bool kept : {false, true}) {
    void* at = nullptr;
    {
      HostMemory memory({.hugepages = false});
      at = memory.allocate(4096)->host;
      if (kept) memory.keep();
    }
    EXPECT_EQ(msync(at, 4096, MS_ASYNC) == 0, kept);
  }
}

}  // namespace
}  // namespace splitplane::gpu
