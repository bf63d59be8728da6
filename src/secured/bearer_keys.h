// The keys of a program's secured bearers: from the key file into the memory of the key store, and nowhere else. It
// also remembers which keys were given out, because no COUNT may be used twice under one key (TS 38.331 5.3.1.2). The
// control thread uses it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "crypto/key_file.h"
#include "crypto/key_store.h"
#include "ran/bearer_config.h"
#include "ran/pdcp/types.h"

namespace splitplane::datapath {

class BearerKeys {
 public:
  // The keys of one bearer. The key store must outlive them.
  struct Pair {
    crypto::KeyStore::CipherKeyPtr cipher;
    crypto::KeyStore::IntegrityKeyPtr integrity;  // empty: no integrity protection

    [[nodiscard]] ran::pdcp::Security security() const { return {cipher.get(), integrity.get()}; }
  };
  // COUNTs of one bearer that may have been used with its keys: all below.
  struct Used {
    std::uint32_t tx_next = 0, rx_next = 0;
  };

  // Reads the key file once, so that a mistake is known at the start.
  [[nodiscard]] static Expected<std::shared_ptr<BearerKeys>> create(const std::string& path);

  [[nodiscard]] Expected<Pair> make(const ran::SecurityConfig& security);

  // What was used with these keys and this DRB identity; nullptr: nothing in this run.
  [[nodiscard]] const Used* used(const ran::SecurityConfig& security) const {
    const auto at = used_.find({security.key, security.drb});
    return at == used_.end() ? nullptr : &at->second;
  }
  void note_used(const ran::SecurityConfig& security, const Used& used) { used_[{security.key, security.drb}] = used; }
  void forget_used(const ran::SecurityConfig& security) { used_.erase({security.key, security.drb}); }

 private:
  BearerKeys(crypto::KeyFile file, std::unique_ptr<crypto::KeyStore> store)
      : file_(std::move(file)), store_(std::move(store)) {}

  crypto::KeyFile file_;
  std::unique_ptr<crypto::KeyStore> store_;
  std::map<std::pair<std::uint32_t, std::uint8_t>, Used> used_;  // by key number and DRB identity
};

}  // namespace splitplane::datapath
