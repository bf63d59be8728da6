// How much power a machine takes, by the states its cores are in. It is fed with the time that cores spend in each
// state and not with their utilisation: a core that polls is fully used whether packets come or not. A number from here
// is modelled, never measured.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace splitplane::power::model {

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// How well the coefficients give back the measurements they were fitted to, at these measurements.
struct Fit {
  double rmse_watts = 0, max_watts = 0;
  unsigned points = 0, parameters = 0;
};

// Where the profile holds. Outside, an estimate is NaN.
struct Range {
  unsigned packages = 1;
  unsigned cores = 1;  // of a package
  unsigned threads_per_core = 1;
};

// The voltage at a frequency.
struct Volts {
  double mhz = 0, volts = 0;
};

// How the power of a running core depends on its frequency: leakage * V/Vn + (active - leakage) * f/fn * (V/Vn)^2,
// where n is the nominal frequency. Leakage falls faster with the voltage; that is left out.
struct PStates {
  double nominal_mhz = 0;
  double leakage_watts = 0;  // the part of Profile::active_watts that does not come from the clock
  std::vector<Volts> volts;  // ascending in MHz; its ends are the valid range, and it is linear between its points
};

// One machine. All watts are of the scope: the whole machine, or its packages.
struct Profile {
  std::string name, machine, citation, note;
  std::string scope = "system";     // or "package"
  double base_watts = 0;            // while all cores are in C6
  double first_core_watts = 0;      // more, for each package while one of its cores is not in C6
  double active_watts = 0;          // more for each core that runs; at the nominal frequency if there are P-states
  double pause_share = kUnknown;    // a core in a loop of PAUSE, relative to an active one of the same frequency
  double tpause_watts = kUnknown;   // more for each core in TPAUSE or UMWAIT
  double c1_watts = kUnknown;       // ... in C1
  double c6_watts = 0;              // ... in C6 or deeper
  double second_thread_watts = 0;   // more for the second thread of a core that runs already
  std::optional<PStates> p_states;  // absent: it holds for the frequency that the machine had, whichever that was
  std::optional<Fit> fit;
  Range range;
  std::set<std::string> assumed;  // names of coefficients, as in each_coefficient(), and "volts"
};

// Calls visit(name, value) for each coefficient that is a number.
template <class P, class Visit>
void each_coefficient(P& profile, Visit visit) {
  visit("base_watts", profile.base_watts);
  visit("first_core_watts", profile.first_core_watts);
  visit("active_watts", profile.active_watts);
  visit("pause_share", profile.pause_share);
  visit("tpause_watts", profile.tpause_watts);
  visit("c1_watts", profile.c1_watts);
  visit("c6_watts", profile.c6_watts);
  visit("second_thread_watts", profile.second_thread_watts);
  if (profile.p_states) visit("leakage_watts", profile.p_states->leakage_watts);
}

// What one core adds in each state. NaN: the profile does not say.
struct StateWatts {
  double active = kUnknown, pause = kUnknown, tpause = kUnknown, c1 = kUnknown, c6 = kUnknown;
};
// `mhz`: the core's frequency; 0: not known, which only a profile without P-states accepts. All NaN outside the range.
[[nodiscard]] StateWatts state_watts(const Profile& profile, double mhz);

// The frequency of a P-state that is known by its speed relative to the fastest: 1 is `fastest_mhz`, or the highest of
// the profile if that is 0. Returns 0 without P-states at speed 1, and NaN at other speeds.
[[nodiscard]] double mhz_of(const Profile& profile, double speed, double fastest_mhz = 0);

// Shares of the time that was looked at.
struct Running {
  double mhz = 0;     // 0: not known
  double active = 0;  // packets, polling, system calls, waking up
  double pause = 0;
};
struct Residency {
  std::vector<Running> running;
  double tpause = 0, c1 = 0, c6 = 0;
  unsigned package = 0;
  bool second_thread = false;  // the core's other thread has an entry that is not one
};

// `low` and `high`: the least and most of the profile's variants, and the fit's largest error in addition.
struct Estimate {
  double watts = kUnknown, low = kUnknown, high = kUnknown;
  std::string why;  // it is NaN
};
// Cores without an entry are in C6. The shares of an entry add up to 1. With several cores of a package the time in
// which one of them is awake is taken as if they slept independently of each other.
[[nodiscard]] Estimate estimate(const Profile& profile, std::span<const Residency> cores);

// The sensitivity band: the profile with each assumed coefficient halved and doubled, one at a time and all at once.
// The voltages are halved and doubled in how far they are from that of the nominal frequency. To see whether a ranking
// of policies survives, compare them under each variant.
struct Variant {
  std::string what;  // "c1_watts x0.5"
  Profile profile;
};
[[nodiscard]] std::vector<Variant> variants(const Profile& profile);

}  // namespace splitplane::power::model
