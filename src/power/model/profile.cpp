#include "power/model/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace splitplane::power::model {
namespace {

constexpr double kSumTolerance = 0.02;  // counters of a live machine are not read at one instant
constexpr double kLeastVolts = 0.3;     // relative to nominal: no variant goes below

double volts_at(const std::vector<Volts>& volts, double mhz) {
  if (volts.empty() || !(mhz >= volts.front().mhz && mhz <= volts.back().mhz)) return kUnknown;
  const auto above = std::find_if(volts.begin(), volts.end(), [&](const Volts& v) { return v.mhz >= mhz; });
  if (above == volts.begin() || above->mhz == mhz) return above->volts;
  const Volts& below = *(above - 1);
  return below.volts + (above->volts - below.volts) * (mhz - below.mhz) / (above->mhz - below.mhz);
}

double active_watts_at(const Profile& profile, double mhz) {
  if (!profile.p_states) return mhz == 0 ? profile.active_watts : kUnknown;
  const PStates& p = *profile.p_states;
  const double v = volts_at(p.volts, mhz) / volts_at(p.volts, p.nominal_mhz);
  return p.leakage_watts * v + (profile.active_watts - p.leakage_watts) * mhz / p.nominal_mhz * v * v;
}

// A state in which no time was spent may be unknown.
double product(double share, double watts) {
  return share == 0 ? 0 : share * watts;
}

struct Package {
  unsigned cores = 0, second_threads = 0;
  double all_in_c6 = 1;  // the share of the time
};

std::string why_outside(const Profile& profile, const std::map<unsigned, Package>& packages) {
  if (packages.size() > profile.range.packages)
    return fmt::format("{} packages; the profile is of {}", packages.size(), profile.range.packages);
  for (const auto& [number, package] : packages) {
    if (package.cores > profile.range.cores)
      return fmt::format("{} cores of package {}; the profile is of {}", package.cores, number, profile.range.cores);
    if (package.second_threads > 0 && profile.range.threads_per_core < 2)
      return "two threads of a core; the profile is of one";
    if (package.second_threads > package.cores)
      return fmt::format("package {}: more second threads than cores", number);
  }
  return "";
}

std::string why_unknown(const Profile& profile, const Residency& core) {
  double sum = core.tpause + core.c1 + core.c6;
  for (const Running& running : core.running) {
    sum += running.active + running.pause;
    if (running.active + running.pause == 0) continue;
    if (profile.p_states && running.mhz == 0) return "the frequency of a core is not known, and the profile needs it";
    if (!profile.p_states && running.mhz != 0) return "the profile has no P-states";
    if (std::isnan(active_watts_at(profile, running.mhz)))
      return fmt::format("{:.0f} MHz; the profile is of {:.0f} to {:.0f}", running.mhz,
                         profile.p_states->volts.front().mhz, profile.p_states->volts.back().mhz);
    if (running.pause > 0 && std::isnan(profile.pause_share)) return "the profile says nothing of PAUSE";
  }
  if (!(std::abs(sum - 1) <= kSumTolerance)) return fmt::format("the shares of a core add up to {:.3f} and not 1", sum);
  if (core.tpause > 0 && std::isnan(profile.tpause_watts)) return "the profile says nothing of TPAUSE";
  if (core.c1 > 0 && std::isnan(profile.c1_watts)) return "the profile says nothing of C1";
  if (core.c6 > 0 && std::isnan(profile.c6_watts)) return "the profile says nothing of C6";
  return "";
}

double watts_of(const Profile& profile, const Residency& core) {
  if (core.second_thread) {
    double runs = 0;
    for (const Running& running : core.running) runs += running.active + running.pause;
    return runs * profile.second_thread_watts;
  }
  double watts = product(core.tpause, profile.tpause_watts) + product(core.c1, profile.c1_watts) +
                 product(core.c6, profile.c6_watts);
  for (const Running& running : core.running) {
    const double active = active_watts_at(profile, running.mhz);
    watts +=
        product(running.active, active) + product(running.pause, running.pause == 0 ? 0 : profile.pause_share * active);
  }
  return watts;
}

std::map<unsigned, Package> packages_of(std::span<const Residency> cores) {
  std::map<unsigned, Package> packages;
  for (const Residency& core : cores) {
    Package& package = packages[core.package];
    ++(core.second_thread ? package.second_threads : package.cores);
    package.all_in_c6 *= std::clamp(core.c6, 0.0, 1.0);
  }
  return packages;
}

double total_watts(const Profile& profile, std::span<const Residency> cores,
                   const std::map<unsigned, Package>& packages) {
  double watts = profile.base_watts;
  for (const auto& [number, package] : packages) watts += (1 - package.all_in_c6) * profile.first_core_watts;
  for (const Residency& core : cores) watts += watts_of(profile, core);
  return watts;
}

void scale(Profile& profile, const std::string& name, double factor) {
  each_coefficient(profile, [&](const std::string& each, double& value) {
    if (each == name) value *= factor;
  });
  if (name != "volts" || !profile.p_states) return;
  PStates& p = *profile.p_states;
  const double nominal = volts_at(p.volts, p.nominal_mhz);
  for (Volts& v : p.volts) v.volts = std::max(nominal + factor * (v.volts - nominal), kLeastVolts * nominal);
}

// PAUSE never takes more than work, and the leakage is a part of the whole.
Profile possible(Profile profile) {
  if (profile.pause_share > 1) profile.pause_share = 1;
  if (profile.p_states)
    profile.p_states->leakage_watts = std::min(profile.p_states->leakage_watts, profile.active_watts);
  return profile;
}

}  // namespace

StateWatts state_watts(const Profile& profile, double mhz) {
  const double active = active_watts_at(profile, mhz);
  if (std::isnan(active)) return {};
  return {.active = active,
          .pause = profile.pause_share * active,
          .tpause = profile.tpause_watts,
          .c1 = profile.c1_watts,
          .c6 = profile.c6_watts};
}

double mhz_of(const Profile& profile, double speed, double fastest_mhz) {
  if (!profile.p_states) return speed == 1 ? 0 : kUnknown;
  return speed * (fastest_mhz == 0 ? profile.p_states->volts.back().mhz : fastest_mhz);
}

Estimate estimate(const Profile& profile, std::span<const Residency> cores) {
  Estimate result;
  const auto packages = packages_of(cores);
  result.why = why_outside(profile, packages);
  for (std::size_t i = 0; result.why.empty() && i < cores.size(); ++i) result.why = why_unknown(profile, cores[i]);
  if (!result.why.empty()) return result;
  result.watts = result.low = result.high = total_watts(profile, cores, packages);
  for (const Variant& variant : variants(profile)) {
    const double watts = total_watts(variant.profile, cores, packages);
    result.low = std::min(result.low, watts);
    result.high = std::max(result.high, watts);
  }
  if (profile.fit) {
    result.low = std::max(result.low - profile.fit->max_watts, 0.0);
    result.high += profile.fit->max_watts;
  }
  return result;
}

std::vector<Variant> variants(const Profile& profile) {
  std::vector<Variant> all;
  for (const double factor : {0.5, 2.0}) {
    Profile together = profile;
    for (const std::string& name : profile.assumed) {
      Profile one = profile;
      scale(one, name, factor);
      scale(together, name, factor);
      all.push_back({fmt::format("{} x{}", name, factor), possible(std::move(one))});
    }
    if (profile.assumed.size() > 1) all.push_back({fmt::format("all x{}", factor), possible(std::move(together))});
  }
  return all;
}

}  // namespace splitplane::power::model
