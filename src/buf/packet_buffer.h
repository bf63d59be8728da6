// What the entities require of a packet buffer: an rte_mbuf on the packet path (engine/mbuf_buffer.h), or heap memory
// in tests and tools (heap_buffer.h). A handle is at most one pointer wide, movable and never copied implicitly.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace splitplane::buf {

// What keeps a packet for a later retransmission needs no more than this: it never looks at the octets. In the
// buffering service a handle is a number of the worker's ledger (baas/kept.h).
template <class B>
concept Keepable =
    std::default_initializable<B> && std::is_nothrow_move_constructible_v<B> && std::is_nothrow_move_assignable_v<B> &&
    !std::is_copy_constructible_v<B> && !std::is_copy_assignable_v<B> && requires(B buffer, const B view) {
      { static_cast<bool>(view) };  // false: empty
      // Returns a second handle to the same octets. They are immutable while both handles exist. Debug
      // builds store their checksum and stop the process when a handle is released over changed octets.
      { buffer.share() } noexcept -> std::same_as<B>;
      { buffer.release() } noexcept -> std::same_as<void>;  // gives the reference back; the handle is empty then
    };

// A buffer is one contiguous run of octets with room before and after. Its state decides which operations are allowed.
// The return value refuses an operation that is not allowed, and nothing changes:
//
//   state      how it comes about              octets     prepend append mutable_data   trim_*   split share release
//   own        made, or the others released    writable   yes                           yes      yes
//   part       split() made it                 immutable  no                            yes      yes
//   shared     share() made a second handle    immutable  no                            no       yes
//   empty      default, moved from, released   none       no                            no       no (empty again)
//
// A part that is shared is "shared" until one handle is left, then "part" again. It never becomes writable, because the
// octets beside it may belong to another part. An own buffer whose octets a split of another handle still uses counts
// as shared.
//
// With rte_mbuf: own is refcnt 1 and direct; part is refcnt 1 and indirect; shared is refcnt above 1. Both handles of a
// shared buffer are the same rte_mbuf, so neither may move its edges.
template <class B>
concept PacketBuffer = Keepable<B> && requires(B buffer, const B view, std::size_t n) {
  { view.data() } noexcept -> std::same_as<const std::uint8_t*>;  // first octet
  { view.size() } noexcept -> std::same_as<std::size_t>;
  { view.writable() } noexcept -> std::same_as<bool>;                 // state "own"
  { view.headroom() } noexcept -> std::same_as<std::size_t>;          // what prepend can give; 0 unless own
  { view.tailroom() } noexcept -> std::same_as<std::size_t>;          // what append can give; 0 unless own
  { buffer.mutable_data() } noexcept -> std::same_as<std::uint8_t*>;  // nullptr unless own
  // Grows by n octets. Returns the first new one, or nullptr if the buffer is not own or has too
  // little room. Their content is unspecified.
  { buffer.prepend(n) } noexcept -> std::same_as<std::uint8_t*>;
  { buffer.append(n) } noexcept -> std::same_as<std::uint8_t*>;
  // Shrinks by n octets. Returns false if the buffer is shared or shorter than that.
  { buffer.trim_front(n) } noexcept -> std::same_as<bool>;
  { buffer.trim_back(n) } noexcept -> std::same_as<bool>;
  // Keeps the first n octets here and returns the rest. Both are parts of the same storage from
  // then on; no other handle sees a difference. Returns an empty handle and changes nothing if n
  // is above size() or no buffer is left.
  { buffer.split(n) } noexcept -> std::same_as<B>;
};

template <PacketBuffer B>
[[nodiscard]] std::span<const std::uint8_t> octets(const B& buffer) noexcept {
  return {buffer.data(), buffer.size()};
}

// Fetches into the cache what size() and data() look at, if the model of the buffer can.
template <Keepable B>
void prefetch(const B& buffer) noexcept {
  if constexpr (requires { buffer.prefetch(); }) buffer.prefetch();
}

// Releases all of `buffers`, together if that costs the model less than one by one.
template <Keepable B>
void release_all(std::span<B> buffers) noexcept {
  if constexpr (requires { B::release_all(buffers); }) {
    B::release_all(buffers);
  } else {
    for (B& buffer : buffers) buffer.release();
  }
}

// Checksum of a frozen buffer (FNV-1a, 64 bits). It finds stray writes of our own code and does not protect against an
// attacker.
[[nodiscard]] inline std::uint64_t freeze_sum(std::span<const std::uint8_t> data) noexcept {
  std::uint64_t sum = 0xcbf29ce484222325U;
  for (const std::uint8_t octet : data) sum = (sum ^ octet) * 0x100000001b3U;
  return sum;
}

}  // namespace splitplane::buf
