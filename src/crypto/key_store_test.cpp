#include "crypto/key_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <string>

#include "crypto/engine.h"

namespace splitplane::crypto {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<KeyStore> opened_store() {
  return std::move(KeyStore::create().value());
}

Secret secret_of(std::uint8_t first, std::size_t size = 16) {
  std::vector<std::uint8_t> octets(size);
  for (std::size_t i = 0; i < size; ++i) octets[i] = static_cast<std::uint8_t>(first + i);
  return *Secret::from_octets(octets);
}

bool is_zero(const std::uint8_t* at, std::size_t size) {
  return std::all_of(at, at + size, [](std::uint8_t octet) { return octet == 0; });
}

TEST(KeyStore, makes_keys_in_cache_lines) {
  const auto store = opened_store();
  const auto cipher = *store->make(CipherAlgorithm::nea2, secret_of(1));
  const auto integrity = *store->make(IntegrityAlgorithm::nia2, secret_of(2));
  EXPECT_EQ(cipher->algorithm(), CipherAlgorithm::nea2);
  EXPECT_EQ(integrity->algorithm(), IntegrityAlgorithm::nia2);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(cipher.get()) % 64, 0U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(integrity.get()) % 64, 0U);
  EXPECT_EQ(store->keys(), 2U);
}

TEST(KeyStore, knows_a_key_that_it_made_twice) {
  const auto store = opened_store();
  const auto cipher = *store->make(CipherAlgorithm::nea2, secret_of(1));
  const auto snow = *store->make(CipherAlgorithm::nea1, secret_of(1));
  const auto integrity = *store->make(IntegrityAlgorithm::nia2, secret_of(1));
  EXPECT_TRUE(KeyStore::protect_alike(*cipher, *cipher));
  EXPECT_TRUE(KeyStore::protect_alike(*cipher, **store->make(CipherAlgorithm::nea2, secret_of(1))));
  EXPECT_FALSE(KeyStore::protect_alike(*cipher, **store->make(CipherAlgorithm::nea2, secret_of(2))));
  EXPECT_FALSE(KeyStore::protect_alike(*cipher, *snow));
  EXPECT_TRUE(KeyStore::protect_alike(*integrity, **store->make(IntegrityAlgorithm::nia2, secret_of(1))));
  const auto null = *store->make(CipherAlgorithm::nea0, Secret());
  EXPECT_FALSE(KeyStore::protect_alike(*null, *null));
}

TEST(KeyStore, refuses_a_key_of_another_size) {
  const auto store = opened_store();
  EXPECT_EQ(store->make(CipherAlgorithm::nea2, secret_of(1, 32)).error().message,
            "nea2 takes a key of 16 octets, not of 32");
  EXPECT_EQ(store->make(IntegrityAlgorithm::nia0, secret_of(1)).error().message,
            "nia0 takes a key of 0 octets, not of 16");
  EXPECT_EQ(store->keys(), 0U);
}

TEST(KeyStore, says_that_a_library_without_256_bits_cannot) {
  const auto store = opened_store();
  const auto key = store->make(CipherAlgorithm::nea5, secret_of(1, 32));
  ASSERT_EQ(key.has_value(), Manager::kHas256Bit);
  if (key) return;
  EXPECT_THAT(key.error().message, HasSubstr("nea5 needs an intel-ipsec-mb with the 256-bit algorithms"));
}

TEST(KeyStore, wipes_a_key_that_is_freed_and_uses_its_memory_again) {
  const auto store = opened_store();
  auto key = *store->make(IntegrityAlgorithm::nia2, secret_of(1));
  const auto* const at = reinterpret_cast<const std::uint8_t*>(key.get());
  ASSERT_EQ(at[16], 1);  // the first round key of AES is the key
  ASSERT_FALSE(is_zero(at + 16, 208));
  key.reset();
  EXPECT_TRUE(is_zero(at, 256));
  EXPECT_EQ(store->keys(), 0U);
  const auto next = *store->make(IntegrityAlgorithm::nia2, secret_of(9));
  EXPECT_EQ(reinterpret_cast<const std::uint8_t*>(next.get()), at);
  EXPECT_EQ(at[16], 9);
}

TEST(KeyStore, keeps_the_keys_of_64_k_bearers_apart) {
  const auto store = opened_store();
  std::vector<KeyStore::CipherKeyPtr> ciphers;
  std::vector<KeyStore::IntegrityKeyPtr> integrities;
  constexpr std::size_t kBearers = 65'536;
  for (std::size_t i = 0; i < kBearers; ++i) {
    std::array<std::uint8_t, 16> octets{};
    std::memcpy(octets.data(), &i, sizeof i);
    const Secret secret = *Secret::from_octets(octets);
    ciphers.push_back(*store->make(static_cast<CipherAlgorithm>(1 + i % 3), secret));
    integrities.push_back(*store->make(static_cast<IntegrityAlgorithm>(1 + i % 3), secret));
  }
  EXPECT_EQ(store->keys(), 2 * kBearers);
  EXPECT_LE(store->bytes(), std::size_t{24} << 20);
  for (std::size_t i = 1; i < kBearers; i += 3) {  // NEA2: the key itself begins the schedule
    std::size_t number = 0;
    std::memcpy(&number, reinterpret_cast<const std::uint8_t*>(ciphers[i].get()) + 16, sizeof number);
    ASSERT_EQ(number, i);
  }
}

// VmFlags of the mapping that holds `at`, from /proc/self/smaps.
std::string flags_of(const void* at) {
  std::ifstream smaps("/proc/self/smaps");
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  bool ours = false;
  for (std::string line; std::getline(smaps, line);) {
    std::uintptr_t begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) ours = begin <= address && address < end;
    if (ours && line.starts_with("VmFlags:")) return line + ' ';
  }
  return {};
}

TEST(KeyStore, asks_the_kernel_to_keep_keys_out_of_dumps_and_children) {
  const auto store = opened_store();
  const auto key = *store->make(CipherAlgorithm::nea1, secret_of(1));
  const std::string flags = flags_of(key.get());
  ASSERT_FALSE(flags.empty());
  EXPECT_THAT(flags, HasSubstr(" dd "));                    // not in a dump
  EXPECT_THAT(flags, HasSubstr(" wf "));                    // wiped in a child
#if !defined(SPLITPLANE_ASAN) && !defined(SPLITPLANE_TSAN)  // sanitizers lock nothing
  EXPECT_EQ(flags.find(" lo ") != std::string::npos, store->locked());
#endif
}

TEST(KeyStore, a_child_process_reads_zeros) {
  const auto store = opened_store();
  const auto key = *store->make(CipherAlgorithm::nea2, secret_of(1));
  const auto* const at = reinterpret_cast<const std::uint8_t*>(key.get());
  const pid_t child = ::fork();
  if (child == 0) ::_exit(is_zero(at, 192) ? 0 : 1);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(at[16], 1);
}

TEST(KeyStore, goes_on_without_a_lock_unless_it_must_have_one) {
#if defined(SPLITPLANE_ASAN) || defined(SPLITPLANE_TSAN)
  GTEST_SKIP() << "sanitizers lock nothing, and say that they did";
#endif
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit none{0, 0};
    if (::setrlimit(RLIMIT_MEMLOCK, &none) != 0) ::_exit(2);
    if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(3);  // root locks memory beyond the limit
    const bool required = KeyStore::create(SecretMemory::Locking::kRequired).has_value();
    const auto preferred = KeyStore::create(SecretMemory::Locking::kPreferred);
    ::_exit(!required && preferred && !(*preferred)->locked() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

// A key that only the dying child computes: what the parent holds before fork() is in the child's dump too.
std::uint8_t octet(std::uint32_t seed, std::size_t i) {
  return static_cast<std::uint8_t>((seed + 0x9E3779B9U * static_cast<std::uint32_t>(i + 1)) * 2'654'435'761U >> 24);
}

// Uses keys as the gNB does, then dies with what `keep_openly` adds: the same octets in memory that is dumped.
[[noreturn]] void die_with_keys(std::uint32_t seed, bool keep_openly) {
  const auto store = opened_store();
  const auto engine = std::move(Engine::create().value());
  std::vector<KeyStore::CipherKeyPtr> ciphers;
  std::vector<KeyStore::IntegrityKeyPtr> integrities;
  std::vector<std::array<std::uint8_t, 300>> data(24);
  std::vector<CipherJob> cipher_jobs;
  std::vector<IntegrityJob> integrity_jobs;
  for (std::size_t i = 0; i < data.size(); ++i) {
    std::array<std::uint8_t, 16> octets{};
    for (std::size_t j = 0; j < 16; ++j) octets[j] = octet(seed + static_cast<std::uint32_t>(i % 3), j);
    const Secret secret = *Secret::from_octets(octets);
    ::explicit_bzero(octets.data(), octets.size());
    ciphers.push_back(*store->make(static_cast<CipherAlgorithm>(1 + i % 3), secret));
    integrities.push_back(*store->make(static_cast<IntegrityAlgorithm>(1 + i % 3), secret));
    cipher_jobs.push_back({.key = ciphers[i].get(), .in = data[i].data(), .out = data[i].data(), .length = 300});
    integrity_jobs.push_back({.key = integrities[i].get(), .in = data[i].data(), .length = 300});
  }
  const bool sound = engine->integrity(integrity_jobs) && engine->cipher(cipher_jobs);
  auto* const open = new std::array<std::uint8_t, 16>{};
  for (std::size_t j = 0; keep_openly && j < 16; ++j) (*open)[j] = octet(seed, j);
  ::prctl(PR_SET_DUMPABLE, 1);
  if (sound) ::abort();
  ::_exit(3);
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The core of a child that died with keys; empty if this system writes none into the working directory.
std::string core_of_child(std::uint32_t seed, bool keep_openly) {
  const auto folder = std::filesystem::path(::testing::TempDir()) / ("splitplane-core-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit all{RLIM_INFINITY, RLIM_INFINITY};
    if (::setrlimit(RLIMIT_CORE, &all) != 0 || ::chdir(folder.c_str()) != 0) ::_exit(2);
    die_with_keys(seed, keep_openly);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) << status;
  std::string core;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) core += read_file(entry.path());
  std::filesystem::remove_all(folder);
  return core;
}

// How often the key, or its words in the order in which SNOW 3G keeps them, is in `core`.
std::size_t finds(const std::string& core, std::uint32_t seed) {
  std::string key(16, '\0'), words(16, '\0'), turned(16, '\0');
  for (std::size_t j = 0; j < 16; ++j) key[j] = static_cast<char>(octet(seed, j));
  std::reverse_copy(key.begin(), key.end(), turned.begin());
  for (std::size_t j = 0; j < 16; ++j) words[j] = key[j ^ 3];
  std::size_t found = 0;
  for (const std::string& text : {key, words, turned}) {
    for (auto at = core.find(text); at != std::string::npos; at = core.find(text, at + 1)) ++found;
  }
  return found;
}

TEST(KeyStore, a_core_dump_holds_no_key) {
#if defined(SPLITPLANE_ASAN) || defined(SPLITPLANE_TSAN)
  GTEST_SKIP() << "a sanitizer's shadow memory makes a core of terabytes";
#endif
  const std::uint32_t seed = std::random_device{}();
  const std::string open = core_of_child(seed, true);
  if (open.empty()) {
    GTEST_SKIP() << "core_pattern of this system writes no core here; VmFlags `dd` is checked by another test";
  }
  EXPECT_GE(finds(open, seed), 1U);         // the search finds what is there
  const std::uint32_t other = seed + 1000;  // this process now holds what it searched for, and its next child would too
  const std::string core = core_of_child(other, false);
  ASSERT_GT(core.size(), 100'000U);
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(finds(core, other + i), 0U) << "NEA" << i + 1 << ", NIA" << i + 1;
}

}  // namespace
}  // namespace splitplane::crypto
