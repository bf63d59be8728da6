// The scheme `gather`: one pass over the subPDUs. The length of a PDU is known when RLC hands it out, so its subheader
// and RLC header go to their final place at once, and the payload is copied once, from the SDU's buffer into the block.
#pragma once

#include <cassert>

#include "ran/mac/copy.h"
#include "ran/mac/scheme.h"

namespace splitplane::ran::mac {

// The payload follows a little later: sdu() fetches it, and the copies of kTogether SDUs are made together while the
// next ones are fetched, also across blocks. So a payload that is in no cache is on its way while other SDUs are
// pulled, and buffers are freed together.
template <buf::PacketBuffer B>
class Gather {
 public:
  using Block = MutableOctets;  // memory of the caller

  Gather() = default;
  Gather(const Gather&) = delete;
  Gather& operator=(const Gather&) = delete;

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
    constexpr std::size_t kHeader = wire::rlc::kMaxHeaderBytes;
    if (pdu.size() >= kHeader) [[likely]] {
      std::memcpy(to, pdu.header.data(), kHeader);  // what is beyond the header is overwritten by the payload
    } else {
      std::memcpy(to, pdu.header.data(), pdu.header_bytes);
    }
    to += pdu.header_bytes;
    const std::uint8_t* const from = pdu.sdu.data() + pdu.offset;
    __builtin_prefetch(from);
    for (std::size_t at = kLine; at < std::min<std::size_t>(pdu.length, kFetched); at += kLine) {
      __builtin_prefetch(from + at);
    }
    __builtin_prefetch(to, 1);
    buf::prefetch(pdu.sdu);
    copies_[next_] = {to, from, pdu.length};
    sdus_[next_] = std::move(pdu.sdu);
    at_ = to + pdu.length;
    copied_octets_ += pdu.length;
    if (++next_ % kTogether == 0) {
      next_ %= 2 * kTogether;
      copy(next_, std::exchange(older_, kTogether));
    }
  }

  [[nodiscard]] MutableOctets open(std::size_t most) { return {at_, std::min(most, room())}; }
  void close(std::size_t used) { at_ += used; }

  std::size_t finish() {
    const std::size_t padding = wire::mac::write_padding({at_, room()});
    at_ = end_;
    return padding;
  }

  void flush() {
    const unsigned newer = next_ % kTogether, first = next_ - newer;
    copy(first ^ kTogether, std::exchange(older_, 0));
    copy(first, newer);
    next_ = 0;
  }

  [[nodiscard]] std::uint64_t copied_octets() const { return copied_octets_; }

 private:
  static constexpr unsigned kTogether = 16;
  static constexpr std::size_t kLine = 64;
  static constexpr std::size_t kFetched = 8 * kLine;  // of a payload; the processor sees by then what follows
  struct Copy {
    std::uint8_t* to;
    const std::uint8_t* from;
    std::size_t octets;
  };

  // Copies the payload of SDUs that wait, and gives their buffers back.
  void copy(unsigned first, unsigned count) {
    if (count == 0) return;
    for (unsigned i = first; i < first + count; ++i) copy_payload(copies_[i].to, copies_[i].from, copies_[i].octets);
    buf::release_all(std::span(sdus_.data() + first, count));
  }

  std::uint8_t *at_ = nullptr, *end_ = nullptr;
  std::uint64_t copied_octets_ = 0;
  // Two groups of kTogether places. next_ is the place of the next SDU; the group beside it has older_ SDUs that wait.
  unsigned next_ = 0, older_ = 0;
  std::array<Copy, std::size_t{2} * kTogether> copies_;
  std::array<B, std::size_t{2} * kTogether> sdus_;
};

}  // namespace splitplane::ran::mac
