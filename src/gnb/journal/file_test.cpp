// The journal's file: whole or not there, of one process at a time, and added to only as long as the disk is known.
#include "gnb/journal/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace splitplane::app {
namespace {

using ::testing::HasSubstr;
const JournalOwner kOwner{"test", 1};

JournalRecords records(std::initializer_list<std::uint32_t> ids) {
  JournalRecords made;
  for (const std::uint32_t id : ids) {
    JournalBearer bearer;
    bearer.config.id = BearerId{id};
    bearer.config.uplink_teid = Teid{0x1000 + id};
    bearer.config.upf = IpAddress::v4({10, 100, 0, 2});
    made.bearer(bearer);
  }
  return made;
}

class JournalFileTest : public ::testing::Test {
 protected:
  JournalFileTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "splitplane-journal-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
    path_ = directory_ / "test.journal";
  }
  ~JournalFileTest() override { std::filesystem::remove_all(directory_); }

  // What another run finds once this one has ended.
  [[nodiscard]] std::vector<std::uint32_t> bearers() const {
    JournalFile file(path_, kOwner);
    const auto content = file.read();
    EXPECT_TRUE(content) << content.error().message;
    std::vector<std::uint32_t> ids;
    if (!content) return ids;
    for (const auto& [id, bearer] : content->bearers) ids.push_back(id);
    return ids;
  }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(directory_), {}));
  }
  std::filesystem::path directory_, path_;
};

std::string error_of(const Expected<void>& done) {
  return done ? "(no error)" : done.error().message;
}

TEST_F(JournalFileTest, what_was_written_and_added_is_read) {
  {
    JournalFile file(path_, kOwner);
    EXPECT_TRUE(file.read()->bearers.empty()) << "no file is no error";
    EXPECT_FALSE(file.is_open());
    ASSERT_TRUE(file.rewrite(records({1, 2})));
    ASSERT_TRUE(file.append(records({3})));
    ASSERT_TRUE(file.append({}));
    EXPECT_EQ(file.octets(), std::filesystem::file_size(path_));
  }
  EXPECT_EQ(bearers(), (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_EQ(files(), 1U);
}

TEST_F(JournalFileTest, a_rewritten_file_has_only_what_was_written_last) {
  {
    JournalFile file(path_, kOwner);
    ASSERT_TRUE(file.read());
    ASSERT_TRUE(file.rewrite(records({1})));
    ASSERT_TRUE(file.rewrite(records({2})));
    ASSERT_TRUE(file.append(records({3})));
  }
  EXPECT_EQ(bearers(), (std::vector<std::uint32_t>{2, 3}));
  EXPECT_EQ(files(), 1U);
}

TEST_F(JournalFileTest, of_two_that_found_no_file_only_one_gets_it) {
  JournalFile first(path_, kOwner), second(path_, kOwner);
  ASSERT_TRUE(first.read());
  ASSERT_TRUE(second.read());
  ASSERT_TRUE(first.rewrite(records({1})));
  EXPECT_THAT(error_of(second.rewrite(records({2}))), HasSubstr("another process has it"));
  EXPECT_FALSE(second.is_open());
  ASSERT_TRUE(first.append(records({3}))) << "it is the file that is there";
  EXPECT_EQ(first.octets(), std::filesystem::file_size(path_));
  EXPECT_EQ(files(), 1U);
}

TEST_F(JournalFileTest, of_two_that_forget_a_missing_file_only_one_gets_it) {
  JournalFile first(path_, kOwner), second(path_, kOwner);
  ASSERT_TRUE(first.forget());
  ASSERT_TRUE(second.forget());
  ASSERT_TRUE(first.rewrite(records({1})));
  EXPECT_FALSE(second.rewrite(records({2})));
}

TEST_F(JournalFileTest, a_file_that_another_has_is_neither_read_nor_forgotten) {
  JournalFile first(path_, kOwner), second(path_, kOwner);
  ASSERT_TRUE(first.read());
  ASSERT_TRUE(first.rewrite(records({1})));
  EXPECT_THAT(second.read().error().message, HasSubstr("another process has it"));
  EXPECT_THAT(error_of(second.forget()), HasSubstr("another process has it"));
}

TEST_F(JournalFileTest, the_reader_has_the_file_from_the_first_look_on) {
  std::ofstream(path_) << "";
  JournalFile first(path_, kOwner), second(path_, kOwner);
  ASSERT_TRUE(first.forget());
  EXPECT_FALSE(second.forget()) << "before the first one has written anything";
  ASSERT_TRUE(first.rewrite(records({1}))) << "over a file that it holds";
}

TEST_F(JournalFileTest, what_is_too_long_for_a_frame_is_cut_between_records) {
  JournalRecords many;
  while (many.octets.size() < 2 * kMaxFrameRecords) many.released({IpAddress::v4({10, 100, 0, 2}), Teid{7}});
  {
    JournalFile file(path_, kOwner);
    ASSERT_TRUE(file.read());
    ASSERT_TRUE(file.rewrite(many));
  }
  JournalFile file(path_, kOwner);
  EXPECT_EQ(file.read()->frames, 3U);
}

TEST_F(JournalFileTest, after_a_disk_that_refuses_only_a_rewritten_file_can_be_added_to) {
  {
    JournalFile file(path_, kOwner);
    EXPECT_THAT(error_of(file.append(records({1}))), HasSubstr("is not open"));
    ASSERT_TRUE(file.read());
    ASSERT_TRUE(file.rewrite(records({1})));
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    const rlimit full{file.octets() + 10, before.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &full);
    EXPECT_THAT(error_of(file.append(records({2}))), HasSubstr("cannot be written"));
    ::setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_THAT(error_of(file.append(records({2}))), HasSubstr("is not open"));
    ASSERT_TRUE(file.rewrite(records({1, 2})));
    ASSERT_TRUE(file.append(records({3})));
  }
  EXPECT_EQ(bearers(), (std::vector<std::uint32_t>{1, 2, 3}));
}

}  // namespace
}  // namespace splitplane::app
