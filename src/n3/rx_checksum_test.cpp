#include "n3/rx_checksum.h"

#include <gtest/gtest.h>

#include "engine/test_environment.h"
#include "n3/test_frames.h"

namespace splitplane::datapath {
namespace {

using test::Bytes;
using test::N3Frame;

// The frame of an IPv4 or IPv6 G-PDU with a right UDP checksum.
Bytes summed(const N3Frame& form) {
  Bytes frame = form.make();
  const std::size_t ip = 14 + 4 * form.tags.size();
  const std::size_t udp = ip + (form.ipv6 ? 40 : 20) + form.ip_options.size();
  const std::size_t bytes = wire::load_be16(frame.data() + udp + 4);
  const wire::Octets all(frame);
  const std::size_t addresses = form.ipv6 ? 16 : 4, from = ip + (form.ipv6 ? 8 : 12);
  wire::store_be16(frame.data() + udp + 6,
                   wire::udp::checksum(all.subspan(from, addresses), all.subspan(from + addresses, addresses),
                                       all.subspan(udp, bytes)));
  return frame;
}

DropReason judge(const Bytes& frame, ChecksumMode mode = ChecksumMode::software) {
  test::Pool pool;
  rte_mbuf* m = pool.make(frame);
  const DropReason reason = verify_checksums(m, mode);
  rte_pktmbuf_free(m);
  return reason;
}

TEST(RxChecksum, every_changed_octet_of_ip_header_and_datagram_is_found) {
  for (const N3Frame& form : {N3Frame{}, N3Frame{.tags = {9}}, N3Frame{.ip_options = {1, 1, 1, 1}},
                              N3Frame{.ipv6 = true}, N3Frame{.payload = test::inner_packet(41), .padding = 10}}) {
    const Bytes good = summed(form);
    EXPECT_EQ(judge(good), DropReason::ok);
    const std::size_t ip = 14 + 4 * form.tags.size();
    const std::size_t udp = ip + (form.ipv6 ? 40 : 20) + form.ip_options.size();
    const auto expect_found = [&](std::size_t from, std::size_t to, std::string_view reason) {
      for (std::size_t at = from; at < to; ++at) {
        Bytes bad = good;
        bad[at] ^= 0x10;
        EXPECT_EQ(name_of(judge(bad)), reason) << at;
        EXPECT_EQ(judge(bad, ChecksumMode::off), DropReason::ok);
      }
    };
    // But for lengths, fragment and protocol: a change there makes it another packet, which the parser judges.
    expect_found(udp, udp + 4, "udp_bad_checksum");
    expect_found(udp + 6, good.size() - form.padding, "udp_bad_checksum");
    if (form.ipv6) {
      expect_found(ip + 8, ip + 40, "udp_bad_checksum");  // the addresses
      continue;
    }
    expect_found(ip + 1, ip + 2, "ipv4_bad_checksum");
    expect_found(ip + 4, ip + 6, "ipv4_bad_checksum");
    expect_found(ip + 8, ip + 9, "ipv4_bad_checksum");
    expect_found(ip + 10, udp, "ipv4_bad_checksum");
  }
}

TEST(RxChecksum, an_absent_udp_checksum_is_good_over_ipv4_only) {
  EXPECT_EQ(judge(N3Frame{}.make()), DropReason::ok);
  EXPECT_EQ(name_of(judge(N3Frame{.ipv6 = true}.make())), "udp_bad_checksum");
}

TEST(RxChecksum, what_is_no_whole_udp_packet_is_left_to_the_parser) {
  const Bytes whole = summed(N3Frame{});
  for (std::size_t n = 0; n < whole.size(); ++n) {
    EXPECT_EQ(judge(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n))), DropReason::ok) << n;
  }
  EXPECT_EQ(judge(test::arp_frame()), DropReason::ok);
  EXPECT_EQ(judge(N3Frame{.fragment = 0x2000}.make()), DropReason::ok);
}

TEST(RxChecksum, the_cards_flags_are_obeyed_and_only_a_burst_loses_what_is_wrong) {
  test::Pool pool;
  WorkerStats stats;
  Burst burst;
  for (const std::uint64_t flags :
       std::vector<std::uint64_t>{RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD, RTE_MBUF_F_RX_IP_CKSUM_BAD,
                                  RTE_MBUF_F_RX_L4_CKSUM_BAD, 0}) {
    burst.mbuf[burst.size] = pool.make(N3Frame{}.make());
    burst.mbuf[burst.size++]->ol_flags |= flags;
  }
  {
    Drops drops(stats);
    drop_wrong_checksums(burst, ChecksumMode::offload, drops);
  }
  EXPECT_EQ(burst.size, 2U);
  EXPECT_EQ(stats.drops[static_cast<std::size_t>(drop_reason(wire::Reason::ipv4_bad_checksum))].get(), 1U);
  EXPECT_EQ(stats.drops[static_cast<std::size_t>(drop_reason(wire::Reason::udp_bad_checksum))].get(), 1U);
  rte_pktmbuf_free_bulk(burst.mbuf.data(), burst.size);
}

}  // namespace
}  // namespace splitplane::datapath
