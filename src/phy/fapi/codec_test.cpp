#include "phy/fapi/codec.h"

#include <gtest/gtest.h>

#include "phy/fapi/test_messages.h"

namespace splitplane::fapi {
namespace {

using test::Bytes;
using test::Filler;

// Messages are too large for the stack of a test.
template <class Message>
class FapiCodec : public testing::Test {
 protected:
  std::unique_ptr<Message> message_ = std::make_unique<Message>(), again_ = std::make_unique<Message>();
};

using Messages =
    testing::Types<ParamRequest, ParamResponse, ConfigRequest, ConfigResponse, StartRequest, StopRequest,
                   StopIndication, ErrorIndication, SlotIndication, DlTtiRequest, UlTtiRequest, UlDciRequest,
                   RxDataIndication, CrcIndication, UciIndication, DlNodeSync, UlNodeSync, TimingInfo>;
TYPED_TEST_SUITE(FapiCodec, Messages);

// A copy on the heap in exactly its size: a sanitizer sees a reader or a writer that goes one octet too far.
template <class Message>
Bytes written(const Message& message) {
  static Bytes room(1 << 20);
  const Written w = write_body(room, message);
  EXPECT_EQ(w.reason, Reason::ok) << text_of(w.reason);
  return {room.begin(), room.begin() + static_cast<std::ptrdiff_t>(w.bytes)};
}

TYPED_TEST(FapiCodec, a_message_is_read_back_as_it_was_written) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Filler filler(seed, seed % 50 == 0 ? 255 : 4);
    test::fill(filler, *this->message_);
    const Bytes octets = written(*this->message_);
    const Reason reason = read_body(octets, *this->again_);
    ASSERT_EQ(reason, Reason::ok) << text_of(reason) << ", seed " << seed;
    ASSERT_EQ(*this->again_, *this->message_) << "seed " << seed;
    ASSERT_EQ(written(*this->again_), octets) << "seed " << seed;
  }
}

TYPED_TEST(FapiCodec, a_cut_message_has_a_reason_at_each_octet) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Filler filler(seed);
    test::fill(filler, *this->message_);
    const Bytes octets = written(*this->message_);
    for (std::size_t bytes = 0; bytes < octets.size(); ++bytes) {
      const Bytes cut(octets.begin(), octets.begin() + static_cast<std::ptrdiff_t>(bytes));
      const Reason reason = read_body(cut, *this->again_);
      if constexpr (requires { this->message_->skipped_tlvs; }) {  // the padding of the last TLV may be missing
        if (reason == Reason::ok && octets.size() - bytes < 4) continue;
      }
      ASSERT_NE(reason, Reason::ok) << bytes << " of " << octets.size() << " octets, seed " << seed;
    }
  }
}

TYPED_TEST(FapiCodec, a_longer_message_is_refused) {
  Filler filler(1);
  test::fill(filler, *this->message_);
  Bytes octets = written(*this->message_);
  octets.insert(octets.end(), 5, 0);
  EXPECT_EQ(read_body(octets, *this->again_), Reason::trailing_octets);
}

TYPED_TEST(FapiCodec, a_span_that_is_too_short_is_not_overrun) {
  Filler filler(2);
  test::fill(filler, *this->message_);
  const Bytes octets = written(*this->message_);
  for (std::size_t bytes = 0; bytes < octets.size(); ++bytes) {
    Bytes room(bytes);
    const Written w = write_body(room, *this->message_);
    ASSERT_EQ(w.reason, Reason::no_room);
    ASSERT_EQ(w.bytes, 0U);
  }
}

// The specification by hand, for one short message: SFN 0x0102, slot 3, in network order.
TEST(FapiMessages, slot_indication_is_four_octets_in_network_order) {
  EXPECT_EQ(written(SlotIndication{.sfn = 0x0102, .slot = 3}), (Bytes{0x01, 0x02, 0x00, 0x03}));
}

// Table 3-54 by hand, with one DCI 0_0.
TEST(FapiMessages, ul_dci_request_has_pdcch_pdus_behind_a_count_of_eight_bits) {
  const auto message = std::make_unique<UlDciRequest>();
  message->sfn = 2;
  message->slot = 3;
  auto& pdcch = message->pdus.append()->body.emplace<PdcchPdu>();
  pdcch.bwp = {.bwp_size = 273, .bwp_start = 0, .subcarrier_spacing = 1};
  pdcch.freq_domain_resource = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xF8};
  pdcch.dl_dcis.add({.rnti = 0x4601,
                     .scrambling_id = 1,
                     .scrambling_rnti = 0x4601,
                     .cce_index = 44,
                     .aggregation_level = 1,
                     .power_control_offset_ss = 1,
                     .payload_size_bits = 44,
                     .payload = {0x0A, 0x26, 0x9A, 0x8F, 0xD0, 0x00}});
  const Bytes octets{0x00, 0x02, 0x00, 0x03, 0x01,                                // SFN, slot, one PDU
                     0x00, 0x00, 0x00, 0x32, 0x01, 0x11, 0x00, 0x00, 0x01, 0x00,  // PDCCH of 50 octets; BWP
                     0x00, 0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xF8,              // symbols, groups of RBs
                     0x00, 0x06, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x01,        // mapping, one DCI
                     0x46, 0x01, 0x00, 0x01, 0x46, 0x01, 0x2C, 0x01,              // RNTI, scrambling, CCE, level
                     0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x2C,        // no PRG, power, 44 bits
                     0x0A, 0x26, 0x9A, 0x8F, 0xD0, 0x00};
  EXPECT_EQ(written(*message), octets);
}

TEST(FapiMessages, an_sfn_or_slot_out_of_range_is_refused_both_ways) {
  Bytes room(4);
  EXPECT_EQ(write_body(room, SlotIndication{.sfn = 1024, .slot = 0}).reason, Reason::bad_sfn);
  EXPECT_EQ(write_body(room, SlotIndication{.sfn = 0, .slot = 160}).reason, Reason::bad_slot);
  SlotIndication read;
  EXPECT_EQ(read_body(Bytes{4, 0, 0, 0}, read), Reason::bad_sfn);
  EXPECT_EQ(read_body(Bytes{0, 0, 0, 160}, read), Reason::bad_slot);
  EXPECT_EQ(read_body(Bytes{3, 0xFF, 0, 159}, read), Reason::ok);
}

TEST(FapiMessages, fields_that_a_later_version_appends_to_a_pdu_are_skipped) {
  auto message = std::make_unique<DlTtiRequest>(), again = std::make_unique<DlTtiRequest>();
  message->pdus.append()->body.emplace<PdschPdu>().rnti = 0x1234;
  Bytes octets = written(*message);
  // Seven octets behind the only PDU, whose size is at 8.
  octets.insert(octets.end(), 7, 0xAA);
  wire::store_be16(octets.data() + 8, static_cast<std::uint32_t>(octets.size() - 6));
  ASSERT_EQ(read_body(octets, *again), Reason::ok);
  EXPECT_EQ(*again, *message);
}

TEST(FapiMessages, a_pdu_size_that_is_wrong_has_a_reason) {
  auto message = std::make_unique<DlTtiRequest>(), again = std::make_unique<DlTtiRequest>();
  message->pdus.append()->body.emplace<PdschPdu>();
  const Bytes octets = written(*message);
  for (const std::size_t size : {std::size_t{0}, std::size_t{3}, std::size_t{4}, std::size_t{50}, octets.size() - 7,
                                 octets.size() - 5, std::size_t{0xFFFF}}) {
    Bytes wrong = octets;
    wire::store_be16(wrong.data() + 8, static_cast<std::uint32_t>(size));
    EXPECT_EQ(read_body(wrong, *again), Reason::bad_pdu_size) << size;
  }
}

TEST(FapiMessages, a_pdu_of_another_type_is_kept_as_octets) {
  auto message = std::make_unique<DlTtiRequest>(), again = std::make_unique<DlTtiRequest>();
  message->pdus.append()->body = UnknownPdu{.type = 3, .octets = {}};
  message->pdus.append()->body.emplace<PdschPdu>().rnti = 7;
  message->groups.append()->pdu_idx.add(1);
  ASSERT_EQ(read_body(written(*message), *again), Reason::ok);
  EXPECT_EQ(std::get<UnknownPdu>(again->pdus[0].body).type, 3);
  EXPECT_EQ(std::get<PdschPdu>(again->pdus[again->groups[0].pdu_idx[0]].body).rnti, 7);
}

TEST(FapiMessages, a_group_names_only_pdus_of_its_message) {
  auto message = std::make_unique<DlTtiRequest>();
  message->pdus.append()->body.emplace<PdschPdu>();
  message->groups.append()->pdu_idx.add(1);
  Bytes room(1000);
  EXPECT_EQ(write_body(room, *message).reason, Reason::bad_group);
  message->groups[0].pdu_idx[0] = 0;
  Bytes octets = written(*message);
  octets.back() = 1;
  EXPECT_EQ(read_body(octets, *message), Reason::bad_group);
}

TEST(FapiMessages, the_counts_of_ul_tti_are_those_of_its_pdus) {
  auto message = std::make_unique<UlTtiRequest>(), again = std::make_unique<UlTtiRequest>();
  message->pdus.append()->body.emplace<PuschPdu>();
  message->pdus.append()->body.emplace<PucchPdu>();
  const Bytes octets = written(*message);
  EXPECT_EQ(octets[6], 1);
  EXPECT_EQ(octets[7], 1);
  for (const std::size_t at : {std::size_t{6}, std::size_t{7}}) {
    Bytes wrong = octets;
    wrong[at] = 2;
    EXPECT_EQ(read_body(wrong, *again), Reason::bad_pdu_count);
  }
}

TEST(FapiMessages, more_elements_than_are_held_have_a_reason) {
  auto message = std::make_unique<CrcIndication>();
  Bytes octets(6 + 256 * 15);
  octets[4] = 1;  // 256 CRCs
  EXPECT_EQ(read_body(octets, *message), Reason::too_many);
  EXPECT_EQ(read_body(Bytes{0, 0, 0, 0, 0xFF, 0xFF}, *message), Reason::truncated);
}

TEST(FapiMessages, a_payload_of_another_length_than_its_field_is_not_written) {
  auto message = std::make_unique<CrcIndication>();
  CrcIndication::Crc* const crc = message->crcs.append();
  crc->num_cb = 9;
  const Bytes one(1);
  crc->cb_crc_status = {one};
  Bytes room(100);
  EXPECT_EQ(write_body(room, *message).reason, Reason::bad_length);
}

TEST(FapiMessages, a_dci_of_more_bits_than_exist_is_refused) {
  auto message = std::make_unique<DlTtiRequest>();
  auto& pdcch = message->pdus.append()->body.emplace<PdcchPdu>();
  pdcch.dl_dcis.append()->payload_size_bits = 145;
  Bytes room(1000);
  EXPECT_EQ(write_body(room, *message).reason, Reason::bad_length);
}

TEST(FapiTlvs, unknown_ones_are_skipped_and_counted) {
  // dl_bandwidth 100, then 0x7777 of five octets, then phy_cell_id 1.
  const Bytes octets{3, 0x10, 0x01, 0, 2, 0, 100,  0,    0, 0x77, 0x77, 0, 5, 1, 2,
                     3, 4,    5,    0, 0, 0, 0x10, 0x0C, 0, 2,    0,    1, 0, 0};
  ConfigRequest request;
  ASSERT_EQ(read_body(octets, request), Reason::ok);
  EXPECT_EQ(request.dl_bandwidth, 100);
  EXPECT_EQ(request.phy_cell_id, 1);
  EXPECT_EQ(request.skipped_tlvs, 1);
  EXPECT_FALSE(request.dl_frequency);
}

TEST(FapiTlvs, wrong_ones_have_reasons) {
  ConfigRequest request;
  EXPECT_EQ(read_body(Bytes{1, 0x10, 0x01, 0, 3, 0, 0, 9, 0}, request), Reason::bad_tlv_length);
  EXPECT_EQ(read_body(Bytes{1, 0x10, 0x04, 0, 2, 0, 9, 0, 0}, request), Reason::bad_tlv_length);
  EXPECT_EQ(read_body(Bytes{1, 0x10, 0x01, 0, 0}, request), Reason::bad_tlv_length);
  EXPECT_EQ(read_body(Bytes{2, 0x10, 0x0D, 0, 1, 1, 0, 0, 0, 0x10, 0x0D, 0, 1, 1, 0, 0, 0}, request),
            Reason::tlv_twice);
  EXPECT_EQ(read_body(Bytes{2, 0x10, 0x0D, 0, 1, 1, 0, 0, 0}, request), Reason::tlv_missing);
  EXPECT_EQ(read_body(Bytes{1, 0x10, 0x0D, 0, 9, 1, 0, 0, 0}, request), Reason::truncated);
  EXPECT_EQ(read_body(Bytes{0, 0}, request), Reason::trailing_octets);
  EXPECT_EQ(read_body(Bytes{}, request), Reason::truncated);
}

TEST(FapiTlvs, an_integer_may_be_wider_or_narrower_if_its_value_fits) {
  ConfigRequest request;
  EXPECT_EQ(read_body(Bytes{1, 0x10, 0x01, 0, 1, 9, 0, 0, 0}, request), Reason::ok);
  EXPECT_EQ(request.dl_bandwidth, 9);
  EXPECT_EQ(read_body(Bytes{1, 0x10, 0x10, 0, 4, 0, 0, 0, 255}, request), Reason::ok);
  EXPECT_EQ(request.scs_common, 255);
  EXPECT_EQ(read_body(Bytes{1, 0x10, 0x10, 0, 2, 1, 0, 0, 0}, request), Reason::bad_tlv_length);
  EXPECT_EQ(read_body(Bytes{1, 0x10, 0x0E, 0, 1, 0xFE, 0, 0, 0}, request), Reason::ok);
  EXPECT_EQ(request.ss_pbch_power, -2);
}

TEST(FapiTlvs, a_list_has_a_value_for_each_numerology) {
  ConfigRequest request;
  request.dl_grid_size = PerNumerology{0, 273, 0, 0, 0};
  EXPECT_EQ(written(request), (Bytes{1, 0x10, 0x04, 0, 10, 0, 0, 0x01, 0x11, 0, 0, 0, 0, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace splitplane::fapi
