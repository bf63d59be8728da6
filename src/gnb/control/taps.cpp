#include "gnb/control/taps.h"

#include <algorithm>

#include "base/log.h"
#include "gnb/config/taps.h"
#include "runtime/tap_methods.h"

namespace splitplane::gnb {
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

std::vector<WorkerRuntime*> Taps::ends_of(const tap::Settings& settings) const {
  std::vector<WorkerRuntime*> ends;
  for (const auto& worker : workers_.all()) {
    if (uses_port(worker->config, settings.port) && (settings.worker.empty() || settings.worker == worker->config.name))
      ends.push_back(worker.get());
  }
  return ends;
}

Taps::All::iterator Taps::find(const std::string& name) {
  return std::find_if(taps_.begin(), taps_.end(), [&](const auto& t) { return t->settings().name == name; });
}

Expected<void> Taps::detach(const Locked& /*locked*/, tap::Tap& tap) {
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
Expected<tap::Tap*> Taps::start(const Locked& locked, tap::Settings settings) {
  complete(settings, config_);
  if (const auto finding = check_tap(config_, settings)) return fail("{}: {}", finding->key, finding->text);
  if (const auto there = find(settings.name); there != taps_.end()) {
    const bool stopped = !(*there)->stopped().empty();
    if (!stopped && (*there)->settings() == settings) return there->get();
    if (!stopped)
      return fail("tap {} is on with other settings; allowed: tap off {} first", settings.name, settings.name);
    if (const auto detached = detach(locked, **there); !detached) return tl::unexpected(detached.error());
    quiet_.erase(there->get());
    taps_.erase(there);  // it has stopped by itself: begin anew
  }
  std::vector<tap::Settings> others;
  for (const auto* taps : {&taps_, &ending_}) {
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
  auto tap = tap::Tap::start(settings, sources, secured_);
  if (!tap) return tl::unexpected(tap.error());
  taps_.push_back(std::move(*tap));
  tap::Tap& made = *taps_.back();
  for (std::size_t i = 0; i < ends.size(); ++i) {
    WorkerRuntime& worker = *ends[i];
    const bool done =
        worker.execute([&] { worker.taps[settings.port].attach(made.lane(i), settings.in, settings.out); });
    if (done) continue;
    if (detach(locked, made)) {
      made.end();
      ending_.push_back(std::move(taps_.back()));
      taps_.pop_back();
    }
    return fail("worker {} does not answer; the tap is not on", worker.config.name);
  }
  log::info("tap {}: port {} to {}", settings.name, settings.port, settings.file);
  return &made;
}

// A tap that could not open its file is none.
Expected<void> Taps::forget_refused(const Locked& locked, tap::Tap& tap) {
  const std::string name = tap.settings().name, why = tap.stopped();
  if (const auto detached = detach(locked, tap); !detached) return detached;
  quiet_.erase(&tap);
  taps_.erase(find(name));
  return fail("tap {}: {}", name, why);
}

Expected<void> Taps::start_configured() {
  const Locked locked = control_.lock();
  for (std::size_t i = 0; i < config_.taps.size(); ++i) {
    const auto started = start(locked, config_.taps[i]);
    if (!started) return fail("taps[{}]: {}", i, started.error().message);
    if ((*started)->wait_open(kPatience) != State::kStopped) continue;
    if (const auto refused = forget_refused(locked, **started); !refused)
      return fail("taps[{}]: {}", i, refused.error().message);
  }
  return {};
}

Expected<nlohmann::json> Taps::on(const tap::Settings& settings) {
  tap::Tap* tap = nullptr;
  {
    const Locked locked = control_.lock();
    const auto started = start(locked, settings);
    if (!started) return tl::unexpected(started.error());
    tap = *started;
  }
  const State state = tap->wait_open(kPatience);  // only this thread ends taps
  const Locked locked = control_.lock();
  if (state == State::kStopped && tap->numbers().bytes == 0) {
    if (const auto refused = forget_refused(locked, *tap); !refused) return tl::unexpected(refused.error());
  }
  return view_of(*tap);
}

Expected<nlohmann::json> Taps::off(const std::string& name) {
  std::unique_ptr<tap::Tap> tap;
  {
    const Locked locked = control_.lock();
    const auto at = find(name);
    if (at == taps_.end()) return Json{{"existed", false}};
    if (const auto detached = detach(locked, **at); !detached) return tl::unexpected(detached.error());
    tap = std::move(*at);
    quiet_.erase(tap.get());
    taps_.erase(at);
  }
  tap->end();
  const bool ended = tap->wait_end(kPatience);
  Json last = view_of(*tap);
  if (!ended) last["state"] = "ending";
  if (last["state"] == "on") last["state"] = "off";
  if (!ended) {
    const Locked locked = control_.lock();
    ending_.push_back(std::move(tap));
  }
  return Json{{"existed", true}, {"tap", std::move(last)}};
}

Expected<nlohmann::json> Taps::list() {
  const Locked locked = control_.lock();
  Json rows = Json::array();
  for (const auto& tap : taps_) rows.push_back(view_of(*tap));
  for (const auto& tap : ending_) {
    rows.push_back(view_of(*tap));
    rows.back()["state"] = "ending";
  }
  return Json{{"taps", std::move(rows)}};
}

void Taps::quiet_stopped(const Locked& locked) {
  for (const auto& tap : taps_) {
    if (tap->stopped().empty() || quiet_.contains(tap.get())) continue;
    if (detach(locked, *tap)) quiet_.insert(tap.get());
  }
  std::erase_if(ending_, [](const auto& tap) { return tap->wait_end(std::chrono::milliseconds{0}); });
}

void Taps::end(const Locked& locked) {
  for (auto& tap : taps_) {
    (void)detach(locked, *tap);
    tap->end();
    ending_.push_back(std::move(tap));
  }
  for (auto& tap : ending_) {
    if (tap->wait_end(kLastPatience)) continue;
    log::warn("tap {}: its disk does not answer; {} is not complete", tap->settings().name, tap->settings().file);
    (void)tap.release();
  }
  ending_.clear();
  taps_.clear();
  quiet_.clear();
}

}  // namespace splitplane::gnb
