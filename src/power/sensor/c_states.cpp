#include "power/sensor/c_states.h"

#include <cctype>

#include "base/text.h"
#include "power/sensor/read_value.h"

namespace splitplane::sensor {
namespace {

Expected<CState> read_state(const std::string& directory) {
  CState state;
  const auto name = read_text(directory + "/name");
  if (!name) return tl::unexpected(name.error());
  state.name = app::printable(*name, 32);
  for (const auto& [file, field] : {std::pair{"time", &CState::time_us}, {"usage", &CState::usage}}) {
    const auto value = read_count(fmt::format("{}/{}", directory, file));
    if (!value) return tl::unexpected(value.error());
    state.*field = *value;
  }
  // Kernels before 5.4 do not have them.
  for (const auto& [file, field] : {std::pair{"above", &CState::above}, {"below", &CState::below}})
    state.*field = read_count(fmt::format("{}/{}", directory, file)).value_or(0);
  state.latency_us = static_cast<unsigned>(read_count(directory + "/latency").value_or(0));
  state.disabled = read_count(directory + "/disable").value_or(0) != 0;
  return state;
}

std::uint64_t difference(std::uint64_t before, std::uint64_t now) {
  return now < before ? 0 : now - before;
}

}  // namespace

Depth CState::depth() const {
  if (name == "POLL") return Depth::polls;
  const bool numbered = name.size() > 1 && name[0] == 'C' && std::isdigit(static_cast<unsigned char>(name[1])) != 0;
  if (!numbered || name[1] == '0') return Depth::unknown;
  const bool more_digits = name.size() > 2 && std::isdigit(static_cast<unsigned char>(name[2])) != 0;
  return name[1] == '1' && !more_digits ? Depth::c1 : Depth::deeper;
}

Expected<std::vector<CState>> read_c_states(const std::string& root, unsigned core) {
  const std::string all = fmt::format("{}/devices/system/cpu/cpu{}/cpuidle", root, core);
  std::vector<CState> states;
  for (const std::string& entry : entries_of(all)) {
    if (!entry.starts_with("state")) continue;
    auto state = read_state(fmt::format("{}/{}", all, entry));
    if (!state) return tl::unexpected(state.error());
    states.push_back(*std::move(state));
  }
  if (states.empty())
    return fail("{} is not there: the kernel has no driver of idle states, as in most virtual machines", all);
  return states;
}

std::vector<CState> since(const std::vector<CState>& before, const std::vector<CState>& now) {
  if (before.size() != now.size()) return {};
  std::vector<CState> added = now;
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (before[i].name != now[i].name) return {};
    for (const auto field : {&CState::time_us, &CState::usage, &CState::above, &CState::below})
      added[i].*field = difference(before[i].*field, now[i].*field);
  }
  return added;
}

}  // namespace splitplane::sensor
