// DPDK's power library in the versions from 22.11 on: where they differ. Until 24.11 its functions are pointers that
// are null until rte_power_init() has found a driver; from 24.11 on they are functions and the header has another name.
#pragma once

#include <rte_lcore.h>
#include <rte_version.h>
#include <sched.h>

#include <cerrno>
#include <cstdint>
#include <optional>

#if RTE_VERSION >= RTE_VERSION_NUM(24, 11, 0, 0)
#include <rte_power_cpufreq.h>
#else
#include <rte_power.h>
#endif

namespace splitplane::governor {

#if RTE_VERSION >= RTE_VERSION_NUM(24, 11, 0, 0)
#define SPLITPLANE_POWER_IS_NULL(function) false
#else
#define SPLITPLANE_POWER_IS_NULL(function) ((function) == nullptr)
#endif

// The library's number of a core. Since "power: fix mapped lcore ID" it is that of an lcore, before that of the CPU:
// the stable releases have it, as far as is known, from 22.11.7 and 23.11.3 on. Nothing: no lcore is on that CPU alone.
inline std::optional<unsigned> pw_number_of(unsigned cpu) {
  constexpr bool kByLcore =
      RTE_VERSION >= RTE_VERSION_NUM(24, 11, 0, 0) ||
      (RTE_VERSION >= RTE_VERSION_NUM(22, 11, 7, 0) && RTE_VERSION < RTE_VERSION_NUM(23, 0, 0, 0)) ||
      (RTE_VERSION >= RTE_VERSION_NUM(23, 11, 3, 0) && RTE_VERSION < RTE_VERSION_NUM(24, 0, 0, 0));
  if (!kByLcore) return cpu;
  for (unsigned lcore = 0; lcore < RTE_MAX_LCORE; ++lcore) {
    if (rte_lcore_is_enabled(lcore) == 0) continue;
    const rte_cpuset_t set = rte_lcore_cpuset(lcore);
    if (CPU_COUNT(&set) == 1 && CPU_ISSET(cpu, &set)) return lcore;
  }
  return std::nullopt;
}

// The number of frequencies, in kHz and the highest first; -ENOTSUP: the library has no driver.
inline int pw_freqs(unsigned lcore, std::uint32_t* khz, std::uint32_t most) {
  if (SPLITPLANE_POWER_IS_NULL(rte_power_freqs)) return -ENOTSUP;
  return static_cast<int>(rte_power_freqs(lcore, khz, most));
}

// 1: set; 0: it was so; else an error. From 24.11 on it returns an unsigned number, so a negative one is cast back.
inline int pw_set_freq(unsigned lcore, std::uint32_t index) {
  if (SPLITPLANE_POWER_IS_NULL(rte_power_set_freq)) return -ENOTSUP;
  return static_cast<int>(rte_power_set_freq(lcore, index));
}

// The first environment that sets frequencies by this machine's cpufreq driver. The library would otherwise try a
// virtual machine's channel at the end, which prints an error and sets no frequency. PM_ENV_NOT_SET: there is none.
inline power_management_env pw_environment() {
  for (const power_management_env each : {PM_ENV_ACPI_CPUFREQ, PM_ENV_PSTATE_CPUFREQ, PM_ENV_CPPC_CPUFREQ
#if RTE_VERSION >= RTE_VERSION_NUM(23, 11, 0, 0)
                                          ,
                                          PM_ENV_AMD_PSTATE_CPUFREQ
#endif
       }) {
    if (rte_power_check_env_supported(each) == 1) return each;
  }
  return PM_ENV_NOT_SET;
}

#undef SPLITPLANE_POWER_IS_NULL

}  // namespace splitplane::governor
