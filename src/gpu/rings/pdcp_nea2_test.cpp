#include "gpu/rings/pdcp_nea2.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "gpu/rings/test_n3.h"
#include "gpu/rings/test_warp.h"

namespace splitplane::gpu {
namespace {

constexpr std::uint8_t kKeyOctets[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
constexpr std::uint8_t kOtherOctets[16] = {9, 9, 9};
constexpr Aes128Key kKeys[2] = {expand_key(kAesTable, kKeyOctets), expand_key(kAesTable, kOtherOctets)};
constexpr std::uint32_t kSlotBytes = 2048, kAirOverhead = 14 + 10 + 3 + 3 + 1;
constexpr AirHeader kCipheredAir{{2, 0, 0, 0, 0, 3, 2, 0, 0, 0, 0, 1, 0x88, 0xb5}};

std::vector<std::uint8_t> sdu_of(std::uint32_t packet) {
  std::vector<std::uint8_t> sdu(40 + packet * 37 % 900);
  for (std::size_t i = 0; i < sdu.size(); ++i) sdu[i] = static_cast<std::uint8_t>(packet * 11 + i * 3);
  return sdu;
}

// 32 packets, each in a separate slot: G-PDUs of three bearers, and one packet of none. `process` makes them air
// frames.
struct Batch {
  static constexpr std::uint32_t kNone = 17;  // the packet without a bearer
  std::array<GnbBearer, 8> bearers{};
  std::vector<std::uint8_t> slots = std::vector<std::uint8_t>(32 * kSlotBytes);
  std::array<Frame, 32> frames{};
  std::array<Verdict, 32> verdicts{};

  Batch() {
    // The first COUNT is about to change its HFN, because only 18 bits of it are on the air.
    for (std::uint32_t id = 1; id <= 3; ++id) bearers[id] = {.id = id, .pdcp_first = 0x5FFFFEU};
    for (std::uint32_t p = 0; p < 32; ++p) {
      const auto frame = test::n3_frame({.teid = p == kNone ? 7 : 1 + p % 3}, sdu_of(p));
      std::uint8_t* const slot = &slots[std::size_t{p} * kSlotBytes];
      std::copy(frame.begin(), frame.end(), slot);
      frames[p] = {slot, static_cast<std::uint32_t>(frame.size()), slot, kSlotBytes};
    }
  }
  template <class Lane>
  void work(Lane lane, std::uint32_t packet) {
    const GnbHeaders headers(bearers.data(), 8, 7, kCipheredAir, 1514);
    PdcpNea2 function(headers, &kAesTable, kKeys);
    verdicts[packet] = function.process(lane, frames[packet]);
  }
};

TEST(PdcpNea2, ciphers_the_sdu_and_neither_headers_nor_other_packets) {
  Batch batch;
  std::array<std::uint32_t, 4> count{0, 0x5FFFFEU, 0x5FFFFEU, 0x5FFFFEU};
  for (std::uint32_t p = 0; p < 32; ++p) {
    batch.work(CpuLane{}, p);
    if (p == Batch::kNone) {
      EXPECT_EQ(batch.verdicts[p], Verdict::no_bearer);
      continue;
    }
    ASSERT_EQ(batch.verdicts[p], Verdict::send);
    const std::uint32_t id = 1 + p % 3;
    auto expected = sdu_of(p);
    const auto bytes = static_cast<std::uint32_t>(expected.size());
    nea2(0, 1, kAesTable, kKeys[0], {count[id]++, static_cast<std::uint8_t>(id - 1)}, expected.data(), bytes);
    const Frame& frame = batch.frames[p];
    ASSERT_EQ(frame.length, kAirOverhead + bytes);
    EXPECT_EQ(wire::load_be32(frame.data + 14 + 4), id);
    EXPECT_EQ(std::vector<std::uint8_t>(frame.data + kAirOverhead, frame.data + frame.length), expected) << p;
  }
}

TEST(PdcpNea2, a_warp_makes_of_a_batch_what_one_lane_makes_of_its_packets) {
  Batch alone, together;
  for (std::uint32_t p = 0; p < 32; ++p) alone.work(CpuLane{}, p);
  test::run_warp([&](test::TestLane lane) { together.work(lane, lane.id); });
  EXPECT_EQ(together.verdicts, alone.verdicts);
  EXPECT_EQ(together.slots, alone.slots);
  for (std::uint32_t id = 1; id <= 3; ++id) {
    EXPECT_EQ(together.bearers[id].numbered, alone.bearers[id].numbered);
  }
}

// The cipher has 5 bits for the bearer. With one key for all UEs, bearers 1 and 33 would have the same key stream.
TEST(PdcpNea2, bearers_of_two_ues_have_two_key_streams) {
  std::vector<GnbBearer> bearers(64);
  std::vector<std::vector<std::uint8_t>> sent;
  for (const std::uint32_t id : {1U, 33U}) {
    bearers[id].id = id;
    const GnbHeaders headers(bearers.data(), 64, 63, kCipheredAir, 1514);
    PdcpNea2 function(headers, &kAesTable, kKeys);
    auto slot = test::n3_frame({.teid = id}, std::vector<std::uint8_t>(64));
    Frame frame{slot.data(), static_cast<std::uint32_t>(slot.size()), slot.data(),
                static_cast<std::uint32_t>(slot.size())};
    ASSERT_EQ(function.process(CpuLane{}, frame), Verdict::send);
    sent.emplace_back(frame.data + kAirOverhead, frame.data + frame.length);
  }
  EXPECT_EQ(PdcpNea2::bearer_field(1), PdcpNea2::bearer_field(33));
  EXPECT_NE(sent[0], sent[1]) << "of SDUs of zeros what is sent is the key stream";
}

}  // namespace
}  // namespace splitplane::gpu
