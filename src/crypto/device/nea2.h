// 128-NEA2 (TS 33.501 D.2.1.3 = 128-EEA2, TS 33.401 B.1.3): AES-128 in counter mode, as host-and-device code. The
// blocks of one message are spread over the lanes: on a GPU a warp makes 512 octets of key stream at a time.
#pragma once

#include <cstdint>

#include "base/types.h"
#include "crypto/device/aes128.h"

namespace splitplane::gpu {

struct Nea2Message {
  std::uint32_t count = 0;  // PDCP COUNT
  std::uint8_t bearer = 0;  // 5 bits: radio bearer identity - 1
  Direction direction = Direction::kDownlink;
};

// Enciphers or deciphers in place. All lanes of a warp call it together, or one caller with `width` 1. The caller
// synchronises the lanes before others read the message.
SPLITPLANE_HD constexpr void nea2(unsigned lane, unsigned width, const AesTable& table, const Aes128Key& key,
                                  const Nea2Message& message, std::uint8_t* data, std::uint32_t bytes) {
  const std::uint32_t second =
      static_cast<std::uint32_t>(message.bearer & 0x1F) << 27 | static_cast<std::uint32_t>(message.direction) << 26;
  for (std::uint32_t block = lane; block * 16 < bytes; block += width) {
    // The second half of the counter block counts the blocks of a message (TS 33.401 B.1.3).
    const AesBlock stream = encrypt(table, key, {{message.count, second, 0, block}});
    std::uint8_t* at = data + std::size_t{block} * 16;
    const std::uint32_t left = bytes - block * 16;
    if (left >= 16) {
      for (unsigned i = 0; i < 4; ++i) wire::store_be32(at + 4 * i, wire::load_be32(at + 4 * i) ^ stream.word[i]);
    } else {
      for (unsigned i = 0; i < left; ++i) {
        at[i] = static_cast<std::uint8_t>(at[i] ^ stream.word[i / 4] >> (24 - 8 * (i % 4)));
      }
    }
  }
}

}  // namespace splitplane::gpu
