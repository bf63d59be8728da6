// The version that --version and the control method ping report; CMakeLists.txt carries the same (a test compares).
#pragma once

namespace splitplane::app {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace splitplane::app
