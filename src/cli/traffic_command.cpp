#include "cli/traffic_command.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/log.h"
#include "base/patient_write.h"
#include "cli/command/run_end.h"
#include "runtime/instance_lock.h"
#include "runtime/stop_flag.h"
#include "traffic/control/run.h"
#include "traffic/hdr_log.h"

namespace splitplane::app {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTrafficTurn{20};

// A bar that overwrites itself on a terminal, a line every second elsewhere.
class Progress {
 public:
  Progress(const TrafficRun& run, double seconds, std::uint64_t packets, bool quiet)
      : run_(run), seconds_(seconds), packets_(packets), quiet_(quiet), terminal_(::isatty(STDERR_FILENO) == 1) {}
  ~Progress() {
    if (drawn_) fmt::print(stderr, "\n");
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(Clock::time_point now) {
    const double since = std::chrono::duration<double>(now - last_).count();
    if (quiet_ || since < (terminal_ ? 0.25 : 1.0)) return;
    std::string text;
    if (run_.has_generator()) {
      const auto& stats = run_.generator_stats();
      const std::uint64_t sent = stats.sent.get();
      text += fmt::format("sent {} at {:.4f} Mpps, {:.0f} us behind, {} late, {} refused", sent,
                          static_cast<double>(sent - sent_) / since / 1e6,
                          static_cast<double>(stats.behind_ns.get()) / 1e3, stats.late.get(), stats.refused.get());
      sent_ = sent;
    }
    if (run_.has_sink()) {
      const std::uint64_t received = run_.sink_stamped();
      text += fmt::format("{}received {} at {:.4f} Mpps", text.empty() ? "" : "; ", received,
                          static_cast<double>(received - received_) / since / 1e6);
      received_ = received;
    }
    if (terminal_) {
      fmt::print(stderr, "\r\033[K{}{}", bar(now), text);
      std::fflush(stderr);
    } else {
      log::line(bar(now) + text);
    }
    drawn_ = terminal_;
    last_ = now;
  }

 private:
  [[nodiscard]] std::string bar(Clock::time_point now) const {
    double done = 0;
    if (packets_ != 0) done = static_cast<double>(sent_) / static_cast<double>(packets_);
    if (seconds_ > 0) done = std::max(done, std::chrono::duration<double>(now - begin_).count() / seconds_);
    if (!terminal_ || done <= 0) return {};
    constexpr std::size_t kWidth = 20;
    const auto full = std::min(kWidth, static_cast<std::size_t>(done * kWidth));
    return fmt::format("[{}{}] ", std::string(full, '#'), std::string(kWidth - full, '.'));
  }

  const TrafficRun& run_;
  double seconds_;
  std::uint64_t packets_;
  bool quiet_, terminal_, drawn_ = false;
  const Clock::time_point begin_ = Clock::now();
  Clock::time_point last_ = begin_;
  std::uint64_t sent_ = 0, received_ = 0;
};

// False if a signal came before everything was sent and had its time to come. A sink alone may end by one.
bool wait_for_the_end(TrafficRun& run, Progress& progress, const TrafficOptions& options) {
  const auto begin = Clock::now();
  while (!StopFlag::instance().wait_for(kTrafficTurn)) {
    const auto now = Clock::now();
    progress.show(now);
    const bool received = run.received(now);
    if (run.has_generator()) {
      if (run.generated() && received) return true;
    } else if (received || (options.duration_s && now - begin >= std::chrono::duration<double>(*options.duration_s))) {
      return true;
    }
  }
  return !run.has_generator();
}

bool spotless(const Json& result) {
  if (const auto gen = result.find("gen"); gen != result.end()) {
    if (gen->at("unsent") != 0 || gen->at("refused") != 0) return false;
  }
  const Json& sink = result.at("sink");
  const Json& seen = sink.at("seen");
  return sink.at("unique") != 0 && sink.at("lost") == 0 && sink.at("duplicates") == 0 && sink.at("reordered") == 0 &&
         sink.at("too_old") == 0 && seen.at("stamp_damaged") == 0 && seen.at("unreadable") == 0;
}

int run_traffic(const TrafficConfig& config, const TrafficOptions& options) {
  StopFlag::instance().catch_signals();
  auto made = TrafficRun::make(config, options);
  if (!made) {
    log::error("{}: {}", config.file, made.error().message);
    return 1;
  }
  TrafficRun& run = **made;
  const double seconds = options.duration_s.value_or(config.gen ? config.gen->duration_s : 0);
  const std::uint64_t packets = options.packets.value_or(config.gen ? config.gen->packets : 0);
  const auto wall = std::chrono::system_clock::now();
  const auto begin = Clock::now();
  run.start();
  bool ended = false;
  {
    Progress progress(run, seconds, packets, options.quiet);
    ended = wait_for_the_end(run, progress, options);
  }
  run.stop();

  bool written = true;
  Json result{{"file", config.file}};
  if (run.has_generator()) {
    GeneratorView view = run.generator();
    if (options.rate) view.rate = *options.rate;
    result["gen"] = to_json(view);
    write_last_words(STDOUT_FILENO, describe_generator(result["gen"]));
  }
  if (run.has_sink()) {
    result["sink"] = to_json(run.sink(), run.packets());
    write_last_words(STDOUT_FILENO, describe_sink(result["sink"]));
    if (!config.sink->hlog.empty()) {
      const auto log = traffic::hdr_log(run.sink().latency(), wall, Clock::now() - begin);
      if (!log) log::error("{}", log.error().message);
      written = log && write_result("sink.hlog", config.sink->hlog, *log);
    }
  }
  if (!options.json.empty()) written = write_result("--json", options.json, result.dump(2) + "\n") && written;
  if (options.strict && !ended)
    log::error("--strict: ended by a signal, before everything was sent and had its time to come");
  return written && (!options.strict || (ended && spotless(result))) ? 0 : 1;
}

}  // namespace

int gen_command(const TrafficConfig& config, const TrafficOptions& options) {
  TrafficConfig both = config;
  if (options.loop && !both.sink) both.sink = SinkConfig{.port = config.gen->port, .core = config.gen->core};
  return run_traffic(both, options);
}

int sink_command(const TrafficConfig& config, const TrafficOptions& options) {
  TrafficConfig alone = config;
  alone.gen.reset();
  std::erase_if(alone.ports, [&](const PortConfig& port) { return port.name != alone.sink->port; });
  return run_traffic(alone, options);
}

int self_test_command(const TrafficOptions& options) {
  const std::string prefix = fmt::format("splitplane-self-test-{}", ::getpid());  // two may run at a time
  const auto lock = InstanceLock::acquire(prefix);
  if (!lock) {
    log::error("{}", lock.error().message);
    return 1;
  }
  const auto eal = datapath::Eal::start({.file_prefix = prefix, .megabytes = 128, .hugepages = false});
  if (!eal) {
    log::error("{}", eal.error().message);
    return 1;
  }
  const auto tested = traffic::run_self_test(options.duration_s.value_or(2));
  if (!tested) {
    log::error("{}", tested.error().message);
    return 1;
  }
  const Json result = to_json(*tested);
  fmt::print("{}", describe_self_test(result));
  std::fflush(stdout);
  const bool written = options.json.empty() || write_result("--json", options.json, result.dump(2) + "\n");
  return written && tested->exact.good() ? 0 : 1;
}

}  // namespace splitplane::app
