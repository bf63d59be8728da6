#include "card/frame_check.h"

#include "engine/test_environment.h"
#include "n3/test_frames.h"

namespace splitplane::nic {
namespace {

using datapath::test::Bytes;
using datapath::test::N3Frame;

PuntReason check(const Bytes& frame, CardSide side = CardSide::kN3, bool inner = false) {
  static datapath::test::Pool* const pool = new datapath::test::Pool;  // destroyed with DPDK
  rte_mbuf* const m = pool->make(frame);
  const PuntReason reason = check_frame(m, side, inner);
  rte_pktmbuf_free(m);
  return reason;
}

// airhdr, as far as there is room, and a PDU as long as the frame has it, or an SDU.
Bytes air_frame(std::size_t bytes, std::uint8_t first_octet = 0x20) {
  Bytes frame(bytes);
  if (bytes > 14) frame[12] = 0x88, frame[13] = 0xb5, frame[14] = first_octet;
  if (bytes >= 24) wire::store_be16(frame.data() + 22, static_cast<std::uint32_t>(bytes - 24));
  return frame;
}

TEST(FrameCheck, the_fast_paths_variants_pass) {
  for (const bool inner : {false, true}) {
    for (const std::size_t payload : {40U, 41U, 600U, 1400U}) {
      for (const bool tag : {false, true}) {
        for (const bool sequenced : {false, true}) {
          N3Frame frame;
          frame.payload = datapath::test::inner_packet(payload);
          if (tag) frame.tags = {0x0123};
          frame.sequence_number = sequenced;
          EXPECT_EQ(check(frame.make(), CardSide::kN3, inner), PuntReason::none) << payload << tag << sequenced;
          frame.extensions = {};
          EXPECT_EQ(check(frame.make(), CardSide::kN3, inner), PuntReason::none) << payload << tag << sequenced;
        }
      }
    }
  }
}

TEST(FrameCheck, a_frame_cut_anywhere_does_not_pass) {
  for (const bool tag : {false, true}) {
    N3Frame frame;
    if (tag) frame.tags = {5};
    const Bytes whole = frame.make();
    ASSERT_EQ(check(whole), PuntReason::none);
    for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
      EXPECT_NE(check({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes)}), PuntReason::none) << bytes;
    }
  }
}

TEST(FrameCheck, contradicting_lengths_do_not_pass) {
  for (const std::size_t at : {16U, 17U, 38U, 39U, 44U, 45U}) {
    for (const int by : {1, -1}) {
      Bytes frame = N3Frame{}.make();
      frame[at] = static_cast<std::uint8_t>(frame[at] + by);
      EXPECT_EQ(check(frame), PuntReason::length_mismatch) << at;
    }
  }
  N3Frame padded;
  padded.padding = 3;
  EXPECT_EQ(check(padded.make()), PuntReason::length_mismatch);
  N3Frame slack;
  slack.udp_slack = 2;
  EXPECT_EQ(check(slack.make()), PuntReason::length_mismatch);
  slack = {};
  slack.ip_slack = 2;
  EXPECT_EQ(check(slack.make()), PuntReason::length_mismatch);
}

TEST(FrameCheck, without_room_for_what_the_flags_announce_nothing_passes) {
  N3Frame frame;
  frame.payload = {};
  EXPECT_EQ(check(frame.make()), PuntReason::short_frame) << "no T-PDU";
  frame.extensions = {};
  frame.payload = {1, 2, 3, 4, 5, 6, 7};
  Bytes octets = frame.make();
  EXPECT_EQ(check(octets), PuntReason::none);
  octets[42] |= 4;  // an extension header: 8 octets that are not there
  EXPECT_EQ(check(octets), PuntReason::short_frame);
}

TEST(FrameCheck, a_ue_address_must_lie_inside_the_t_pdu) {
  N3Frame frame;
  for (const std::uint8_t version : {std::uint8_t{0x45}, std::uint8_t{0x60}}) {
    const std::size_t wanted = version == 0x60 ? 40 : 20;
    for (std::size_t payload = 1; payload < 45; ++payload) {
      frame.payload = Bytes(payload, 0);
      frame.payload[0] = version;
      EXPECT_EQ(check(frame.make(), CardSide::kN3, true),
                payload < wanted ? PuntReason::short_frame : PuntReason::none);
      EXPECT_EQ(check(frame.make(), CardSide::kN3, false), PuntReason::none);
    }
  }
}

// The program decides everything that is not about lengths.
TEST(FrameCheck, everything_else_passes) {
  EXPECT_EQ(check(datapath::test::arp_frame()), PuntReason::none);
  EXPECT_EQ(check(datapath::test::neighbor_frame(135)), PuntReason::none);
  N3Frame frame;
  frame.port = 53;
  EXPECT_EQ(check(frame.make()), PuntReason::none);
  frame = {};
  frame.ip_options = Bytes(4, 1);
  EXPECT_EQ(check(frame.make()), PuntReason::none);
  frame = {};
  frame.message = 1;
  frame.extensions = {};
  EXPECT_EQ(check(frame.make()), PuntReason::none);
  frame = {};
  frame.fragment = 0x2000;
  EXPECT_EQ(check(frame.make()), PuntReason::none);
  EXPECT_EQ(check(air_frame(14), CardSide::kAir), PuntReason::none);
}

TEST(FrameCheck, air_frames_hold_the_longest_headers_unless_they_are_rlc_control) {
  EXPECT_EQ(check(air_frame(32), CardSide::kAir), PuntReason::none);
  Bytes data = air_frame(31);
  data[24] = 0x80;  // D/C 1
  EXPECT_EQ(check(data, CardSide::kAir), PuntReason::short_frame);
  Bytes control = air_frame(25);
  control[24] = 0;
  EXPECT_EQ(check(control, CardSide::kAir), PuntReason::none);
  EXPECT_EQ(check(air_frame(24), CardSide::kAir), PuntReason::short_frame);
  EXPECT_EQ(check(air_frame(23), CardSide::kAir), PuntReason::short_frame);
  EXPECT_EQ(check(Bytes(13), CardSide::kAir), PuntReason::short_frame);
}

// The link's padding is for the host to cut off. It does not matter to a control PDU, which goes on as it is.
TEST(FrameCheck, the_length_of_a_pdu_is_that_of_its_frame) {
  for (const std::uint8_t first : {std::uint8_t{0x80}, std::uint8_t{0}}) {
    for (const std::size_t pdu : {12U, 11U, 10U, 0U}) {
      Bytes frame = air_frame(24 + 11);
      frame[24] = first;
      wire::store_be16(frame.data() + 22, static_cast<std::uint32_t>(pdu));
      const bool passes = pdu == 11 || (first == 0 && pdu == 10);
      EXPECT_EQ(check(frame, CardSide::kAir), passes ? PuntReason::none : PuntReason::length_mismatch) << pdu;
    }
  }
}

TEST(FrameCheck, frames_of_a_vf_need_no_more_than_is_read) {
  EXPECT_EQ(check(Bytes(14), CardSide::kVf), PuntReason::none);
  EXPECT_EQ(check(Bytes(13), CardSide::kVf), PuntReason::short_frame);
  EXPECT_EQ(check(air_frame(24), CardSide::kVf), PuntReason::none);
  EXPECT_EQ(check(air_frame(23), CardSide::kVf), PuntReason::short_frame);
  EXPECT_EQ(check(air_frame(24, 0x21), CardSide::kVf), PuntReason::short_frame);
  EXPECT_EQ(check(air_frame(25, 0x21), CardSide::kVf), PuntReason::none);
  EXPECT_EQ(check(air_frame(43, 0x21), CardSide::kVf, true), PuntReason::short_frame);
  EXPECT_EQ(check(air_frame(44, 0x21), CardSide::kVf, true), PuntReason::none);
  Bytes padded = air_frame(60, 0x21);
  for (const auto& [sdu, reason] : {std::pair{0U, PuntReason::short_frame},
                                    {1U, PuntReason::none},
                                    {36U, PuntReason::none},
                                    {37U, PuntReason::short_frame}}) {
    wire::store_be16(padded.data() + 22, sdu);
    EXPECT_EQ(check(padded, CardSide::kVf), reason) << sdu;
  }
}

TEST(FrameCheck, segments_are_for_the_host) {
  datapath::test::Pool pool;
  rte_mbuf* const m = pool.make_segmented(N3Frame{}.make(), 60);
  EXPECT_EQ(check_frame(m, CardSide::kN3, false), PuntReason::segmented);
  EXPECT_EQ(check_frame(m, CardSide::kAir, false), PuntReason::segmented);
  EXPECT_EQ(check_frame(m, CardSide::kVf, false), PuntReason::none);
  rte_pktmbuf_free(m);
}

}  // namespace
}  // namespace splitplane::nic
