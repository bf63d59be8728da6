// For tests only: a buffering service on the test's own thread, and the rings to it. It can be killed at any point, and
// another one started.
#pragma once

#include <memory>
#include <string>

#include "baas/buffering.h"
#include "baas/shared.h"

namespace splitplane::baas::test {

class TestService {
 public:
  struct Settings {
    std::size_t max_copies = 16384;
    unsigned entries = 1024;  // of each ring
    std::uint64_t ticks_per_ms = rte_get_tsc_hz() / 1000;
  };

  TestService() : TestService(Settings()) {}
  explicit TestService(const Settings& settings)
      : settings_(settings), to_service_(make("s", settings.entries)), to_worker_(make("w", settings.entries)) {}

  [[nodiscard]] Channel channel() const { return {to_service_.get(), to_worker_.get()}; }
  // As if its process were killed: what it knew is gone, and what lies on the rings stays there.
  void kill() { buffering.reset(); }
  void start() {
    buffering = std::make_unique<Buffering>(Buffering::Settings{.channels = {channel()},
                                                                .max_copies = settings_.max_copies,
                                                                .ticks_per_ms = settings_.ticks_per_ms,
                                                                .now = rte_rdtsc()},
                                            stats);
  }
  // Takes everything that is on the ring, and flushes.
  void round() {
    while (take_some() != 0) {
    }
    flush();
  }
  unsigned take_some() {
    if (!buffering) return 0;
    datapath::Burst burst;
    Buffering::Queue& queue = buffering->queues().front();
    if (queue.receive(burst) != 0) buffering->process(queue, burst);
    return burst.size;
  }
  void flush() {
    if (buffering) buffering->flush();
  }

  std::unique_ptr<Buffering> buffering;
  datapath::WorkerStats stats;

 private:
  static MessageRing make(const char* name, unsigned entries) {
    static unsigned number = 0;
    return make_message_ring(std::string("t.") + name + std::to_string(number++), entries);
  }

  Settings settings_;
  MessageRing to_service_, to_worker_;
};

}  // namespace splitplane::baas::test
