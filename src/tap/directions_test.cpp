#include "tap/directions.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

namespace splitplane::app {
namespace {

using D = PacketDirection;

// A pcapng file in either byte order.
class File {
 public:
  explicit File(bool swapped) : swapped_(swapped) {}
  void section() { block(0x0A0D0D0A, word(0x1A2B3C4D) + half(1) + half(0) + std::string(8, '\xff')); }
  void interface() { block(1, half(1) + half(0) + word(65535)); }
  void packet(std::uint32_t bytes, int flags, bool comment_first = false) {
    std::string body = word(0) + word(0) + word(0) + word(bytes) + word(bytes) + std::string((bytes + 3) & ~3U, 'x');
    if (comment_first) body += half(1) + half(5) + "hello" + std::string(3, '\0');
    if (flags >= 0) body += half(2) + half(4) + word(static_cast<std::uint32_t>(flags)) + half(0) + half(0);
    block(6, body);
  }
  void simple() { block(3, word(4) + "abcd"); }
  [[nodiscard]] const std::string& octets() const { return octets_; }

 private:
  void block(std::uint32_t type, const std::string& body) {
    const auto bytes = static_cast<std::uint32_t>(body.size() + 12);
    octets_ += word(type) + word(bytes) + body + word(bytes);
  }
  [[nodiscard]] std::string word(std::uint32_t v) const {
    if (swapped_) v = __builtin_bswap32(v);
    return {reinterpret_cast<const char*>(&v), 4};
  }
  [[nodiscard]] std::string half(std::uint16_t v) const {
    if (swapped_) v = __builtin_bswap16(v);
    return {reinterpret_cast<const char*>(&v), 2};
  }
  bool swapped_;
  std::string octets_;
};

std::vector<D> directions(const std::string& octets, int packets) {
  std::string name = (std::filesystem::temp_directory_path() / "splitplane-test-XXXXXX").string();
  const int fd = ::mkstemp(name.data());
  EXPECT_EQ(::write(fd, octets.data(), octets.size()), static_cast<ssize_t>(octets.size()));
  ::close(fd);
  PcapngDirections file(name);
  std::vector<D> all;
  for (int i = 0; i < packets; ++i) all.push_back(file.next());
  std::filesystem::remove(name);
  return all;
}

TEST(PcapngDirections, each_packet_has_its_own_in_both_byte_orders) {
  for (const bool swapped : {false, true}) {
    File file(swapped);
    file.section();
    file.interface();
    file.packet(60, 1);
    file.packet(61, 2);
    file.packet(62, -1);
    file.simple();
    file.packet(63, 2, true);
    file.section();
    file.packet(5, 0x7fff0001);
    EXPECT_EQ(directions(file.octets(), 7),
              (std::vector<D>{D::kIn, D::kOut, D::kUnknown, D::kUnknown, D::kOut, D::kIn, D::kUnknown}));
  }
}

TEST(PcapngDirections, what_is_cut_off_or_no_pcapng_has_none_and_does_no_harm) {
  File file(false);
  file.section();
  file.packet(60, 2);
  const std::string& all = file.octets();
  for (std::size_t bytes = 0; bytes < all.size(); ++bytes)
    EXPECT_EQ(directions(all.substr(0, bytes), 2), (std::vector<D>{D::kUnknown, D::kUnknown})) << bytes;
  for (std::size_t at = 0; at < all.size(); ++at) {
    std::string damaged = all;
    damaged[at] = '\xff';
    (void)directions(damaged, 3);
  }
  EXPECT_EQ(directions("\xd4\xc3\xb2\xa1 a classic pcap", 1), std::vector<D>{D::kUnknown});
}

}  // namespace
}  // namespace splitplane::app
