#include "datapath/dpdk_log.h"

#include <rte_log.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/log.h"

namespace splitplane::datapath {
namespace {

spdlog::level::level_enum level_of(int dpdk) {
  if (dpdk <= 0 || dpdk == static_cast<int>(RTE_LOG_NOTICE) || dpdk == static_cast<int>(RTE_LOG_INFO))
    return spdlog::level::info;
  if (dpdk <= static_cast<int>(RTE_LOG_ERR)) return spdlog::level::err;
  return dpdk == static_cast<int>(RTE_LOG_WARNING) ? spdlog::level::warn : spdlog::level::debug;
}

// What DPDK writes for one message: one line as a rule, sometimes several.
ssize_t on_write(void*, const char* text, std::size_t size) {
  const auto level = level_of(rte_log_cur_msg_loglevel());
  std::string_view left(text, size);
  while (!left.empty()) {
    const std::size_t end = std::min(left.find('\n'), left.size());
    const std::string_view line = left.substr(0, end);
    if (!line.empty()) log::write(level, {{"source", "dpdk"}}, std::string(line));
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return static_cast<ssize_t>(size);
}

}  // namespace

void take_dpdk_log() {
  static std::FILE* stream = ::fopencookie(nullptr, "w", cookie_io_functions_t{.read = nullptr, .write = on_write});
  if (stream != nullptr) rte_openlog_stream(stream);
}

}  // namespace splitplane::datapath
