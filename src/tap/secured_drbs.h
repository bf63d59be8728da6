// Which bearers are secured, as far as a capture has to say it: Wireshark deciphers a PDCP PDU with the DRB's number,
// and has to know of its MAC-I. The control side keeps the table, and writers of taps read it.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "base/types.h"

namespace splitplane::tap {

struct SecuredDrb {
  std::uint8_t number = 1;  // 1 to 32; BEARER is one less
  bool has_mac_i = false;
};

class SecuredDrbs {
 public:
  void set(BearerId bearer, SecuredDrb drb);
  void remove(BearerId bearer);
  // Nothing: the bearer is not secured.
  [[nodiscard]] std::optional<SecuredDrb> find(BearerId bearer) const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::uint32_t, SecuredDrb> drbs_;
};

}  // namespace splitplane::tap
