#include "engine/dpdk_log.h"

#include <fmt/core.h>
#include <rte_log.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/log.h"
#include "engine/driver/dpdk_lines.h"

namespace splitplane::datapath {
namespace {

thread_local std::string t_opening;  // the port that this thread opens now

DpdkLines& lines() {
  // It is never destroyed, because DPDK's threads may outlive objects that are destroyed at exit.
  static DpdkLines* const all =
      new DpdkLines([](spdlog::level::level_enum level, const std::string& port, const std::string& text) {
        if (port.empty()) {
          log::write(level, {{"source", "dpdk"}}, text);
        } else {
          log::write(level, {{"source", "dpdk"}, {"port", port}}, fmt::format("port {}: {}", port, text));
        }
      });
  return *all;
}

spdlog::level::level_enum level_of(int dpdk) {
  if (dpdk <= 0 || dpdk == static_cast<int>(RTE_LOG_NOTICE) || dpdk == static_cast<int>(RTE_LOG_INFO))
    return spdlog::level::info;
  if (dpdk <= static_cast<int>(RTE_LOG_ERR)) return spdlog::level::err;
  return dpdk == static_cast<int>(RTE_LOG_WARNING) ? spdlog::level::warn : spdlog::level::debug;
}

// DPDK calls it once for each message, with one line or sometimes several.
ssize_t on_write(void*, const char* text, std::size_t size) {
  const auto level = level_of(rte_log_cur_msg_loglevel());
  const auto now = DpdkLines::Clock::now();
  std::string_view left(text, size);
  while (!left.empty()) {
    const std::size_t end = std::min(left.find('\n'), left.size());
    const std::string_view line = left.substr(0, end);
    if (!line.empty()) lines().take(level, line, t_opening, now);
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return static_cast<ssize_t>(size);
}

}  // namespace

void take_dpdk_log() {
  if (spdlog::get("splitplane") == nullptr) return;  // a command without a log: standard output is its result
  static std::FILE* stream = ::fopencookie(nullptr, "w", cookie_io_functions_t{.read = nullptr, .write = on_write});
  if (stream != nullptr) rte_openlog_stream(stream);
}

void say_dpdk_repeats(bool all) {
  lines().say_repeats(DpdkLines::Clock::now(), all);
}

OpeningPort::OpeningPort(const std::string& port, const std::string& device) {
  t_opening = port;
  // "net_memif0,socket=/run/x,id=0": the device, and what has a path or an interface for its value.
  std::string_view left = device;
  for (bool first = true; !left.empty(); first = false) {
    const std::size_t end = std::min(left.find(','), left.size());
    const std::string_view part = left.substr(0, end);
    const std::size_t equals = part.find('=');
    if (first) lines().name_port(std::string(part), port);
    if (equals != std::string_view::npos) {
      const std::string_view key = part.substr(0, equals), value = part.substr(equals + 1);
      if (key == "iface" || value.starts_with('/')) lines().name_port(std::string(value), port);
    }
    left.remove_prefix(std::min(end + 1, left.size()));
  }
}

OpeningPort::~OpeningPort() {
  t_opening.clear();
}

void forget_dpdk_port(const std::string& port) {
  lines().forget_port(port);
}

}  // namespace splitplane::datapath
