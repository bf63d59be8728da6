// The scheme `gather` for SDUs that PDCP left in clear: the payload is ciphered from the SDU's buffer into the block,
// in one pass instead of two. NEA2 can begin at each block of 16 octets, so segments and retransmissions work as well.
#pragma once

#include <cassert>
#include <cstring>

#include "crypto/engine.h"
#include "ran/mac/copy.h"
#include "ran/mac/scheme.h"

namespace splitplane::ran::mac {

// How an SDU of RLC, which is a PDU of PDCP, has to be ciphered (TS 38.323 5.8).
struct Ciphering {
  const crypto::CipherKey* key = nullptr;  // of NEA2 or NEA0; nullptr: the SDU is copied as it is
  Count count;
  std::uint8_t bearer = 0;  // radio bearer identity - 1
  Direction direction = Direction::kDownlink;
  std::uint16_t clear_octets = 0;  // at the front: the headers of PDCP and SDAP. MAC-I, at the end, is ciphered
};

// The COUNT of a PDU that was sent at most half a number space ago, from the SN in its header. So the buffer needs to
// carry no COUNT. `next` is TX_NEXT of its PDCP entity (TS 38.323 7.1).
[[nodiscard]] constexpr Count sent_count(Count next, std::uint32_t sn, unsigned sn_bits) {
  const std::uint32_t last = next.value - 1;
  return {last - ((last - sn) & ((1U << sn_bits) - 1))};
}

// `Of` is called as of(channel, Octets of the whole SDU) and returns the Ciphering. It is called when the SDU's first
// octets have been fetched. A block is complete at flush().
template <buf::PacketBuffer B, class Of>
class CipherGather {
 public:
  using Block = MutableOctets;

  CipherGather(crypto::Engine& engine, Of of) : engine_(engine), of_(std::move(of)) {}
  CipherGather(const CipherGather&) = delete;
  CipherGather& operator=(const CipherGather&) = delete;

  [[nodiscard]] bool begin(Block& block, std::size_t bytes) {
    if (block.size() < bytes) return false;
    at_ = block.data();
    end_ = at_ + bytes;
    return true;
  }
  [[nodiscard]] std::size_t room() const { return static_cast<std::size_t>(end_ - at_); }

  void sdu(std::uint32_t channel, rlc::Pdu<B>&& pdu) {
    assert(wire::mac::sdu_subheader_bytes(channel, pdu.size()) + pdu.size() <= room());
    std::uint8_t* to = wire::mac::put_sdu_subheader(at_, channel, pdu.size());
    std::memcpy(to, pdu.header.data(), pdu.header_bytes);
    to += pdu.header_bytes;
    __builtin_prefetch(pdu.sdu.data());
    __builtin_prefetch(pdu.sdu.data() + pdu.offset);
    buf::prefetch(pdu.sdu);
    places_[waiting_] = {to, channel, pdu.offset, pdu.length};
    sdus_[waiting_] = std::move(pdu.sdu);
    at_ = to + pdu.length;
    if (++waiting_ == kTogether) flush();
  }
  [[nodiscard]] MutableOctets open(std::size_t most) { return {at_, std::min(most, room())}; }
  void close(std::size_t used) { at_ += used; }
  std::size_t finish() {
    const std::size_t padding = wire::mac::write_padding({at_, room()});
    at_ = end_;
    return padding;
  }

  void flush() {
    job_count_ = 0;
    for (unsigned i = 0; i < waiting_; ++i) prepare(i);
    const bool sound = engine_.cipher(std::span<const crypto::CipherJob>(jobs_.data(), job_count_));
    for (unsigned i = 0; i < waiting_; ++i) {
      const Place& place = places_[i];
      if (place.head_octets != 0) [[unlikely]] {
        std::memcpy(place.to + place.head_at, heads_[i].data() + place.head_skip, place.head_octets);
      }
      if (!sound) [[unlikely]] {
        std::memset(place.to, 0, place.length);
        ++failed_;
      }
    }
    buf::release_all(std::span(sdus_.data(), waiting_));
    waiting_ = 0;
  }

  // Octets of payload that were copied and not ciphered on their way.
  [[nodiscard]] std::uint64_t copied_octets() const { return copied_octets_; }
  [[nodiscard]] std::uint64_t ciphered_octets() const { return ciphered_octets_; }
  // SDUs of bursts that the engine refused: their payload is zero, so that nothing leaves in clear.
  [[nodiscard]] std::uint64_t failed() const { return failed_; }

 private:
  static constexpr unsigned kTogether = crypto::Engine::kBurst;
  static constexpr unsigned kBlockOctets = 16;  // of AES

  // Where the payload goes, and what of it comes from heads_: a segment may begin inside a block of the key stream.
  struct Place {
    std::uint8_t* to = nullptr;
    std::uint32_t channel = 0;
    std::uint16_t offset = 0, length = 0;
    std::uint16_t head_at = 0;
    std::uint8_t head_skip = 0, head_octets = 0;
  };

  void prepare(unsigned i) {
    Place& place = places_[i];
    const Octets sdu = buf::octets(sdus_[i]);
    const Ciphering ciphering = of_(place.channel, sdu);
    const std::uint32_t end = std::uint32_t{place.offset} + place.length;
    const std::uint32_t clear_end =
        ciphering.key == nullptr ? end : std::clamp<std::uint32_t>(ciphering.clear_octets, place.offset, end);
    const std::uint32_t clear = clear_end - place.offset;
    copy_payload(place.to, sdu.data() + place.offset, clear);
    copied_octets_ += clear;
    if (clear_end == end) return;
    ciphered_octets_ += end - clear_end;

    std::uint32_t from = clear_end;
    std::uint32_t block = (from - ciphering.clear_octets) / kBlockOctets;
    if (const std::uint32_t skip = (from - ciphering.clear_octets) % kBlockOctets; skip != 0) {
      const std::uint32_t octets = std::min(kBlockOctets - skip, end - from);
      place.head_at = static_cast<std::uint16_t>(clear);
      place.head_skip = static_cast<std::uint8_t>(skip);
      place.head_octets = static_cast<std::uint8_t>(octets);
      add(ciphering, block++, sdu.data() + from - skip, heads_[i].data(), skip + octets);
      from += octets;
    }
    if (from != end) add(ciphering, block, sdu.data() + from, place.to + (from - place.offset), end - from);
  }
  void add(const Ciphering& c, std::uint32_t block, const std::uint8_t* in, std::uint8_t* out, std::uint32_t octets) {
    jobs_[job_count_++] = {.key = c.key,
                           .count = c.count,
                           .bearer = c.bearer,
                           .direction = c.direction,
                           .in = in,
                           .out = out,
                           .length = octets,
                           .first_block = block};
  }

  crypto::Engine& engine_;
  Of of_;
  std::uint8_t *at_ = nullptr, *end_ = nullptr;
  unsigned waiting_ = 0;
  std::size_t job_count_ = 0;
  std::uint64_t copied_octets_ = 0, ciphered_octets_ = 0, failed_ = 0;
  std::array<Place, kTogether> places_;
  std::array<B, kTogether> sdus_;
  std::array<std::array<std::uint8_t, kBlockOctets>, kTogether> heads_;
  std::array<crypto::CipherJob, std::size_t{2} * kTogether> jobs_;  // of an SDU at most two
};

}  // namespace splitplane::ran::mac
