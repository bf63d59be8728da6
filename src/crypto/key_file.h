// A file of keys: how two programs get the same keys without a socket that carries them. One line has a number, a key
// for ciphering, and a key for integrity protection, each as hexadecimal digits or as `-` for none:
//
//   # number  ciphering                         integrity
//   1         000102030405060708090a0b0c0d0e0f  101112131415161718191a1b1c1d1e1f
//
// The file is read into secret memory, and find() takes a key from there. The control thread calls it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "crypto/secret.h"
#include "crypto/secret_memory.h"

namespace splitplane::crypto {

class KeyFile {
 public:
  // Absent: the line has no key of that kind.
  struct Keys {
    std::optional<Secret> cipher, integrity;
  };

  explicit KeyFile(std::string path) : path_(std::move(path)) {}

  // Reads the file anew. The error names the file, and a line by its number, but no text of it. A file that others than
  // its owner may read is refused.
  [[nodiscard]] Expected<void> read();
  // The keys with this number. If the file has no such line, it is read anew, because keys may be added to it.
  [[nodiscard]] Expected<Keys> find(std::uint32_t number);

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  [[nodiscard]] Expected<std::optional<Keys>> look_for(std::uint32_t number) const;

  std::string path_;
  std::optional<SecretMemory> text_;
  std::size_t octets_ = 0;  // of text_
};

}  // namespace splitplane::crypto
