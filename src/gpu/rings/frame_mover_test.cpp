// A processor's DMA between a stage and the ring engines. Every frame comes back unchanged, wherever its first octet
// is, with one lane and with the 32 of a warp. A full stage and a ring without descriptors delay it and lose nothing.
#include "gpu/rings/frame_mover.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "gpu/rings/test_nic.h"
#include "gpu/rings/test_warp.h"

namespace splitplane::gpu {
namespace {

using test::Bytes;
using test::numbered_frame;

// Removes octets from the front, as gnb-headers does, so frames begin anywhere in their slot.
struct Shorten {
  template <class Lane>
  Verdict process(Lane /*lane*/, Frame& frame) {
    const std::uint32_t off = frame.data[0] % 20;
    frame.data += off;
    frame.length -= off;
    return Verdict::send;
  }
};
Bytes shortened(const Bytes& frame) {
  return {frame.begin() + frame[0] % 20, frame.end()};
}

struct Staged {
  static constexpr std::uint32_t kPlaces = 16, kStride = 2048 + kStagePiece;
  Staged() : memory(static_cast<std::uint8_t*>(std::aligned_alloc(128, kBytes))) {
    std::memset(memory.get(), 0, kBytes);
    stage = Stage::lay_out(memory.get(), kPlaces, kStride);
  }
  struct Free {
    void operator()(std::uint8_t* p) const { std::free(p); }
  };
  static constexpr std::size_t kBytes = (Stage::needs(kPlaces, kStride) + 127) / 128 * 128;
  std::unique_ptr<std::uint8_t, Free> memory;
  Stage stage;
};

struct Rig {
  test::Bench bench{{.ring_size = 32, .slots = 96, .doorbell_within_ns = 0}};
  RingSet<Shorten> engines{bench.rings, Shorten{}, bench.view.stop};
  Staged in, out;
  StageWriter writer{in.stage};
  StageReader reader{out.stage};
  std::uint64_t now = 1;
  std::vector<Bytes> sent, back;

  std::size_t size_of(std::uint64_t number) const { return 60 + number * 37 % 1440; }
  // As many as there is room for.
  void offer(std::uint64_t until) {
    while (sent.size() < until) {
      Bytes frame = numbered_frame(sent.size(), size_of(sent.size()));
      if (!writer.put(frame.data(), static_cast<std::uint32_t>(frame.size()))) break;
      sent.push_back(shortened(frame));
    }
    writer.publish();
  }
  void collect(std::uint32_t most = 1000) {
    const std::uint32_t n = least(reader.ready(), most);
    for (std::uint32_t i = 0; i < n; ++i) {
      std::uint32_t bytes = 0;
      const std::uint8_t* const at = reader.frame(i, bytes);
      back.emplace_back(at, at + bytes);
    }
    reader.take(n);
  }
};

TEST(FrameMover, brings_each_frame_through_the_engines_and_back) {
  Rig rig;
  ReceiveMover<CpuLane> receive(rig.bench.rings[0], rig.in.stage);
  TransmitMover<CpuLane> transmit(rig.bench.rings[0], rig.out.stage);
  constexpr std::uint64_t kFrames = 3000;
  for (int round = 0; round < 100'000 && rig.back.size() < kFrames; ++round) {
    rig.offer(kFrames);
    (void)receive.step(CpuLane{});
    (void)rig.engines.step(rig.now += 100);
    (void)transmit.step(CpuLane{});
    if (round % 7 == 0) rig.collect(5);  // a slow far end: the stage is full now and then
  }
  EXPECT_EQ(rig.back, rig.sent);
  EXPECT_EQ(rig.back.size(), kFrames);
}

TEST(FrameMover, waits_for_descriptors_and_for_a_place) {
  Rig rig;
  ReceiveMover<CpuLane> receive(rig.bench.rings[0], rig.in.stage);
  rig.offer(16);
  EXPECT_EQ(rig.sent.size(), 16U) << "as many as a stage has places";
  EXPECT_EQ(receive.step(CpuLane{}), 0U) << "no engine has given descriptors yet";
  (void)rig.engines.step(rig.now += 100);
  std::uint32_t moved = 0;
  for (int i = 0; i < 40; ++i) moved += receive.step(CpuLane{});
  EXPECT_EQ(moved, 16U);
  TransmitMover<CpuLane> transmit(rig.bench.rings[0], rig.out.stage);
  for (int i = 0; i < 200; ++i) {
    rig.offer(1000);
    (void)receive.step(CpuLane{});
    (void)rig.engines.step(rig.now += 100);
    (void)transmit.step(CpuLane{});
  }
  EXPECT_EQ(rig.reader.ready(), Staged::kPlaces) << "nobody collects: the stage is full, and nothing is written over";
  rig.collect();
  for (std::size_t i = 0; i < rig.back.size(); ++i) EXPECT_EQ(rig.back[i], rig.sent[i]) << i;
}

TEST(FrameMover, a_frame_longer_than_a_place_is_not_put) {
  Staged staged;
  StageWriter writer(staged.stage);
  const Bytes longest(Staged::kStride - kStagePiece), longer(Staged::kStride - kStagePiece + 1);
  EXPECT_TRUE(writer.put(longest.data(), static_cast<std::uint32_t>(longest.size())));
  EXPECT_FALSE(writer.put(longer.data(), static_cast<std::uint32_t>(longer.size())));
}

// The movers as a warp: 32 lanes bring the same frames as one lane, in the same order, 32 at a time.
TEST(FrameMover, a_warp_brings_what_one_lane_brings) {
  Rig rig;
  constexpr std::uint64_t kFrames = 150;
  std::atomic<bool> done{false};
  test::run_warp([&](test::TestLane lane) {
    ReceiveMover<test::TestLane> receive(rig.bench.rings[0], rig.in.stage);
    TransmitMover<test::TestLane> transmit(rig.bench.rings[0], rig.out.stage);
    for (;;) {
      if (lane.id == 0) {
        rig.offer(kFrames);
        (void)rig.engines.step(rig.now += 100);
        rig.collect();
        done = rig.back.size() == kFrames;
      }
      lane.sync();
      if (done) break;
      (void)receive.step(lane);
      lane.sync();
      if (lane.id == 0) {
        for (int i = 0; i < 4; ++i) (void)rig.engines.step(rig.now += 100);
      }
      lane.sync();
      (void)transmit.step(lane);
      lane.sync();
    }
  });
  EXPECT_EQ(rig.back, rig.sent);
}

// Host, movers and engines on separate threads: the memory order of the movers, for ThreadSanitizer.
TEST(FrameMover, keeps_its_order_among_threads) {
  Rig rig;
  constexpr std::uint64_t kFrames = 4000;
  std::atomic<bool> stop{false};
  std::thread engines([&] {
    while (!stop.load(std::memory_order_relaxed)) {
      (void)rig.engines.step(rig.now += 100);
      std::this_thread::yield();
    }
  });
  std::thread movers([&] {
    ReceiveMover<CpuLane> receive(rig.bench.rings[0], rig.in.stage);
    TransmitMover<CpuLane> transmit(rig.bench.rings[0], rig.out.stage);
    while (!stop.load(std::memory_order_relaxed)) {
      if (receive.step(CpuLane{}) + transmit.step(CpuLane{}) == 0) std::this_thread::yield();
    }
  });
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (rig.back.size() < kFrames && std::chrono::steady_clock::now() < until) {
    rig.offer(kFrames);
    rig.collect();
    std::this_thread::yield();
  }
  stop = true;
  engines.join();
  movers.join();
  EXPECT_EQ(rig.back, rig.sent);
}

}  // namespace
}  // namespace splitplane::gpu
