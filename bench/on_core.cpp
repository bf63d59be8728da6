#include "on_core.h"

#include <pthread.h>
#include <sched.h>

#include <cstdio>
#include <cstring>
#include <exception>

namespace splitplane::bench {

int on_core(const std::string& bench, unsigned core, datapath::EalSettings settings,
            const std::function<void(bool hugepages)>& measure) {
  const auto failed = [&](const char* why) {
    std::fprintf(stderr, "%s: %s\n", bench.c_str(), why);
    return 1;
  };
  settings.hugepages = settings.hugepages && datapath::Eal::free_hugepage_megabytes() >= settings.megabytes;
  const auto eal = datapath::Eal::start(settings);
  if (!eal) return failed(eal.error().message.c_str());
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(core, &cpus);
  if (const int error = pthread_setaffinity_np(pthread_self(), sizeof cpus, &cpus); error != 0)
    return failed(("--core: " + std::string(std::strerror(error))).c_str());
  try {
    measure(settings.hugepages);
  } catch (const std::exception& error) {
    return failed(error.what());
  }
  return 0;
}

}  // namespace splitplane::bench
