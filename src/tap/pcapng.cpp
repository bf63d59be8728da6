#include "tap/pcapng.h"

#include <algorithm>
#include <cstring>

namespace splitplane::tap::pcapng {
namespace {

constexpr std::uint32_t kSection = 0x0A0D0D0A, kInterface = 1, kStatistics = 5, kPacket = 6;
constexpr std::uint16_t kEnd = 0, kName = 2, kDescription = 3, kUserApplication = 4, kTimeResolution = 9;
constexpr std::uint16_t kPacketFlags = 2, kReceived = 4, kDropped = 5;
constexpr std::uint16_t kEthernet = 1;                          // link type
constexpr std::size_t kPacketFixed = 32, kFlagsOption = 8 + 4;  // and the end of options

template <class T>
void put(Buffer& out, T value) {
  const auto* at = reinterpret_cast<const std::uint8_t*>(&value);  // in this machine's byte order, as stated
  out.insert(out.end(), at, at + sizeof value);
}

void pad(Buffer& out) {
  out.resize((out.size() + 3) & ~std::size_t{3});
}

void put_option(Buffer& out, std::uint16_t code, const void* value, std::size_t bytes) {
  put(out, code);
  put(out, static_cast<std::uint16_t>(bytes));
  const auto* at = static_cast<const std::uint8_t*>(value);
  out.insert(out.end(), at, at + bytes);
  pad(out);
}

void put_text(Buffer& out, std::uint16_t code, std::string_view text) {
  put_option(out, code, text.data(), std::min<std::size_t>(text.size(), 0xffff));
}

// A block's type and length; end() writes the length in both places.
class Block {
 public:
  Block(Buffer& out, std::uint32_t type) : out_(out), begin_(out.size()) {
    put(out, type);
    put(out, std::uint32_t{0});
  }
  void end() {
    const auto bytes = static_cast<std::uint32_t>(out_.size() - begin_ + 4);
    std::memcpy(out_.data() + begin_ + 4, &bytes, 4);
    put(out_, bytes);
  }

 private:
  Buffer& out_;
  std::size_t begin_;
};

void put_time(Buffer& out, std::uint64_t time_ns) {
  put(out, static_cast<std::uint32_t>(time_ns >> 32));
  put(out, static_cast<std::uint32_t>(time_ns));
}

}  // namespace

void put_section(Buffer& out, std::string_view application) {
  Block block(out, kSection);
  put(out, std::uint32_t{0x1A2B3C4D});  // byte order
  put(out, std::uint16_t{1});           // version 1.0
  put(out, std::uint16_t{0});
  put(out, ~std::uint64_t{0});  // length of the section: not given
  put_text(out, kUserApplication, application);
  put_option(out, kEnd, nullptr, 0);
  block.end();
}

void put_interface(Buffer& out, std::string_view name, std::string_view description, std::uint32_t snap) {
  Block block(out, kInterface);
  put(out, kEthernet);
  put(out, std::uint16_t{0});
  put(out, snap);
  put_text(out, kName, name);
  put_text(out, kDescription, description);
  const std::uint8_t nanoseconds = 9;
  put_option(out, kTimeResolution, &nanoseconds, 1);
  put_option(out, kEnd, nullptr, 0);
  block.end();
}

std::size_t packet_block_bytes(std::size_t captured) {
  return kPacketFixed + ((captured + 3) & ~std::size_t{3}) + kFlagsOption;
}

void put_packet(Buffer& out, const Packet& packet) {
  Block block(out, kPacket);
  put(out, packet.interface);
  put_time(out, packet.time_ns);
  put(out, static_cast<std::uint32_t>(packet.octets.size()));
  put(out, packet.original_bytes);
  out.insert(out.end(), packet.octets.begin(), packet.octets.end());
  pad(out);
  put_option(out, kPacketFlags, &packet.flags, 4);
  put_option(out, kEnd, nullptr, 0);
  block.end();
}

void put_statistics(Buffer& out, std::uint32_t interface, std::uint64_t time_ns, std::uint64_t received,
                    std::uint64_t dropped) {
  Block block(out, kStatistics);
  put(out, interface);
  put_time(out, time_ns);
  put_option(out, kReceived, &received, 8);
  put_option(out, kDropped, &dropped, 8);
  put_option(out, kEnd, nullptr, 0);
  block.end();
}

std::size_t whole_blocks(std::span<const std::uint8_t> blocks, std::size_t bytes) {
  std::size_t whole = 0;
  while (whole + 8 <= bytes) {
    std::uint32_t length = 0;
    std::memcpy(&length, blocks.data() + whole + 4, 4);
    if (length < 12 || length > bytes - whole) break;
    whole += length;
  }
  return whole;
}

}  // namespace splitplane::tap::pcapng
