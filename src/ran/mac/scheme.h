// A scheme of multiplexing: how subPDUs become a transport block. Downlink and Uplink choose what goes into a block and
// know no scheme; it is a template argument, so no call is virtual. There are four:
//
//   Gather  gather.h                 copies each payload once, straight into the block; the default
//   Iov     iov.h                    copies no payload: a scatter list, and references until the block is released
//   Chain   chained/chain.h          DPDK: chains all subPDUs, then makes them one piece
//   ChainLinearize  chained/chain.h  DPDK: makes one piece after each subPDU
#pragma once

#include <concepts>
#include <cstdint>

#include "ran/rlc/types.h"
#include "wire/mac.h"

namespace splitplane::ran::mac {

using rlc::Time;
using wire::MutableOctets;
using wire::Octets;

// The largest transport block that is asked for; TS 38.214 5.1.3.2 has one of 1,277,992 bits.
inline constexpr std::size_t kMostBlockBytes = std::size_t{160} << 10;

// begin(block, bytes) starts a block of exactly `bytes` octets; false: the scheme cannot make it, and says why in its
// counters. Then, in the order of the wire:
//   sdu(channel, pdu)  an SDU of a logical channel, with its subheader. The caller has checked that both fit room().
//   open(n), close(m)  room for at most n octets that the caller writes itself, of which it used m. open() may give
//                      less, also nothing.
// finish() fills the rest with padding. flush() completes all blocks that were finished since the last flush(). Until
// then a scheme may still have to copy payload, so the memory of its blocks must stay. A scheme that is destroyed
// before leaves them incomplete. room() is what is left of the block. It is 0 if the scheme has no memory for another
// subPDU.
template <class S, class B>
concept Scheme = requires(S scheme, const S view, typename S::Block& block, rlc::Pdu<B>& pdu, std::size_t n) {
  { scheme.begin(block, n) } -> std::same_as<bool>;
  { view.room() } -> std::same_as<std::size_t>;
  scheme.sdu(std::uint32_t{}, std::move(pdu));
  { scheme.open(n) } -> std::same_as<MutableOctets>;
  scheme.close(n);
  { scheme.finish() } -> std::same_as<std::size_t>;  // octets of padding
  scheme.flush();
  { view.copied_octets() } -> std::same_as<std::uint64_t>;  // of payload, since the start
};

}  // namespace splitplane::ran::mac
