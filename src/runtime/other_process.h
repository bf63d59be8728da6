// Another process by its pidfd: whether it still runs, and descriptors of it. Once open, it never means a later process
// that got the same number.
#pragma once

#include "control/socket.h"

namespace splitplane::app {

class OtherProcess {
 public:
  // None: lives() is false.
  OtherProcess() = default;
  // The process that has this number now; none if it does not run.
  explicit OtherProcess(int number);

  [[nodiscard]] bool is_open() const { return pidfd_.get() >= 0; }
  [[nodiscard]] bool lives() const;
  // Descriptor `number` of the process as one of ours. Empty if the kernel refuses it (ptrace rules), or if the process
  // has no such descriptor.
  [[nodiscard]] Fd take_descriptor(int number) const;

 private:
  Fd pidfd_;
};

}  // namespace splitplane::app
