#include "power/meter/meter.h"

#include <chrono>
#include <cmath>
#include <utility>

#include "power/profiles/profile_file.h"
#include "power/sensor/topology.h"

namespace splitplane::app {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::uint64_t steady_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

// JSON has no NaN.
nlohmann::json number(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

nlohmann::json row_of(const MeterView::Core& core) {
  nlohmann::json idle = nlohmann::json::array();
  for (const sensor::CState& state : core.facts.idle)
    idle.push_back({{"name", state.name},
                    {"time_us", state.time_us},
                    {"usage", state.usage},
                    {"above", state.above},
                    {"below", state.below},
                    {"disabled", state.disabled}});
  nlohmann::json row{{"core", core.core},
                     {"package", core.facts.package},
                     {"second_thread", core.facts.second_thread},
                     {"mhz", core.facts.mhz == 0 ? nlohmann::json(nullptr) : nlohmann::json(core.facts.mhz)},
                     {"mhz_by", core.frequency_by},
                     {"idle_states", std::move(idle)}};
  for (const auto& [key, error] :
       {std::pair{"frequency", &core.frequency_error}, {"idle", &core.idle_error}, {"place", &core.place_error}}) {
    if (!error->empty()) row["why_not"][key] = *error;
  }
  if (core.residency) {
    const power::model::Running& running = core.residency->running.front();
    row["residency"] = {{"active", running.active},
                        {"pause", running.pause},
                        {"tpause", core.residency->tpause},
                        {"c1", core.residency->c1},
                        {"c6", core.residency->c6}};
  }
  return row;
}

}  // namespace

nlohmann::json to_json(const MeterView& view) {
  nlohmann::json refused = nlohmann::json::object();
  for (const sensor::Refused& each : view.refused) refused[each.source] = each.why;
  nlohmann::json measured = nlohmann::json::array();
  for (const Measured& each : view.measured)
    measured.push_back({{"scope", each.scope},
                        {"name", each.name},
                        {"watts", number(each.watts)},
                        {"mean_watts", number(each.mean_watts)},
                        {"joules", each.joules},
                        {"packet_joules", number(each.packet_joules)}});
  nlohmann::json cores = nlohmann::json::array();
  for (const auto& core : view.cores) cores.push_back(row_of(core));
  nlohmann::json modelled = nullptr;
  if (!view.profile.empty()) {
    modelled = {{"profile", view.profile},
                {"scope", view.profile_scope},
                {"citation", view.citation},
                {"watts", number(view.modelled.watts)},
                {"low", number(view.modelled.low)},
                {"high", number(view.modelled.high)},
                {"packet_joules", number(view.modelled_packet_joules)},
                {"why_not", view.modelled.why}};
  }
  return {{"source", view.source},           {"refused", std::move(refused)},   {"error", view.error},
          {"errors", view.errors},           {"measured", std::move(measured)}, {"wall_watts", number(view.wall_watts)},
          {"modelled", std::move(modelled)}, {"cores", std::move(cores)}};
}

Expected<std::unique_ptr<Meter>> Meter::open(const MeterSettings& settings, Look look) {
  std::unique_ptr<Meter> meter(new Meter(settings, std::move(look)));
  auto chosen = sensor::choose_source(settings.sensor, settings.machine);
  if (!chosen) return tl::unexpected(chosen.error());
  meter->source_ = std::move(chosen->source);
  if (meter->source_) meter->view_.source = meter->source_->name();
  meter->view_.refused = std::move(chosen->refused);
  if (!settings.profile.empty()) {
    auto profile = load_profile(settings.profile);
    if (!profile) return tl::unexpected(profile.error());
    meter->view_.profile = profile->name;
    meter->view_.profile_scope = profile->scope;
    meter->view_.citation = profile->citation;
    meter->view_.modelled.why = "no time was looked at yet";
    meter->profile_ = *std::move(profile);
  }
  return meter;
}

void Meter::start() {
  thread_ = std::thread([this] { run(); });
}

void Meter::stop() {
  {
    const std::lock_guard guard(mutex_);
    ending_ = true;
  }
  end_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Meter::run() {
  for (;;) {
    turn(steady_ns());
    std::unique_lock lock(mutex_);
    if (end_.wait_for(lock, std::chrono::milliseconds(settings_.interval_ms), [this] { return ending_; })) return;
  }
}

MeterView Meter::view() const {
  const std::lock_guard guard(mutex_);
  return view_;
}

void Meter::turn(std::uint64_t now_ns) {
  MeterView view = this->view();
  const std::vector<LoopTime> now = look_();
  const double seconds = last_ns_ ? static_cast<double>(now_ns - *last_ns_) * 1e-9 : 0;
  double packets = 0;
  for (std::size_t i = 0; i < now.size() && i < loops_.size(); ++i) {
    if (now[i].packets > loops_[i].time.packets)
      packets += static_cast<double>(now[i].packets - loops_[i].time.packets);
  }
  if (source_) read_sensor(now_ns, packets, view);
  model(now, packets, seconds, view);
  last_ns_ = now_ns;
  const std::lock_guard guard(mutex_);
  view_ = std::move(view);
}

void Meter::read_sensor(std::uint64_t now_ns, double packets, MeterView& view) {
  const double seconds = last_ns_ ? static_cast<double>(now_ns - *last_ns_) * 1e-9 : 0;
  auto readings = source_->sample(now_ns);
  view.error = readings ? "" : readings.error().message;
  if (!readings) {
    ++view.errors;
    readings = std::vector<sensor::Reading>{};
    for (Measured& each : view.measured) each.watts = each.packet_joules = kNone;  // what it was is no reading of now
    for (sensor::Average& average : averages_) average.add(kNone, now_ns);
  }
  double system = 0;
  for (std::size_t i = 0; i < readings->size(); ++i) {
    const sensor::Reading& reading = (*readings)[i];
    if (i == view.measured.size()) view.measured.push_back({.scope = reading.scope, .name = reading.name});
    if (i == averages_.size()) averages_.emplace_back();
    Measured& measured = view.measured[i];
    averages_[i].add(reading.watts, now_ns);
    measured.watts = reading.watts;
    measured.mean_watts = averages_[i].mean();
    if (std::isfinite(reading.watts)) measured.joules += reading.watts * seconds;
    measured.packet_joules = packets == 0 ? kNone : reading.watts * seconds / packets;
    if (reading.scope == "system") system += measured.mean_watts;
  }
  view.wall_watts = settings_.supply && system > 0 ? sensor::wall_watts(*settings_.supply, system) : kNone;
}

MeterView::Core Meter::look_at(Loop& before, const LoopTime& now) {
  const std::string& root = settings_.machine.root;
  MeterView::Core core{.core = now.core};
  if (const auto place = sensor::place_of(root, now.core)) {
    core.facts.package = place->package;
    core.facts.second_thread = place->second_thread;
  } else {
    core.place_error = place.error().message;
  }
  if (before.frequency) {
    core.frequency_by = before.frequency->how();
    if (const auto mhz = before.frequency->sample()) {
      core.facts.mhz = *mhz;
    } else {
      core.frequency_error = mhz.error().message;
    }
  } else {
    core.frequency_error = before.frequency_error;
  }
  if (auto idle = sensor::read_c_states(root, now.core)) {
    core.facts.idle = sensor::since(before.idle, *idle);
    before.idle = *std::move(idle);
  } else {
    core.idle_error = idle.error().message;
  }
  return core;
}

void Meter::model(const std::vector<LoopTime>& now, double packets, double seconds, MeterView& view) {
  view.cores.clear();
  std::vector<power::model::Residency> residency;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const bool fresh = i == loops_.size();
    if (fresh) {
      Loop& loop = loops_.emplace_back();
      auto frequency = sensor::CoreFrequency::open(settings_.machine.root, now[i].core, settings_.tsc_mhz);
      if (frequency) {
        loop.frequency = *std::move(frequency);
      } else {
        loop.frequency_error = frequency.error().message;
      }
    }
    MeterView::Core core = look_at(loops_[i], now[i]);
    CoreFacts facts = core.facts;
    if (profile_ && !profile_->p_states) facts.mhz = 0;  // it holds for the frequency that the machine has
    if (!fresh) core.residency = residency_between(loops_[i].time, now[i], facts);
    loops_[i].time = now[i];
    if (core.residency) residency.push_back(*core.residency);
    view.cores.push_back(std::move(core));
  }
  if (!profile_ || seconds == 0) return;
  view.modelled = power::model::estimate(*profile_, residency);
  view.modelled_packet_joules = packets == 0 ? kNone : view.modelled.watts * seconds / packets;
}

}  // namespace splitplane::app
