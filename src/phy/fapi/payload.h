// Octets that a message refers to and does not hold: a transport block, UCI bits. A message that is written points at
// what its owner keeps until it is sent. A message that was read points into the datagram.
#pragma once

#include <algorithm>

#include "wire/bytes.h"

namespace splitplane::fapi {

using wire::MutableOctets;
using wire::Octets;

struct Payload {
  Octets octets;

  [[nodiscard]] constexpr std::size_t size() const { return octets.size(); }
  // By content, so that a message equals what is read back from its octets.
  friend constexpr bool operator==(const Payload& a, const Payload& b) {
    return std::equal(a.octets.begin(), a.octets.end(), b.octets.begin(), b.octets.end());
  }
};

}  // namespace splitplane::fapi
