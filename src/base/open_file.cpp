#include "base/open_file.h"

#include <sys/stat.h>

namespace splitplane {

bool is_still_at(int descriptor, const std::string& path) {
  struct stat ours{}, there{};
  return ::fstat(descriptor, &ours) == 0 && ::lstat(path.c_str(), &there) == 0 && ours.st_ino == there.st_ino &&
         ours.st_dev == there.st_dev;
}

}  // namespace splitplane
