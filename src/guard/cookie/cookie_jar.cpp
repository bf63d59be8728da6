// Keys of cookies: from libsodium's generator of random numbers, which is the system's.
#include "guard/cookie/cookie_jar.h"

#include <sodium.h>

namespace splitplane::guard {

template <unsigned kRstBits, unsigned kSynBits>
CookieKeys BasicCookieJar<kRstBits, kSynBits>::random_keys() {
  CookieKeys keys;
  for (SipKey& key : keys.key) randombytes_buf(key.data(), key.size());
  return keys;
}

template <unsigned kRstBits, unsigned kSynBits>
void BasicCookieJar<kRstBits, kSynBits>::rotate() {
  SipKey& oldest = keys_.key[(keys_.generation + 1) & 1];
  randombytes_buf(oldest.data(), oldest.size());
  ++keys_.generation;
}

template class BasicCookieJar<31, 28>;
template class BasicCookieJar<16, 16>;

}  // namespace splitplane::guard
