// The log's sink: a bounded queue, and a thread that writes it to a descriptor. A logging thread never waits for the
// reader. A line that finds the queue full replaces the oldest one, which is counted.
#pragma once

#include <spdlog/sinks/sink.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "base/log.h"
#include "base/repeat_folder.h"

namespace splitplane::log {

class QueueSink : public spdlog::sinks::sink {
 public:
  static constexpr std::size_t kMostLines = 4096, kMostBytes = std::size_t{1} << 20, kMostLine = 4000;

  // Writes to `descriptor`, with colours if it is a terminal. The caller keeps the descriptor.
  explicit QueueSink(int descriptor);
  // Gives the reader one second to take the remaining lines.
  ~QueueSink() override;
  QueueSink(const QueueSink&) = delete;
  QueueSink& operator=(const QueueSink&) = delete;

  void log(const spdlog::details::log_msg& record) override;
  // Waits for the reader, at most a second. Only callers of flush() wait.
  void flush() override { (void)drain(std::chrono::seconds(1)); }
  void set_pattern(const std::string& pattern) override;
  void set_formatter(std::unique_ptr<spdlog::formatter> formatter) override;

  // Writes a line as it is, after the lines before it. It is never folded.
  void write_line(std::string line);
  // Waits until all lines are written. Returns false if the time was over first.
  bool drain(std::chrono::milliseconds limit);
  [[nodiscard]] Unwritten unwritten() const;
  // Moves the writing thread to the cores on which the calling thread may run.
  void run_beside_caller();

 private:
  // Shared with the thread, which may outlive the sink if a write does not end.
  struct Shared {
    std::mutex mutex;
    std::condition_variable wake, idle;
    std::deque<std::string> lines;
    std::size_t bytes = 0;
    std::uint64_t dropped = 0, told = 0;  // lines; and how many of them a line in the log has reported
    bool ending = false, busy = false, ended = false;
    RepeatFolder folder;
    std::unique_ptr<spdlog::formatter> formatter;
    int descriptor = -1;
    bool coloured = false;

    void push(std::string line);
    void push_summaries(bool all);
    [[nodiscard]] std::string format(spdlog::level::level_enum level, std::string_view text,
                                     const spdlog::details::log_msg* record);
    void run();
    [[nodiscard]] bool write(const std::string& text);
  };
  std::shared_ptr<Shared> shared_;
  unsigned long thread_ = 0;  // pthread_t
};

}  // namespace splitplane::log
