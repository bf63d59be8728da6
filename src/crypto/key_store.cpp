#include "crypto/key_store.h"

#include <string.h>

#include <algorithm>
#include <cassert>
#include <new>
#include <utility>

#include "crypto/ipsec_mb.h"
#include "crypto/key_layout.h"

namespace splitplane::crypto {
namespace {

template <class Algorithm>
std::size_t lines(Algorithm algorithm) {
  constexpr std::size_t kLine = CipherKey::kLine;
  return (16 + key_layout::bytes(algorithm) + kLine - 1) / kLine;
}

}  // namespace

Expected<std::unique_ptr<KeyStore>> KeyStore::create(SecretMemory::Locking locking) {
  auto manager = Manager::create(Implementation::kBest, locking);
  if (!manager) return tl::unexpected(manager.error());
  return std::unique_ptr<KeyStore>(new KeyStore(std::move(*manager), locking));
}

KeyStore::~KeyStore() {
  assert(keys_ == 0);  // a key ends before its store
}

Expected<KeyStore::CipherKeyPtr> KeyStore::make(CipherAlgorithm algorithm, const Secret& secret) {
  return make_key(algorithm, secret);
}

Expected<KeyStore::IntegrityKeyPtr> KeyStore::make(IntegrityAlgorithm algorithm, const Secret& secret) {
  return make_key(algorithm, secret);
}

template <class Algorithm>
Expected<std::unique_ptr<const Key<Algorithm>, KeyStore::Release>> KeyStore::make_key(Algorithm algorithm,
                                                                                      const Secret& secret) {
  if (const auto offered = check_offered(algorithm); !offered) return tl::unexpected(offered.error());
  if (secret.size() != key_bytes(algorithm)) {
    return fail("{} takes a key of {} octets, not of {}", name_of(algorithm), key_bytes(algorithm), secret.size());
  }
  const std::lock_guard lock(mutex_);
  const auto memory = slot(lines(algorithm));
  if (!memory) return tl::unexpected(memory.error());
  auto* const key = new (*memory) Key<Algorithm>(algorithm);
  expand(algorithm, secret, key->schedule());
  ++keys_;
  return std::unique_ptr<const Key<Algorithm>, Release>(key, Release{this});
}

Expected<std::byte*> KeyStore::slot(std::size_t lines) {
  Slots& slots = slots_[lines];
  if (!slots.free.empty()) {
    std::byte* const at = slots.free.back();
    slots.free.pop_back();
    return at;
  }
  const std::size_t bytes = lines * CipherKey::kLine;
  if (slots.end == slots.next || static_cast<std::size_t>(slots.end - slots.next) < bytes) {
    if (pieces_.empty() || piece_at_ == pieces_.back().data() + pieces_.back().size()) {
      auto piece = SecretMemory::map(kPiece, locking_);
      if (!piece) return tl::unexpected(piece.error());
      pieces_.push_back(std::move(*piece));
      piece_at_ = pieces_.back().data();
    }
    slots.next = piece_at_;
    slots.end = piece_at_ += kSpan;
  }
  return std::exchange(slots.next, slots.next + bytes);
}

template <class Algorithm>
void KeyStore::release(const Key<Algorithm>* key, Algorithm algorithm) {
  auto* const at = reinterpret_cast<std::byte*>(const_cast<Key<Algorithm>*>(key));
  const std::lock_guard lock(mutex_);
  ::explicit_bzero(at, lines(algorithm) * CipherKey::kLine);
  slots_[lines(algorithm)].free.push_back(at);
  --keys_;
}
template void KeyStore::release(const CipherKey* key, CipherAlgorithm algorithm);
template void KeyStore::release(const IntegrityKey* key, IntegrityAlgorithm algorithm);

void KeyStore::expand(CipherAlgorithm algorithm, const Secret& secret, std::uint8_t* schedule) {
  switch (algorithm) {
    case CipherAlgorithm::nea0:
      break;
    case CipherAlgorithm::nea1:
      IMB_SNOW3G_INIT_KEY_SCHED(manager_.get(), secret.octets_.data(),
                                reinterpret_cast<snow3g_key_schedule_t*>(schedule));
      break;
    case CipherAlgorithm::nea2:
    case CipherAlgorithm::nea5:
      expand_aes(secret, schedule);
      break;
    case CipherAlgorithm::nea3:
    case CipherAlgorithm::nea4:
    case CipherAlgorithm::nea6:
      std::copy_n(secret.octets_.data(), secret.size(), schedule);
      break;
  }
}

void KeyStore::expand(IntegrityAlgorithm algorithm, const Secret& secret, std::uint8_t* schedule) {
  switch (algorithm) {
    case IntegrityAlgorithm::nia0:
      break;
    case IntegrityAlgorithm::nia1:
      expand(CipherAlgorithm::nea1, secret, schedule);
      break;
    case IntegrityAlgorithm::nia2:
      expand_aes(secret, schedule);
      IMB_AES_CMAC_SUBKEY_GEN_128(manager_.get(), schedule, schedule + key_layout::kCmacSubkey1,
                                  schedule + key_layout::kCmacSubkey2);
      break;
    case IntegrityAlgorithm::nia5:
      expand_aes(secret, schedule);
      break;
    case IntegrityAlgorithm::nia3:
    case IntegrityAlgorithm::nia4:
    case IntegrityAlgorithm::nia6:
      std::copy_n(secret.octets_.data(), secret.size(), schedule);
      break;
  }
}

void KeyStore::expand_aes(const Secret& secret, std::uint8_t* schedule) {
  // The library also writes the schedule for deciphering blocks, which no algorithm of 5G does.
  alignas(16) std::array<std::uint8_t, key_layout::kAes256Bytes> unused;
  if (secret.size() == 16) {
    IMB_AES_KEYEXP_128(manager_.get(), secret.octets_.data(), schedule, unused.data());
  } else {
    IMB_AES_KEYEXP_256(manager_.get(), secret.octets_.data(), schedule, unused.data());
  }
  ::explicit_bzero(unused.data(), unused.size());
}

std::size_t KeyStore::keys() const {
  const std::lock_guard lock(mutex_);
  return keys_;
}

std::size_t KeyStore::bytes() const {
  const std::lock_guard lock(mutex_);
  return pieces_.size() * kPiece;
}

bool KeyStore::locked() const {
  const std::lock_guard lock(mutex_);
  return manager_.locked() &&
         std::all_of(pieces_.begin(), pieces_.end(), [](const SecretMemory& piece) { return piece.locked(); });
}

}  // namespace splitplane::crypto
