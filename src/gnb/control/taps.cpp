// Taps of the running user plane: made and ended by the control side, attached and detached by each worker between two
// rounds. A tap is given back only when no worker can touch it any more.
#include "config/taps.h"

#include <algorithm>

#include "base/log.h"
#include "gnb/control/instance.h"

namespace splitplane::app {
namespace {

using State = tap::Tap::State;

// A disk that takes longer is answered for as `opening` or `ending`.
constexpr std::chrono::milliseconds kPatience{1000}, kLastPatience{10'000};

Json view_of(const tap::Tap& tap) {
  Json json = to_json(tap.settings());
  const tap::Numbers numbers = tap.numbers();
  const std::string stopped = tap.stopped();
  const auto state = tap.state();
  json["state"] = state == State::kOpening ? "opening" : state == State::kOn ? "on" : "stopped";
  json["packets"] = numbers.packets;
  json["octets"] = numbers.bytes;
  json["dropped"] = numbers.dropped;
  json["skipped"] = numbers.skipped;
  if (!stopped.empty()) json["reason"] = stopped;
  return json;
}

}  // namespace

std::vector<WorkerRuntime*> UserPlane::ends_of(const tap::Settings& settings) {
  std::vector<WorkerRuntime*> ends;
  for (auto& worker : workers_) {
    if (uses_port(worker->config, settings.port) && (settings.worker.empty() || settings.worker == worker->config.name))
      ends.push_back(worker.get());
  }
  return ends;
}

UserPlane::Taps::iterator UserPlane::find_tap(const std::string& name) {
  return std::find_if(taps_.begin(), taps_.end(), [&](const auto& t) { return t->settings().name == name; });
}

Expected<void> UserPlane::detach_tap(tap::Tap& tap) {
  const auto ends = ends_of(tap.settings());
  for (std::size_t i = 0; i < ends.size(); ++i) {
    WorkerRuntime& worker = *ends[i];
    const bool done =
        worker.execute([&] { worker.taps[tap.settings().port].detach(tap.lane(i)); });  // twice is no harm
    if (!done) return fail("worker {} does not answer; the tap is still there", worker.config.name);
  }
  return {};
}

// Nothing here waits for a disk. The tap is a new one, or the one that is on with the same settings.
Expected<tap::Tap*> UserPlane::start_tap(tap::Settings settings) {
  complete(settings, config_);
  if (const auto finding = check_tap(config_, settings)) return fail("{}: {}", finding->key, finding->text);
  if (const auto there = find_tap(settings.name); there != taps_.end()) {
    const bool stopped = !(*there)->stopped().empty();
    if (!stopped && (*there)->settings() == settings) return there->get();
    if (!stopped)
      return fail("tap {} is on with other settings; allowed: tap off {} first", settings.name, settings.name);
    if (const auto detached = detach_tap(**there); !detached) return tl::unexpected(detached.error());
    quiet_taps_.erase(there->get());
    taps_.erase(there);  // it has stopped by itself: begin anew
  }
  std::vector<tap::Settings> others;
  for (const auto* taps : {&taps_, &ending_taps_}) {
    for (const auto& other : *taps) others.push_back(other->settings());
  }
  if (const auto finding = check_next_tap(config_, others, settings))
    return fail("{}: {}", finding->key, finding->text);
  const auto ends = ends_of(settings);
  std::vector<tap::Source> sources;
  for (const WorkerRuntime* worker : ends) {
    sources.push_back({ends.size() == 1 ? settings.port : fmt::format("{}@{}", settings.port, worker->config.name),
                       fmt::format("port {} of worker {}", settings.port, worker->config.name)});
  }
  auto tap = tap::Tap::start(settings, sources);
  if (!tap) return tl::unexpected(tap.error());
  taps_.push_back(std::move(*tap));
  tap::Tap& made = *taps_.back();
  for (std::size_t i = 0; i < ends.size(); ++i) {
    WorkerRuntime& worker = *ends[i];
    const bool done =
        worker.execute([&] { worker.taps[settings.port].attach(made.lane(i), settings.in, settings.out); });
    if (done) continue;
    if (detach_tap(made)) {
      made.end();
      ending_taps_.push_back(std::move(taps_.back()));
      taps_.pop_back();
    }
    return fail("worker {} does not answer; the tap is not on", worker.config.name);
  }
  log::info("tap {}: port {} to {}", settings.name, settings.port, settings.file);
  return &made;
}

// A tap that could not open its file is none.
Expected<void> UserPlane::forget_refused(tap::Tap& tap) {
  const std::string name = tap.settings().name, why = tap.stopped();
  if (const auto detached = detach_tap(tap); !detached) return detached;
  quiet_taps_.erase(&tap);
  taps_.erase(find_tap(name));
  return fail("tap {}: {}", name, why);
}

Expected<void> UserPlane::start_configured_taps() {
  for (std::size_t i = 0; i < config_.taps.size(); ++i) {
    const auto started = start_tap(config_.taps[i]);
    if (!started) return fail("taps[{}]: {}", i, started.error().message);
    if ((*started)->wait_open(kPatience) != State::kStopped) continue;
    if (const auto refused = forget_refused(**started); !refused)
      return fail("taps[{}]: {}", i, refused.error().message);
  }
  return {};
}

Expected<Json> UserPlane::tap_on(const tap::Settings& settings) {
  std::unique_lock lock(mutex_);
  const auto started = start_tap(settings);
  if (!started) return tl::unexpected(started.error());
  tap::Tap& tap = **started;
  lock.unlock();  // only this thread ends taps
  const State state = tap.wait_open(kPatience);
  lock.lock();
  if (state == State::kStopped && tap.numbers().bytes == 0) {
    if (const auto refused = forget_refused(tap); !refused) return tl::unexpected(refused.error());
  }
  return view_of(tap);
}

Expected<Json> UserPlane::tap_off(const std::string& name) {
  std::unique_ptr<tap::Tap> tap;
  {
    const std::lock_guard guard(mutex_);
    const auto at = find_tap(name);
    if (at == taps_.end()) return Json{{"existed", false}};
    if (const auto detached = detach_tap(**at); !detached) return tl::unexpected(detached.error());
    tap = std::move(*at);
    quiet_taps_.erase(tap.get());
    taps_.erase(at);
  }
  tap->end();
  const bool ended = tap->wait_end(kPatience);
  Json last = view_of(*tap);
  if (!ended) last["state"] = "ending";
  if (last["state"] == "on") last["state"] = "off";
  if (!ended) {
    const std::lock_guard guard(mutex_);
    ending_taps_.push_back(std::move(tap));
  }
  return Json{{"existed", true}, {"tap", std::move(last)}};
}

Expected<Json> UserPlane::list_taps() {
  const std::lock_guard guard(mutex_);
  Json rows = Json::array();
  for (const auto& tap : taps_) rows.push_back(view_of(*tap));
  for (const auto& tap : ending_taps_) {
    rows.push_back(view_of(*tap));
    rows.back()["state"] = "ending";
  }
  return Json{{"taps", std::move(rows)}};
}

// A tap that has stopped by itself costs its workers nothing any more; it stays in the list until it is turned off.
void UserPlane::quiet_stopped_taps() {
  for (const auto& tap : taps_) {
    if (tap->stopped().empty() || quiet_taps_.contains(tap.get())) continue;
    if (detach_tap(*tap)) quiet_taps_.insert(tap.get());
  }
  std::erase_if(ending_taps_, [](const auto& tap) { return tap->wait_end(std::chrono::milliseconds{0}); });
}

// The workers have ended: what their lanes still hold is written, and the files are closed. A writer whose disk hangs
// is left to the end of the process, which the kernel may not grant before that of the disk.
void UserPlane::end_taps() {
  for (auto& tap : taps_) {
    (void)detach_tap(*tap);
    tap->end();
    ending_taps_.push_back(std::move(tap));
  }
  for (auto& tap : ending_taps_) {
    if (tap->wait_end(kLastPatience)) continue;
    log::warn("tap {}: its disk does not answer; {} is not complete", tap->settings().name, tap->settings().file);
    (void)tap.release();
  }
  ending_taps_.clear();
  taps_.clear();
  quiet_taps_.clear();
}

}  // namespace splitplane::app
