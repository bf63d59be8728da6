#include "base/patient_write.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>

namespace splitplane {

bool write_patiently(int descriptor, std::string_view text, const std::function<bool()>& go_on) {
  constexpr int kLookMs = 200;
  while (!text.empty()) {
    pollfd room{descriptor, POLLOUT, 0};
    if (::poll(&room, 1, kLookMs) <= 0) {
      if (!go_on()) return false;
      continue;
    }
    // A pipe with room takes PIPE_BUF octets at once (pipe(7)), so that this write does not wait.
    const ssize_t n = ::write(descriptor, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
    if (n < 0 && errno != EINTR && errno != EAGAIN) return true;
    text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
  }
  return true;
}

bool write_last_words(int descriptor, std::string_view text) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  return write_patiently(descriptor, text, [end] { return std::chrono::steady_clock::now() < end; });
}

}  // namespace splitplane
