#include "base/log_sink.h"

#include <fmt/core.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spdlog/pattern_formatter.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <thread>

#include "base/patient_write.h"

namespace splitplane::log {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kLastPatience{1000}, kLook{200};

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

// Text from outside must not move the cursor or begin a new line.
std::string without_controls(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (is_control(c)) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out;
}

std::string_view colour_of(spdlog::level::level_enum level) {
  switch (level) {
    case spdlog::level::debug:
      return "\033[36m";
    case spdlog::level::info:
      return "\033[32m";
    case spdlog::level::warn:
      return "\033[33m\033[1m";
    default:
      return "\033[31m\033[1m";
  }
}

}  // namespace

QueueSink::QueueSink(int descriptor) : shared_(std::make_shared<Shared>()) {
  shared_->descriptor = descriptor;
  shared_->coloured = ::isatty(descriptor) == 1;
  shared_->formatter = std::make_unique<spdlog::pattern_formatter>();
  // The thread that stops the program handles the signals. The new thread inherits this mask.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread([shared = shared_] { shared->run(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  thread_ = thread.native_handle();
  thread.detach();
}

QueueSink::~QueueSink() {
  std::unique_lock lock(shared_->mutex);
  shared_->push_summaries(true);
  shared_->ending = true;
  shared_->wake.notify_all();
  (void)shared_->idle.wait_for(lock, kLastPatience, [&] { return shared_->ended; });
}

void QueueSink::log(const spdlog::details::log_msg& record) {
  const std::string_view text(record.payload.data(), record.payload.size());
  const std::lock_guard guard(shared_->mutex);
  if (!shared_->folder.admit(record.level, text, Clock::now())) return;
  shared_->push(shared_->format(record.level, text, &record));
}

void QueueSink::set_pattern(const std::string& pattern) {
  set_formatter(std::make_unique<spdlog::pattern_formatter>(pattern));
}

void QueueSink::set_formatter(std::unique_ptr<spdlog::formatter> formatter) {
  const std::lock_guard guard(shared_->mutex);
  shared_->formatter = std::move(formatter);
}

void QueueSink::write_line(std::string line) {
  line += '\n';
  const std::lock_guard guard(shared_->mutex);
  shared_->push(std::move(line));
}

bool QueueSink::drain(std::chrono::milliseconds limit) {
  std::unique_lock lock(shared_->mutex);
  return shared_->idle.wait_for(lock, limit, [&] { return shared_->lines.empty() && !shared_->busy; });
}

Unwritten QueueSink::unwritten() const {
  const std::lock_guard guard(shared_->mutex);
  return {shared_->dropped, shared_->folder.folded()};
}

void QueueSink::run_beside_caller() {
  cpu_set_t cores;
  const std::lock_guard guard(shared_->mutex);
  if (!shared_->ended && ::pthread_getaffinity_np(::pthread_self(), sizeof cores, &cores) == 0)
    (void)::pthread_setaffinity_np(thread_, sizeof cores, &cores);
}

// The caller holds the lock for the next three functions.
void QueueSink::Shared::push(std::string line) {
  bytes += line.size();
  lines.push_back(std::move(line));
  while (lines.size() > kMostLines || bytes > kMostBytes) {
    bytes -= lines.front().size();
    lines.pop_front();
    ++dropped;
  }
  wake.notify_one();
}

void QueueSink::Shared::push_summaries(bool all) {
  for (const auto& summary : folder.due(Clock::now(), all))
    push(format(static_cast<spdlog::level::level_enum>(summary.level), summary.text, nullptr));
}

std::string QueueSink::Shared::format(spdlog::level::level_enum level, std::string_view text,
                                      const spdlog::details::log_msg* record) {
  const bool odd = text.size() > kMostLine || std::any_of(text.begin(), text.end(), is_control);
  std::string clean;
  if (odd) {
    clean = without_controls(text.substr(0, kMostLine));
    if (text.size() > kMostLine) clean += fmt::format(" ... ({} octets)", text.size());
    text = clean;
  }
  spdlog::details::log_msg copy = record != nullptr ? *record : spdlog::details::log_msg({}, level, {});
  copy.payload = spdlog::string_view_t(text.data(), text.size());
  spdlog::memory_buf_t out;
  formatter->format(copy, out);
  if (!coloured || copy.color_range_end <= copy.color_range_start) return {out.data(), out.size()};
  const std::string_view line(out.data(), out.size());
  std::string in_colour(line.substr(0, copy.color_range_start));
  in_colour += colour_of(level);
  in_colour += line.substr(copy.color_range_start, copy.color_range_end - copy.color_range_start);
  in_colour += "\033[m";
  in_colour += line.substr(copy.color_range_end);
  return in_colour;
}

// On the writing thread, without the lock. Returns false if the sink ends before the reader has read.
bool QueueSink::Shared::write(const std::string& text) {
  Clock::time_point deadline = Clock::time_point::max();
  return write_patiently(descriptor, text, [&] {
    const std::lock_guard guard(mutex);
    if (ending && deadline == Clock::time_point::max()) deadline = Clock::now() + kLastPatience / 2;
    return Clock::now() < deadline;
  });
}

void QueueSink::Shared::run() {
  std::unique_lock lock(mutex);
  for (bool reads = true; reads;) {
    wake.wait_for(lock, kLook, [&] { return ending || !lines.empty(); });
    push_summaries(false);
    if (lines.empty()) {
      if (ending) break;
      continue;
    }
    std::string text;
    if (dropped > told) {
      text =
          format(spdlog::level::warn,
                 fmt::format("{} lines of the log are missing here: it is read too slowly", dropped - told), nullptr);
      told = dropped;
    }
    while (!lines.empty() && text.size() < PIPE_BUF) {
      text += lines.front();
      bytes -= lines.front().size();
      lines.pop_front();
    }
    busy = true;
    lock.unlock();
    reads = write(text);
    lock.lock();
    busy = false;
    if (lines.empty()) idle.notify_all();
  }
  ended = true;
  idle.notify_all();
}

}  // namespace splitplane::log
