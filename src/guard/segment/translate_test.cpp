// Tests of translate.h against octets written by hand, and against checksums computed over whole segments.
#include "guard/segment/translate.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "wire/tcp_options.h"

namespace splitplane::guard {
namespace {

namespace tcp = wire::tcp;
using Bytes = std::vector<std::uint8_t>;

constexpr std::array<std::uint8_t, 4> kClientAddress{192, 0, 2, 1}, kServerAddress{198, 51, 100, 7};

// The checksum is put in, for a segment from 192.0.2.1 to 198.51.100.7. It does not depend on which way it goes.
Bytes with_checksum(Bytes segment) {
  wire::store_be16(segment.data() + tcp::kChecksumAt, tcp::checksum(kClientAddress, kServerAddress, segment));
  return segment;
}
bool has_good_checksum(const Bytes& segment) {
  return tcp::checksum_is_good(kClientAddress, kServerAddress, segment);
}

// A segment with these options, padded by end octets, and a payload.
Bytes segment_of(std::uint32_t sequence, std::uint32_t acknowledgment, std::uint8_t flags, std::uint16_t window,
                 Bytes options, const Bytes& payload = {}) {
  while (options.size() % 4 != 0) options.push_back(tcp::kOptionEnd);
  Bytes segment(tcp::kMinHeaderBytes);
  wire::store_be16(segment.data(), 40000);
  wire::store_be16(segment.data() + 2, 443);
  wire::store_be32(segment.data() + tcp::kSequenceAt, sequence);
  wire::store_be32(segment.data() + tcp::kAcknowledgmentAt, acknowledgment);
  segment[tcp::kDataOffsetAt] = static_cast<std::uint8_t>((tcp::kMinHeaderBytes + options.size()) / 4 << 4);
  segment[tcp::kFlagsAt] = flags;
  wire::store_be16(segment.data() + tcp::kWindowAt, window);
  wire::store_be16(segment.data() + 18, 0x1234);  // urgent pointer: relative, so it stays
  segment.insert(segment.end(), options.begin(), options.end());
  segment.insert(segment.end(), payload.begin(), payload.end());
  return with_checksum(segment);
}

void append_be32(Bytes& to, std::initializer_list<std::uint32_t> values) {
  for (const std::uint32_t value : values) {
    for (int shift = 24; shift >= 0; shift -= 8) to.push_back(static_cast<std::uint8_t>(value >> shift));
  }
}

Bytes timestamps(std::uint32_t value, std::uint32_t echo, unsigned nops = 2) {
  Bytes option(nops, tcp::kOptionNop);
  option.insert(option.end(), {tcp::kOptionTimestamps, 10});
  append_be32(option, {value, echo});
  return option;
}
Bytes sack(std::initializer_list<std::uint32_t> edges, unsigned nops = 2) {
  Bytes option(nops, tcp::kOptionNop);
  option.insert(option.end(), {tcp::kOptionSack, static_cast<std::uint8_t>(2 + 4 * edges.size())});
  append_be32(option, edges);
  return option;
}
Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

bool to_server(Bytes& segment, const Flow& flow) {
  return translate_to_server(segment.data(), *tcp::parse(segment), flow);
}
bool to_client(Bytes& segment, const Flow& flow) {
  return translate_to_client(segment.data(), *tcp::parse(segment), flow);
}

bool go(bool up, Bytes& segment, const Flow& flow) {
  return up ? to_server(segment, flow) : to_client(segment, flow);
}

Flow flow_with_everything() {
  Flow flow;
  flow.flags = Flow::kHasTimestamps | Flow::kSackPermitted | Flow::kHasScale;
  flow.sequence_delta = 0x10000000;
  flow.ts_delta = 500;
  flow.server_scale = flow.told_scale = flow.client_scale = 7;
  return flow;
}

TEST(Translate, a_client_s_acknowledgment_becomes_the_server_s_number) {
  Bytes segment = segment_of(100, 0x30000000, tcp::kAck, 502, {});
  ASSERT_TRUE(to_server(segment, flow_with_everything()));
  EXPECT_EQ(segment, segment_of(100, 0x20000000, tcp::kAck, 502, {}));
}

TEST(Translate, sack_blocks_and_tsecr_of_a_client_are_the_server_s) {
  Bytes segment = segment_of(100, 0x30000000, tcp::kAck, 502, timestamps(77, 900) + sack({0x30000100, 0x30000200}));
  ASSERT_TRUE(to_server(segment, flow_with_everything()));
  EXPECT_EQ(segment, segment_of(100, 0x20000000, tcp::kAck, 502, timestamps(77, 400) + sack({0x20000100, 0x20000200})));
}

TEST(Translate, a_d_sack_below_the_acknowledgment_is_moved_with_the_other_blocks) {
  Bytes segment = segment_of(1, 0x30000000, tcp::kAck, 1,
                             sack({0x2FFFFF00, 0x2FFFFF80, 0x30000100, 0x30000200, 0x30000300, 0x30000400}));
  ASSERT_TRUE(to_server(segment, flow_with_everything()));
  EXPECT_EQ(segment, segment_of(1, 0x20000000, tcp::kAck, 1,
                                sack({0x1FFFFF00, 0x1FFFFF80, 0x20000100, 0x20000200, 0x20000300, 0x20000400})));
}

TEST(Translate, a_server_s_sequence_number_and_tsval_become_ours) {
  Bytes segment = segment_of(0x20000000, 100, tcp::kAck | tcp::kPsh, 502, timestamps(400, 77), {1, 2, 3});
  ASSERT_TRUE(to_client(segment, flow_with_everything()));
  EXPECT_EQ(segment, segment_of(0x30000000, 100, tcp::kAck | tcp::kPsh, 502, timestamps(900, 77), {1, 2, 3}));
}

TEST(Translate, sack_blocks_of_a_server_are_about_the_client_s_numbers_and_stay) {
  Bytes segment = segment_of(0x20000000, 100, tcp::kAck, 502, timestamps(400, 77) + sack({200, 300}));
  ASSERT_TRUE(to_client(segment, flow_with_everything()));
  EXPECT_EQ(segment, segment_of(0x30000000, 100, tcp::kAck, 502, timestamps(900, 77) + sack({200, 300})));
}

TEST(Translate, numbers_wrap) {
  Flow flow = flow_with_everything();
  flow.sequence_delta = 0xFFFFFFF0;
  flow.ts_delta = 0xFFFFFFFF;
  Bytes up = segment_of(5, 0xFFFFFFF8, tcp::kAck, 1, timestamps(1, 0xFFFFFFFF) + sack({0xFFFFFFFF, 0x00000010}));
  ASSERT_TRUE(to_server(up, flow));
  EXPECT_EQ(up, segment_of(5, 8, tcp::kAck, 1, timestamps(1, 0) + sack({0xF, 0x20})));
  Bytes down = segment_of(0x20, 5, tcp::kAck, 1, timestamps(0, 1));
  ASSERT_TRUE(to_client(down, flow));
  EXPECT_EQ(down, segment_of(0x10, 5, tcp::kAck, 1, timestamps(0xFFFFFFFF, 1)));
}

TEST(Translate, a_client_s_rst_without_ack_has_nothing_to_translate) {
  Bytes segment = segment_of(100, 0x30000000, tcp::kRst, 0, timestamps(1, 2));
  const Bytes before = segment;
  ASSERT_TRUE(to_server(segment, flow_with_everything()));
  EXPECT_EQ(segment, before);
}

TEST(Translate, a_server_s_rst_without_ack_has_a_sequence_number) {
  Bytes segment = segment_of(0x20000000, 0, tcp::kRst, 0, {});
  ASSERT_TRUE(to_client(segment, flow_with_everything()));
  EXPECT_EQ(segment, segment_of(0x30000000, 0, tcp::kRst, 0, {}));
}

TEST(Translate, timestamps_that_were_not_negotiated_stay_as_they_are) {
  Flow flow = flow_with_everything();
  flow.flags = 0;
  Bytes up = segment_of(1, 0x30000000, tcp::kAck, 1, timestamps(1, 900));
  ASSERT_TRUE(to_server(up, flow));
  EXPECT_EQ(up, segment_of(1, 0x20000000, tcp::kAck, 1, timestamps(1, 900)));
  Bytes down = segment_of(0x20000000, 1, tcp::kAck, 1, timestamps(400, 1));
  ASSERT_TRUE(to_client(down, flow));
  EXPECT_EQ(down, segment_of(0x30000000, 1, tcp::kAck, 1, timestamps(400, 1)));
}

TEST(Translate, options_that_cannot_be_read_change_nothing) {
  for (const Bytes& options : {Bytes{tcp::kOptionTimestamps, 9, 0, 0}, Bytes{tcp::kOptionSack, 9, 0, 0, 0, 0, 0, 0, 0},
                               Bytes{77, 1, 0, 0}, Bytes{1, 1, 1, 77}}) {
    Bytes segment = segment_of(1, 0x30000000, tcp::kAck, 1, options);
    const Bytes before = segment;
    EXPECT_FALSE(to_server(segment, flow_with_everything()));
    EXPECT_EQ(segment, before);
    EXPECT_FALSE(to_client(segment, flow_with_everything()));
    EXPECT_EQ(segment, before);
  }
}

TEST(Translate, a_window_is_scaled_for_the_client) {
  EXPECT_EQ(rescaled_window(1000, 7, 7), 1000);
  EXPECT_EQ(rescaled_window(1000, 10, 7), 8000);
  EXPECT_EQ(rescaled_window(9000, 10, 7), 65535) << "more than the field can say";
  EXPECT_EQ(rescaled_window(1000, 2, 7), 31) << "rounded down: 3968 of 4000 octets";
  EXPECT_EQ(rescaled_window(0, 2, 7), 0) << "closed stays closed";
  EXPECT_EQ(rescaled_window(0, 7, 2), 0);
  EXPECT_EQ(rescaled_window(31, 2, 7), 1) << "124 octets are below one unit, and the window is open";
  EXPECT_EQ(rescaled_window(1, 0, 14), 1);
  EXPECT_EQ(rescaled_window(65535, 14, 0), 65535);
  EXPECT_EQ(rescaled_window(65535, 0, 14), 3);
  Flow flow = flow_with_everything();
  flow.server_scale = 10;
  Bytes segment = segment_of(0x20000000, 1, tcp::kAck, 1000, timestamps(400, 77));
  ASSERT_TRUE(to_client(segment, flow));
  EXPECT_EQ(segment, segment_of(0x30000000, 1, tcp::kAck, 8000, timestamps(900, 77)));
}

TEST(Translate, the_window_of_a_repeated_syn_ack_is_not_scaled) {
  Flow flow = flow_with_everything();
  flow.server_scale = 10;
  Bytes segment = segment_of(0x20000000, 1, tcp::kSyn | tcp::kAck, 1000, {});
  ASSERT_TRUE(to_client(segment, flow));
  EXPECT_EQ(segment, segment_of(0x30000000, 1, tcp::kSyn | tcp::kAck, 1000, {}));
}

TEST(Translate, a_client_s_window_is_unscaled_for_a_server_without_scaling) {
  Flow flow = flow_with_everything();
  flow.flags |= Flow::kServerUnscaled;
  flow.server_scale = 0;
  Bytes small = segment_of(1, 0x30000000, tcp::kAck, 100, {});
  ASSERT_TRUE(to_server(small, flow));
  EXPECT_EQ(small, segment_of(1, 0x20000000, tcp::kAck, 12800, {}));
  Bytes large = segment_of(1, 0x30000000, tcp::kAck, 1000, {});
  ASSERT_TRUE(to_server(large, flow));
  EXPECT_EQ(large, segment_of(1, 0x20000000, tcp::kAck, 65535, {}));
}

// Any segment that find_options() takes: timestamps and SACK at any alignment, in any order, among unknown options.
struct AnySegment {
  Bytes octets;
  Flow flow;
};
AnySegment any_segment() {
  const auto u32 = [] { return *rc::gen::arbitrary<std::uint32_t>(); };
  AnySegment any;
  Flow& flow = any.flow;
  flow.flags = *rc::gen::arbitrary<bool>() ? Flow::kHasTimestamps : 0;
  flow.sequence_delta = u32();
  flow.ts_delta = u32();
  Bytes options;
  bool has_timestamps = *rc::gen::arbitrary<bool>(), has_sack = *rc::gen::arbitrary<bool>();
  const auto fill = [&] {
    const auto nops = *rc::gen::inRange<std::size_t>(0, 4);
    options.insert(options.end(), nops, tcp::kOptionNop);
    if (*rc::gen::inRange(0, 3) == 0) options = options + Bytes{30, 3, 0xAB};
  };
  for (int both = 0; both < 2; ++both) {
    fill();
    if (*rc::gen::arbitrary<bool>() ? std::exchange(has_timestamps, false) : false)
      options = options + timestamps(u32(), u32(), 0);
    if (has_sack && options.size() <= 22) {
      options = options + sack({u32(), u32()}, 0);
      has_sack = false;
    }
  }
  while (options.size() > 40) options.pop_back();
  const auto payload = *rc::gen::container<Bytes>(rc::gen::arbitrary<std::uint8_t>());
  const auto flags = static_cast<std::uint8_t>(tcp::kAck | *rc::gen::arbitrary<std::uint8_t>());
  any.octets = segment_of(u32(), u32(), flags, *rc::gen::arbitrary<std::uint16_t>(), options, payload);
  return any;
}

RC_GTEST_PROP(Translate, the_changed_checksum_is_that_of_the_whole_segment, ()) {
  const AnySegment any = any_segment();
  RC_PRE(static_cast<bool>(tcp::find_options(any.octets, *tcp::parse(any.octets))));
  for (const bool up : {false, true}) {
    Bytes segment = any.octets;
    RC_ASSERT(go(up, segment, any.flow));
    RC_ASSERT(segment == with_checksum(segment));
  }
}

RC_GTEST_PROP(Translate, there_and_back_is_the_same_segment, ()) {
  const AnySegment any = any_segment();
  RC_PRE(static_cast<bool>(tcp::find_options(any.octets, *tcp::parse(any.octets))));
  Flow back = any.flow;
  back.sequence_delta = 0 - any.flow.sequence_delta;
  back.ts_delta = 0 - any.flow.ts_delta;
  for (const bool up : {false, true}) {
    Bytes segment = any.octets;
    RC_ASSERT(go(up, segment, any.flow));
    RC_ASSERT(go(up, segment, back));
    RC_ASSERT(segment == any.octets);
  }
}

// What differs between a segment and its translation is where the numbers are, and nothing else.
RC_GTEST_PROP(Translate, a_damaged_segment_stays_damaged, (std::uint16_t damage)) {
  RC_PRE(damage != 0 && damage != 0xFFFF);
  const AnySegment any = any_segment();
  RC_PRE(static_cast<bool>(tcp::find_options(any.octets, *tcp::parse(any.octets))));
  for (const bool up : {false, true}) {
    Bytes segment = any.octets;
    std::uint8_t* const sum = segment.data() + tcp::kChecksumAt;
    wire::store_be16(sum, wire::load_be16(sum) ^ damage);
    RC_PRE(!has_good_checksum(segment));
    RC_ASSERT(go(up, segment, any.flow));
    RC_ASSERT(!has_good_checksum(segment));
  }
}

}  // namespace
}  // namespace splitplane::guard
