#include "power/governor/uncore.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "power/governor/core_files.h"

namespace splitplane::governor {
namespace {

std::vector<std::string> dies_of(const std::string& all, unsigned package) {
  std::vector<std::string> dies;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(all, none)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(fmt::format("package_{:02}_die_", package))) dies.push_back(entry.path().string());
  }
  std::sort(dies.begin(), dies.end());
  return dies;
}

// The kernel refuses a lowest frequency above the highest. So the highest goes first on the way up.
Expected<void> hold_die(Loan& loan, const std::string& die, unsigned khz) {
  const std::string min = die + "/min_freq_khz", max = die + "/max_freq_khz", text = fmt::format("{}", khz);
  for (const std::string& path : {min, max}) {
    if (auto stored = loan.remember(path); !stored) return stored;
  }
  const bool up = khz >= read_number(max).value_or(0);
  if (auto first = write_line(up ? max : min, text); !first) return first;
  return write_line(up ? min : max, text);
}

}  // namespace

Expected<Uncore> Uncore::hold(const GovernorSettings& settings, unsigned package, unsigned mhz) {
  const std::string all = settings.root + "/devices/system/cpu/intel_uncore_frequency";
  const auto dies = dies_of(all, package);
  if (dies.empty())
    return fail("no die of package {} in {}: the module intel_uncore_frequency is not there", package, all);
  auto loan = Loan::begin(settings.loans, loan_name(settings, fmt::format("package{}.uncore", package)));
  if (!loan) return tl::unexpected(loan.error());
  for (const std::string& die : dies) {
    const auto lowest = read_number(die + "/initial_min_freq_khz"),
               highest = read_number(die + "/initial_max_freq_khz");
    if (!lowest || !highest) return fail("{} does not say between which frequencies it runs", die);
    if (mhz < *lowest / 1000 || mhz > *highest / 1000)
      return fail("{}: {} MHz; allowed: {} to {}", die, mhz, *lowest / 1000, *highest / 1000);
    if (const auto held = hold_die(*loan, die, mhz * 1000); !held) return tl::unexpected(held.error());
  }
  return Uncore(*std::move(loan));
}

}  // namespace splitplane::governor
