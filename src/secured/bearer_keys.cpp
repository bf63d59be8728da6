#include "secured/bearer_keys.h"

namespace splitplane::datapath {
namespace {

using crypto::CipherAlgorithm;
using crypto::IntegrityAlgorithm;
using crypto::Secret;

static_assert(ran::kCipherNames[3] == crypto::kCipherAlgorithmNames[3]);
static_assert(ran::kIntegrityNames[4] == crypto::kIntegrityAlgorithmNames[3]);

// The secret of an algorithm that has one; nothing for the null algorithms.
Expected<Secret> secret_of(std::optional<Secret>& given, std::size_t bytes, std::string_view name,
                           std::uint32_t number) {
  if (bytes == 0) return Secret();
  if (!given) return fail("security.key: the keys with number {} have none for {}", number, name);
  if (given->size() != bytes) {
    return fail("security.key: the key with number {} for {} has {} octets; allowed: {}", number, name, given->size(),
                bytes);
  }
  return std::move(*given);
}

}  // namespace

Expected<std::shared_ptr<BearerKeys>> BearerKeys::create(const std::string& path) {
  crypto::KeyFile file(path);
  if (auto read = file.read(); !read) return tl::unexpected(read.error());
  auto store = crypto::KeyStore::create();
  if (!store) return tl::unexpected(store.error());
  return std::shared_ptr<BearerKeys>(new BearerKeys(std::move(file), std::move(*store)));
}

Expected<BearerKeys::Pair> BearerKeys::make(const ran::SecurityConfig& security) {
  auto found = file_.find(security.key);
  if (!found) return tl::unexpected(found.error());
  const auto cipher = static_cast<CipherAlgorithm>(security.cipher);
  auto secret = secret_of(found->cipher, crypto::key_bytes(cipher), name_of(cipher), security.key);
  if (!secret) return tl::unexpected(secret.error());
  auto cipher_key = store_->make(cipher, *secret);
  if (!cipher_key) return tl::unexpected(cipher_key.error());
  Pair pair{.cipher = std::move(*cipher_key), .integrity = {}};
  if (security.integrity == ran::Integrity::kNone) return pair;
  const auto integrity = static_cast<IntegrityAlgorithm>(static_cast<unsigned>(security.integrity) - 1);
  secret = secret_of(found->integrity, crypto::key_bytes(integrity), name_of(integrity), security.key);
  if (!secret) return tl::unexpected(secret.error());
  auto integrity_key = store_->make(integrity, *secret);
  if (!integrity_key) return tl::unexpected(integrity_key.error());
  pair.integrity = std::move(*integrity_key);
  return pair;
}

}  // namespace splitplane::datapath
