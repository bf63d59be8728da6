#include "base/log_sink.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spdlog/logger.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "base/log_json.h"

namespace splitplane::log {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// A pipe whose reader reads when the test calls it.
struct Pipe {
  Pipe() { EXPECT_EQ(::pipe(ends), 0); }
  ~Pipe() {
    ::close(ends[0]);
    ::close(ends[1]);
  }
  std::string read_all() const {
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    std::string text;
    char chunk[4096];
    for (ssize_t n; (n = ::read(ends[0], chunk, sizeof chunk)) > 0;) text.append(chunk, static_cast<std::size_t>(n));
    return text;
  }
  int ends[2]{};
};

struct Logger {
  explicit Logger(int descriptor) : sink(std::make_shared<QueueSink>(descriptor)), logger("test", sink) {
    logger.set_pattern("%l %v");
  }
  std::shared_ptr<QueueSink> sink;
  spdlog::logger logger;
};

// Texts without digits, each with a different shape.
std::string word(unsigned n) {
  std::string text;
  for (; text.size() < 4; n /= 26) text += static_cast<char>('a' + n % 26);
  return text;
}

TEST(LogSink, lines_come_out_in_order) {
  const Pipe pipe;
  std::string expected;
  {
    Logger log(pipe.ends[1]);
    for (unsigned i = 0; i < 100; ++i) {
      log.logger.info("line {}", word(i));
      expected += "info line " + word(i) + "\n";
    }
    log.sink->write_line("the account");
    expected += "the account\n";
  }
  EXPECT_EQ(pipe.read_all(), expected);
}

TEST(LogSink, a_pipe_that_nobody_reads_stops_no_thread_that_logs) {
  const Pipe pipe;
  const auto begin = Clock::now();
  {
    Logger log(pipe.ends[1]);
    for (unsigned i = 0; i < 100'000; ++i) log.sink->write_line(std::string(100, 'x'));
    EXPECT_LT(Clock::now() - begin, std::chrono::seconds(30)) << "10 MB were queued or dropped, not waited for";
    EXPECT_GT(log.sink->unwritten().dropped, 0U);
    EXPECT_FALSE(log.sink->drain(milliseconds(50)));
  }
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(40)) << "the end waits a second at most";
}

TEST(LogSink, who_reads_late_is_told_how_many_lines_are_missing) {
  const Pipe pipe;
  Logger log(pipe.ends[1]);
  constexpr std::uint64_t kLines = 30'000;
  for (unsigned i = 0; i < kLines; ++i) log.sink->write_line("an ordinary line of the log with some words");
  std::string text;
  for (const auto end = Clock::now() + std::chrono::seconds(60); Clock::now() < end;) {
    text += pipe.read_all();
    if (log.sink->drain(milliseconds(1))) break;
  }
  text += pipe.read_all();
  std::uint64_t there = 0, missing = 0;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    const std::string line = text.substr(at, text.find('\n', at) - at);
    if (line.starts_with("an ordinary")) ++there;
    if (line.starts_with("warning ")) missing += std::stoull(line.substr(8));
  }
  EXPECT_GT(missing, 0U);
  EXPECT_EQ(there + missing, kLines) << "each line is there or counted";
  EXPECT_EQ(missing, log.sink->unwritten().dropped);
}

TEST(LogSink, repeats_are_folded_and_summed_up_at_the_end) {
  const Pipe pipe;
  {
    Logger log(pipe.ends[1]);
    for (unsigned i = 0; i < 500; ++i) log.logger.warn("claim {} of 10.0.0.{}", i, i % 250);
    // A slow machine may write one more line in each RepeatFolder::kOneEach.
    EXPECT_LE(log.sink->unwritten().folded, 500U - RepeatFolder::kBurst);
    EXPECT_GE(log.sink->unwritten().folded, 400U);
  }
  const std::string text = pipe.read_all();
  const auto lines = std::count(text.begin(), text.end(), '\n');
  EXPECT_GE(lines, RepeatFolder::kBurst + 1);
  EXPECT_LE(lines, 120);
  EXPECT_NE(text.find(" more lines like this one: claim "), std::string::npos) << text;
}

TEST(LogSink, control_characters_and_long_texts_stay_on_one_short_line) {
  const Pipe pipe;
  {
    Logger log(pipe.ends[1]);
    log.logger.info("a{}b", "\n\x1b[2J\t");
    log.logger.info("{}", std::string(60'000, 'y'));
  }
  const std::string text = pipe.read_all();
  EXPECT_TRUE(text.starts_with("info a\\x0a\\x1b[2J\\x09b\n")) << text.substr(0, 100);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  EXPECT_LT(text.size(), 5000U);
  EXPECT_TRUE(text.ends_with(" ... (60000 octets)\n"));
}

TEST(LogSink, fields_of_a_record_are_those_of_the_thread_that_wrote_it) {
  const Pipe pipe;
  {
    Logger log(pipe.ends[1]);
    log.logger.set_formatter(std::make_unique<JsonFormatter>());
    const Fields fields{{"port", "n3"}};
    fields_of_record = &fields;
    log.logger.info("gone");
    fields_of_record = nullptr;
  }
  EXPECT_NE(pipe.read_all().find(R"("message":"gone","port":"n3"})"), std::string::npos);
}

TEST(LogSink, a_reader_that_has_gone_ends_nothing) {
  Pipe pipe;
  ::signal(SIGPIPE, SIG_IGN);
  ::close(pipe.ends[0]);
  {
    Logger log(pipe.ends[1]);
    for (unsigned i = 0; i < 100; ++i) log.sink->write_line("x");
    EXPECT_TRUE(log.sink->drain(std::chrono::seconds(20)));
  }
  pipe.ends[0] = ::open("/dev/null", O_RDONLY);
}

TEST(LogSink, many_threads_may_log) {
  const Pipe pipe;
  {
    Logger log(pipe.ends[1]);
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (unsigned i = 0; i < 100; ++i) log.logger.info("{} {}", word(t), word(i));
      });
    }
    for (auto& thread : threads) thread.join();
  }
  const std::string text = pipe.read_all();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 400);
}

}  // namespace
}  // namespace splitplane::log
