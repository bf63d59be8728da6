// The functions on frames in a slot: octets written by hand from the specifications, and refusals.
#include "gpu/rings/functions.h"

#include <gtest/gtest.h>

#include "gpu/rings/gnb_headers.h"
#include "gpu/rings/test_n3.h"
#include "gpu/rings/test_nic.h"
#include "gpu/rings/test_warp.h"
#include "wire/test_octets.h"

namespace splitplane::gpu {
namespace {

using test::Bytes;
using wire::test::to_hex;

constexpr AirHeader kAir{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 1, 0x88, 0xb5}};
const std::string kAirHex = "ffffffffffff02000000000188b5";

// A frame in a slot of the exact size, so that a sanitizer sees an access outside of it.
struct InSlot {
  explicit InSlot(const Bytes& octets)
      : slot(octets),
        frame{slot.data(), static_cast<std::uint32_t>(slot.size()), slot.data(),
              static_cast<std::uint32_t>(slot.size())} {}
  [[nodiscard]] std::string hex() const { return to_hex({frame.data, frame.length}); }
  Bytes slot;
  Frame frame;
};

TEST(EchoFunction, leaves_a_frame_as_it_is) {
  InSlot in(test::numbered_frame(5, 64));
  EXPECT_EQ(Echo{}.process(CpuLane{}, in.frame), Verdict::send);
  EXPECT_EQ(in.slot, test::numbered_frame(5, 64));
}

TEST(MacSwapFunction, swaps_addresses_and_nothing_else) {
  InSlot in(wire::test::from_hex("010203040506 a1a2a3a4a5a6 0800 1122"));
  EXPECT_EQ(MacSwap{}.process(CpuLane{}, in.frame), Verdict::send);
  EXPECT_EQ(in.hex(),
            "a1a2a3a4a5a6010203040506"
            "08001122");
}

struct OneBearer {
  explicit OneBearer(GnbBearer with) : bearer(with) { bearer.id = 0x01020300; }
  Verdict process(Frame& frame) { return headers.process(CpuLane{}, frame); }
  GnbBearer bearer;
  GnbHeaders headers{&bearer, 1, 0xff, kAir, 1514};
};

TEST(GnbHeadersFunction, writes_what_the_specs_say) {
  struct Row {
    GnbBearer bearer;
    const char* hex;
  };
  const Row rows[] = {
      {{.poll_pdu = 0}, "20de000001020300 000a 800005 800005 49"},
      {{.poll_pdu = 1}, "20de000001020300 000a c00005 800005 49"},
      {{.rlc_sn_bits = 12, .pdcp_sn_bits = 12}, "20d2000001020300 0008 8005 8005 49"},
      {{.rlc_mode = RlcMode::kUm, .rlc_sn_bits = 12}, "20b6000001020300 0008 00 800005 49"},
      {{.rlc_mode = RlcMode::kTm, .rlc_sn_bits = 0, .pdcp_sn_bits = 12, .sdap_header = false},
       "2080000001020300 0005 8005"},
  };
  for (const Row& row : rows) {
    OneBearer one(row.bearer);
    one.bearer.pdcp_first = one.bearer.rlc_first = 5;
    InSlot in(test::n3_frame({.teid = 0x01020300, .qfi = 9, .rqi = true}, {0x45, 0xaa, 0xbb}));
    ASSERT_EQ(one.process(in.frame), Verdict::send);
    EXPECT_EQ(in.hex(), kAirHex + to_hex(wire::test::from_hex(row.hex)) + "45aabb");
    EXPECT_EQ(one.bearer.pdcp_tx_next(), 6U);
    EXPECT_EQ(one.bearer.rlc_tx_next(), 6U);
  }
}

TEST(GnbHeadersFunction, takes_the_bearers_flow_where_the_packet_names_none) {
  OneBearer one({.qfi = 33});
  InSlot in(test::n3_frame({.teid = 0x01020300, .qfi = {}}, {1, 2, 3}));
  ASSERT_EQ(one.process(in.frame), Verdict::send);
  EXPECT_EQ(in.hex(), kAirHex +
                          "20de000001020300"
                          "000a"
                          "800000"
                          "800000"
                          "21"
                          "010203");
}

TEST(GnbHeadersFunction, refuses_what_is_not_for_it_and_numbers_nothing) {
  OneBearer one({});
  const Bytes good = test::n3_frame({.teid = 0x01020300}, {1, 2, 3});
  const auto verdict = [&](const Bytes& octets) {
    InSlot in(octets);
    return one.process(in.frame);
  };
  Bytes other = good;
  other[12] = 0x86;
  EXPECT_EQ(verdict(other), Verdict::not_for_us);
  Bytes echo = good;
  echo[43] = 1;
  EXPECT_EQ(verdict(echo), Verdict::not_for_us);
  EXPECT_EQ(verdict(test::n3_frame({.teid = 0x01020300}, {})), Verdict::not_for_us);
  EXPECT_EQ(verdict(test::n3_frame({.teid = 0x01020301}, {1})), Verdict::no_bearer);
  EXPECT_EQ(verdict(test::n3_frame({.teid = 0x11020300}, {1})), Verdict::no_bearer);
  EXPECT_EQ(verdict(test::n3_frame({.teid = 0}, {1})), Verdict::no_bearer);
  EXPECT_EQ(verdict(test::n3_frame({.teid = 0x01020300}, Bytes(1514 - 31 + 1))), Verdict::too_long);
  EXPECT_EQ(verdict(test::n3_frame({.teid = 0x01020300}, Bytes(1514 - 31))), Verdict::send);
  for (std::size_t bytes = 14; bytes < good.size(); ++bytes) {
    EXPECT_EQ(verdict(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(bytes))), Verdict::not_for_us);
  }
  EXPECT_EQ(one.bearer.numbered, 1U);
}

TEST(GnbHeadersFunction, a_bearer_without_a_count_left_sends_nothing) {
  OneBearer one({.pdcp_first = 0xFFFF'FFFFU});
  InSlot last(test::n3_frame({.teid = 0x01020300}, {1, 2, 3}));
  EXPECT_EQ(one.process(last.frame), Verdict::send);
  InSlot more(test::n3_frame({.teid = 0x01020300}, {1, 2, 3}));
  EXPECT_EQ(one.process(more.frame), Verdict::count_used_up);
  EXPECT_EQ(more.slot, test::n3_frame({.teid = 0x01020300}, {1, 2, 3})) << "and no octet of it was changed";
}

// A batch with frames of several bearers and of none. A warp must number them as one lane after the other would.
TEST(GnbHeadersFunction, a_warp_numbers_a_batch_in_its_order) {
  constexpr std::uint32_t kBearers = 4;
  const auto bearers = [] {
    std::vector<GnbBearer> lines(kBearers);
    for (std::uint32_t i = 0; i < kBearers; ++i) {
      lines[i] = {
          .id = 0x100 + i, .pdcp_first = 1000 * i, .rlc_first = 77, .poll_pdu = static_cast<std::uint16_t>(i * 3)};
    }
    return lines;
  };
  const auto frames = [](unsigned batch) {
    std::vector<Bytes> all;
    for (std::uint32_t i = 0; i < 32; ++i) {
      all.push_back(test::n3_frame({.teid = 0x100 + (i * i + batch * 5) % 6}, {static_cast<std::uint8_t>(i), 1, 2}));
    }
    return all;
  };
  std::vector<std::string> want;
  std::vector<GnbBearer> one = bearers();
  GnbHeaders one_lane(one.data(), kBearers, 0xff, kAir, 1514);
  for (unsigned batch = 0; batch < 5; ++batch) {
    for (const Bytes& frame : frames(batch)) {
      InSlot in(frame);
      want.push_back(one_lane.process(CpuLane{}, in.frame) == Verdict::send ? in.hex() : "dropped");
    }
  }
  std::vector<GnbBearer> lines = bearers();
  std::vector<std::string> got(want.size());
  test::run_warp([&](test::TestLane lane) {
    GnbHeaders headers(lines.data(), kBearers, 0xff, kAir, 1514);
    for (unsigned batch = 0; batch < 5; ++batch) {
      InSlot in(frames(batch)[lane.id]);
      got[batch * 32 + lane.id] = headers.process(lane, in.frame) == Verdict::send ? in.hex() : "dropped";
    }
  });
  EXPECT_EQ(got, want);
  for (std::uint32_t i = 0; i < kBearers; ++i) EXPECT_EQ(lines[i].numbered, one[i].numbered);
}

}  // namespace
}  // namespace splitplane::gpu
