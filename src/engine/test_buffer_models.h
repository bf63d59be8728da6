// For tests only: the two models of PacketBuffer behind one way of making buffers.
#pragma once

#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "buf/heap_buffer.h"
#include "engine/mbuf_buffer.h"
#include "engine/test_environment.h"

namespace splitplane::datapath::test {

// `size` is the largest content; in an mbuf, smaller content leaves the rest as tailroom.
struct BufferRoom {
  std::size_t headroom = 0, size = 1, tailroom = 0;
  unsigned limit = 16;
};

struct HeapModel {
  using Buffer = buf::HeapBuffer;
  static constexpr bool kChecks = true;
  static constexpr bool kStorageIsABuffer = false;  // the storage of a split one counts as a separate buffer
  explicit HeapModel(BufferRoom room)
      : pool({.headroom = room.headroom, .tailroom = room.tailroom, .limit = room.limit}) {}
  [[nodiscard]] Buffer make(const Bytes& octets) { return pool.make(octets); }
  [[nodiscard]] std::size_t live() const { return pool.live(); }
  [[nodiscard]] static std::size_t tailroom(const BufferRoom& room, std::size_t) { return room.tailroom; }
  buf::HeapPool pool;
};

struct MbufModel {
  using Buffer = MbufBuffer;
  static constexpr bool kChecks = kFreezeChecks;
  static constexpr bool kStorageIsABuffer = true;
  explicit MbufModel(BufferRoom r)
      : room(r), pool(r.limit, static_cast<std::uint16_t>(r.headroom + r.size + r.tailroom)) {}
  [[nodiscard]] Buffer make(const Bytes& octets) {
    Buffer buffer = MbufBuffer::make(pool.get(), octets.size(), room.headroom);
    if (buffer && !octets.empty()) std::memcpy(buffer.mutable_data(), octets.data(), octets.size());
    return buffer;
  }
  [[nodiscard]] std::size_t live() const { return pool.in_use(); }
  [[nodiscard]] static std::size_t tailroom(const BufferRoom& room, std::size_t size) {
    return room.size - size + room.tailroom;
  }
  BufferRoom room;
  Pool pool;
};

using BufferModels = testing::Types<HeapModel, MbufModel>;

inline Bytes sequence(std::size_t n) {
  Bytes octets(n);
  std::iota(octets.begin(), octets.end(), std::uint8_t{1});
  return octets;
}

template <class Buffer>
Bytes content(const Buffer& buffer) {
  const auto view = buf::octets(buffer);
  return {view.begin(), view.end()};
}

}  // namespace splitplane::datapath::test
