// For tests of the guard only: what a frame is, read octet by octet and summed word by word. It shares nothing with the
// code under test, so that it can judge what that code answered.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace splitplane::guard::test {

struct SlowSegment {
  std::size_t ip_at = 0, tcp_at = 0, end = 0;  // from the frame's begin
  bool is_v6 = false;
  std::span<const std::uint8_t> from, to;  // addresses
  std::uint16_t from_port = 0, to_port = 0;
  std::uint32_t sequence = 0, acknowledgment = 0;
  std::uint8_t flags = 0;
  bool ip_sum_good = false, tcp_sum_good = false;

  [[nodiscard]] bool is_sound() const { return ip_sum_good && tcp_sum_good; }
};

class SlowReader {
 public:
  explicit SlowReader(std::span<const std::uint8_t> frame) : frame_(frame) {}

  // A whole TCP segment in one packet; nothing: something else, or cut off.
  [[nodiscard]] std::optional<SlowSegment> tcp() const {
    std::size_t at = 12;
    if (!has(0, 14)) return {};
    while (word(at) == 0x8100 || word(at) == 0x88A8) {
      at += 4;
      if (!has(at, 2)) return {};
    }
    SlowSegment s;
    s.is_v6 = word(at) == 0x86DD;
    if (!s.is_v6 && word(at) != 0x0800) return {};
    s.ip_at = at + 2;
    const bool found = s.is_v6 ? find_in_v6(s) : find_in_v4(s);
    if (!found || s.end < s.tcp_at + 20) return {};
    const std::size_t header = 4U * (frame_[s.tcp_at + 12] >> 4);
    if (header < 20 || s.tcp_at + header > s.end) return {};
    s.from_port = word(s.tcp_at);
    s.to_port = word(s.tcp_at + 2);
    s.sequence = word(s.tcp_at + 4) * 65536U + word(s.tcp_at + 6);
    s.acknowledgment = word(s.tcp_at + 8) * 65536U + word(s.tcp_at + 10);
    s.flags = frame_[s.tcp_at + 13];
    const auto bytes = static_cast<std::uint32_t>(s.end - s.tcp_at);
    s.tcp_sum_good = folded(sum(s.from) + sum(s.to) + 6 + (bytes >> 16) + (bytes & 0xFFFF) +
                            sum(frame_.subspan(s.tcp_at, bytes))) == 0xFFFF;
    return s;
  }

 private:
  [[nodiscard]] bool has(std::size_t at, std::size_t bytes) const { return at + bytes <= frame_.size(); }
  [[nodiscard]] std::uint16_t word(std::size_t at) const {
    return static_cast<std::uint16_t>(frame_[at] * 256 + frame_[at + 1]);
  }
  [[nodiscard]] static std::uint64_t sum(std::span<const std::uint8_t> octets) {
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < octets.size(); ++i) all += i % 2 == 0 ? octets[i] * 256U : octets[i];
    return all;
  }
  [[nodiscard]] static std::uint64_t folded(std::uint64_t all) {
    while (all > 0xFFFF) all = all / 65536 + all % 65536;
    return all;
  }

  [[nodiscard]] bool find_in_v4(SlowSegment& s) const {
    if (!has(s.ip_at, 20) || frame_[s.ip_at] / 16 != 4) return false;
    const std::size_t header = 4U * (frame_[s.ip_at] % 16), total = word(s.ip_at + 2);
    if (header < 20 || total < header || !has(s.ip_at, total)) return false;
    if (word(s.ip_at + 6) % 0x4000 != 0 || frame_[s.ip_at + 9] != 6) return false;
    s.tcp_at = s.ip_at + header;
    s.end = s.ip_at + total;
    s.from = frame_.subspan(s.ip_at + 12, 4);
    s.to = frame_.subspan(s.ip_at + 16, 4);
    s.ip_sum_good = folded(sum(frame_.subspan(s.ip_at, header))) == 0xFFFF;
    return true;
  }
  [[nodiscard]] bool find_in_v6(SlowSegment& s) const {
    if (!has(s.ip_at, 40) || frame_[s.ip_at] / 16 != 6) return false;
    s.end = s.ip_at + 40 + word(s.ip_at + 4);
    if (!has(s.ip_at, s.end - s.ip_at)) return false;
    s.from = frame_.subspan(s.ip_at + 8, 16);
    s.to = frame_.subspan(s.ip_at + 24, 16);
    s.ip_sum_good = true;
    unsigned next = frame_[s.ip_at + 6];
    s.tcp_at = s.ip_at + 40;
    while (next == 0 || next == 43 || next == 44 || next == 60) {
      if (s.tcp_at + 8 > s.end) return false;
      if (next == 44 && (word(s.tcp_at + 2) & 0xFFF9) != 0) return false;
      const std::size_t bytes = next == 44 ? 8 : 8U * (frame_[s.tcp_at + 1] + 1U);
      next = frame_[s.tcp_at];
      s.tcp_at += bytes;
    }
    return next == 6 && s.tcp_at <= s.end;
  }

  std::span<const std::uint8_t> frame_;
};

}  // namespace splitplane::guard::test
