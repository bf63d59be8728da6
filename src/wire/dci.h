// Downlink control information of formats 1_0 and 0_0 with a CRC scrambled by the C-RNTI (TS 38.212 7.3.1.2.1 and
// 7.3.1.1.1), for a cell without a supplementary uplink and without shared spectrum. Bits are counted from the most
// significant one of the first octet; the CRC is not here.
//
//   1_0: 1(1) RIV(n) time row(4) VRB-to-PRB(1) MCS(5) NDI(1) RV(2) HARQ process(4) DAI(2) TPC(2) PUCCH resource(3)
//        PDSCH-to-HARQ timing(3)
//   0_0: 0(1) RIV(n) time row(4) hopping(1) MCS(5) NDI(1) RV(2) HARQ process(4) TPC(2) padding
//
// The formats have one size, so that the UE decodes for both at once. In a common search space that is the size of 1_0:
// 0_0 gets padding, or loses the most significant bits of its RIV. In a UE-specific one, the shorter format gets
// padding (7.3.1.0).
#pragma once

#include <algorithm>
#include <bit>

#include "wire/bytes.h"
#include "wire/result.h"

namespace splitplane::wire::dci {

enum class SearchSpace : std::uint8_t { kCommon, kUeSpecific };

// What the sizes depend on: PRBs of the bandwidth parts, 1..275 each. In a common search space the downlink one is
// CORESET 0, or the initial one.
struct Bandwidth {
  std::uint16_t dl_prbs = 0, ul_prbs = 0;
  SearchSpace search_space = SearchSpace::kUeSpecific;
};

// Consecutive PRBs of a bandwidth part.
struct Allocation {
  std::uint16_t first_prb = 0, prbs = 0;
  friend constexpr bool operator==(const Allocation&, const Allocation&) = default;
};

struct Format10 {
  Allocation allocation;
  std::uint8_t time_row = 0;        // of the PDSCH's time domain allocation list
  std::uint8_t interleaved = 0;     // VRB-to-PRB mapping
  std::uint8_t mcs = 0;             // 0..31
  std::uint8_t ndi = 0;             // toggles with each new transport block
  std::uint8_t rv = 0;              // 0..3
  std::uint8_t process = 0;         // 0..15
  std::uint8_t dai = 0;             // 0..3
  std::uint8_t tpc = 0;             // of the PUCCH, 0..3
  std::uint8_t pucch_resource = 0;  // 0..7
  std::uint8_t harq_timing = 0;     // 0..7: the HARQ-ACK comes 1..8 slots later (TS 38.213 9.2.3)
  friend constexpr bool operator==(const Format10&, const Format10&) = default;
};

struct Format00 {
  Allocation allocation;
  std::uint8_t time_row = 0;  // of the PUSCH's time domain allocation list
  std::uint8_t mcs = 0;       // 0..31
  std::uint8_t ndi = 0;
  std::uint8_t rv = 0;
  std::uint8_t process = 0;
  std::uint8_t tpc = 0;  // of the PUSCH
  friend constexpr bool operator==(const Format00&, const Format00&) = default;
};

// How many resource indication values there are, and the bits of one.
[[nodiscard]] constexpr std::uint32_t rivs(std::uint32_t bwp_prbs) {
  return bwp_prbs * (bwp_prbs + 1) / 2;
}
[[nodiscard]] constexpr unsigned riv_bits(std::uint32_t bwp_prbs) {
  return bwp_prbs == 0 ? 0 : static_cast<unsigned>(std::bit_width(rivs(bwp_prbs) - 1));
}

// TS 38.214 5.1.2.2.2 and 6.1.2.2.2. The allocation has 1 PRB at least and is within the bandwidth part.
[[nodiscard]] constexpr std::uint32_t riv_of(const Allocation& a, std::uint32_t bwp_prbs) {
  const std::uint32_t begin = a.first_prb, above = a.prbs - 1U;
  return above <= bwp_prbs / 2 ? bwp_prbs * above + begin : bwp_prbs * (bwp_prbs - above) + (bwp_prbs - 1 - begin);
}
// `riv` is less than rivs(bwp_prbs).
[[nodiscard]] constexpr Allocation allocation_of(std::uint32_t riv, std::uint32_t bwp_prbs) {
  const std::uint32_t quotient = riv / bwp_prbs, rest = riv % bwp_prbs;
  if (quotient + rest < bwp_prbs) {
    return {static_cast<std::uint16_t>(rest), static_cast<std::uint16_t>(quotient + 1)};
  }
  return {static_cast<std::uint16_t>(bwp_prbs - 1 - rest), static_cast<std::uint16_t>(bwp_prbs + 1 - quotient)};
}

namespace detail {

inline constexpr unsigned kFixed10 = 28, kFixed00 = 20;  // bits besides the RIV and the padding

// A DCI has at most 44 bits here: they are gathered in a word.
struct BitWriter {
  std::uint64_t word = 0;
  unsigned bits = 0;
  bool fits = true;

  constexpr void put(std::uint32_t value, unsigned count) {
    fits = fits && (value >> count) == 0;
    word = word << count | value;
    bits += count;
  }
};

struct BitReader {
  std::uint64_t word;
  unsigned left;

  constexpr std::uint32_t get(unsigned count) {
    left -= count;
    return static_cast<std::uint32_t>(word >> left & ((std::uint64_t{1} << count) - 1));
  }
  constexpr std::uint8_t get8(unsigned count) { return static_cast<std::uint8_t>(get(count)); }
};

[[nodiscard]] constexpr bool is_within(const Allocation& a, std::uint32_t bwp_prbs) {
  return a.prbs != 0 && std::uint32_t{a.first_prb} + a.prbs <= bwp_prbs;
}

}  // namespace detail

// Bits of both formats.
[[nodiscard]] constexpr unsigned size_bits(const Bandwidth& b) {
  const unsigned size10 = detail::kFixed10 + riv_bits(b.dl_prbs);
  const unsigned size00 = detail::kFixed00 + riv_bits(b.ul_prbs);
  return b.search_space == SearchSpace::kCommon ? size10 : std::max(size10, size00);
}

namespace detail {

// Bits of the RIV in format 0_0: all, unless they are cut off in front.
[[nodiscard]] constexpr unsigned riv_bits00(const Bandwidth& b) {
  return std::min(riv_bits(b.ul_prbs), size_bits(b) - kFixed00);
}

// Fills the DCI with zeros up to its size. Returns the size, or 0 if it does not fit or a value has too many bits.
constexpr unsigned finish(MutableOctets out, BitWriter& w, unsigned size) {
  if (!w.fits || out.size() < (size + 7) / 8) return 0;
  w.put(0, size - w.bits);
  for (unsigned at = 0; at < size; at += 8) {
    out[at / 8] = static_cast<std::uint8_t>(at + 8 <= size ? w.word >> (size - at - 8) : w.word << (at + 8 - size));
  }
  return size;
}

[[nodiscard]] constexpr BitReader begin(Octets in, unsigned size) {
  BitReader r{0, size};
  for (unsigned at = 0; at < size; at += 8) {
    r.word = at + 8 <= size ? r.word << 8 | in[at / 8] : r.word << (size - at) | in[at / 8] >> (at + 8 - size);
  }
  return r;
}

}  // namespace detail

// Writes the DCI; the last bits of the last octet are 0. Returns size_bits(), or 0 if a value is out of range, if the
// span is too short, or if the RIV needs bits that were cut off.
constexpr unsigned write(MutableOctets out, const Format10& f, const Bandwidth& b) {
  if (!detail::is_within(f.allocation, b.dl_prbs)) return 0;
  detail::BitWriter w;
  w.put(1, 1);
  w.put(riv_of(f.allocation, b.dl_prbs), riv_bits(b.dl_prbs));
  w.put(f.time_row, 4);
  w.put(f.interleaved, 1);
  w.put(f.mcs, 5);
  w.put(f.ndi, 1);
  w.put(f.rv, 2);
  w.put(f.process, 4);
  w.put(f.dai, 2);
  w.put(f.tpc, 2);
  w.put(f.pucch_resource, 3);
  w.put(f.harq_timing, 3);
  return detail::finish(out, w, size_bits(b));
}

constexpr unsigned write(MutableOctets out, const Format00& f, const Bandwidth& b) {
  if (!detail::is_within(f.allocation, b.ul_prbs)) return 0;
  detail::BitWriter w;
  w.put(0, 1);
  w.put(riv_of(f.allocation, b.ul_prbs), detail::riv_bits00(b));
  w.put(f.time_row, 4);
  w.put(0, 1);  // no frequency hopping
  w.put(f.mcs, 5);
  w.put(f.ndi, 1);
  w.put(f.rv, 2);
  w.put(f.process, 4);
  w.put(f.tpc, 2);
  return detail::finish(out, w, size_bits(b));
}

// Reads a DCI of `bits` bits. The span may be longer than they need.
[[nodiscard]] constexpr Result<Format10> parse_1_0(Octets in, unsigned bits, const Bandwidth& b) {
  if (bits != size_bits(b) || in.size() < (bits + 7) / 8) return refuse<Format10>(Reason::dci_bad_size);
  detail::BitReader r = detail::begin(in, bits);
  if (r.get(1) != 1) return refuse<Format10>(Reason::dci_other_format);
  const std::uint32_t riv = r.get(riv_bits(b.dl_prbs));  // all ones are an order for random access
  if (riv >= rivs(b.dl_prbs)) return refuse<Format10>(Reason::dci_bad_allocation);
  Format10 f{.allocation = allocation_of(riv, b.dl_prbs)};
  f.time_row = r.get8(4);
  f.interleaved = r.get8(1);
  f.mcs = r.get8(5);
  f.ndi = r.get8(1);
  f.rv = r.get8(2);
  f.process = r.get8(4);
  f.dai = r.get8(2);
  f.tpc = r.get8(2);
  f.pucch_resource = r.get8(3);
  f.harq_timing = r.get8(3);
  if (r.get(r.left) != 0) return refuse<Format10>(Reason::dci_bad_padding);
  return {f};
}

[[nodiscard]] constexpr Result<Format00> parse_0_0(Octets in, unsigned bits, const Bandwidth& b) {
  if (bits != size_bits(b) || in.size() < (bits + 7) / 8) return refuse<Format00>(Reason::dci_bad_size);
  detail::BitReader r = detail::begin(in, bits);
  if (r.get(1) != 0) return refuse<Format00>(Reason::dci_other_format);
  const std::uint32_t riv = r.get(detail::riv_bits00(b));
  if (riv >= rivs(b.ul_prbs)) return refuse<Format00>(Reason::dci_bad_allocation);
  Format00 f{.allocation = allocation_of(riv, b.ul_prbs)};
  f.time_row = r.get8(4);
  if (r.get(1) != 0) return refuse<Format00>(Reason::dci_hopping);
  f.mcs = r.get8(5);
  f.ndi = r.get8(1);
  f.rv = r.get8(2);
  f.process = r.get8(4);
  f.tpc = r.get8(2);
  if (r.get(r.left) != 0) return refuse<Format00>(Reason::dci_bad_padding);
  return {f};
}

}  // namespace splitplane::wire::dci
