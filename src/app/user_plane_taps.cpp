// Taps of the running user plane: made and ended by the control side, attached and detached by each worker between two
// rounds. A tap is given back only when no worker can touch it any more.
#include <algorithm>

#include "app/config_taps.h"
#include "app/user_plane.h"
#include "base/log.h"

namespace splitplane::app {
namespace {

Json view_of(const tap::Tap& tap) {
  Json json = to_json(tap.settings());
  const tap::Numbers numbers = tap.numbers();
  const std::string stopped = tap.stopped();
  json["state"] = stopped.empty() ? "on" : "stopped";
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

Expected<Json> UserPlane::start_tap(tap::Settings settings) {
  complete(settings, config_);
  if (const auto finding = check_tap(config_, settings)) return fail("{}: {}", finding->key, finding->text);
  if (const auto there = find_tap(settings.name); there != taps_.end()) {
    const bool stopped = !(*there)->stopped().empty();
    if (!stopped && (*there)->settings() == settings) return view_of(**there);
    if (!stopped)
      return fail("tap {} is on with other settings; allowed: tap off {} first", settings.name, settings.name);
    if (const auto detached = detach_tap(**there); !detached) return tl::unexpected(detached.error());
    quiet_taps_.erase(there->get());
    taps_.erase(there);  // it has stopped by itself: begin anew
  }
  for (const auto& other : taps_) {
    if (other->settings().file == settings.file)
      return fail("file: {} belongs to tap {}; allowed: a file of its own", settings.file, other->settings().name);
  }
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
    if (detach_tap(made)) taps_.pop_back();
    return fail("worker {} does not answer; the tap is not on", worker.config.name);
  }
  log::info("tap {}: port {} to {}", settings.name, settings.port, settings.file);
  return view_of(made);
}

Expected<void> UserPlane::start_configured_taps() {
  for (std::size_t i = 0; i < config_.taps.size(); ++i) {
    if (const auto started = start_tap(config_.taps[i]); !started)
      return fail("taps[{}]: {}", i, started.error().message);
  }
  return {};
}

Expected<Json> UserPlane::tap_on(const tap::Settings& settings) {
  const std::lock_guard guard(mutex_);
  return start_tap(settings);
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
  tap->finish();  // a disk that hangs must not keep the control thread from answering ARP and Echo
  Json last = view_of(*tap);
  if (last["state"] == "on") last["state"] = "off";
  return Json{{"existed", true}, {"tap", std::move(last)}};
}

Expected<Json> UserPlane::list_taps() {
  const std::lock_guard guard(mutex_);
  Json rows = Json::array();
  for (const auto& tap : taps_) rows.push_back(view_of(*tap));
  return Json{{"taps", std::move(rows)}};
}

// A tap that has stopped by itself costs its workers nothing any more; it stays in the list until it is turned off.
void UserPlane::quiet_stopped_taps() {
  for (const auto& tap : taps_) {
    if (tap->stopped().empty() || quiet_taps_.contains(tap.get())) continue;
    if (detach_tap(*tap)) quiet_taps_.insert(tap.get());
  }
}

// The workers have ended: what their lanes still hold is written, and the files are closed.
void UserPlane::end_taps() {
  for (const auto& tap : taps_) (void)detach_tap(*tap);
  taps_.clear();
  quiet_taps_.clear();
}

}  // namespace splitplane::app
