// Workers that make no rounds, as the control thread sees them by their counters: named in the log, in statistics and
// in metrics, and asked nothing until they are back, so that statistics of the others do not wait for them.
#include "base/log.h"
#include "gnb/control/instance.h"

namespace splitplane::app {
namespace {

constexpr std::chrono::milliseconds kLook{100};

}  // namespace

// Without the mutex: whoever holds it may wait for such a worker.
void UserPlane::watch_workers(Time now) {
  if (now < next_watch_) return;
  next_watch_ = now + kLook;
  for (auto& worker : workers_) {
    if (!worker->running) continue;
    RoundWatch& watch = worker->watch;
    const auto since = watch.silent_for(now);
    const auto says = watch.look(worker->stats().rounds.get(), worker->commanded.load(std::memory_order_relaxed), now);
    if (watch.wants_wake()) worker->power.wakeup().wake();
    worker->silent_seconds.store(static_cast<std::uint64_t>(watch.silent_for(now).count()), std::memory_order_relaxed);
    const WorkerConfig& config = worker->config;
    const auto say = [&](spdlog::level::level_enum level, const std::string& text) {
      log::write(level, {{"worker", config.name}},
                 fmt::format("worker {} (core {}) {}", config.name, config.core, text));
    };
    switch (says) {
      case RoundWatch::Says::kSilent:
      case RoundWatch::Says::kStillSilent:
        say(spdlog::level::warn,
            fmt::format("has made no round for {:.0f} s: its thread hangs, or gets no CPU time; what it shall do waits",
                        watch.silent_for(now).count()));
        break;
      case RoundWatch::Says::kBack:
        say(spdlog::level::info, fmt::format("makes rounds again, after {:.1f} s", since.count()));
        break;
      case RoundWatch::Says::kNothing:
        break;
    }
  }
}

}  // namespace splitplane::app
