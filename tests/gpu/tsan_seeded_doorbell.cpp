// The ring driver with a deliberate fault: a tail register written without release order, so that a NIC may read
// descriptors that are not there yet. ThreadSanitizer must report it; with the argument "clean" the driver is as it
// ships, and nothing may be reported.
#include <cstdio>
#include <cstring>

#include "gpu/rings/test_nic.h"

namespace splitplane::gpu {

struct RelaxedDoorbell {
  static void ring(std::uint32_t* tail_register, std::uint32_t value) { store_relaxed(tail_register, value); }
};

template <class Doorbell>
bool bounce(std::uint64_t packets) {
  test::Bench bench(RingSettings{.ring_size = 64, .slots = 256});
  RingSet<Echo, Doorbell> rings(bench.rings, Echo{}, bench.view.stop);
  test::TestNic nic(bench.rings[0]);
  rings.start();
  std::uint64_t in = 0, out = 0;
  for (const std::uint64_t deadline = steady_ns() + 60'000'000'000; out < packets && steady_ns() < deadline;) {
    if (in < packets && in - out < 100 && nic.receive(test::numbered_frame(in, 64))) ++in;
    out += nic.transmit().size();
    if (in - out >= 100 || in == packets) std::this_thread::yield();
  }
  std::printf("%llu of %llu came back\n", static_cast<unsigned long long>(out),
              static_cast<unsigned long long>(packets));
  return rings.stop(std::chrono::seconds(10)).has_value() && out == packets;
}

}  // namespace splitplane::gpu

int main(int argc, char** argv) {
  using namespace splitplane::gpu;
  const bool race = argc > 1 && std::strcmp(argv[1], "race") == 0;
  return (race ? bounce<RelaxedDoorbell>(5000) : bounce<ReleaseDoorbell>(5000)) ? 0 : 1;
}
