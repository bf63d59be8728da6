// Compares an open file with the file that now has its name. Another process may remove it or put another in its place.
#pragma once

#include <string>

namespace splitplane {

// True if `path` itself is the file behind `descriptor`. A symbolic link at `path` is not followed.
[[nodiscard]] bool is_still_at(int descriptor, const std::string& path);

}  // namespace splitplane
