// The jobs that turn the SDUs of a burst into PDUs: MAC-I over PDCP header and SDU, then ciphering of SDU and MAC-I
// (TS 38.323 5.8, 5.9). The SDUs may be of different bearers.
//
//   | PDCP header | SDAP header | data | MAC-I |
//    <----------- signed -------------->          by Engine::integrity
//                               <---- ciphered -> by Engine::cipher
#pragma once

#include <cstring>
#include <memory>

#include "crypto/engine.h"
#include "ran/pdcp/types.h"

namespace splitplane::ran::pdcp {

inline constexpr std::size_t kBurst = crypto::Engine::kBurst;

class Protection {
 public:
  // Adds the PDU at `pdu`, of which the header is written and the place of the MAC-I is not. `lends`: the kLentBytes
  // before the PDU may be used.
  void add(const Cover& cover, std::uint32_t count, std::uint8_t* pdu, std::size_t sdu_bytes, bool lends) {
    const auto message = static_cast<std::uint32_t>(cover.header_bytes + sdu_bytes);
    if (cover.signs) {
      crypto::IntegrityJob& job = integrities_[integrity_jobs_];
      job.key = cover.keys.integrity;
      job.count = Count{count};
      job.bearer = cover.bearer;
      job.direction = cover.direction;
      job.room_before = lends;
      job.in = pdu;
      job.length = message;
      mac_[integrity_jobs_++] = pdu + message;
    } else if (cover.mac_bytes != 0) {
      std::memset(pdu + message, 0, wire::pdcp::kMacIBytes);
    }
    if (!cover.ciphers) return;
    crypto::CipherJob& job = ciphers_[cipher_jobs_++];
    job.key = cover.keys.cipher;
    job.count = Count{count};
    job.bearer = cover.bearer;
    job.direction = cover.direction;
    job.in = job.out = pdu + cover.header_bytes + cover.clear_bytes;
    job.length = message + cover.mac_bytes - cover.header_bytes - cover.clear_bytes;
  }

  // Runs the jobs. False: the library failed, and some PDUs may still be in clear.
  [[nodiscard]] bool run(crypto::Engine& engine) {
    bool sound = true;
    if (integrity_jobs_ != 0) {
      sound = engine.integrity({integrities_.data(), integrity_jobs_});
      for (std::size_t i = 0; i < integrity_jobs_; ++i) {
        std::memcpy(mac_[i], integrities_[i].mac.data(), wire::pdcp::kMacIBytes);
      }
    }
    if (cipher_jobs_ != 0) sound = engine.cipher({ciphers_.data(), cipher_jobs_}) && sound;
    integrity_jobs_ = cipher_jobs_ = 0;
    return sound;
  }

 private:
  std::size_t integrity_jobs_ = 0, cipher_jobs_ = 0;
  std::array<crypto::IntegrityJob, kBurst> integrities_{};
  std::array<crypto::CipherJob, kBurst> ciphers_{};
  std::array<std::uint8_t*, kBurst> mac_{};
};

}  // namespace splitplane::ran::pdcp
