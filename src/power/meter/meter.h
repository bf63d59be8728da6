// The power of a running program, on a thread of its own, since some meters take seconds to answer: what a sensor
// measures, and beside it, under another name, what a profile makes of the loops' time. Neither stands in for the
// other.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "power/meter/core_residency.h"
#include "power/sensor/average.h"
#include "power/sensor/choose.h"
#include "power/sensor/frequency.h"
#include "power/sensor/power_supply.h"

namespace splitplane::app {

struct MeterSettings {
  std::string sensor = "none";  // as sensor::choose_source()
  std::string profile;          // path of a profile; empty: nothing is modelled
  std::optional<sensor::PowerSupply> supply;
  sensor::SensorSettings machine;
  double tsc_mhz = 0;
  unsigned interval_ms = 1000;
};

// One value of the sensor. `mean_watts` is over the last 20 s.
struct Measured {
  std::string scope, name;
  double watts = 0, mean_watts = 0, joules = 0;  // joules since the start
  double packet_joules = 0;                      // of one received packet, over the last interval; NaN: none came
};

struct MeterView {
  std::string source;  // empty: there is no sensor
  std::vector<sensor::Refused> refused;
  std::string error;  // of the last reading; empty: it was good
  std::uint64_t errors = 0;
  std::vector<Measured> measured;
  double wall_watts = sensor::Reading{}.watts;   // by the power supply's curve, of all system meters; NaN: not known
  std::string profile, profile_scope, citation;  // empty: there is none
  power::model::Estimate modelled;
  double modelled_packet_joules = sensor::Reading{}.watts;
  struct Core {
    unsigned core = 0;
    CoreFacts facts;
    std::string frequency_by, frequency_error, idle_error, place_error;
    std::optional<power::model::Residency> residency;
  };
  std::vector<Core> cores;
};
[[nodiscard]] nlohmann::json to_json(const MeterView& view);

class Meter {
 public:
  using Look = std::function<std::vector<LoopTime>()>;  // at the loops; called on the meter's thread

  // Error: the chosen sensor cannot be read, or the profile, and why.
  [[nodiscard]] static Expected<std::unique_ptr<Meter>> open(const MeterSettings& settings, Look look);
  ~Meter() { stop(); }
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;

  // The thread; `look` is called until stop() returns.
  void start();
  void stop();
  // One look, on the caller's thread: what the thread does each interval.
  void turn(std::uint64_t now_ns);
  [[nodiscard]] MeterView view() const;

 private:
  Meter(const MeterSettings& settings, Look look) : settings_(settings), look_(std::move(look)) {}
  struct Loop {
    LoopTime time;
    std::vector<sensor::CState> idle;
    std::optional<sensor::CoreFrequency> frequency;
    std::string frequency_error;
  };
  void read_sensor(std::uint64_t now_ns, double packets, MeterView& view);
  void model(const std::vector<LoopTime>& now, double packets, double seconds, MeterView& view);
  [[nodiscard]] MeterView::Core look_at(Loop& before, const LoopTime& now);
  void run();

  MeterSettings settings_;
  Look look_;
  std::unique_ptr<sensor::Source> source_;
  std::optional<power::model::Profile> profile_;
  std::vector<Loop> loops_;  // in the order of `look`
  std::vector<sensor::Average> averages_;
  std::optional<std::uint64_t> last_ns_;
  mutable std::mutex mutex_;  // of view_ and ending_
  MeterView view_;
  std::condition_variable end_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace splitplane::app
