// ZUC (TS 35.222), one word at a time, for the messages that intel-ipsec-mb refuses: those of more than 8188 octets,
// and for integrity the empty one. It is about 10 to 15 times slower than the library.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace splitplane::crypto {

class Zuc {
 public:
  Zuc(const std::uint8_t* key, const std::uint8_t* iv);  // 16 octets each
  Zuc(const Zuc&) = delete;
  Zuc& operator=(const Zuc&) = delete;
  ~Zuc();  // wipes the state

  // The next word of the key stream.
  [[nodiscard]] std::uint32_t next();

 private:
  // The four words that the registers give to the nonlinear function and to the key stream (TS 35.222 3.3).
  struct Words {
    std::uint32_t x0, x1, x2, x3;
  };
  [[nodiscard]] Words reorganize() const;
  [[nodiscard]] std::uint32_t nonlinear(const Words& words);
  void shift(std::uint32_t feedback);

  std::array<std::uint32_t, 16> s_{};  // the linear feedback shift register, 31 bits each
  std::uint32_t r1_ = 0, r2_ = 0;
};

// 128-NEA3 and 128-NIA3 of a whole message (TS 33.401 B.1.4, B.2.4). `mac` gets 4 octets.
void nea3_slowly(const std::uint8_t* key, const std::uint8_t* iv, const std::uint8_t* in, std::uint8_t* out,
                 std::size_t bytes);
void nia3_slowly(const std::uint8_t* key, const std::uint8_t* iv, const std::uint8_t* in, std::size_t bytes,
                 std::uint8_t* mac);

}  // namespace splitplane::crypto
