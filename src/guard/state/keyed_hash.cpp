#include "guard/state/keyed_hash.h"

#include "base/random.h"

namespace splitplane::guard {

KeyedHash::KeyedHash(std::uint64_t secret) {
  Random random(secret);
  for (std::uint64_t& word : keys_) word = random.next();
}

}  // namespace splitplane::guard
