#include "runtime/other_process.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace splitplane::app {

OtherProcess::OtherProcess(int number) : pidfd_(static_cast<int>(::syscall(SYS_pidfd_open, number, 0))) {}

bool OtherProcess::lives() const {
  pollfd ended{.fd = pidfd_.get(), .events = POLLIN, .revents = 0};
  return is_open() && ::poll(&ended, 1, 0) == 0;
}

Fd OtherProcess::take_descriptor(int number) const {
  if (!is_open() || number < 0) return {};
  return Fd(static_cast<int>(::syscall(SYS_pidfd_getfd, pidfd_.get(), number, 0)));
}

}  // namespace splitplane::app
