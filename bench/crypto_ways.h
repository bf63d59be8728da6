// Ways to cipher that benches time: our engine with keys of 64 K bearers, and intel-ipsec-mb alone.
#pragma once

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "crypto/engine.h"
#include "crypto/ipsec_mb.h"
#include "crypto/key_layout.h"
#include "crypto/key_store.h"

namespace splitplane::bench {

using namespace crypto;

inline constexpr std::size_t kBearers = 65'536;
inline constexpr std::size_t kBurst = Engine::kBurst;
inline constexpr std::size_t kPitch = 2176;  // between packets: an mbuf with its headroom

[[noreturn]] inline void stop(const std::string& why) {
  std::fprintf(stderr, "bench: %s\n", why.c_str());
  std::exit(1);
}

template <class T>
T value_of(Expected<T> result) {
  if (!result) stop(result.error().message);
  return std::move(*result);
}

struct Packets {
  std::vector<std::uint8_t> memory = std::vector<std::uint8_t>((kBurst + 1) * kPitch, 0x5A);
  std::uint8_t* packet(std::size_t i) { return memory.data() + 128 + i * kPitch; }
};

// The keys of all bearers, and an order in which a bench uses them: a caller knows the keys of its packets.
class Bearers {
 public:
  Bearers(KeyStore& store, CipherAlgorithm cipher, IntegrityAlgorithm integrity) {
    std::mt19937_64 random(1);
    std::array<std::uint8_t, 16> octets{};
    for (std::size_t i = 0; i < kBearers; ++i) {
      for (auto& octet : octets) octet = static_cast<std::uint8_t>(random());
      ciphers_.push_back(value_of(store.make(cipher, value_of(Secret::from_octets(octets)))));
      integrities_.push_back(value_of(store.make(integrity, value_of(Secret::from_octets(octets)))));
    }
    for (Keys& keys : order_) {
      const std::size_t bearer = random() % kBearers;
      keys = {ciphers_[bearer].get(), integrities_[bearer].get()};
    }
  }

  struct Keys {
    const CipherKey* cipher;
    const IntegrityKey* integrity;
  };
  // Of the packets of the next burst.
  const Keys* next() {
    at_ = (at_ + kBurst) % order_.size();
    return order_.data() + at_;
  }

 private:
  std::vector<KeyStore::CipherKeyPtr> ciphers_;
  std::vector<KeyStore::IntegrityKeyPtr> integrities_;
  std::vector<Keys> order_ = std::vector<Keys>(std::size_t{1} << 18);
  std::size_t at_ = 0;
};

// intel-ipsec-mb as a program would call it that has nothing else to do: one algorithm, one length, checks off, and
// initialization vectors that are ready.
class Alone {
 public:
  explicit Alone(std::size_t keys) : keys_(keys) {
    manager_ = alloc_mb_mgr(0);
    init_mb_mgr_auto(manager_, nullptr);
    std::mt19937_64 random(2);
    for (Schedule& key : keys_) {
      for (auto& octet : key.octets) octet = static_cast<std::uint8_t>(random());
    }
    for (auto& bearer : order_) bearer = static_cast<std::uint32_t>(random() % keys);
  }
  ~Alone() { free_mb_mgr(manager_); }
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;

  void cipher(CipherAlgorithm algorithm, Packets& packets, std::uint32_t bytes) {
    const std::uint32_t* const bearers = next();
    if (algorithm == CipherAlgorithm::nea2) {
      for (std::size_t i = 0; i < kBurst; ++i) fill_cipher(own_[i], algorithm, bearers[i], i, packets, bytes);
      IMB_SUBMIT_CIPHER_BURST_NOCHECK(manager_, own_.data(), kBurst, IMB_CIPHER_CNTR, IMB_DIR_ENCRYPT,
                                      IMB_KEY_128_BYTES);
      return;
    }
    IMB_GET_NEXT_BURST(manager_, kBurst, jobs_.data());
    for (std::size_t i = 0; i < kBurst; ++i) fill_cipher(*jobs_[i], algorithm, bearers[i], i, packets, bytes);
    run();
  }

  void integrity(IntegrityAlgorithm algorithm, Packets& packets, std::uint32_t bytes) {
    const std::uint32_t* const bearers = next();
    IMB_GET_NEXT_BURST(manager_, kBurst, jobs_.data());
    for (std::size_t i = 0; i < kBurst; ++i) {
      IMB_JOB& job = *jobs_[i];
      const std::uint8_t* const key = keys_[bearers[i]].octets.data();
      job.src = packets.packet(i);
      job.cipher_mode = IMB_CIPHER_NULL;
      job.cipher_direction = IMB_DIR_ENCRYPT;
      job.key_len_in_bytes = 16;
      job.chain_order = IMB_ORDER_HASH_CIPHER;
      job.hash_start_src_offset_in_bytes = 0;
      job.msg_len_to_hash_in_bytes = bytes;
      job.auth_tag_output = mac_[i].data();
      job.auth_tag_output_len_in_bytes = 4;
      if (algorithm == IntegrityAlgorithm::nia2) {
        job.hash_alg = IMB_AUTH_AES_CMAC;
        job.u.CMAC._key_expanded = key;
        job.u.CMAC._skey1 = key + key_layout::kCmacSubkey1;
        job.u.CMAC._skey2 = key + key_layout::kCmacSubkey2;
      } else {
        job.msg_len_to_hash_in_bits = std::uint64_t{bytes} * 8;
        const bool snow = algorithm == IntegrityAlgorithm::nia1;
        job.hash_alg = snow ? IMB_AUTH_SNOW3G_UIA2_BITLEN : IMB_AUTH_ZUC_EIA3_BITLEN;
        job.u.ZUC_EIA3._key = key;
        job.u.ZUC_EIA3._iv = iv_[i].data();
        if (snow) {
          job.u.SNOW3G_UIA2._key = key;
          job.u.SNOW3G_UIA2._iv = iv_[i].data();
        }
      }
      set_suite(job);
    }
    run();
  }

 private:
  struct alignas(64) Schedule {
    std::array<std::uint8_t, 256> octets;
  };

  const std::uint32_t* next() {
    at_ = (at_ + kBurst) % order_.size();
    return order_.data() + at_;
  }

  void fill_cipher(IMB_JOB& job, CipherAlgorithm algorithm, std::uint32_t bearer, std::size_t i, Packets& packets,
                   std::uint32_t bytes) {
    job.enc_keys = job.dec_keys = keys_[bearer].octets.data();
    job.key_len_in_bytes = 16;
    job.src = job.dst = packets.packet(i);
    job.iv = iv_[i].data();
    job.iv_len_in_bytes = 16;
    job.cipher_direction = IMB_DIR_ENCRYPT;
    job.chain_order = IMB_ORDER_CIPHER_HASH;
    job.hash_alg = IMB_AUTH_NULL;
    job.cipher_start_src_offset_in_bytes = 0;
    job.msg_len_to_cipher_in_bytes = bytes;
    job.cipher_mode = algorithm == CipherAlgorithm::nea2 ? IMB_CIPHER_CNTR : IMB_CIPHER_ZUC_EEA3;
    if (algorithm == CipherAlgorithm::nea1) {
      job.cipher_mode = IMB_CIPHER_SNOW3G_UEA2_BITLEN;
      job.msg_len_to_cipher_in_bits = std::uint64_t{bytes} * 8;
    }
    set_suite(job);
  }

  void set_suite([[maybe_unused]] IMB_JOB& job) {
#if IMB_VERSION_NUM >= IMB_VERSION(1, 4, 0)
    manager_->set_suite_id(manager_, &job);
#endif
  }

  void run() {
    std::uint32_t done = IMB_SUBMIT_BURST_NOCHECK(manager_, kBurst, jobs_.data());
    while (done < kBurst) done += IMB_FLUSH_BURST(manager_, static_cast<std::uint32_t>(kBurst - done), jobs_.data());
  }

  IMB_MGR* manager_ = nullptr;
  std::vector<Schedule> keys_;
  std::vector<std::uint32_t> order_ = std::vector<std::uint32_t>(std::size_t{1} << 20);
  std::size_t at_ = 0;
  std::array<IMB_JOB, kBurst> own_{};
  std::array<IMB_JOB*, kBurst> jobs_{};
  alignas(64) std::array<std::array<std::uint8_t, 16>, kBurst> iv_{};
  alignas(64) std::array<std::array<std::uint8_t, 16>, kBurst> mac_{};
};

// Our engine, with COUNT, BEARER and DIRECTION that vary.
class Ours {
 public:
  Ours(Engine& engine, Bearers& bearers) : engine_(engine), bearers_(bearers) {}

  void cipher(Packets& packets, std::uint32_t bytes) {
    const Bearers::Keys* const keys = bearers_.next();
    for (std::size_t i = 0; i < kBurst; ++i) {
      ciphers_[i] = {
          keys[i].cipher,    {count_++}, static_cast<std::uint8_t>(i), Direction::kDownlink, packets.packet(i),
          packets.packet(i), bytes};
    }
    if (!engine_.cipher(ciphers_)) stop("a burst was refused");
  }

  void integrity(Packets& packets, std::uint32_t bytes, bool room_before) {
    const Bearers::Keys* const keys = bearers_.next();
    for (std::size_t i = 0; i < kBurst; ++i) {
      integrities_[i].key = keys[i].integrity;
      integrities_[i].count = {count_++};
      integrities_[i].bearer = static_cast<std::uint8_t>(i);
      integrities_[i].room_before = room_before;
      integrities_[i].in = packets.packet(i);
      integrities_[i].length = bytes;
    }
    if (!engine_.integrity(integrities_)) stop("a burst was refused");
  }

 private:
  Engine& engine_;
  Bearers& bearers_;
  std::uint32_t count_ = 0;
  std::array<CipherJob, kBurst> ciphers_{};
  std::array<IntegrityJob, kBurst> integrities_{};
};

}  // namespace splitplane::bench
