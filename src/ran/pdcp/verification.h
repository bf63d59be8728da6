// The jobs that turn the PDUs of a burst into SDUs: deciphering of SDU and MAC-I, then the MAC-I that is expected over
// PDCP header and SDU (TS 38.323 5.8, 5.9). The PDUs may be of different bearers. The header counts as it came, with
// its reserved bits.
#pragma once

#include <array>

#include "ran/pdcp/protection.h"

namespace splitplane::ran::pdcp {

class Verification {
 public:
  // Adds PDU number `i` of the burst. `lends`: the kLentBytes before the PDU may be used.
  void add(const Cover& cover, std::size_t i, std::uint32_t count, std::uint8_t* pdu, std::size_t sdu_bytes,
           bool lends) {
    const auto message = static_cast<std::uint32_t>(cover.header_bytes + sdu_bytes);
    expected_[i] = &kZeros;
    if (cover.signs) {
      crypto::IntegrityJob& job = integrities_[integrity_jobs_++];
      job.key = cover.keys.integrity;
      job.count = Count{count};
      job.bearer = cover.bearer;
      job.direction = cover.direction;
      job.room_before = lends;
      job.in = pdu;
      job.length = message;
      expected_[i] = &job.mac;
    }
    if (cover.ciphers) ciphers_[cipher_jobs_++] = cipher_job(cover, count, pdu, sdu_bytes);
  }
  // False: the library failed, and the whole burst has to be dropped.
  [[nodiscard]] bool run(crypto::Engine& engine) {
    bool sound = cipher_jobs_ == 0 || engine.cipher({ciphers_.data(), cipher_jobs_});
    if (integrity_jobs_ != 0) sound = engine.integrity({integrities_.data(), integrity_jobs_}) && sound;
    integrity_jobs_ = cipher_jobs_ = 0;
    return sound;
  }
  // After run(): whether PDU number `i` has the expected MAC-I. Without integrity protection there is none.
  [[nodiscard]] bool is_genuine(const Cover& cover, std::size_t i, const std::uint8_t* pdu,
                                std::size_t sdu_bytes) const {
    return cover.mac_bytes == 0 || crypto::equal_macs(*expected_[i], pdu + cover.header_bytes + sdu_bytes);
  }

  [[nodiscard]] static crypto::CipherJob cipher_job(const Cover& cover, std::uint32_t count, std::uint8_t* pdu,
                                                    std::size_t sdu_bytes) {
    std::uint8_t* const at = pdu + cover.header_bytes + cover.clear_bytes;
    return {.key = cover.keys.cipher,
            .count = Count{count},
            .bearer = cover.bearer,
            .direction = cover.direction,
            .in = at,
            .out = at,
            .length = static_cast<std::uint32_t>(sdu_bytes + cover.mac_bytes - cover.clear_bytes)};
  }

 private:
  using Mac = std::array<std::uint8_t, crypto::kMacBytes>;
  static constexpr Mac kZeros{};

  std::size_t integrity_jobs_ = 0, cipher_jobs_ = 0;
  std::array<crypto::CipherJob, kBurst> ciphers_{};
  std::array<crypto::IntegrityJob, kBurst> integrities_{};
  std::array<const Mac*, kBurst> expected_{};
};

}  // namespace splitplane::ran::pdcp
