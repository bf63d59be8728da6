// Which receive ring a frame belongs to: 5-tuple filters first, then receive side scaling (82599 datasheet 7.1.2), by
// the registers as of the last configure().
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "nicmodel/register_file.h"
#include "nicmodel/toeplitz.h"

namespace splitplane::nicmodel {

struct Steered {
  std::uint32_t ring = 0;
  std::uint32_t hash = 0;
  std::uint32_t type = 0;  // low word of the descriptor: RSS type 3:0, packet type 16:4 (7.1.6.2)
};

class Steering {
 public:
  void configure(const RegisterFile& registers);
  [[nodiscard]] Steered steer(const std::uint8_t* frame, std::uint32_t bytes) const;

 private:
  struct FiveTuple {
    std::uint32_t source = 0, destination = 0;  // octets as in the packet, the first one lowest
    std::uint32_t ports = 0;                    // likewise: source, destination
    std::uint8_t protocol = 0;                  // as in FTQF: 0 TCP, 1 UDP
    friend bool operator==(const FiveTuple&, const FiveTuple&) = default;
  };
  struct Filter {
    FiveTuple match;
    std::uint32_t ignore = 0;  // FTQF 29:25: source, destination, source port, destination port, protocol
    std::uint32_t priority = 0;
    std::uint32_t ring = 0;
    [[nodiscard]] bool fits(const FiveTuple& t) const;
  };
  [[nodiscard]] std::optional<std::uint32_t> filtered(const FiveTuple& tuple) const;
  [[nodiscard]] Steered spread(std::uint32_t hash, std::uint32_t type) const {
    return {reta_[hash & 127U], hash, type};
  }
  static std::size_t bucket(const FiveTuple& t) {
    return static_cast<std::size_t>(((std::uint64_t{t.source} << 32 | t.ports) * 0x9e3779b97f4a7c15ULL ^
                                     (std::uint64_t{t.destination} << 8 | t.protocol) * 0xbf58476d1ce4e5b9ULL) >>
                                    54);
  }

  std::uint32_t mrqc_ = 0;
  std::array<std::uint8_t, 128> reta_{};
  Toeplitz toeplitz_{RssKey{}};
  std::vector<Filter> masked_;              // highest priority first
  std::array<std::int16_t, 1024> exact_{};  // open addressing into exact_filters_, -1: free
  std::vector<Filter> exact_filters_;
};

}  // namespace splitplane::nicmodel
