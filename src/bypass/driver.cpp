#include "bypass/driver.h"

#include <sys/resource.h>

#include "bypass/nic_thread.h"

namespace splitplane::bypass {

double Driver::cpu_seconds() const {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const double all = static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                     static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
  return all - thread_cpu_seconds();
}

}  // namespace splitplane::bypass
