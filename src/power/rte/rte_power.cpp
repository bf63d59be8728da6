#include "power/rte/rte_power.h"

#include <algorithm>
#include <array>

#include "power/governor/core_files.h"
#include "power/rte/pw_compat.h"

namespace splitplane::governor {
namespace {

constexpr std::uint32_t kMostFrequencies = 256;

// At most kMaxPStates of them, evenly and with both ends.
std::vector<std::uint32_t> chosen(std::size_t count) {
  const std::size_t steps = std::min(count, kMaxPStates);
  std::vector<std::uint32_t> index;
  for (std::size_t i = 0; i < steps; ++i)
    index.push_back(static_cast<std::uint32_t>(steps == 1 ? 0 : i * (count - 1) / (steps - 1)));
  return index;
}

}  // namespace

RtePowerCalls rte_power_calls() {
  return {.number_of = pw_number_of,
          .init = [](unsigned core) -> Expected<void> {
            const auto environment = pw_environment();
            if (environment == PM_ENV_NOT_SET)
              return fail("rte_power knows no driver of this machine's frequencies (acpi-cpufreq, intel_pstate, cppc)");
            if (rte_power_get_env() == PM_ENV_NOT_SET && rte_power_set_env(environment) != 0)
              return fail("rte_power refuses its own environment {}", static_cast<int>(environment));
            if (rte_power_init(core) != 0) return fail("rte_power_init of core {} fails; its log says why", core);
            return {};
          },
          .exit = [](unsigned core) { static_cast<void>(rte_power_exit(core)); },
          .freqs = pw_freqs,
          .set_freq = pw_set_freq};
}

Expected<Frequencies> RtePower::begin() {
  const std::string cpufreq = cpufreq_directory(settings_);
  auto loan = begin_frequency_loan(settings_);
  if (!loan) return tl::unexpected(loan.error());
  loan_.emplace(*std::move(loan));
  for (const char* file : {"scaling_governor", "scaling_min_freq", "scaling_max_freq"}) {
    if (const auto stored = loan_->remember(fmt::format("{}/{}", cpufreq, file)); !stored)
      return tl::unexpected(stored.error());
  }
  const auto number = calls_.number_of(settings_.core);
  if (!number) return fail("rte_power knows cores by lcores, and none runs on core {} alone", settings_.core);
  number_ = *number;
  if (const auto begun = calls_.init(number_); !begun) return tl::unexpected(begun.error());
  began_ = true;
  std::array<std::uint32_t, kMostFrequencies> list{};
  const int count = calls_.freqs(number_, list.data(), kMostFrequencies);
  if (count < 2 || count > static_cast<int>(kMostFrequencies))
    return fail("rte_power has {} frequencies of core {}", count, settings_.core);
  Frequencies frequencies{.driver = "rte_power"};
  for (const std::uint32_t index : chosen(static_cast<std::size_t>(count))) {
    // Lists with equal or rising entries were seen of drivers; a policy needs falling ones.
    if (!frequencies.khz.empty() && list[index] >= frequencies.khz.back()) continue;
    frequencies.khz.push_back(list[index]);
    index_.push_back(index);
  }
  if (frequencies.khz.size() < 2 || frequencies.khz.back() == 0)
    return fail("rte_power's frequencies of core {} do not fall", settings_.core);
  frequencies.turbo = list[0] == list[1] + 1000;
  if (!set(0, 0)) return fail("rte_power refuses {} kHz", frequencies.khz[0]);
  return frequencies;
}

bool RtePower::set(unsigned /*before*/, unsigned p_state) {
  const int result = calls_.set_freq(number_, index_[p_state]);
  return result == 0 || result == 1;
}

std::size_t RtePower::give_back() {
  if (began_) calls_.exit(number_);
  began_ = false;
  index_.clear();
  const std::size_t left = loan_ ? loan_->give_back().size() : 0;
  loan_.reset();
  return left;
}

std::unique_ptr<Backend> make_rte_power(const GovernorSettings& settings) {
  return std::make_unique<RtePower>(settings);
}

}  // namespace splitplane::governor
