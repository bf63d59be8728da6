#include "base/fingerprint.h"

#include <array>
#include <cstdint>
#include <fstream>

namespace splitplane {

Expected<std::string> fingerprint_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return fail("{} cannot be read", file.string());
  std::uint64_t hash = 0xcbf29ce484222325;
  std::array<char, 65536> piece;
  while (in.read(piece.data(), piece.size()) || in.gcount() != 0) {
    for (std::streamsize i = 0; i < in.gcount(); ++i) {
      hash = (hash ^ static_cast<unsigned char>(piece[static_cast<std::size_t>(i)])) * 0x100000001b3;
    }
  }
  if (in.bad()) return fail("{} cannot be read to its end", file.string());
  return fmt::format("{:016x}", hash);
}

}  // namespace splitplane
