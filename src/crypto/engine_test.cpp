#include "crypto/engine.h"

#include <gtest/gtest.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "crypto/key_store.h"
#include "crypto/zuc.h"

#if !defined(SPLITPLANE_ASAN) && !defined(SPLITPLANE_TSAN)
namespace {
thread_local std::size_t g_allocations = 0;
}
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++g_allocations;
  if (void* const memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
#endif

namespace splitplane::crypto {
namespace {

using Octets = std::vector<std::uint8_t>;

Octets octets(const std::string& hex) {
  Octets out(hex.size() / 2);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<std::uint8_t>(std::stoul(hex.substr(2 * i, 2), nullptr, 16));
  }
  return out;
}

Octets counting(std::size_t size) {  // the message of the own vectors
  Octets out(size);
  for (std::size_t i = 0; i < size; ++i) out[i] = static_cast<std::uint8_t>(7 * i + 3);
  return out;
}

Octets at_random(std::mt19937& random, std::size_t size) {
  Octets out(size);
  for (auto& octet : out) octet = static_cast<std::uint8_t>(random());
  return out;
}

std::unique_ptr<KeyStore> new_store() {
  return std::move(KeyStore::create().value());
}

constexpr CipherAlgorithm kCiphers[] = {CipherAlgorithm::nea0, CipherAlgorithm::nea1, CipherAlgorithm::nea2,
                                        CipherAlgorithm::nea3, CipherAlgorithm::nea4, CipherAlgorithm::nea5,
                                        CipherAlgorithm::nea6};
constexpr IntegrityAlgorithm kIntegrities[] = {
    IntegrityAlgorithm::nia0, IntegrityAlgorithm::nia1, IntegrityAlgorithm::nia2, IntegrityAlgorithm::nia3,
    IntegrityAlgorithm::nia4, IntegrityAlgorithm::nia5, IntegrityAlgorithm::nia6};
constexpr std::size_t kOffered = Manager::kHas256Bit ? 7 : 4;

Secret key_of_vectors(std::size_t size) {
  return size == 0 ? Secret() : *Secret::from_hex("000102030405060708090a0b0c0d0e0f");
}

template <class Algorithm>
auto random_key(KeyStore& store, Algorithm algorithm, std::mt19937& random) {
  const std::size_t size = key_bytes(algorithm);
  return *store.make(algorithm, size == 0 ? Secret() : *Secret::from_octets(at_random(random, size)));
}

class OnImplementation : public ::testing::TestWithParam<Implementation> {
 protected:
  void SetUp() override {
    auto engine = Engine::create(GetParam());
    if (!engine) GTEST_SKIP() << engine.error().message;
    engine_ = std::move(*engine);
  }
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<KeyStore> store_ = new_store();
};

INSTANTIATE_TEST_SUITE_P(Engine, OnImplementation,
                         ::testing::Values(Implementation::kBest, Implementation::kSse, Implementation::kAvx2,
                                           Implementation::kAvx512));

TEST(Engine, says_which_implementation_runs) {
  const auto engine = Engine::create();
  ASSERT_TRUE(engine);
  EXPECT_TRUE((*engine)->implementation().starts_with("avx") || (*engine)->implementation() == "sse");
  EXPECT_EQ((*Engine::create(Implementation::kSse))->implementation(), "sse");
}

struct Vector {
  std::uint8_t bearer;
  std::uint8_t direction;
  std::size_t size;
  std::array<const char*, 3> ciphertexts, macs;  // NEA1 to NEA3, NIA1 to NIA3
};

// Each agrees in two foreign implementations or more; tests/oracle/crypto_own.json has them too.
const Vector kVectors[] = {
    {0, 1, 1, {"d4", "75", "f5"}, {"3b3f6aa4", "697536f0", "4b4ace65"}},
    {0,
     0,
     16,
     {"b8503f94cde97941bb2fa6752b0cf244", "cd357afa6f8cc6a7eb78b323427417c3", "0000847fae96307923574e223e66fc8a"},
     {"526cb154", "5196838f", "8a8f5b96"}},
    {9,
     1,
     31,
     {"472e11bb92d6bc514f3edb5784f9e37ac5a051ee9352cfd782f8b7fc734388",
      "7d41e30da7ffce5d3fc800523afc6b7b72d7ccfc688c7e310e18a7099d84c8",
      "f94f8cbcd74ffdc9322ed4361cda4952195ef94717f1e5acd66a17fa45ce83"},
     {"873ec1e8", "d507fe3d", "596a2736"}},
};

TEST_P(OnImplementation, ciphers_the_own_vectors) {
  for (const Vector& vector : kVectors) {
    for (std::size_t i = 1; i <= 3; ++i) {
      const auto key = *store_->make(kCiphers[i], key_of_vectors(16));
      Octets data = counting(vector.size);
      const CipherJob job{.key = key.get(),
                          .count = {0x01234567},
                          .bearer = vector.bearer,
                          .direction = static_cast<Direction>(vector.direction),
                          .in = data.data(),
                          .out = data.data(),
                          .length = static_cast<std::uint32_t>(data.size())};
      ASSERT_TRUE(engine_->cipher({&job, 1}));
      EXPECT_EQ(data, octets(vector.ciphertexts[i - 1])) << "NEA" << i;
      ASSERT_TRUE(engine_->cipher({&job, 1}));
      EXPECT_EQ(data, counting(vector.size));
    }
  }
}

TEST_P(OnImplementation, signs_the_own_vectors) {
  for (const Vector& vector : kVectors) {
    for (std::size_t i = 1; i <= 3; ++i) {
      const auto key = *store_->make(kIntegrities[i], key_of_vectors(16));
      const Octets data = counting(vector.size);
      IntegrityJob job{.key = key.get(),
                       .count = {0x01234567},
                       .bearer = vector.bearer,
                       .direction = static_cast<Direction>(vector.direction),
                       .in = data.data(),
                       .length = static_cast<std::uint32_t>(data.size())};
      ASSERT_TRUE(engine_->integrity({&job, 1}));
      EXPECT_TRUE(equal_macs(job.mac, octets(vector.macs[i - 1]).data())) << "NIA" << i;
      job.mac[2] ^= 1;
      EXPECT_FALSE(equal_macs(job.mac, octets(vector.macs[i - 1]).data()));
    }
  }
}

// Messages of a burst, each with its own key, algorithm, length and inputs.
struct Mix {
  Mix(KeyStore& store, std::mt19937& random, std::size_t size, std::uint32_t max_length) {
    for (std::size_t i = 0; i < size; ++i) {
      cipher_keys.push_back(random_key(store, kCiphers[random() % kOffered], random));
      integrity_keys.push_back(random_key(store, kIntegrities[random() % kOffered], random));
      const std::uint32_t limit = random() % 2 == 0 ? 80 : max_length;
      const std::uint32_t least = integrity_keys.back()->algorithm() > IntegrityAlgorithm::nia3 ? 1 : 0;
      in.push_back(at_random(random, std::max<std::size_t>(least, random() % (limit + 1))));
      out.emplace_back(in.back().size());
      const auto bearer = static_cast<std::uint8_t>(random() % 32);
      const auto direction = static_cast<Direction>(random() % 2);
      const Count count{static_cast<std::uint32_t>(random())};
      const auto length = static_cast<std::uint32_t>(in.back().size());
      ciphers.push_back({cipher_keys.back().get(), count, bearer, direction, in[i].data(), out[i].data(), length});
      integrities.push_back({.key = integrity_keys.back().get(),
                             .count = count,
                             .bearer = bearer,
                             .direction = direction,
                             .in = in[i].data(),
                             .length = length});
    }
  }
  std::vector<KeyStore::CipherKeyPtr> cipher_keys;
  std::vector<KeyStore::IntegrityKeyPtr> integrity_keys;
  std::vector<Octets> in, out;
  std::vector<CipherJob> ciphers;
  std::vector<IntegrityJob> integrities;
};

TEST_P(OnImplementation, serves_a_mixed_burst_as_it_serves_single_packets) {
  std::mt19937 random(1);
  for (const std::size_t size : {1U, 2U, 15U, 17U, 31U, 32U, 33U, 64U, 100U, 300U}) {
    Mix mix(*store_, random, size, 9000);
    ASSERT_TRUE(engine_->cipher(mix.ciphers));
    ASSERT_TRUE(engine_->integrity(mix.integrities));
    for (std::size_t i = 0; i < size; ++i) {
      Octets alone(mix.in[i].size());
      CipherJob cipher = mix.ciphers[i];
      cipher.out = alone.data();
      ASSERT_TRUE(engine_->cipher({&cipher, 1}));
      EXPECT_EQ(alone, mix.out[i]) << name_of(cipher.key->algorithm()) << ' ' << alone.size();
      IntegrityJob integrity = mix.integrities[i];
      integrity.mac = {};
      ASSERT_TRUE(engine_->integrity({&integrity, 1}));
      EXPECT_EQ(integrity.mac, mix.integrities[i].mac)
          << name_of(integrity.key->algorithm()) << ' ' << integrity.length;
    }
  }
}

TEST_P(OnImplementation, works_in_place_as_out_of_place) {
  std::mt19937 random(2);
  Mix mix(*store_, random, 200, 3000);
  ASSERT_TRUE(engine_->cipher(mix.ciphers));
  std::vector<Octets> data = mix.in;
  std::vector<CipherJob> jobs = mix.ciphers;
  for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i].in = jobs[i].out = data[i].data();
  ASSERT_TRUE(engine_->cipher(jobs));
  EXPECT_EQ(data, mix.out);
  ASSERT_TRUE(engine_->cipher(jobs));
  EXPECT_EQ(data, mix.in);
}

TEST_P(OnImplementation, begins_at_any_block_of_the_key_stream_of_nea2) {
  std::mt19937 random(8);
  const auto key = random_key(*store_, CipherAlgorithm::nea2, random);
  const Octets in = at_random(random, 1000);
  Octets whole(in.size());
  CipherJob job{.key = key.get(), .count = {5}, .bearer = 3, .in = in.data(), .out = whole.data(), .length = 1000};
  ASSERT_TRUE(engine_->cipher({&job, 1}));
  for (std::uint32_t block = 0; block < 1000 / 16; ++block) {
    Octets rest(in.size() - 16 * block);
    job.in = in.data() + 16 * block;
    job.out = rest.data();
    job.length = static_cast<std::uint32_t>(rest.size());
    job.first_block = block;
    ASSERT_TRUE(engine_->cipher({&job, 1}));
    ASSERT_TRUE(std::equal(rest.begin(), rest.end(), whole.begin() + 16 * block)) << block;
  }
  const auto snow = random_key(*store_, CipherAlgorithm::nea1, random);
  job.key = snow.get();
  EXPECT_FALSE(engine_->cipher({&job, 1})) << "it cannot begin inside its key stream";
}

TEST_P(OnImplementation, uses_the_room_before_a_message_and_restores_it) {
  std::mt19937 random(3);
  Mix mix(*store_, random, 64, 2000);
  ASSERT_TRUE(engine_->integrity(mix.integrities));
  std::vector<Octets> with_room;
  std::vector<IntegrityJob> jobs = mix.integrities;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    Octets before = at_random(random, 8 + i % 16);
    before.insert(before.end(), mix.in[i].begin(), mix.in[i].end());
    with_room.push_back(std::move(before));
    jobs[i].in = with_room[i].data() + 8 + i % 16;
    jobs[i].room_before = i % 3 != 0;
    jobs[i].mac = {};
  }
  const std::vector<Octets> original = with_room;
  ASSERT_TRUE(engine_->integrity(jobs));
  for (std::size_t i = 0; i < jobs.size(); ++i) EXPECT_EQ(jobs[i].mac, mix.integrities[i].mac);
  EXPECT_EQ(with_room, original);
}

// Two pages that may be touched between two that may not.
class GuardedPages {
 public:
  GuardedPages() : page_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))) {
    whole_ = static_cast<std::uint8_t*>(
        ::mmap(nullptr, 4 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ::mprotect(whole_, page_, PROT_NONE);
    ::mprotect(whole_ + 3 * page_, page_, PROT_NONE);
  }
  ~GuardedPages() { ::munmap(whole_, 4 * page_); }
  GuardedPages(const GuardedPages&) = delete;
  GuardedPages& operator=(const GuardedPages&) = delete;
  [[nodiscard]] std::uint8_t* begin() const { return whole_ + page_; }
  [[nodiscard]] std::uint8_t* end() const { return whole_ + 3 * page_; }

 private:
  std::size_t page_;
  std::uint8_t* whole_ = nullptr;
};

TEST_P(OnImplementation, touches_no_octet_outside_the_message) {
  std::mt19937 random(4);
  GuardedPages source, target;
  for (std::size_t a = 1; a < kOffered; ++a) {
    const auto cipher_key = random_key(*store_, kCiphers[a], random);
    const auto integrity_key = random_key(*store_, kIntegrities[a], random);
    for (std::uint32_t length = 0; length <= 300; ++length) {
      for (const bool at_end : {false, true}) {
        std::uint8_t* const in = at_end ? source.end() - length : source.begin();
        std::uint8_t* const out = at_end ? target.end() - length : target.begin();
        std::memset(target.begin(), 0x5A, static_cast<std::size_t>(target.end() - target.begin()));
        const CipherJob job{.key = cipher_key.get(), .in = in, .out = out, .length = length};
        ASSERT_TRUE(engine_->cipher({&job, 1}));
        for (const std::uint8_t* at = target.begin(); at != target.end(); ++at) {
          if (at == out) at += length;
          if (at == target.end()) break;
          ASSERT_EQ(*at, 0x5A) << name_of(cipher_key->algorithm()) << " of " << length;
        }
        IntegrityJob integrity{.key = integrity_key.get(), .in = in, .length = length};
        ASSERT_EQ(engine_->integrity({&integrity, 1}), a <= 3 || length != 0);
      }
    }
  }
}

TEST_P(OnImplementation, needs_few_octets_around_a_message_of_nia2_in_place) {
  std::mt19937 random(4);
  GuardedPages source;
  const auto key = random_key(*store_, IntegrityAlgorithm::nia2, random);
  for (std::uint32_t length = 0; length <= 300; ++length) {
    for (std::uint8_t* const in : {source.begin() + 8, source.end() - kReadAfter - length}) {
      IntegrityJob job{.key = key.get(), .room_before = true, .in = in, .length = length};
      ASSERT_TRUE(engine_->integrity({&job, 1}));
      IntegrityJob copied{.key = key.get(), .in = in, .length = length};
      ASSERT_TRUE(engine_->integrity({&copied, 1}));
      ASSERT_EQ(job.mac, copied.mac) << length;
    }
  }
}

TEST_P(OnImplementation, refuses_a_message_that_is_too_long_and_serves_the_next_burst) {
  std::mt19937 random(5);
  Octets data(kMaxMessageBytes + 1), out(kMaxMessageBytes + 1);
  for (std::size_t a = 1; a <= 3; ++a) {
    const auto key = *store_->make(kCiphers[a], key_of_vectors(16));
    const auto integrity_key = *store_->make(kIntegrities[a], key_of_vectors(16));
    CipherJob job{.key = key.get(), .in = data.data(), .out = out.data(), .length = kMaxMessageBytes + 1};
    EXPECT_FALSE(engine_->cipher({&job, 1}));
    job.length = kMaxMessageBytes;
    EXPECT_TRUE(engine_->cipher({&job, 1}));
    IntegrityJob integrity{.key = integrity_key.get(), .in = data.data(), .length = kMaxMessageBytes + 1};
    EXPECT_FALSE(engine_->integrity({&integrity, 1}));
    integrity.length = kMaxMessageBytes;
    EXPECT_TRUE(engine_->integrity({&integrity, 1}));
  }
}

#if !defined(SPLITPLANE_ASAN) && !defined(SPLITPLANE_TSAN)  // sanitizers make calls that strict seccomp forbids
TEST(Engine, makes_no_system_call_in_a_burst) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::mt19937 random(7);
    const auto engine = std::move(Engine::create().value());
    const auto store = new_store();
    Mix mix(*store, random, 300, 9000);
    const std::size_t allocations = g_allocations;
    ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);  // from here on any call but exit() kills
    const bool sound = engine->cipher(mix.ciphers) && engine->integrity(mix.integrities);
    ::syscall(SYS_exit, sound && g_allocations == allocations ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}
#endif

TEST(Engine, workers_share_keys_while_the_control_thread_makes_others) {
  std::mt19937 random(8);
  const auto store = new_store();
  Mix mix(*store, random, 64, 300);
  std::vector<Octets> results(2);
  std::vector<std::thread> workers;
  for (Octets& result : results) {
    workers.emplace_back([&mix, &result] {
      const auto engine = std::move(Engine::create().value());
      std::vector<Octets> out = mix.out;
      std::vector<CipherJob> ciphers = mix.ciphers;
      std::vector<IntegrityJob> integrities = mix.integrities;
      for (std::size_t i = 0; i < out.size(); ++i) ciphers[i].out = out[i].data();
      for (int round = 0; round < 20; ++round) {
        if (!engine->cipher(ciphers) || !engine->integrity(integrities)) return;
      }
      for (std::size_t i = 0; i < out.size(); ++i) {
        result.insert(result.end(), out[i].begin(), out[i].end());
        result.insert(result.end(), integrities[i].mac.begin(), integrities[i].mac.end());
      }
    });
  }
  for (int round = 0; round < 2000; ++round) {
    const auto cipher = random_key(*store, kCiphers[static_cast<std::size_t>(round) % kOffered], random);
    const auto integrity = random_key(*store, kIntegrities[static_cast<std::size_t>(round) % kOffered], random);
  }
  for (std::thread& worker : workers) worker.join();
  EXPECT_FALSE(results[0].empty());
  EXPECT_EQ(results[0], results[1]);
}

TEST(Engine, serves_an_empty_burst) {
  const auto engine = std::move(Engine::create().value());
  EXPECT_TRUE(engine->cipher({}));
  EXPECT_TRUE(engine->integrity({}));
}

TEST(Engine, null_algorithms_copy_and_return_zeros) {
  const auto engine = std::move(Engine::create().value());
  const auto store = new_store();
  const auto cipher_key = *store->make(CipherAlgorithm::nea0, Secret());
  const auto integrity_key = *store->make(IntegrityAlgorithm::nia0, Secret());
  const Octets in = counting(100);
  Octets out(100);
  const CipherJob job{.key = cipher_key.get(), .in = in.data(), .out = out.data(), .length = 100};
  ASSERT_TRUE(engine->cipher({&job, 1}));
  EXPECT_EQ(out, in);
  IntegrityJob integrity{.key = integrity_key.get(), .in = in.data(), .length = 100, .mac = {1, 2, 3, 4}};
  ASSERT_TRUE(engine->integrity({&integrity, 1}));
  EXPECT_EQ(integrity.mac, (std::array<std::uint8_t, 4>{}));
}

TEST(Engine, slow_zuc_agrees_with_the_library) {
  std::mt19937 random(6);
  const auto engine = std::move(Engine::create().value());
  const auto store = new_store();
  for (std::uint32_t length = 1; length <= 200; ++length) {
    const Octets key = at_random(random, 16), in = at_random(random, length);
    const auto cipher_key = *store->make(CipherAlgorithm::nea3, *Secret::from_octets(key));
    const auto integrity_key = *store->make(IntegrityAlgorithm::nia3, *Secret::from_octets(key));
    Octets fast(length), slow(length), mac(4);
    const Octets iv = octets("a1b2c3d448000000a1b2c3d448000000");
    const CipherJob job{cipher_key.get(), {0xA1B2C3D4}, 9, Direction::kUplink, in.data(), fast.data(), length};
    ASSERT_TRUE(engine->cipher({&job, 1}));
    nea3_slowly(key.data(), iv.data(), in.data(), slow.data(), length);
    ASSERT_EQ(fast, slow);
    IntegrityJob integrity{.key = integrity_key.get(),
                           .count = {0xA1B2C3D4},
                           .bearer = 9,
                           .direction = Direction::kUplink,
                           .in = in.data(),
                           .length = length};
    ASSERT_TRUE(engine->integrity({&integrity, 1}));
    nia3_slowly(key.data(), iv.data(), in.data(), length, mac.data());
    ASSERT_TRUE(equal_macs(integrity.mac, mac.data())) << length;
  }
}

}  // namespace
}  // namespace splitplane::crypto
