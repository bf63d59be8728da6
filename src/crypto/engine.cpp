#include "crypto/engine.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "crypto/ipsec_mb.h"
#include "crypto/key_layout.h"
#include "crypto/zuc.h"

namespace splitplane::crypto {
namespace {

constexpr std::size_t kPrefixBytes = 8;            // of NIA2: COUNT, BEARER, DIRECTION, zeros
constexpr std::uint32_t kMaxZucBytes = 65504 / 8;  // the library's limit for NEA3 and NIA3
constexpr std::size_t kCopyBytes = kPrefixBytes + kMaxMessageBytes + 56;

void store_be32(std::uint8_t* at, std::uint32_t value) {
  value = __builtin_bswap32(value);
  std::memcpy(at, &value, sizeof value);
}

// COUNT, then an octet with BEARER and DIRECTION, then zeros (TS 33.401 B.1.2 to B.1.4, B.2.3).
template <class Job>
void store_inputs(std::uint8_t* at, const Job& job) {
  store_be32(at, job.count.value);
  store_be32(at + 4, std::uint32_t{job.bearer & 0x1FU} << 27 | static_cast<std::uint32_t>(job.direction) << 26);
}

// The initialization vector of the 256-bit algorithms, as the library takes it: the length of the MAC in bits or 0,
// then BEARER and DIRECTION, then zeros, then COUNT, then the library's counter of blocks.
template <class Job>
void store_inputs_256(std::uint8_t* at, const Job& job, std::uint8_t mac_bits) {
  std::memset(at, 0, 16);
  at[0] = mac_bits;
  at[1] = static_cast<std::uint8_t>((job.bearer & 0x1F) << 1 | static_cast<unsigned>(job.direction));
  store_be32(at + 8, job.count.value);
}

void cipher_iv(CipherAlgorithm algorithm, const CipherJob& job, std::uint8_t* iv) {
  switch (algorithm) {
    case CipherAlgorithm::nea0:
      break;
    case CipherAlgorithm::nea1:
    case CipherAlgorithm::nea3:
      store_inputs(iv, job);
      std::memcpy(iv + 8, iv, 8);
      break;
    case CipherAlgorithm::nea2:
      store_inputs(iv, job);
      std::memset(iv + 8, 0, 4);
      store_be32(iv + 12, job.first_block);
      break;
    case CipherAlgorithm::nea4:
    case CipherAlgorithm::nea5:
    case CipherAlgorithm::nea6:
      store_inputs_256(iv, job, 0);
      break;
  }
}

void integrity_iv(IntegrityAlgorithm algorithm, const IntegrityJob& job, std::uint8_t* iv) {
  const auto direction = static_cast<std::uint8_t>(static_cast<unsigned>(job.direction) << 7);
  switch (algorithm) {
    case IntegrityAlgorithm::nia0:
    case IntegrityAlgorithm::nia2:
      break;
    case IntegrityAlgorithm::nia1:  // COUNT and FRESH, and both again with DIRECTION (TS 33.401 B.2.2)
    case IntegrityAlgorithm::nia3:
      store_be32(iv, job.count.value);
      store_be32(iv + 4, std::uint32_t{job.bearer & 0x1FU} << 27);
      std::memcpy(iv + 8, iv, 8);
      iv[8] ^= direction;
      iv[14] ^= direction;
      break;
    case IntegrityAlgorithm::nia4:
    case IntegrityAlgorithm::nia5:
    case IntegrityAlgorithm::nia6:
      store_inputs_256(iv, job, 8 * kMacBytes);
      break;
  }
}

// Since version 1.4 the library's burst calls want to know beforehand which functions a job needs. imb_set_session()
// does this too, but it also counts in a variable that all threads share.
void set_session([[maybe_unused]] IMB_MGR* manager, [[maybe_unused]] IMB_JOB* job) {
#if IMB_VERSION_NUM >= IMB_VERSION(1, 4, 0)
  manager->set_suite_id(manager, job);
#endif
}

void fill(IMB_JOB& out, CipherAlgorithm algorithm, const CipherJob& job, const std::uint8_t* schedule,
          const std::uint8_t* iv) {
  out.src = job.in;
  out.dst = job.out;
  out.iv = iv;
  out.iv_len_in_bytes = 16;
  out.enc_keys = schedule;
  out.dec_keys = schedule;
  out.key_len_in_bytes = key_bytes(algorithm);
  out.cipher_start_src_offset_in_bytes = 0;
  out.msg_len_to_cipher_in_bytes = job.length;
  out.cipher_direction = IMB_DIR_ENCRYPT;
  out.chain_order = IMB_ORDER_CIPHER_HASH;
  out.hash_alg = IMB_AUTH_NULL;
  switch (algorithm) {
    case CipherAlgorithm::nea0:
    case CipherAlgorithm::nea2:
      out.cipher_mode = IMB_CIPHER_CNTR;
      break;
    case CipherAlgorithm::nea1:
      out.cipher_mode = IMB_CIPHER_SNOW3G_UEA2_BITLEN;
      out.msg_len_to_cipher_in_bits = std::uint64_t{job.length} * 8;
      break;
    case CipherAlgorithm::nea3:
      out.cipher_mode = IMB_CIPHER_ZUC_EEA3;
      break;
    case CipherAlgorithm::nea4:
    case CipherAlgorithm::nea5:
    case CipherAlgorithm::nea6:
#ifdef SPLITPLANE_IPSEC_MB_256
      out.cipher_mode = algorithm == CipherAlgorithm::nea4   ? IMB_CIPHER_SNOW5G_NEA4
                        : algorithm == CipherAlgorithm::nea5 ? IMB_CIPHER_AES_NEA5
                                                             : IMB_CIPHER_ZUC_NEA6;
#endif
      break;
  }
}

void fill(IMB_JOB& out, IntegrityAlgorithm algorithm, IntegrityJob& job, const std::uint8_t* schedule,
          const std::uint8_t* iv) {
  out.src = job.in;
  out.dst = nullptr;
  out.key_len_in_bytes = 16;
  out.cipher_mode = IMB_CIPHER_NULL;
  out.cipher_direction = IMB_DIR_ENCRYPT;
  out.chain_order = IMB_ORDER_HASH_CIPHER;
  out.hash_start_src_offset_in_bytes = 0;
  out.msg_len_to_hash_in_bytes = job.length;
  out.auth_tag_output = job.mac.data();
  out.auth_tag_output_len_in_bytes = kMacBytes;
  switch (algorithm) {
    case IntegrityAlgorithm::nia0:
      break;
    case IntegrityAlgorithm::nia1:
      out.hash_alg = IMB_AUTH_SNOW3G_UIA2_BITLEN;
      out.msg_len_to_hash_in_bits = std::uint64_t{job.length} * 8;
      out.u.SNOW3G_UIA2._key = schedule;
      out.u.SNOW3G_UIA2._iv = iv;
      break;
    case IntegrityAlgorithm::nia2:
      out.hash_alg = IMB_AUTH_AES_CMAC;
      out.u.CMAC._key_expanded = schedule;
      out.u.CMAC._skey1 = schedule + key_layout::kCmacSubkey1;
      out.u.CMAC._skey2 = schedule + key_layout::kCmacSubkey2;
      break;
    case IntegrityAlgorithm::nia3:
      out.hash_alg = IMB_AUTH_ZUC_EIA3_BITLEN;
      out.msg_len_to_hash_in_bits = std::uint64_t{job.length} * 8;
      out.u.ZUC_EIA3._key = schedule;
      out.u.ZUC_EIA3._iv = iv;
      break;
    case IntegrityAlgorithm::nia4:
    case IntegrityAlgorithm::nia5:
    case IntegrityAlgorithm::nia6:
#ifdef SPLITPLANE_IPSEC_MB_256
      out.hash_alg = algorithm == IntegrityAlgorithm::nia4   ? IMB_AUTH_SNOW5G_NIA4
                     : algorithm == IntegrityAlgorithm::nia5 ? IMB_AUTH_AES_NIA5
                                                             : IMB_AUTH_ZUC_NIA6;
      out.u.NIA._key = schedule;
      out.u.NIA._iv = iv;
#endif
      break;
  }
}

bool is_long(CipherAlgorithm algorithm) {
  return algorithm == CipherAlgorithm::nea2 || algorithm == CipherAlgorithm::nea5;
}
bool is_long(IntegrityAlgorithm algorithm) {
  return algorithm == IntegrityAlgorithm::nia2 || algorithm == IntegrityAlgorithm::nia5;
}

// Sorts the jobs of a burst by algorithm: by number, without moving them. It fetches the first lines of all keys before
// it reads one, and the rest only of keys that have more than a line.
template <class Groups, class Job>
void sort(std::span<Job> jobs, Groups& groups) {
  for (const Job& job : jobs) __builtin_prefetch(job.key);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto algorithm = jobs[i].key->algorithm();
    if (is_long(algorithm)) jobs[i].key->prefetch();
    auto& group = groups[static_cast<std::size_t>(algorithm)];
    group.number[group.size++] = static_cast<std::uint8_t>(i);
  }
}

// Calls `serve` with pieces of at most a burst. True if it returned true for each.
template <class Job, class Serve>
bool in_bursts(std::span<Job> jobs, Serve serve) {
  bool sound = true;
  while (!jobs.empty()) {
    const auto burst = jobs.first(std::min(jobs.size(), Engine::kBurst));
    jobs = jobs.subspan(burst.size());
    sound = serve(burst) && sound;
  }
  return sound;
}

}  // namespace

Expected<std::unique_ptr<Engine>> Engine::create(Implementation implementation, SecretMemory::Locking locking) {
  auto manager = Manager::create(implementation, locking);
  if (!manager) return tl::unexpected(manager.error());
  auto copies = SecretMemory::map(kBurst * kCopyBytes, locking);
  if (!copies) return tl::unexpected(copies.error());
  return std::unique_ptr<Engine>(new Engine(std::move(*manager), std::move(*copies)));
}

Engine::Engine(Manager manager, SecretMemory copies)
    : manager_(std::move(manager)), copies_(std::move(copies)), own_jobs_(std::make_unique<IMB_JOB[]>(kBurst)) {}

Engine::~Engine() = default;

bool Engine::cipher(std::span<const CipherJob> jobs) {
  return in_bursts(jobs, [this](auto burst) { return cipher_burst(burst); });
}

bool Engine::integrity(std::span<IntegrityJob> jobs) {
  return in_bursts(jobs, [this](auto burst) { return integrity_burst(burst); });
}

bool Engine::cipher_burst(std::span<const CipherJob> jobs) {
  std::array<Group, kCipherAlgorithmCount> groups;
  sort(jobs, groups);
  bool sound = true;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const Group& group = groups[i];
    if (group.size == 0) continue;
    const auto algorithm = static_cast<CipherAlgorithm>(i);
    if (algorithm == CipherAlgorithm::nea0) {
      for (std::size_t j = 0; j < group.size; ++j) {
        const CipherJob& job = jobs[group.number[j]];
        if (job.out != job.in && job.length != 0) std::memcpy(job.out, job.in, job.length);
      }
    } else if (algorithm == CipherAlgorithm::nea2) {
      sound = nea2(jobs, group) && sound;
    } else {
      sound = cipher_in_lanes(algorithm, jobs, group) && sound;
    }
  }
  return sound;
}

// The library has a call for AES in counter mode that takes an array of jobs and keeps none of them.
bool Engine::nea2(std::span<const CipherJob> jobs, const Group& group) {
  std::size_t size = 0;
  bool sound = true;
  for (std::size_t i = 0; i < group.size; ++i) {
    const CipherJob& job = jobs[group.number[i]];
    if (job.length == 0) continue;
    if (job.length > kMaxMessageBytes) {
      sound = false;
      continue;
    }
    cipher_iv(CipherAlgorithm::nea2, job, iv_[size].data());
    fill(own_jobs_[size], CipherAlgorithm::nea2, job, job.key->schedule(), iv_[size].data());
    ++size;
  }
  const std::uint32_t done =
      IMB_SUBMIT_CIPHER_BURST_NOCHECK(manager_.get(), own_jobs_.get(), static_cast<std::uint32_t>(size),
                                      IMB_CIPHER_CNTR, IMB_DIR_ENCRYPT, IMB_KEY_128_BYTES);
  return sound && done == size;
}

bool Engine::cipher_in_lanes(CipherAlgorithm algorithm, std::span<const CipherJob> jobs, const Group& group) {
  const std::size_t lent = lend(group.size);
  if (lent != group.size) return finish(0);
  std::size_t size = 0;
  bool sound = true;
  for (std::size_t i = 0; i < group.size; ++i) {
    const CipherJob& job = jobs[group.number[i]];
    if (job.length == 0) continue;
    if (job.length > kMaxMessageBytes || job.first_block != 0) {
      sound = false;
      continue;
    }
    std::uint8_t* const iv = iv_[size].data();
    cipher_iv(algorithm, job, iv);
    if (algorithm == CipherAlgorithm::nea3 && job.length > kMaxZucBytes) {
      nea3_slowly(job.key->schedule(), iv, job.in, job.out, job.length);
      continue;
    }
    fill(*jobs_[size], algorithm, job, job.key->schedule(), iv);
    set_session(manager_.get(), jobs_[size]);
    ++size;
  }
  return finish(size) && sound;
}

bool Engine::integrity_burst(std::span<IntegrityJob> jobs) {
  std::array<Group, kIntegrityAlgorithmCount> groups;
  sort(jobs, groups);
  bool sound = true;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const Group& group = groups[i];
    if (group.size == 0) continue;
    const auto algorithm = static_cast<IntegrityAlgorithm>(i);
    if (algorithm == IntegrityAlgorithm::nia0) {
      for (std::size_t j = 0; j < group.size; ++j) jobs[group.number[j]].mac = {};
    } else if (algorithm == IntegrityAlgorithm::nia2) {
      sound = nia2(jobs, group) && sound;
    } else {
      sound = integrity_in_lanes(algorithm, jobs, group) && sound;
    }
  }
  return sound;
}

// CMAC over 8 octets and the message (TS 33.401 B.2.3). The library reads both in one piece.
bool Engine::nia2(std::span<IntegrityJob> jobs, const Group& group) {
  const std::size_t lent = lend(group.size);
  if (lent != group.size) return finish(0);
  struct Saved {
    std::uint8_t* at;
    std::array<std::uint8_t, kPrefixBytes> octets;
  };
  std::array<Saved, kBurst> saved;
  std::size_t size = 0, overwritten = 0;
  bool sound = true;
  auto* copy = reinterpret_cast<std::uint8_t*>(copies_.data());
  for (std::size_t i = 0; i < group.size; ++i) {
    IntegrityJob& job = jobs[group.number[i]];
    if (job.length > kMaxMessageBytes) {
      sound = false;
      continue;
    }
    std::uint8_t* whole = copy;
    if (job.room_before) {
      whole = const_cast<std::uint8_t*>(job.in) - kPrefixBytes;
      saved[overwritten].at = whole;
      std::memcpy(saved[overwritten++].octets.data(), whole, kPrefixBytes);
    } else {
      if (job.length != 0) std::memcpy(copy + kPrefixBytes, job.in, job.length);
      copy += (kPrefixBytes + job.length + 63) / 64 * 64;
    }
    store_inputs(whole, job);
    fill(*jobs_[size], IntegrityAlgorithm::nia2, job, job.key->schedule(), nullptr);
    jobs_[size]->src = whole;
    jobs_[size]->msg_len_to_hash_in_bytes = kPrefixBytes + job.length;
    set_session(manager_.get(), jobs_[size]);
    ++size;
  }
  sound = finish(size) && sound;
  for (std::size_t i = 0; i < overwritten; ++i) std::memcpy(saved[i].at, saved[i].octets.data(), kPrefixBytes);
  return sound;
}

bool Engine::integrity_in_lanes(IntegrityAlgorithm algorithm, std::span<IntegrityJob> jobs, const Group& group) {
  const std::size_t lent = lend(group.size);
  if (lent != group.size) return finish(0);
  std::size_t size = 0;
  bool sound = true;
  for (std::size_t i = 0; i < group.size; ++i) {
    IntegrityJob& job = jobs[group.number[i]];
    if (job.length > kMaxMessageBytes) {
      sound = false;
      continue;
    }
    std::uint8_t* const iv = iv_[size].data();
    integrity_iv(algorithm, job, iv);
    if (algorithm == IntegrityAlgorithm::nia3 && (job.length == 0 || job.length > kMaxZucBytes)) {
      nia3_slowly(job.key->schedule(), iv, job.in, job.length, job.mac.data());
      continue;
    }
    if (job.length == 0) continue;  // below, once the library has no other work
    fill(*jobs_[size], algorithm, job, job.key->schedule(), iv);
    set_session(manager_.get(), jobs_[size]);
    ++size;
  }
  sound = finish(size) && sound;
  for (std::size_t i = 0; i < group.size; ++i) {
    IntegrityJob& job = jobs[group.number[i]];
    if (job.length != 0 || algorithm == IntegrityAlgorithm::nia3) continue;
    sound = algorithm == IntegrityAlgorithm::nia1 && nia1_of_nothing(job) && sound;
  }
  return sound;
}

// The library refuses an empty message. Its MAC-I is the fifth word of the key stream (TS 35.215 4.4), which
// enciphering zeros shows.
bool Engine::nia1_of_nothing(IntegrityJob& job) {
  if (lend(1) != 1) return finish(0);
  std::array<std::uint8_t, 20> stream{};
  integrity_iv(IntegrityAlgorithm::nia1, job, iv_[0].data());
  const CipherJob zeros{.in = stream.data(), .out = stream.data(), .length = stream.size()};
  fill(*jobs_[0], CipherAlgorithm::nea1, zeros, job.key->schedule(), iv_[0].data());
  set_session(manager_.get(), jobs_[0]);
  const bool sound = finish(1);
  std::copy_n(stream.data() + 16, kMacBytes, job.mac.data());
  return sound;
}

std::size_t Engine::lend(std::size_t size) {
  return IMB_GET_NEXT_BURST(manager_.get(), static_cast<std::uint32_t>(size), jobs_.data());
}

bool Engine::finish(std::size_t size) {
  const auto completed = [](const IMB_JOB* job) { return job->status == IMB_STATUS_COMPLETED; };
  IMB_MGR* const manager = manager_.get();
  bool sound = true;
  std::size_t done = 0;
  if (size != 0) {
    done = IMB_SUBMIT_BURST_NOCHECK(manager, static_cast<std::uint32_t>(size), jobs_.data());
    sound = std::all_of(jobs_.begin(), jobs_.begin() + static_cast<std::ptrdiff_t>(done), completed);
  }
  while (done < size) {
    const std::size_t more = IMB_FLUSH_BURST(manager, static_cast<std::uint32_t>(size - done), jobs_.data());
    sound =
        sound && more != 0 && std::all_of(jobs_.begin(), jobs_.begin() + static_cast<std::ptrdiff_t>(more), completed);
    if (more == 0) break;
    done += more;
  }
  if (!sound) manager_.reset();
  return sound;
}

}  // namespace splitplane::crypto
