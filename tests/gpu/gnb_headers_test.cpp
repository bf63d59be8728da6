// The GPU function gnb-headers beside the host's packet path: one bearer of every variant, the same SDUs, the same
// octets.
#include "gpu/rings/gnb_headers.h"

#include <gtest/gtest.h>

#include "gpu/rings/test_n3.h"
#include "ran/header_mode.h"
#include "ran/test_variants.h"
#include "wire/test_octets.h"

namespace splitplane {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr gpu::AirHeader kAir{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 1, 0x88, 0xb5}};

gpu::GnbBearer line_of(const ran::BearerConfig& c) {
  return {.id = c.id.value,
          .poll_pdu = c.poll_pdu,
          .rlc_mode = c.rlc_mode,
          .rlc_sn_bits = c.rlc_sn_bits,
          .pdcp_sn_bits = c.pdcp_sn_bits,
          .sdap_header = c.sdap_header_dl,
          .qfi = c.qfi.value};
}

// What the host sends for an SDU: the air's Ethernet header, its own headers, the SDU.
Bytes of_the_host(ran::BearerDownlink& bearer, std::uint8_t sdap, const Bytes& sdu) {
  Bytes room(64, 0);
  room.insert(room.end(), sdu.begin(), sdu.end());
  ran::write_downlink(bearer, sdap, room.data() + 64, static_cast<std::uint32_t>(sdu.size()));
  Bytes frame(std::begin(kAir.octets), std::end(kAir.octets));
  frame.insert(frame.end(), room.end() - static_cast<std::ptrdiff_t>(sdu.size() + ran::downlink_overhead(bearer)),
               room.end());
  return frame;
}

class Variants : public testing::TestWithParam<ran::BearerConfig> {};

TEST_P(Variants, gpu_and_host_write_the_same_octets) {
  const ran::BearerConfig& config = GetParam();
  ran::BearerDownlink on_host = ran::make_downlink(config);
  gpu::GnbBearer on_gpu = line_of(config);
  // Near the end of every number space.
  on_host.pdcp_tx_next = on_gpu.pdcp_first = (1U << config.pdcp_sn_bits) - 50;
  on_host.rlc_tx_next = on_gpu.rlc_first = (1U << config.rlc_sn_bits) - 50;
  std::vector<gpu::GnbBearer> bearers(ran::index_of(config.id.value) + 1);
  gpu::GnbBearer& line = bearers.back();
  line = on_gpu;
  gpu::GnbHeaders headers(bearers.data(), static_cast<std::uint32_t>(bearers.size()), (1U << ran::kIndexBits) - 1, kAir,
                          9000);
  for (std::uint32_t n = 0; n < 200; ++n) {
    const Bytes sdu(1 + n * 7, static_cast<std::uint8_t>(n));
    gpu::test::N3Flow flow{.teid = config.id.value, .qfi = static_cast<std::uint8_t>(n % 64), .rqi = n % 3 == 0};
    if (n % 5 == 0) flow = {.teid = config.id.value, .qfi = {}};
    Bytes slot = gpu::test::n3_frame(flow, sdu);
    gpu::Frame frame{slot.data(), static_cast<std::uint32_t>(slot.size()), slot.data(),
                     static_cast<std::uint32_t>(slot.size())};
    ASSERT_EQ(headers.process(gpu::CpuLane{}, frame), gpu::Verdict::send);
    const auto sdap = flow.qfi ? static_cast<std::uint8_t>((flow.rqi ? 0x40 : 0) | *flow.qfi) : config.qfi.value;
    ASSERT_EQ(wire::test::to_hex({frame.data, frame.length}), wire::test::to_hex(of_the_host(on_host, sdap, sdu))) << n;
  }
  EXPECT_EQ(line.pdcp_tx_next(), on_host.pdcp_tx_next);
}
INSTANTIATE_TEST_SUITE_P(All, Variants, testing::ValuesIn(ran::test::all_variants()));

}  // namespace
}  // namespace splitplane
