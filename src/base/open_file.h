// A file that is held open, against what stands under its name now: others may remove it or put another in its place.
#pragma once

#include <string>

namespace splitplane {

// Whether `path` itself, not what a symbolic link there leads to, is the file behind `descriptor`.
[[nodiscard]] bool is_still_at(int descriptor, const std::string& path);

}  // namespace splitplane
