#include "radio/whole_sdu.h"

#include <cstring>

namespace splitplane::datapath {

WholeSdu whole_sdu(std::span<ran::rlc::Part<MbufBuffer>> parts, rte_mempool* pool) {
  if (parts.size() == 1) {
    auto& [pdu, skip, length] = parts.front();
    const std::size_t behind = pdu.size() - skip - length;
    if (pdu.trim_front(skip)) [[likely]] {
      (void)pdu.trim_back(behind);
      return {std::move(pdu), false};
    }
  }
  std::size_t bytes = 0;
  for (const auto& part : parts) bytes += part.length;
  MbufBuffer sdu = MbufBuffer::make(pool, bytes);
  if (!sdu) return {};
  std::uint8_t* to = sdu.mutable_data();
  for (const auto& part : parts) {
    const ran::rlc::Octets from = part.data();
    std::memcpy(to, from.data(), from.size());
    to += from.size();
  }
  return {std::move(sdu), true};
}

}  // namespace splitplane::datapath
