#include "gnb/journal/sessions.h"

#include <gmock/gmock.h>

#include "ran/test_sessions.h"

namespace splitplane::app {
namespace {

const JournalOwner kSessionOwner{.file_prefix = "test", .instance = 1};

class JournalSessionsTest : public testing::Test {
 protected:
  // The session's records, and what a reader makes of them. `left_out`: the number of one that is missing, from 1 on.
  [[nodiscard]] JournalBearers written_and_read(std::uint8_t left_out = 0) {
    JournalRecords records;
    for (const ran::SessionBearer& one : session.bearers) {
      const JournalBearer bearer{.config = one.config, .session = in_journal(session, one.config.id)};
      if (bearer.session->number != left_out) records.bearer(bearer);
    }
    JournalOctets file = journal_header(kSessionOwner);
    const auto frame = journal_frame(0, records.octets);
    file.insert(file.end(), frame.begin(), frame.end());
    const auto content = read_journal(file, kSessionOwner);
    EXPECT_TRUE(content) << content.error().message;
    return content ? content->bearers : JournalBearers{};
  }
  ran::SessionConfig session = ran::test::make_session_config(ran::make_teid(1, ShardId{3}, 9));
};

TEST_F(JournalSessionsTest, a_session_is_read_as_it_was_written) {
  session.bearers[2].reflective = true;
  const auto found = sessions_in(written_and_read());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].is_whole);
  EXPECT_EQ(found[0].config, session);
  EXPECT_EQ(found[0].bearers.size(), 3U);
}

TEST_F(JournalSessionsTest, a_session_without_one_of_its_records_is_not_whole) {
  for (std::uint8_t number = 1; number <= 3; ++number) {
    const auto found = sessions_in(written_and_read(number));
    ASSERT_EQ(found.size(), 1U);
    EXPECT_FALSE(found[0].is_whole) << unsigned{number};
    EXPECT_EQ(found[0].bearers.size(), 2U);
  }
}

TEST_F(JournalSessionsTest, a_bearer_by_itself_is_no_session) {
  EXPECT_TRUE(sessions_in({{9, JournalBearer{.config = session.bearers[0].config}}}).empty());
}

TEST_F(JournalSessionsTest, secured_bearers_and_plain_ones_stand_side_by_side) {
  session.bearers[1].config.security = ran::SecurityConfig{
      .cipher = ran::Cipher::kNea3, .integrity = ran::Integrity::kNone, .key = 77, .drb = 2, .t_reordering_ms = 20};
  const auto found = sessions_in(written_and_read());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].is_whole);
  EXPECT_EQ(found[0].config, session);
}

}  // namespace
}  // namespace splitplane::app
