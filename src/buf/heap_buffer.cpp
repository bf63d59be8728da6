// Two levels, as with mbufs. A Segment is the rte_mbuf (edges and a count of handles). A Storage is the data room of
// the direct mbuf (octets and a count of segments).
#include "buf/heap_buffer.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#if __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h>  // its macros are empty in a build without AddressSanitizer
#else
#define ASAN_POISON_MEMORY_REGION(address, size) (static_cast<void>(address), static_cast<void>(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) (static_cast<void>(address), static_cast<void>(size))
#endif

namespace splitplane::buf {

struct HeapBuffer::Storage {
  std::unique_ptr<std::uint8_t[]> room;
  std::size_t room_bytes = 0;
  std::atomic<std::uint32_t> refs{0};
  // The octets that must not change, and their checksum. They are written only while there is one handle, so no lock is
  // needed.
  std::span<const std::uint8_t> frozen;
  std::uint64_t sum = 0;
  bool is_frozen = false;
};

struct HeapBuffer::Segment {
  HeapPool* pool = nullptr;
  Storage* storage = nullptr;
  std::uint8_t* data = nullptr;
  std::size_t size = 0;
  bool part = false;  // an indirect mbuf
  std::atomic<std::uint32_t> refs{1};
};

namespace {

[[noreturn]] void die(const char* what) {
  std::fprintf(stderr, "heap_buffer: %s\n", what);
  std::abort();
}

}  // namespace

const std::uint8_t* HeapBuffer::data() const noexcept {
  return segment_ == nullptr ? nullptr : segment_->data;
}

std::size_t HeapBuffer::size() const noexcept {
  return segment_ == nullptr ? 0 : segment_->size;
}

bool HeapBuffer::may_trim() const noexcept {
  // acquire: all accesses of the other holders before their release are visible to this thread.
  return segment_ != nullptr && segment_->refs.load(std::memory_order_acquire) == 1 &&
         (segment_->part || segment_->storage->refs.load(std::memory_order_acquire) == 1);
}

bool HeapBuffer::writable() const noexcept {
  return may_trim() && !segment_->part;
}

std::size_t HeapBuffer::headroom() const noexcept {
  return writable() ? static_cast<std::size_t>(segment_->data - segment_->storage->room.get()) : 0;
}

std::size_t HeapBuffer::tailroom() const noexcept {
  return writable() ? segment_->storage->room_bytes - headroom() - segment_->size : 0;
}

std::uint8_t* HeapBuffer::mutable_data() noexcept {
  if (!writable()) return nullptr;
  thaw();
  return segment_->data;
}

std::uint8_t* HeapBuffer::prepend(std::size_t n) noexcept {
  if (!writable() || n > headroom()) return nullptr;
  thaw();
  segment_->data -= n;
  segment_->size += n;
  guard_room();
  return segment_->data;
}

std::uint8_t* HeapBuffer::append(std::size_t n) noexcept {
  if (!writable() || n > tailroom()) return nullptr;
  thaw();
  std::uint8_t* const added = segment_->data + segment_->size;
  segment_->size += n;
  guard_room();
  return added;
}

bool HeapBuffer::trim_front(std::size_t n) noexcept {
  if (!may_trim() || n > segment_->size) return false;
  if (!segment_->part) thaw();
  segment_->data += n;
  segment_->size -= n;
  guard_room();
  return true;
}

bool HeapBuffer::trim_back(std::size_t n) noexcept {
  if (!may_trim() || n > segment_->size) return false;
  if (!segment_->part) thaw();
  segment_->size -= n;
  guard_room();
  return true;
}

HeapBuffer HeapBuffer::share() noexcept {
  if (segment_ == nullptr) return {};
  if (writable()) freeze();  // otherwise the first share or split did it
  segment_->refs.fetch_add(1, std::memory_order_relaxed);
  return HeapBuffer(segment_);
}

HeapBuffer HeapBuffer::split(std::size_t at) noexcept {
  if (segment_ == nullptr || at > segment_->size) return {};
  HeapPool& pool = *segment_->pool;
  const bool own = writable();
  Segment* const tail = pool.take(segment_->storage);
  if (tail == nullptr) return {};
  HeapBuffer rest(tail);
  tail->part = true;
  tail->data = segment_->data + at;
  tail->size = segment_->size - at;
  if (segment_->part && may_trim()) {
    segment_->size = at;
    return rest;
  }
  // The other handles, or the storage's first segment, keep their edges, so the head gets a new segment too.
  Segment* const head = pool.take(segment_->storage);
  if (head == nullptr) return {};
  if (own) freeze();
  HeapBuffer first(head);
  head->part = true;
  head->data = segment_->data;
  head->size = at;
  std::swap(segment_, first.segment_);
  return rest;
}

void HeapBuffer::release() noexcept {
  if (segment_ == nullptr) return;
  if (!intact()) die("octets changed after they were shared");
  Segment* const segment = std::exchange(segment_, nullptr);
  if (segment->refs.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (Storage* const storage = segment->storage; storage->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    ASAN_UNPOISON_MEMORY_REGION(storage->room.get(), storage->room_bytes);
    delete storage;
  }
  HeapPool* const pool = segment->pool;
  delete segment;
  pool->live_.fetch_sub(1, std::memory_order_acq_rel);
}

bool HeapBuffer::intact() const noexcept {
  if (segment_ == nullptr || !segment_->storage->is_frozen) return true;
  return freeze_sum(segment_->storage->frozen) == segment_->storage->sum;
}

void HeapBuffer::freeze() noexcept {
  thaw();
  Storage& storage = *segment_->storage;
  storage.frozen = {segment_->data, segment_->size};
  storage.sum = freeze_sum(storage.frozen);
  storage.is_frozen = true;
}

void HeapBuffer::thaw() noexcept {
  if (!intact()) die("octets changed after they were shared");
  segment_->storage->is_frozen = false;
}

// AddressSanitizer then also reports an access to the head- and tailroom of the octets (the headroom in steps of 8).
void HeapBuffer::guard_room() noexcept {
  if (segment_->part) return;  // the rest of the room belongs to the other parts
  [[maybe_unused]] const Storage& storage = *segment_->storage;
  ASAN_POISON_MEMORY_REGION(storage.room.get(), storage.room_bytes);
  ASAN_UNPOISON_MEMORY_REGION(segment_->data, segment_->size);
}

HeapPool::~HeapPool() {
  if (const std::size_t left = live(); left != 0) {
    std::fprintf(stderr, "heap_buffer: %zu buffers were not released\n", left);
    std::abort();
  }
}

HeapBuffer::Segment* HeapPool::take(HeapBuffer::Storage* storage) noexcept {
  if (live_.fetch_add(1, std::memory_order_acq_rel) >= options_.limit) {
    live_.fetch_sub(1, std::memory_order_acq_rel);
    return nullptr;
  }
  auto* const segment = new (std::nothrow) HeapBuffer::Segment;
  if (segment == nullptr) {
    live_.fetch_sub(1, std::memory_order_acq_rel);
    return nullptr;
  }
  segment->pool = this;
  segment->storage = storage;
  storage->refs.fetch_add(1, std::memory_order_relaxed);
  return segment;
}

HeapBuffer HeapPool::make(std::size_t size) noexcept {
  const std::size_t extra = options_.headroom + options_.tailroom;
  if (extra < options_.headroom || size > std::numeric_limits<std::ptrdiff_t>::max() - extra) return {};
  std::unique_ptr<HeapBuffer::Storage> storage(new (std::nothrow) HeapBuffer::Storage);
  if (storage == nullptr) return {};
  storage->room_bytes = extra + size;
  storage->room.reset(new (std::nothrow) std::uint8_t[storage->room_bytes]);
  if (storage->room == nullptr) return {};
  std::memset(storage->room.get(), 0xa5, storage->room_bytes);
  HeapBuffer::Segment* const segment = take(storage.get());
  if (segment == nullptr) return {};
  segment->data = storage->room.get() + options_.headroom;
  segment->size = size;
  static_cast<void>(storage.release());  // the segment owns it now
  HeapBuffer buffer(segment);
  buffer.guard_room();
  return buffer;
}

HeapBuffer HeapPool::make(std::span<const std::uint8_t> content) noexcept {
  HeapBuffer buffer = make(content.size());
  if (buffer && !content.empty()) std::memcpy(buffer.segment_->data, content.data(), content.size());
  return buffer;
}

}  // namespace splitplane::buf
