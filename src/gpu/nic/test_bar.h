// A BAR on paper: what is written is read back, and the order of writes is kept.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gpu/nic/bar.h"

namespace splitplane::gpu::test {

class PaperBar final : public Bar {
 public:
  std::uint32_t read32(std::uint32_t offset) override { return words[offset]; }
  void write32(std::uint32_t offset, std::uint32_t value) override {
    words[offset] = value;
    order.push_back(offset);
  }
  std::uint32_t* doorbell(std::uint32_t offset) override { return &words[offset]; }
  const std::string& name() const override { return name_; }
  std::map<std::uint32_t, std::uint32_t> words;
  std::vector<std::uint32_t> order;

 private:
  std::string name_ = "paper";
};

}  // namespace splitplane::gpu::test
