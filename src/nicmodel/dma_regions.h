// The memory that the driver lets the NIC use, as an IOMMU keeps it: bus addresses and the memory behind them. An
// address outside is a counted fault and never an access.
#pragma once

#include <cstdint>
#include <vector>

namespace splitplane::nicmodel {

class DmaRegions {
 public:
  void add(std::uint64_t bus, void* host, std::uint64_t bytes) {
    regions_.push_back({bus, bytes, static_cast<std::uint8_t*>(host)});
    last_ = regions_.size() - 1;
  }

  // `bytes` octets at a bus address; nullptr if they are not all in one region.
  [[nodiscard]] std::uint8_t* find(std::uint64_t bus, std::uint64_t bytes) {
    if (last_ < regions_.size() && regions_[last_].holds(bus, bytes)) {
      return regions_[last_].host + (bus - regions_[last_].bus);
    }
    for (std::size_t i = 0; i < regions_.size(); ++i) {
      if (!regions_[i].holds(bus, bytes)) continue;
      last_ = i;
      return regions_[i].host + (bus - regions_[i].bus);
    }
    return nullptr;
  }

 private:
  struct Region {
    std::uint64_t bus;
    std::uint64_t bytes;
    std::uint8_t* host;
    [[nodiscard]] bool holds(std::uint64_t at, std::uint64_t n) const {
      return at >= bus && at - bus < bytes && n <= bytes - (at - bus);
    }
  };
  std::vector<Region> regions_;
  std::size_t last_ = 0;  // where the last address was found
};

}  // namespace splitplane::nicmodel
