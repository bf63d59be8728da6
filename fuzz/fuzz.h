// For all fuzz targets: an input that is consumed from its front, and a check that ends the run with a sentence.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <utility>
#include <vector>

namespace splitplane::fuzz {

using Octets = std::span<const std::uint8_t>;
using Bytes = std::vector<std::uint8_t>;

// A target that sees a fault reports it and ends; libFuzzer keeps the input.
template <class... Args>
void require(bool holds, fmt::format_string<Args...> format, Args&&... args) {
  if (holds) return;
  std::fputs(fmt::format("fuzz: {}\n", fmt::format(format, std::forward<Args>(args)...)).c_str(), stderr);
  std::abort();
}

// The value of a field from our reader, and from the slow one.
template <class Field>
void same(Field ours, Field slow, const char* what) {
  require(ours == slow, "{}: our reader has {}, the slow one {}", what, ours, slow);
}

// The octets that libFuzzer made, from the front. After the end everything is 0.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t bytes) : rest_(data, bytes) {}

  [[nodiscard]] bool empty() const { return rest_.empty(); }
  std::uint8_t octet() {
    const Octets one = take(1);
    return one.empty() ? std::uint8_t{0} : one[0];
  }
  std::uint16_t word() {
    const unsigned high = octet();
    return static_cast<std::uint16_t>(high << 8 | octet());
  }
  std::uint32_t below(std::uint32_t n) { return n <= 256 ? octet() % n : word() % n; }
  // At most `n` octets.
  Octets take(std::size_t n) {
    const Octets taken = rest_.first(std::min(n, rest_.size()));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }
  Bytes bytes(std::size_t n) {
    const Octets taken = take(n);
    return {taken.begin(), taken.end()};
  }
  Octets rest() { return take(rest_.size()); }

 private:
  Octets rest_;
};

}  // namespace splitplane::fuzz

// libFuzzer's two entries, which every target defines; the second one runs once before the first input.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes);
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv);
