// Ciphering and integrity for one thread, in bursts: the packets of a burst may have different keys and algorithms, and
// intel-ipsec-mb works on up to 16 of them at once. A call allocates nothing, takes no lock, makes no system call, and
// leaves no work behind in the library.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/expected.h"
#include "crypto/job.h"
#include "crypto/manager.h"
#include "crypto/secret_memory.h"

struct IMB_JOB;

namespace splitplane::crypto {

class Engine {
 public:
  // The best size of a burst. Longer ones are served in pieces of it.
  static constexpr std::size_t kBurst = 32;

  [[nodiscard]] static Expected<std::unique_ptr<Engine>> create(
      Implementation implementation = Implementation::kBest,
      SecretMemory::Locking locking = SecretMemory::Locking::kPreferred);

  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine();

  // False: at least one job was refused (a message over kMaxMessageBytes) or failed in the library. The caller drops
  // the whole burst then, since its packets may still be in clear. The engine itself is usable again.
  [[nodiscard]] bool cipher(std::span<const CipherJob> jobs);
  [[nodiscard]] bool integrity(std::span<IntegrityJob> jobs);

  // Which of the library's implementations runs, such as "avx512+vaes".
  [[nodiscard]] const std::string& implementation() const { return manager_.implementation(); }

 private:
  using Iv = std::array<std::uint8_t, 16>;
  // The jobs of a burst that have the same algorithm, by their numbers in the burst.
  struct Group {
    std::size_t size = 0;
    std::array<std::uint8_t, kBurst> number;
  };
  Engine(Manager manager, SecretMemory copies);

  bool cipher_burst(std::span<const CipherJob> jobs);
  bool nea2(std::span<const CipherJob> jobs, const Group& group);
  bool cipher_in_lanes(CipherAlgorithm algorithm, std::span<const CipherJob> jobs, const Group& group);

  bool integrity_burst(std::span<IntegrityJob> jobs);
  bool nia2(std::span<IntegrityJob> jobs, const Group& group);
  bool integrity_in_lanes(IntegrityAlgorithm algorithm, std::span<IntegrityJob> jobs, const Group& group);
  bool nia1_of_nothing(IntegrityJob& job);

  // Gives the first `size` of jobs_ to the library and waits for all of them.
  std::size_t lend(std::size_t size);
  bool finish(std::size_t size);

  Manager manager_;
  SecretMemory copies_;                  // of messages, for NIA2
  std::array<IMB_JOB*, kBurst> jobs_{};  // the library's
  std::unique_ptr<IMB_JOB[]> own_jobs_;  // ours, for the calls that take an array
  alignas(64) std::array<Iv, kBurst> iv_{};
};

}  // namespace splitplane::crypto
