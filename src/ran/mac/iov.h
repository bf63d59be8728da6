// The scheme `iov`: no payload is copied. A block is a list of pieces for a PHY that takes one (pointer and length, as
// the TLVs of TX_DATA in SCF-222). Subheaders, RLC headers and control elements stand in the block's own small memory.
#pragma once

#include <cassert>
#include <utility>
#include <vector>

#include "ran/mac/control_element.h"
#include "ran/mac/copy.h"
#include "ran/mac/scheme.h"

namespace splitplane::ran::mac {

// One transport block as pieces. It owns a reference to each buffer that a piece points into, until release(): the
// owner of the HARQ process calls that when the block is acknowledged or given up. Until then the octets do not change,
// because RLC shares the buffers, and a shared buffer is immutable (buf/packet_buffer.h).
template <buf::PacketBuffer B>
class IovBlock {
 public:
  struct Piece {
    const std::uint8_t* data = nullptr;
    std::size_t octets = 0;
  };

  // Has no memory, and Iov::begin() refuses it. A HARQ process without a block holds such a one.
  IovBlock() = default;
  // Memory for `sdus` SDUs and for `own_octets` octets of control elements and STATUS PDUs, allocated here only.
  IovBlock(std::size_t sdus, std::size_t own_octets)
      : pieces_(2 * sdus + 2 + kMostBlockBytes / kZeros.size()),
        sdus_(sdus),
        own_(own_octets + sdus * kMostHeaders + kElements + 1) {}
  // The memory goes with the block, so the pieces stay valid, and nothing is allocated. The other one has none then.
  IovBlock(IovBlock&& other) noexcept { swap(other); }
  IovBlock& operator=(IovBlock&& other) noexcept {
    IovBlock taken(std::move(other));
    swap(taken);
    return *this;
  }
  IovBlock(const IovBlock&) = delete;
  IovBlock& operator=(const IovBlock&) = delete;
  ~IovBlock() = default;

  // The octets of the block in the order of the wire; there is no empty piece.
  [[nodiscard]] std::span<const Piece> pieces() const { return {pieces_.data(), piece_count_}; }
  [[nodiscard]] std::size_t size() const { return octets_; }
  // Copies the block to `out` of at least size() octets: for a PHY that takes one piece.
  void linearize(MutableOctets out) const {
    assert(out.size() >= octets_);
    std::uint8_t* to = out.data();
    for (const Piece& piece : pieces()) {
      copy_payload(to, piece.data, piece.octets);
      to += piece.octets;
    }
  }
  // Gives the references back; the block is empty then.
  void release() {
    buf::release_all(std::span(sdus_.data(), sdu_count_));
    sdu_count_ = piece_count_ = own_used_ = octets_ = 0;
  }

 private:
  template <buf::PacketBuffer Buffer>
  friend class Iov;

  static constexpr std::size_t kMostHeaders = 5 + wire::rlc::kMaxHeaderBytes;  // of one SDU
  static constexpr std::size_t kElements = 32;                                 // control elements behind the SDUs
  static constexpr std::array<std::uint8_t, 16384> kZeros{};                   // padding

  void swap(IovBlock& other) noexcept {
    pieces_.swap(other.pieces_);
    sdus_.swap(other.sdus_);
    own_.swap(other.own_);
    std::swap(piece_count_, other.piece_count_);
    std::swap(sdu_count_, other.sdu_count_);
    std::swap(own_used_, other.own_used_);
    std::swap(octets_, other.octets_);
    std::swap(ends_in_own_, other.ends_in_own_);
  }

  [[nodiscard]] bool has_memory() const { return !own_.empty(); }
  [[nodiscard]] std::size_t own_left() const { return own_.size() - 1 - own_used_; }  // one octet is for padding
  [[nodiscard]] bool has_room() const { return sdu_count_ != sdus_.size() && own_left() >= kMostHeaders + kElements; }
  [[nodiscard]] std::uint8_t* own_at() { return own_.data() + own_used_; }

  void add(const std::uint8_t* data, std::size_t octets) {
    pieces_[piece_count_++] = {data, octets};
    octets_ += octets;
  }
  // The caller wrote `octets` at own_at().
  void add_own(std::size_t octets) {
    if (own_used_ != 0 && ends_in_own_) {
      pieces_[piece_count_ - 1].octets += octets;
      octets_ += octets;
    } else {
      add(own_at(), octets);
      ends_in_own_ = true;
    }
    own_used_ += octets;
  }
  void add_sdu(B&& sdu, const std::uint8_t* data, std::size_t octets) {
    add(data, octets);
    ends_in_own_ = false;
    sdus_[sdu_count_++] = std::move(sdu);
  }
  void add_zeros(std::size_t octets) {
    for (std::size_t bytes = 0; octets != 0; octets -= bytes) {
      bytes = std::min(octets, kZeros.size());
      add(kZeros.data(), bytes);
    }
  }

  std::vector<Piece> pieces_;
  std::vector<B> sdus_;
  std::vector<std::uint8_t> own_;
  std::size_t piece_count_ = 0, sdu_count_ = 0, own_used_ = 0, octets_ = 0;
  bool ends_in_own_ = false;  // the last piece ends at own_at()
};

template <buf::PacketBuffer B>
class Iov {
 public:
  using Block = IovBlock<B>;  // at begin() it has memory and no octets

  [[nodiscard]] bool begin(Block& block, std::size_t bytes) {
    if (bytes > kMostBlockBytes || block.size() != 0 || !block.has_memory()) return false;
    block_ = &block;
    left_ = bytes;
    return true;
  }
  [[nodiscard]] std::size_t room() const { return block_->has_room() ? left_ : 0; }

  void sdu(std::uint32_t channel, rlc::Pdu<B>&& pdu) {
    std::uint8_t* const at = block_->own_at();
    std::uint8_t* const end = wire::mac::put_sdu_subheader(at, channel, pdu.size());
    std::memcpy(end, pdu.header.data(), wire::rlc::kMaxHeaderBytes);
    const auto headers = static_cast<std::size_t>(end - at) + pdu.header_bytes;
    assert(headers + pdu.length <= left_);
    left_ -= headers + pdu.length;
    block_->add_own(headers);
    const std::uint8_t* const from = pdu.sdu.data() + pdu.offset;
    block_->add_sdu(std::move(pdu.sdu), from, pdu.length);
  }

  // A STATUS may be long: it leaves the memory of the control elements behind it. What is not longer than an element
  // may use that memory, because room() saw that there is enough for both.
  [[nodiscard]] MutableOctets open(std::size_t most) {
    const std::size_t own = block_->own_left();
    const std::size_t kept = most > ControlElement::kMostBytes ? std::min(own, Block::kElements) : 0;
    return {block_->own_at(), std::min({most, left_, own - kept})};
  }
  void close(std::size_t used) {
    if (used == 0) return;
    block_->add_own(used);
    left_ -= used;
  }

  std::size_t finish() {
    const std::size_t padding = std::exchange(left_, 0);
    if (padding == 0) return 0;
    *block_->own_at() = wire::mac::kLcidPadding;
    block_->add_own(1);
    block_->add_zeros(padding - 1);
    return padding;
  }
  void flush() {}

  [[nodiscard]] std::uint64_t copied_octets() const { return 0; }

 private:
  Block* block_ = nullptr;
  std::size_t left_ = 0;
};

}  // namespace splitplane::ran::mac
