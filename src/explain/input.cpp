#include "explain/input.h"

#include <pcap/pcap.h>
#include <sys/stat.h>

#include <array>
#include <memory>

#include "base/plain_file.h"
#include "base/text.h"

namespace splitplane::app {
namespace {

constexpr std::size_t kMostOctets = 65535;  // more is no packet but a damaged file

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ':' || c == ',';
}

Expected<void> from_file(const std::string& path, const std::function<bool(const GivenPacket&)>& each) {
  const std::string name = printable(path, 200);
  if (const auto refused = refuse_to_read(path)) return fail("{}: {}; allowed: a pcap or pcapng file", name, *refused);
  std::array<char, PCAP_ERRBUF_SIZE> error{};
  const std::unique_ptr<pcap_t, decltype(&pcap_close)> file(
      pcap_open_offline_with_tstamp_precision(path.c_str(), PCAP_TSTAMP_PRECISION_NANO, error.data()), &pcap_close);
  if (!file) return fail("{}: {}; allowed: a pcap or pcapng file", name, printable(error.data(), 200));
  if (const int type = pcap_datalink(file.get()); type != DLT_EN10MB) {
    const char* word = pcap_datalink_val_to_name(type);
    return fail("{}: link type {}; allowed: Ethernet", name, word == nullptr ? "unknown" : word);
  }
  PcapngDirections directions(path);
  GivenPacket packet;
  for (packet.number = 1;; ++packet.number) {
    pcap_pkthdr* header = nullptr;
    const u_char* octets = nullptr;
    const int got = pcap_next_ex(file.get(), &header, &octets);
    if (got == PCAP_ERROR_BREAK) return {};
    if (got != 1)
      return fail("{}: after packet {}: {}", name, packet.number - 1, printable(pcap_geterr(file.get()), 200));
    packet.octets.assign(octets, octets + header->caplen);
    packet.original_bytes = header->len;
    packet.captured_bytes = header->caplen;
    packet.direction = directions.next();
    // The lengths inside belong to the whole packet: zeros stand for what was cut off.
    if (header->len > header->caplen && header->len <= kMostOctets) packet.octets.resize(header->len);
    if (!each(packet)) return {};
  }
}

}  // namespace

std::optional<std::vector<std::uint8_t>> parse_hex(std::string_view text) {
  std::vector<std::uint8_t> octets;
  int high = -1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool prefix = high < 0 && text[i] == '0' && i + 1 < text.size() && (text[i + 1] == 'x' || text[i + 1] == 'X');
    if (prefix) {
      ++i;
      continue;
    }
    if (is_blank(text[i])) {
      if (high >= 0) return std::nullopt;  // half an octet
      continue;
    }
    const int value = digit(text[i]);
    if (value < 0) return std::nullopt;
    if (high < 0) {
      high = value;
    } else {
      octets.push_back(static_cast<std::uint8_t>(high << 4 | value));
      high = -1;
    }
  }
  if (high >= 0 || octets.empty()) return std::nullopt;
  return octets;
}

Expected<void> for_each_packet(const std::string& input, const std::function<bool(const GivenPacket&)>& each) {
  struct stat info{};
  if (::stat(input.c_str(), &info) == 0) return from_file(input, each);
  const auto octets = parse_hex(input);
  if (!octets) return fail("'{}' is neither a file nor whole octets in hexadecimal digits", printable(input, 60));
  (void)each({1, *octets, octets->size(), octets->size(), PacketDirection::kUnknown});
  return {};
}

}  // namespace splitplane::app
