#include "tap/directions.h"

#include <cstring>
#include <vector>

namespace splitplane::app {
namespace {

// Block types and codes of the pcapng format (draft-ietf-opsawg-pcapng, 4).
constexpr std::uint32_t kSection = 0x0A0D0D0A, kOrder = 0x1A2B3C4D, kOldPacket = 2, kSimplePacket = 3, kPacket = 6;
constexpr std::uint16_t kEndOfOptions = 0, kFlags = 2;
constexpr std::uint32_t kInbound = 1, kOutbound = 2;  // the two lowest bits of the flags
constexpr std::uint32_t kMaxBlock = 1U << 24, kFixed = 20;

std::uint32_t word_at(const std::vector<char>& body, std::size_t at, bool swapped) {
  std::uint32_t value = 0;
  std::memcpy(&value, body.data() + at, 4);
  return swapped ? __builtin_bswap32(value) : value;
}

std::uint16_t half_at(const std::vector<char>& body, std::size_t at, bool swapped) {
  std::uint16_t value = 0;
  std::memcpy(&value, body.data() + at, 2);
  return swapped ? __builtin_bswap16(value) : value;
}

}  // namespace

PcapngDirections::PcapngDirections(const std::string& path) : file_(path, std::ios::binary) {
  std::uint32_t type = 0;
  good_ = read(type) && type == kSection;
  if (good_) file_.seekg(0);
}

bool PcapngDirections::read(std::uint32_t& value) {
  if (!file_.read(reinterpret_cast<char*>(&value), 4)) return false;
  if (swapped_) value = __builtin_bswap32(value);
  return true;
}

PacketDirection PcapngDirections::next() {
  while (good_) {
    std::uint32_t type = 0, bytes = 0;
    good_ = read(type) && read(bytes);
    if (!good_) break;
    std::uint32_t read_already = 8;
    if (type == kSection) {  // this type reads the same in both byte orders; the order of the rest is after its length
      std::uint32_t order = 0;
      good_ = read(order);
      if (good_ && order != kOrder) {
        good_ = __builtin_bswap32(order) == kOrder;
        swapped_ = !swapped_;
        bytes = __builtin_bswap32(bytes);
      }
      read_already = 12;
    }
    good_ = good_ && bytes >= read_already + 4 && bytes <= kMaxBlock && bytes % 4 == 0;
    if (!good_) break;
    if (type == kPacket) return packet(bytes - 12);
    file_.seekg(bytes - read_already, std::ios::cur);
    if (type == kSimplePacket || type == kOldPacket) return PacketDirection::kUnknown;
  }
  return PacketDirection::kUnknown;
}

PacketDirection PcapngDirections::packet(std::uint32_t body_bytes) {
  std::vector<char> body(body_bytes);
  std::uint32_t again = 0;
  good_ = body_bytes >= kFixed && file_.read(body.data(), body_bytes) && read(again);
  if (!good_) return PacketDirection::kUnknown;
  const std::uint64_t captured = word_at(body, 12, swapped_);
  std::uint64_t at = kFixed + ((captured + 3) & ~std::uint64_t{3});
  while (at + 4 <= body.size()) {
    const std::uint16_t code = half_at(body, at, swapped_), length = half_at(body, at + 2, swapped_);
    at += 4;
    if (code == kEndOfOptions || at + length > body.size()) break;
    if (code == kFlags && length == 4) {
      const std::uint32_t direction = word_at(body, at, swapped_) & 3U;
      return direction == kOutbound  ? PacketDirection::kOut
             : direction == kInbound ? PacketDirection::kIn
                                     : PacketDirection::kUnknown;
    }
    at += (length + 3U) & ~3U;
  }
  return PacketDirection::kUnknown;
}

}  // namespace splitplane::app
