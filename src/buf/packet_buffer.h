// What the entities ask of a packet, whatever holds it: an rte_mbuf on the packet path (datapath/), heap memory in
// tests and tools (heap_buffer.h). A handle is one pointer wide, movable and never copied implicitly.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace splitplane::buf {

// A buffer is one contiguous run of octets with room before and behind. Its state decides what is allowed, and what is
// not allowed is refused by the return value and changes nothing:
//
//   state      how it comes about              octets     prepend append mutable_data   trim_*   split share release
//   own        made, or the others released    writable   yes                           yes      yes
//   part       split() made it                 immutable  no                            yes      yes
//   shared     share() made a second handle    immutable  no                            no       yes
//   empty      default, moved from, released   none       no                            no       no (empty again)
//
// A part that is shared is "shared" until it is alone, then "part" again: the octets beside it may belong to another
// part, so it never becomes writable. An own buffer whose octets a split of another handle still uses counts as shared.
//
// With rte_mbuf: own is refcnt 1 and direct; part is refcnt 1 and indirect; shared is refcnt above 1, both handles
// being the same rte_mbuf, which is why neither may move its edges.
template <class B>
concept PacketBuffer = std::default_initializable<B> && std::is_nothrow_move_constructible_v<B> &&
                       std::is_nothrow_move_assignable_v<B> && !std::is_copy_constructible_v<B> &&
                       !std::is_copy_assignable_v<B> && requires(B buffer, const B view, std::size_t n) {
                         { static_cast<bool>(view) };                                    // false: empty
                         { view.data() } noexcept -> std::same_as<const std::uint8_t*>;  // first octet
                         { view.size() } noexcept -> std::same_as<std::size_t>;
                         { view.writable() } noexcept -> std::same_as<bool>;  // state "own"
                         {
                           view.headroom()
                         } noexcept -> std::same_as<std::size_t>;  // what prepend can give; 0 unless own
                         {
                           view.tailroom()
                         } noexcept -> std::same_as<std::size_t>;  // what append can give; 0 unless own
                         { buffer.mutable_data() } noexcept -> std::same_as<std::uint8_t*>;  // nullptr unless own
                         // Grows by n octets; their first one, or nullptr if not own or too little room. Their content
                         // is unspecified.
                         { buffer.prepend(n) } noexcept -> std::same_as<std::uint8_t*>;
                         { buffer.append(n) } noexcept -> std::same_as<std::uint8_t*>;
                         // Shrinks by n octets; false if shared or shorter than that.
                         { buffer.trim_front(n) } noexcept -> std::same_as<bool>;
                         { buffer.trim_back(n) } noexcept -> std::same_as<bool>;
                         // A second handle to the same octets. From then they are immutable as long as both exist;
                         // debug builds remember their checksum and stop the process when a handle is released over
                         // changed octets.
                         { buffer.share() } noexcept -> std::same_as<B>;
                         // Keeps the first n octets here and returns the rest; both are parts of the same storage from
                         // then on, and no other handle sees a difference. Empty, and nothing changed, if n is above
                         // size() or no buffer is left.
                         { buffer.split(n) } noexcept -> std::same_as<B>;
                         {
                           buffer.release()
                         } noexcept -> std::same_as<void>;  // gives the reference back; the handle is empty then
                       };

template <PacketBuffer B>
[[nodiscard]] std::span<const std::uint8_t> octets(const B& buffer) noexcept {
  return {buffer.data(), buffer.size()};
}

// Checksum of a frozen buffer (FNV-1a, 64 bits): finds our own stray writes, proves nothing against an attacker.
[[nodiscard]] inline std::uint64_t freeze_sum(std::span<const std::uint8_t> data) noexcept {
  std::uint64_t sum = 0xcbf29ce484222325U;
  for (const std::uint8_t octet : data) sum = (sum ^ octet) * 0x100000001b3U;
  return sum;
}

}  // namespace splitplane::buf
