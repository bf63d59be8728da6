// One running instance per DPDK file prefix: a locked file in the runtime directory, gone with its owner.
#pragma once

#include <string>
#include <utility>

#include "base/expected.h"
#include "base/paths.h"

namespace splitplane::app {

class InstanceLock {
 public:
  // Error: who holds it. Creates the runtime directory where needed.
  [[nodiscard]] static Expected<InstanceLock> acquire(const std::string& file_prefix,
                                                      const std::string& directory = runtime_directory());
  // The process that holds the lock now, 0 if none; creates nothing.
  [[nodiscard]] static int holder(const std::string& file_prefix, const std::string& directory = runtime_directory());

  InstanceLock(InstanceLock&& other) noexcept;
  InstanceLock& operator=(InstanceLock&& other) noexcept;
  InstanceLock(const InstanceLock&) = delete;
  InstanceLock& operator=(const InstanceLock&) = delete;
  ~InstanceLock();

 private:
  InstanceLock(int fd, std::string path, std::string directory)
      : fd_(fd), path_(std::move(path)), directory_(std::move(directory)) {}
  void release();
  int fd_ = -1;
  std::string path_, directory_;
};

}  // namespace splitplane::app
