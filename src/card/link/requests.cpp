#include "card/link/requests.h"

#include <poll.h>

#include <algorithm>

namespace splitplane::app {

void CardRequestReader::begin(Take take) {
  if (rings_.empty() || thread_.joinable()) return;
  take_ = std::move(take);
  thread_ = std::thread([this] { serve(); });
}

void CardRequestReader::end() {
  stop_.store(true, std::memory_order_relaxed);
  wakeup_.wake();
  if (thread_.joinable()) thread_.join();
}

void CardRequestReader::serve() {
  while (!stop_.load(std::memory_order_relaxed)) {
    if (!take_all()) sleep();
  }
}

bool CardRequestReader::take_all() {
  constexpr std::size_t kMost = 1024;  // so that the link hears of the first ones soon
  std::vector<datapath::CardRequest> requests;
  for (datapath::CardRequests& ring : rings_) {
    while (requests.size() < kMost) {
      const auto request = ring.take();
      if (!request) break;
      requests.push_back(*request);
    }
  }
  if (requests.empty()) return false;
  take_(requests);
  return true;
}

void CardRequestReader::sleep() {
  wakeup_.announce();
  const bool has_work =
      stop_.load(std::memory_order_relaxed) || std::ranges::any_of(rings_, [](const auto& r) { return !r.empty(); });
  if (!has_work) {
    pollfd descriptor{.fd = wakeup_.fd(), .events = POLLIN, .revents = 0};
    // Without a descriptor it looks a thousand times a second.
    (void)::poll(&descriptor, 1, wakeup_.fd() < 0 ? 1 : -1);
    std::uint64_t count = 0;
    [[maybe_unused]] const auto read = ::read(wakeup_.fd(), &count, sizeof count);
  }
  wakeup_.awake();
}

}  // namespace splitplane::app
