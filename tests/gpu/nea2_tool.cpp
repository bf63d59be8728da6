// What tests/gpu/test_nea2.py talks to: a line "lanes key count bearer direction message" in hexadecimal (lanes and direction
// as digits) becomes a line with the message after 128-NEA2, by the code that also runs on a device.
#include <cstdint>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "crypto/device/nea2.h"

namespace {

std::vector<std::uint8_t> octets(const std::string& hex) {
  std::vector<std::uint8_t> out(hex.size() / 2);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<std::uint8_t>(std::stoul(hex.substr(2 * i, 2), nullptr, 16));
  }
  return out;
}

}  // namespace

int main() {
  using namespace splitplane;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string key, count, bearer, message;
    unsigned lanes = 0, direction = 0;
    words >> lanes >> key >> count >> bearer >> direction >> message;
    const gpu::Aes128Key expanded = gpu::expand_key(gpu::kAesTable, octets(key).data());
    const gpu::Nea2Message parameters{static_cast<std::uint32_t>(std::stoul(count, nullptr, 16)),
                                      static_cast<std::uint8_t>(std::stoul(bearer, nullptr, 16)),
                                      static_cast<Direction>(direction)};
    std::vector<std::uint8_t> data = octets(message);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      gpu::nea2(lane, lanes, gpu::kAesTable, expanded, parameters, data.data(), static_cast<std::uint32_t>(data.size()));
    }
    constexpr char kDigits[] = "0123456789abcdef";
    std::string answer;
    for (const std::uint8_t octet : data) answer += {kDigits[octet >> 4], kDigits[octet & 15]};
    std::cout << answer << '\n';
  }
}
