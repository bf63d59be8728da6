// The transport blocks of a TX_DATA.request, kept until their slot: the message is valid for a moment only.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "phy/fapi/tx_data.h"

namespace splitplane::phy {

class TxBlocks {
 public:
  // Room for blocks of `bytes` octets together.
  explicit TxBlocks(std::size_t bytes) : octets_(bytes) {}

  // Copies the blocks of a message; those before are gone. Returns how many are left out: they do not fit, or have the
  // index of an earlier one.
  std::size_t fill(const fapi::TxDataRequest& message);
  void clear();

  // The block of a PDSCH; nothing if there is none of that index. Each is given once. The octets stay until fill().
  [[nodiscard]] std::optional<wire::Octets> take(std::uint16_t pdu_index);
  // How many were not taken.
  [[nodiscard]] std::size_t left() const { return left_; }

 private:
  struct Block {
    std::uint16_t pdu_index = 0;
    std::size_t begin = 0, bytes = 0;
    bool taken = false;
  };

  std::vector<std::uint8_t> octets_;
  fapi::Bounded<Block, fapi::kMaxPdus> blocks_;
  std::size_t left_ = 0;
};

}  // namespace splitplane::phy
