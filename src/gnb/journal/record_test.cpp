// The journal's octets: what went in comes out; of a file that ends anywhere the whole frames before are there; every
// other change is noticed.
#include "gnb/journal/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace splitplane::app {
namespace {

using ::testing::HasSubstr;

const JournalOwner kRecordOwner{"splitplane-test", 3};

JournalBearer plain(std::uint32_t id) {
  JournalBearer bearer;
  bearer.config.id = BearerId{id};
  bearer.config.uplink_teid = Teid{0x1000 + id};
  bearer.config.upf = IpAddress::v4({10, 100, 0, 2});
  bearer.numbers = {.end = 65536, .heard = 17, .rx_next = 5, .epoch = 9};
  return bearer;
}

// Every member is another one than by default.
JournalBearer odd(std::uint32_t id) {
  JournalBearer bearer = plain(id);
  bearer.config.upf = *IpAddress::parse("fd00::2");
  bearer.config.qfi = Qfi{63};
  bearer.config.rlc_mode = RlcMode::kAm;
  bearer.config.rlc_sn_bits = 12;
  bearer.config.pdcp_sn_bits = 12;
  bearer.config.sdap_header_dl = bearer.config.sdap_header_ul = false;
  bearer.config.poll_pdu = 7;
  bearer.config.arq = {.t_poll_retransmit_ms = 50,
                       .t_reassembly_ms = 40,
                       .t_status_prohibit_ms = 10,
                       .max_retx = 4,
                       .max_unacked = 128,
                       .max_unacked_octets = 3'000'000'000};
  bearer.config.require_psc = true;
  bearer.config.n3_reorder = ran::N3ReorderConfig{128, 20};
  bearer.config.ue_ipv4 = IpAddress::v4({10, 45, 0, 2});
  bearer.config.ue_ipv6 = *IpAddress::parse("fd00:45::2");
  bearer.config.dl_teid = Teid{0xdeadbeef};
  bearer.config.card = "card0";
  bearer.origin = JournalBearer::Origin::kFile;
  bearer.file = {IpAddress::v4({10, 100, 0, 9}), Teid{0x77}};
  bearer.pin = "card0";
  return bearer;
}

JournalBearer secured(std::uint32_t id) {
  JournalBearer bearer = plain(id);
  bearer.config.security = ran::SecurityConfig{.cipher = ran::Cipher::kNea3,
                                               .integrity = ran::Integrity::kNia1,
                                               .key = 0xfedcba98,
                                               .drb = 32,
                                               .t_reordering_ms = 3000};
  return bearer;
}

JournalBearer marked(std::uint32_t id) {
  JournalBearer bearer = secured(id);
  bearer.config.ecn =
      ran::EcnConfig{.law = ran::ecn::Scalable::kRamp, .target_us = 70'000, .classic_target_us = 900'000};
  return bearer;
}

// A file of these frames, and where each ends.
struct File {
  JournalOctets octets = journal_header(kRecordOwner);
  std::vector<std::size_t> ends{octets.size()};

  void add(const JournalRecords& records) {
    const auto frame = journal_frame(ends.size() - 1, records.octets);
    octets.insert(octets.end(), frame.begin(), frame.end());
    ends.push_back(octets.size());
  }
};

File three_frames() {
  File file;
  JournalRecords first, second, third;
  first.bearer(plain(1));
  first.bearer(odd(2));
  file.add(first);
  second.numbers(BearerId{1}, {.end = 131072, .heard = 65536, .rx_next = 6, .epoch = 9});
  second.released({IpAddress::v4({10, 100, 0, 2}), Teid{4}});
  second.used_key({5, 2});
  file.add(second);
  third.gone(BearerId{2});
  third.numbers(BearerId{1}, {.end = 200000, .heard = 131072, .rx_next = 6, .epoch = 10});
  file.add(third);
  return file;
}

TEST(JournalRecord, a_bearer_comes_back_with_every_member) {
  File file;
  JournalRecords records;
  records.bearer(plain(1));
  records.bearer(odd(2));
  records.bearer(secured(3));
  records.bearer(marked(6));
  records.released({IpAddress::v4({10, 100, 0, 2}), Teid{4}});
  records.released({*IpAddress::parse("fd00::2"), Teid{5}});
  records.revived({IpAddress::v4({10, 100, 0, 2}), Teid{4}});
  records.used_key({0xdeadbeef, 32});
  records.used_key({7, 1});
  file.add(records);
  const auto content = read_journal(file.octets, kRecordOwner);
  ASSERT_TRUE(content) << content.error().message;
  EXPECT_EQ(content->bearers, (JournalBearers{{1, plain(1)}, {2, odd(2)}, {3, secured(3)}, {6, marked(6)}}));
  EXPECT_EQ(content->released, (std::set<FileKey>{{*IpAddress::parse("fd00::2"), Teid{5}}}));
  EXPECT_EQ(content->used_keys, (std::set<UsedKey>{{7, 1}, {0xdeadbeef, 32}}));
  EXPECT_EQ(content->torn, 0U);
}

TEST(JournalRecord, the_last_word_counts) {
  const auto content = read_journal(three_frames().octets, kRecordOwner);
  ASSERT_TRUE(content);
  ASSERT_EQ(content->bearers.size(), 1U);
  EXPECT_EQ(content->bearers.at(1).numbers.end, 200000U);
  EXPECT_EQ(content->bearers.at(1).numbers.epoch, 10);
  EXPECT_EQ(content->frames, 3U);
}

TEST(JournalRecord, a_file_torn_at_any_octet_is_what_its_whole_frames_say) {
  const File file = three_frames();
  for (std::size_t cut = file.ends[0]; cut <= file.octets.size(); ++cut) {
    const auto content = read_journal(std::span(file.octets).first(cut), kRecordOwner);
    ASSERT_TRUE(content) << cut << ": " << content.error().message;
    const auto whole = std::ranges::count_if(file.ends, [&](std::size_t end) { return end <= cut; }) - 1;
    EXPECT_EQ(content->frames, static_cast<std::uint64_t>(whole)) << cut;
    EXPECT_EQ(content->torn, cut - file.ends[whole]) << cut;
    const std::uint32_t end = whole == 0 ? 0 : content->bearers.at(1).numbers.end;
    EXPECT_EQ(end, (std::array{0U, 65536U, 131072U, 200000U}[whole])) << cut;
  }
  for (std::size_t cut = 0; cut < file.ends[0]; ++cut)
    EXPECT_FALSE(read_journal(std::span(file.octets).first(cut), kRecordOwner)) << "a header is never torn: " << cut;
}

TEST(JournalRecord, a_bit_that_flipped_anywhere_is_noticed) {
  const File file = three_frames();
  for (std::size_t octet = 0; octet < file.octets.size(); ++octet) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      JournalOctets wrong = file.octets;
      wrong[octet] ^= static_cast<std::uint8_t>(1U << bit);
      const auto content = read_journal(wrong, kRecordOwner);
      EXPECT_FALSE(content) << "octet " << octet << ", bit " << bit;
    }
  }
}

TEST(JournalRecord, frames_that_are_missing_doubled_or_swapped_are_noticed) {
  const File file = three_frames();
  const auto part = [&](std::size_t i) {
    return JournalOctets(file.octets.begin() + static_cast<std::ptrdiff_t>(file.ends[i]),
                         file.octets.begin() + static_cast<std::ptrdiff_t>(file.ends[i + 1]));
  };
  for (const auto& order : {std::vector{1, 2}, {0, 2}, {0, 0, 1, 2}, {0, 2, 1}}) {
    JournalOctets wrong = journal_header(kRecordOwner);
    for (const int i : order) {
      const auto frame = part(static_cast<std::size_t>(i));
      wrong.insert(wrong.end(), frame.begin(), frame.end());
    }
    const auto content = read_journal(wrong, kRecordOwner);
    ASSERT_FALSE(content);
    EXPECT_THAT(content.error().message, HasSubstr("is damaged at octet"));
  }
}

TEST(JournalRecord, what_stands_behind_the_last_frame_is_no_torn_one) {
  File file = three_frames();
  file.octets.insert(file.octets.end(), 3, 0);
  EXPECT_FALSE(read_journal(file.octets, kRecordOwner));
}

TEST(JournalRecord, another_format_another_instance_and_another_file_are_named) {
  const File file = three_frames();
  JournalOctets newer = file.octets;
  newer[22] = 2;  // the last octet of the version
  EXPECT_THAT(read_journal(newer, kRecordOwner).error().message, HasSubstr("has format 2, and this program reads 1"));
  EXPECT_THAT(read_journal(file.octets, {"splitplane-test", 4}).error().message,
              HasSubstr("is that of file_prefix 'splitplane-test', instance 3"));
  EXPECT_THAT(read_journal(file.octets, {"other", 3}).error().message, HasSubstr("and this is 'other', instance 3"));
  const std::string_view text = "bearers: []\n";
  EXPECT_THAT(read_journal(JournalOctets(text.begin(), text.end()), kRecordOwner).error().message,
              HasSubstr("is no journal of splitplane"));
  EXPECT_FALSE(read_journal({}, kRecordOwner));
}

TEST(JournalRecord, records_that_say_what_cannot_be_are_refused) {
  const auto refused = [](const JournalRecords& records) {
    File file;
    file.add(records);
    return !read_journal(file.octets, kRecordOwner);
  };
  JournalRecords unknown;
  unknown.numbers(BearerId{1}, {});
  EXPECT_TRUE(refused(unknown));
  JournalRecords backwards;
  JournalBearer bearer = plain(1);
  bearer.numbers = {.end = 5, .heard = 6};
  backwards.bearer(bearer);
  EXPECT_TRUE(refused(backwards));
  JournalRecords impossible;
  bearer = plain(1);
  bearer.config.rlc_sn_bits = 13;
  impossible.bearer(bearer);
  EXPECT_TRUE(refused(impossible));
  JournalRecords nothing;
  nothing.bearer(plain(0));
  EXPECT_TRUE(refused(nothing));
  JournalRecords of_nobody;
  of_nobody.bearer(plain(1));
  of_nobody.octets.insert(of_nobody.octets.end(), {18, 0, 0, 0, 2, 0});  // a pin
  EXPECT_TRUE(refused(of_nobody));
}

// What a program says that is older than a kind of record.
TEST(JournalRecord, a_kind_of_record_that_this_program_does_not_know_is_named) {
  File file = three_frames();
  const std::size_t at = file.octets.size();
  JournalRecords newer;
  newer.bearer(plain(1));
  newer.octets.insert(newer.octets.end(), {99, 0, 0, 0, 1});
  file.add(newer);
  const auto content = read_journal(file.octets, kRecordOwner);
  ASSERT_FALSE(content);
  EXPECT_EQ(content.error().message,
            "has a record of kind 99 at octet " + std::to_string(at) +
                ", which a newer program wrote and this one does not know; allowed: the program that wrote it, or the "
                "option --fresh, with which all numbers begin at 0");
}

// A program that does not know the limit reads the journal of bearers that have none.
TEST(JournalRecord, a_limit_of_octets_is_a_record_behind_the_bearers) {
  JournalRecords without, with;
  JournalBearer bearer = plain(1);
  without.bearer(bearer);
  bearer.config.arq.max_unacked_octets = 0x01020304;
  with.bearer(bearer);
  JournalOctets wanted = without.octets;
  wanted.insert(wanted.end(), {17, 0, 0, 0, 1, 1, 2, 3, 4});
  EXPECT_EQ(with.octets, wanted);
  EXPECT_EQ(with.ends.size(), 1U) << "the two come into one frame";
}

TEST(JournalRecord, a_pin_is_a_record_behind_its_bearer_and_may_say_that_there_is_none) {
  JournalRecords without, with;
  JournalBearer pinned = plain(1), taken_back = plain(2);
  without.bearer(pinned);
  pinned.pin = "host";
  taken_back.pin = "";
  with.bearer(pinned);
  JournalOctets wanted = without.octets;
  wanted.insert(wanted.end(), {18, 0, 0, 0, 1, 4, 'h', 'o', 's', 't'});
  EXPECT_EQ(with.octets, wanted);
  with.bearer(taken_back);
  with.bearer(plain(3));
  File file;
  file.add(with);
  const auto content = read_journal(file.octets, kRecordOwner);
  ASSERT_TRUE(content) << content.error().message;
  EXPECT_EQ(content->bearers, (JournalBearers{{1, pinned}, {2, taken_back}, {3, plain(3)}}));
}

}  // namespace
}  // namespace splitplane::app
