// The library's state (IMB_MGR of intel-ipsec-mb), of which each thread that ciphers has one. It lies in secret memory,
// because the library copies round keys into it. A child process after fork() has none: it must not cipher.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/expected.h"
#include "crypto/secret_memory.h"

struct IMB_MGR;

namespace splitplane::crypto {

// Which of the library's implementations: the best for the CPU, or one of them, for tests and for comparison.
enum class Implementation : std::uint8_t { kBest, kSse, kAvx2, kAvx512 };

class Manager {
 public:
#ifdef SPLITPLANE_IPSEC_MB_256
  static constexpr bool kHas256Bit = true;  // NEA4 to NEA6 and NIA4 to NIA6
#else
  static constexpr bool kHas256Bit = false;
#endif

  [[nodiscard]] static Expected<Manager> create(Implementation implementation,
                                                SecretMemory::Locking locking = SecretMemory::Locking::kPreferred);

  [[nodiscard]] IMB_MGR* get() const { return manager_; }
  // Sets the library's state to what it was at the start. Every job that it holds is forgotten.
  void reset();

  // What runs: "sse", "avx", "avx2", "avx512", with "+vaes" if it also uses vectors of AES rounds.
  [[nodiscard]] const std::string& implementation() const { return name_; }
  [[nodiscard]] bool locked() const { return memory_.locked(); }

  // The library's version: of its header at build time, and of what the program found when it started.
  [[nodiscard]] static std::string_view built_with();
  [[nodiscard]] static std::string_view runs_with();

 private:
  Manager(SecretMemory memory, Implementation implementation)
      : memory_(std::move(memory)), implementation_(implementation) {}

  bool start();

  SecretMemory memory_;
  Implementation implementation_;
  IMB_MGR* manager_ = nullptr;
  std::string name_;
};

}  // namespace splitplane::crypto
