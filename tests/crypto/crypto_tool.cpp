// What the judges of src/crypto talk to. A line "algorithm key count bearer direction offset room data" (key and data
// in hexadecimal, "-" for none) becomes a line with the data after ciphering, or with the MAC-I. `offset` is the
// distance of the data from a cache line. `room` is 1 to cipher in place and to lend NIA2 the octets before the
// message. Lines are served in bursts; the first argument is their size, the second one the implementation: best, sse,
// avx2 or avx512.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "crypto/engine.h"
#include "crypto/key_store.h"

namespace splitplane::crypto {
namespace {

[[noreturn]] void stop(const std::string& why) {
  std::fprintf(stderr, "crypto_tool: %s\n", why.c_str());
  std::exit(1);
}

template <class T>
T value_of(Expected<T> result) {
  if (!result) stop(result.error().message);
  return std::move(*result);
}

std::uint8_t nibble(char digit) {
  return static_cast<std::uint8_t>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

std::string hex(const std::uint8_t* at, std::size_t size) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out(2 * size, ' ');
  for (std::size_t i = 0; i < size; ++i) {
    out[2 * i] = kDigits[at[i] >> 4];
    out[2 * i + 1] = kDigits[at[i] & 15];
  }
  return out;
}

// One line, with memory that begins at a cache line.
struct Case {
  static constexpr std::size_t kLine = 64;

  explicit Case(const std::string& line) {
    std::istringstream words(line);
    words >> algorithm >> key >> count >> bearer >> direction >> offset >> room >> data;
    if (!words) stop("a line is not as expected");
    if (data == "-") data.clear();
    size = data.size() / 2;
    memory.resize(4 * kLine + 2 * (size + kLine));
    for (std::size_t i = 0; i < size; ++i) {
      in()[i] = static_cast<std::uint8_t>(nibble(data[2 * i]) << 4 | nibble(data[2 * i + 1]));
    }
    memory_before = memory;
  }
  [[nodiscard]] bool is_cipher() const { return algorithm.starts_with("nea"); }
  [[nodiscard]] std::uint8_t* in() {
    const std::size_t to_line = (kLine - reinterpret_cast<std::uintptr_t>(memory.data()) % kLine) % kLine;
    return memory.data() + to_line + kLine + offset;
  }
  [[nodiscard]] std::uint8_t* out() { return room ? in() : in() + size + kLine; }

  std::string algorithm, key, data;
  std::uint32_t count = 0;
  unsigned bearer = 0, direction = 0;
  std::size_t offset = 0, size = 0;
  bool room = false;
  std::vector<std::uint8_t> memory, memory_before;
  KeyStore::CipherKeyPtr cipher_key;
  KeyStore::IntegrityKeyPtr integrity_key;
};

class Tool {
 public:
  explicit Tool(Implementation implementation)
      : store_(value_of(KeyStore::create())), engine_(value_of(Engine::create(implementation))) {}

  void serve(std::vector<Case>& cases) {
    std::vector<CipherJob> ciphers;
    std::vector<IntegrityJob> integrities;
    for (Case& c : cases) add(c, ciphers, integrities);
    if (!engine_->cipher(ciphers) || !engine_->integrity(integrities)) stop("a burst was refused");
    std::size_t integrity = 0;
    for (Case& c : cases) {
      const std::string answer =
          c.is_cipher() ? hex(c.out(), c.size) : hex(integrities[integrity++].mac.data(), kMacBytes);
      check_around(c);
      std::cout << answer << '\n';
    }
  }

 private:
  void add(Case& c, std::vector<CipherJob>& ciphers, std::vector<IntegrityJob>& integrities) {
    const Secret secret = c.key == "-" ? Secret() : value_of(Secret::from_hex(c.key));
    const auto bearer = static_cast<std::uint8_t>(c.bearer);
    const auto direction = static_cast<Direction>(c.direction);
    const auto length = static_cast<std::uint32_t>(c.size);
    if (c.is_cipher()) {
      c.cipher_key = value_of(store_->make(value_of(find_cipher_algorithm(c.algorithm)), secret));
      ciphers.push_back({c.cipher_key.get(), {c.count}, bearer, direction, c.in(), c.out(), length});
    } else {
      c.integrity_key = value_of(store_->make(value_of(find_integrity_algorithm(c.algorithm)), secret));
      integrities.push_back({.key = c.integrity_key.get(),
                             .count = {c.count},
                             .bearer = bearer,
                             .direction = direction,
                             .room_before = c.room,
                             .in = c.in(),
                             .length = length});
    }
  }

  // Nothing but the result may have changed.
  static void check_around(Case& c) {
    const auto begin = static_cast<std::size_t>(c.out() - c.memory.data());
    for (std::size_t i = 0; i < c.memory.size(); ++i) {
      const bool result = c.is_cipher() && begin <= i && i < begin + c.size;
      if (!result && c.memory[i] != c.memory_before[i]) stop(c.algorithm + " wrote beside its result");
    }
  }

  std::unique_ptr<KeyStore> store_;
  std::unique_ptr<Engine> engine_;
};

int run(std::size_t burst, const std::string& implementation) {
  const std::map<std::string, Implementation> names{{"best", Implementation::kBest},
                                                    {"sse", Implementation::kSse},
                                                    {"avx2", Implementation::kAvx2},
                                                    {"avx512", Implementation::kAvx512}};
  Tool tool(names.at(implementation));
  std::vector<Case> cases;
  cases.reserve(burst);  // a case does not move: jobs point into it
  for (std::string line; std::getline(std::cin, line);) {
    cases.emplace_back(line);
    if (cases.size() < burst) continue;
    tool.serve(cases);
    cases.clear();
  }
  tool.serve(cases);
  return 0;
}

}  // namespace
}  // namespace splitplane::crypto

int main(int argc, char** argv) {
  return splitplane::crypto::run(argc > 1 ? std::stoul(argv[1]) : 32, argc > 2 ? argv[2] : "best");
}
