#include "power/governor/core_files.h"

#include <filesystem>
#include <functional>

namespace splitplane::governor {
namespace {

// Cores of one clock domain share one directory, policyN, with links to it. A loan of that directory covers them all.
std::string domain_of(const std::string& cpufreq, unsigned core) {
  std::error_code failed;
  const auto real = std::filesystem::canonical(cpufreq, failed);
  if (failed || real.filename() == "cpufreq") return fmt::format("cpu{}", core);
  return real.filename().string();
}

}  // namespace

std::string cpu_directory(const GovernorSettings& settings) {
  return fmt::format("{}/devices/system/cpu/cpu{}", settings.root, settings.core);
}

std::string cpufreq_directory(const GovernorSettings& settings) {
  return cpu_directory(settings) + "/cpufreq";
}

std::string loan_name(const GovernorSettings& settings, const std::string& what) {
  return settings.root == "/sys" ? what : fmt::format("{}.{:x}", what, std::hash<std::string>{}(settings.root));
}

Expected<Loan> begin_frequency_loan(const GovernorSettings& settings) {
  const std::string cpufreq = cpufreq_directory(settings);
  if (!read_line(cpufreq + "/scaling_driver"))
    return fail("{} is not there: a virtual machine, or a kernel without a cpufreq driver", cpufreq);
  return Loan::begin(settings.loans, loan_name(settings, domain_of(cpufreq, settings.core) + ".frequency"));
}

}  // namespace splitplane::governor
