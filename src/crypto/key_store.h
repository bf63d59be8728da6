// Where the keys of all bearers lie: memory in pieces of 2 MiB, locked once each, so that 64 K bearers need 16 calls
// and few entries of the TLB. The control thread makes and frees keys; workers only read them.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "base/expected.h"
#include "crypto/key.h"
#include "crypto/key_layout.h"
#include "crypto/manager.h"
#include "crypto/secret.h"
#include "crypto/secret_memory.h"

namespace splitplane::crypto {

class KeyStore {
 public:
  [[nodiscard]] static Expected<std::unique_ptr<KeyStore>> create(
      SecretMemory::Locking locking = SecretMemory::Locking::kPreferred);

  KeyStore(const KeyStore&) = delete;
  KeyStore& operator=(const KeyStore&) = delete;
  ~KeyStore();  // after all its keys

  // Wipes the key. The owner sees to it that no worker still uses the key: it frees the key after the workers passed a
  // quiescent point, as it does with a bearer.
  struct Release {
    KeyStore* store = nullptr;
    template <class Algorithm>
    void operator()(const Key<Algorithm>* key) const {
      store->release(key, key->algorithm());
    }
  };
  using CipherKeyPtr = std::unique_ptr<const CipherKey, Release>;
  using IntegrityKeyPtr = std::unique_ptr<const IntegrityKey, Release>;

  // Expands a key. It fails if the secret's size is not the algorithm's, if this build does not offer the algorithm, or
  // if there is no memory.
  [[nodiscard]] Expected<CipherKeyPtr> make(CipherAlgorithm algorithm, const Secret& secret);
  [[nodiscard]] Expected<IntegrityKeyPtr> make(IntegrityAlgorithm algorithm, const Secret& secret);

  // True if both are the same key of the same algorithm, and the algorithm is not a null one. So one may not protect
  // anew what the other has protected. It takes the same time wherever the keys differ.
  template <class Algorithm>
  [[nodiscard]] static bool protect_alike(const Key<Algorithm>& a, const Key<Algorithm>& b) {
    if (a.algorithm() != b.algorithm()) return false;
    const std::size_t bytes = key_layout::bytes(a.algorithm());
    unsigned difference = 0;
    for (std::size_t i = 0; i < bytes; ++i) difference |= static_cast<unsigned>(a.schedule()[i] ^ b.schedule()[i]);
    return bytes != 0 && difference == 0;
  }

  [[nodiscard]] std::size_t keys() const;   // that exist now
  [[nodiscard]] std::size_t bytes() const;  // of memory, all of it secret
  [[nodiscard]] bool locked() const;        // all of it

 private:
  static constexpr std::size_t kPiece = std::size_t{2} << 20;
  static constexpr std::size_t kSpan = std::size_t{64} << 10;  // what keys of one size take from a piece at a time
  static constexpr std::size_t kMaxLines = CipherKey::kMaxLines;

  // Keys of one size, in cache lines.
  struct Slots {
    std::byte* next = nullptr;
    std::byte* end = nullptr;
    std::vector<std::byte*> free;
  };

  KeyStore(Manager manager, SecretMemory::Locking locking) : manager_(std::move(manager)), locking_(locking) {}

  template <class Algorithm>
  Expected<std::unique_ptr<const Key<Algorithm>, Release>> make_key(Algorithm algorithm, const Secret& secret);
  Expected<std::byte*> slot(std::size_t lines);
  void expand(CipherAlgorithm algorithm, const Secret& secret, std::uint8_t* schedule);
  void expand(IntegrityAlgorithm algorithm, const Secret& secret, std::uint8_t* schedule);
  void expand_aes(const Secret& secret, std::uint8_t* schedule);

  template <class Algorithm>
  void release(const Key<Algorithm>* key, Algorithm algorithm);

  Manager manager_;
  SecretMemory::Locking locking_;
  mutable std::mutex mutex_;
  std::vector<SecretMemory> pieces_;
  std::byte* piece_at_ = nullptr;  // what of the last piece no size has taken
  std::array<Slots, kMaxLines + 1> slots_;
  std::size_t keys_ = 0;
};

}  // namespace splitplane::crypto
