#include "phy/mapping/tx_blocks.h"

namespace splitplane::phy {

void TxBlocks::clear() {
  blocks_.clear();
  left_ = 0;
}

std::size_t TxBlocks::fill(const fapi::TxDataRequest& message) {
  clear();
  std::size_t used = 0, refused = 0;
  for (const auto& pdu : message.pdus) {
    const std::size_t bytes = pdu.bytes();
    const bool twice = std::ranges::any_of(blocks_, [&pdu](const Block& b) { return b.pdu_index == pdu.pdu_index; });
    if (twice || bytes > octets_.size() - used) {
      ++refused;
      continue;
    }
    blocks_.add({pdu.pdu_index, used, bytes, false});  // never full: the message has no more PDUs
    ++left_;
    for (const fapi::Payload& part : pdu.parts) {
      wire::copy_octets(octets_.data() + used, part.octets.data(), part.size());
      used += part.size();
    }
  }
  return refused;
}

std::optional<wire::Octets> TxBlocks::take(std::uint16_t pdu_index) {
  const auto block = std::ranges::find(blocks_, pdu_index, &Block::pdu_index);
  if (block == blocks_.end() || block->taken) return std::nullopt;
  block->taken = true;
  --left_;
  return wire::Octets(octets_).subspan(block->begin, block->bytes);
}

}  // namespace splitplane::phy
