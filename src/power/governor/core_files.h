// Where the files of a core are in sysfs, and how its loans are called.
#pragma once

#include <string>

#include "power/governor/backend.h"
#include "power/governor/loan.h"

namespace splitplane::governor {

[[nodiscard]] std::string cpu_directory(const GovernorSettings& settings);
[[nodiscard]] std::string cpufreq_directory(const GovernorSettings& settings);
// Cores under another root are different cores: the loan's name has a mark of the root then.
[[nodiscard]] std::string loan_name(const GovernorSettings& settings, const std::string& what);
// Begins the loan of the core's frequency. Cores of one clock domain share it. Error: another worker has it, or there
// is no cpufreq.
[[nodiscard]] Expected<Loan> begin_frequency_loan(const GovernorSettings& settings);

}  // namespace splitplane::governor
