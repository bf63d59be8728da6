// Compares what the device code computes with the host's build of the same source. It tests NEA2 on messages of many
// lengths, one warp each. It also tests descriptors that host and kernel exchange by DD bits and doorbells, with
// checked payload. Exit code: 0, 1 (a difference), or 77 (no GPU). It needs only headers of src/base, src/gpu and
// src/wire and an nvcc of 12.2 or later. So a machine with a GPU and no other library can compile it.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "gpu/cuda/device.h"
#include "gpu/rings/descriptor.h"
#include "gpu/rings/lane.h"
#include "gpu/rings/memory_order.h"
#include "crypto/device/nea2.h"

namespace splitplane::gpu {
namespace {

constexpr std::uint32_t kMessages = 64, kStride = 2048;

__global__ void nea2_kernel(const AesTable* table, const Aes128Key* key, std::uint8_t* messages,
                            const std::uint32_t* bytes) {
  __shared__ AesTable shared;
  for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) shared.column[i] = table->column[i];
  __syncwarp();
  nea2(threadIdx.x, 32, shared, *key, {blockIdx.x, 3, Direction::kDownlink},
       messages + std::size_t{blockIdx.x} * kStride, bytes[blockIdx.x]);
}

int check_nea2() {
  const std::uint8_t octets[16] = {0xd3, 0xc5, 0xd5, 0x92, 0x32, 0x7f, 0xb1, 0x1c,
                                   0x40, 0x35, 0xc6, 0x68, 0x0a, 0xf8, 0xc6, 0xd1};
  const Aes128Key key = expand_key(kAesTable, octets);
  auto shared = mapped_array<std::uint8_t>(kMessages * kStride);
  auto bytes = mapped_array<std::uint32_t>(kMessages);
  auto tables = mapped_array<AesTable>(1);
  auto keys = mapped_array<Aes128Key>(1);
  tables[0] = kAesTable;
  keys[0] = key;
  std::vector<std::uint8_t> plain(kMessages * kStride);
  for (std::size_t i = 0; i < plain.size(); ++i) plain[i] = static_cast<std::uint8_t>(i * 13 + i / 256);
  std::memcpy(shared.get(), plain.data(), plain.size());
  for (std::uint32_t m = 0; m < kMessages; ++m) bytes[m] = m * 24 + m % 7;
  nea2_kernel<<<kMessages, 32>>>(tables.get(), keys.get(), shared.get(), bytes.get());
  must(cudaGetLastError(), "nea2_kernel");
  must(cudaDeviceSynchronize(), "nea2_kernel");
  int wrong = 0;
  for (std::uint32_t m = 0; m < kMessages; ++m) {
    std::uint8_t* expected = plain.data() + std::size_t{m} * kStride;
    nea2(0, 1, kAesTable, key, {m, 3, Direction::kDownlink}, expected, bytes[m]);
    wrong += std::memcmp(expected, shared.get() + std::size_t{m} * kStride, kStride) != 0;
  }
  std::printf("nea2: %u messages by the device, %d differ from the host's\n", kMessages, wrong);
  return wrong;
}

struct Exchange {  // in host memory mapped into the device, with a line for each writer
  alignas(128) Descriptor descriptor;
  alignas(128) std::uint64_t payload[8];
  alignas(128) std::uint64_t answer[8];
  alignas(128) std::uint32_t tail;
  alignas(128) std::uint32_t stop;
};

// Sees DD, reads the payload, answers, clears DD and rings, as an rx engine does with one descriptor. It gives up after
// 10 s of the device's clock, so that a fault cannot hang the GPU.
__global__ void exchange_kernel(Exchange* x, std::uint32_t rounds) {
  std::uint64_t begin, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
  for (std::uint32_t round = 1; round <= rounds; ++round) {
    while (!rx_is_done(load_acquire(&x->descriptor.hi))) {
      asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
      if (load_relaxed(&x->stop) != 0 || now - begin > 10'000'000'000ULL) return;
    }
    for (unsigned i = 0; i < 8; ++i) x->answer[i] = x->payload[i] * 3 + 1;
    store_relaxed(&x->descriptor.hi, std::uint64_t{0});
    ring_doorbell(&x->tail, round);
  }
}

int check_exchange() {
  constexpr std::uint32_t kRounds = 100'000;
  auto memory = mapped_array<Exchange>(1);
  Exchange& x = memory[0];
  exchange_kernel<<<1, 1>>>(&x, kRounds);
  must(cudaGetLastError(), "exchange_kernel");
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(9);
  std::uint32_t round = 1;
  int wrong = 0;
  for (; round <= kRounds; ++round) {
    for (unsigned i = 0; i < 8; ++i) x.payload[i] = std::uint64_t{round} * 1'000'003 + i;
    store_release(&x.descriptor.hi, make_rx_write_back({.length = 64}).hi);
    while (load_acquire(&x.tail) != round && std::chrono::steady_clock::now() < deadline) {
    }
    if (load_acquire(&x.tail) != round) break;
    for (unsigned i = 0; i < 8; ++i) wrong += x.answer[i] != (std::uint64_t{round} * 1'000'003 + i) * 3 + 1;
  }
  store_release(&x.stop, 1U);
  must(cudaDeviceSynchronize(), "exchange_kernel");
  std::printf("doorbell: %u of %u rounds, %d answers wrong\n", round - 1, kRounds, wrong);
  return wrong + (round - 1 != kRounds);
}

}  // namespace
}  // namespace splitplane::gpu

int main() {
  using namespace splitplane::gpu;
  if (const auto why = why_no_gpu(); !why.empty()) {
    std::fprintf(stderr, "no GPU: %s\n", why.c_str());
    return kExitNoGpu;
  }
  try {
    return check_nea2() + check_exchange() == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "device_check: %s\n", error.what());
    return 1;
  }
}
