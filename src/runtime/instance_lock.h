// One running instance per DPDK file prefix: a locked file in the runtime directory, which is removed with its owner.
#pragma once

#include <string>
#include <utility>

#include "base/expected.h"
#include "base/paths.h"

namespace splitplane::app {

class InstanceLock {
 public:
  // The error names the holder. Creates the runtime directory if necessary.
  [[nodiscard]] static Expected<InstanceLock> acquire(const std::string& file_prefix,
                                                      const std::string& directory = runtime_directory());
  // The process that holds the lock now; 0 if there is none. It creates no file.
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
