// The journal on a disk: what was said comes back in a later run, a disk that is full is said and survived, and however
// often the process is killed no COUNT is given twice.
#include "gnb/journal/bearer_journal.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "gnb/journal/count_leases.h"

namespace splitplane::app {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

JournalBearer bearer(std::uint32_t id, std::uint32_t end = 0) {
  JournalBearer b;
  b.config.id = BearerId{id};
  b.config.uplink_teid = Teid{0x1000 + id};
  b.config.upf = IpAddress::v4({10, 100, 0, 2});
  b.numbers.end = end;
  return b;
}

class BearerJournalTest : public ::testing::Test {
 protected:
  BearerJournalTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "splitplane-journal-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
    settings_ = {.path = directory_ / "deep" / "test.journal", .owner = {"test", 1}, .retry = 20ms};
  }
  ~BearerJournalTest() override { std::filesystem::remove_all(directory_); }

  [[nodiscard]] std::unique_ptr<BearerJournal> open(bool fresh = false) {
    auto journal = BearerJournal::open(settings_, fresh);
    EXPECT_TRUE(journal) << journal.error().message;
    return journal ? *std::move(journal) : nullptr;
  }
  [[nodiscard]] std::string refused() {
    const auto journal = BearerJournal::open(settings_, false);
    return journal ? "(was opened)" : journal.error().message;
  }
  [[nodiscard]] JournalOctets octets() const {
    std::ifstream file(settings_.path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const JournalOctets& octets) const {
    std::ofstream file(settings_.path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(octets.data()), static_cast<std::streamsize>(octets.size()));
  }
  std::filesystem::path directory_;
  BearerJournal::Settings settings_;
};

constexpr auto kNoGrants = [](std::span<const BearerJournal::Grant>) {};

TEST_F(BearerJournalTest, a_pin_stays_with_its_bearer_until_it_is_taken_back) {
  {
    auto journal = open();
    for (const std::uint32_t id : {1U, 2U, 3U}) journal->set(bearer(id));
    ASSERT_TRUE(journal->begin(kNoGrants));
    for (const std::uint32_t id : {1U, 2U, 3U}) journal->set_pin(BearerId{id}, "card0");
    journal->set_pin(BearerId{9}, "card0");  // there is no such bearer
    journal->set_config(bearer(1).config);
    journal->set_pin(BearerId{2}, std::nullopt);
    journal->set_pin(BearerId{3}, "");
    ASSERT_TRUE(journal->wait_for_disk());
    journal->stop();  // without finish(): as after a crash
  }
  const auto found = open()->found().bearers;
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found.at(1).pin, "card0");
  EXPECT_EQ(found.at(2).pin, std::nullopt);
  EXPECT_EQ(found.at(3).pin, "");
}

TEST_F(BearerJournalTest, new_keys_come_with_new_numbers_and_void_the_leases_before) {
  std::vector<BearerJournal::Grant> granted;
  {
    auto journal = open();
    JournalBearer one = bearer(1, 100);
    one.config.security = ran::SecurityConfig{.key = 3};
    one.numbers.rx_next = 70;
    journal->set(one, BearerJournal::Grant{BearerId{1}, 0, {.end = 100, .mark = 0}});
    one.config.security->key = 4;
    const JournalNumbers before = journal->set_keys(one.config, {.end = 50, .epoch = 9}).numbers;
    EXPECT_EQ(before.end, 100U);
    EXPECT_EQ(before.rx_next, 70U);
    EXPECT_EQ(journal->set_keys(bearer(2).config, {.end = 5}).numbers.end, 5U) << "there is no such bearer";
    ASSERT_TRUE(journal->begin([&](std::span<const BearerJournal::Grant> grants) {
      granted.insert(granted.end(), grants.begin(), grants.end());
    }));
    ASSERT_TRUE(journal->wait_for_disk());
  }
  EXPECT_TRUE(granted.empty());
  const auto journal = open();
  ASSERT_EQ(journal->found().bearers.size(), 1U);
  const JournalBearer& found = journal->found().bearers.at(1);
  EXPECT_EQ(found.config.security->key, 4U);
  EXPECT_EQ(found.numbers, (JournalNumbers{.end = 50, .epoch = 9}));
}

TEST_F(BearerJournalTest, what_was_said_is_there_in_the_next_run) {
  {
    auto journal = open();
    EXPECT_TRUE(journal->found().bearers.empty());
    journal->set(bearer(1, 100));
    ASSERT_TRUE(journal->begin(kNoGrants));
    journal->set(bearer(2, 200));
    journal->set(bearer(3, 300));
    JournalBearer in_file = bearer(4);
    in_file.origin = JournalBearer::Origin::kFile;
    in_file.file = {in_file.config.upf, in_file.config.uplink_teid};
    journal->set(in_file);
    ASSERT_TRUE(journal->wait_for_disk());
    journal->remove(BearerId{3});
    journal->release(BearerId{4});
    journal->set_numbers(BearerId{1}, {.end = 150, .heard = 120});
    ran::BearerConfig changed = bearer(2).config;
    changed.qfi = Qfi{5};
    journal->set_config(changed);
    ASSERT_TRUE(journal->wait_for_disk());
  }  // killed, as far as the disk knows
  auto journal = open();
  const auto& found = journal->found();
  ASSERT_EQ(found.bearers.size(), 2U);
  EXPECT_EQ(found.bearers.at(1).numbers.end, 150U);
  EXPECT_EQ(found.bearers.at(2).numbers.end, 200U);
  EXPECT_EQ(found.bearers.at(2).config.qfi, Qfi{5});
  EXPECT_EQ(found.released, (std::set<FileKey>{{bearer(4).config.upf, bearer(4).config.uplink_teid}}));
  EXPECT_THAT(refused(), HasSubstr("another process has it"));
}

TEST_F(BearerJournalTest, keys_that_were_used_are_known_in_all_later_runs) {
  const auto secured = [](std::uint32_t id, std::uint32_t key) {
    JournalBearer b = bearer(id);
    b.config.security = ran::SecurityConfig{.key = key, .drb = 2};
    return b;
  };
  {
    auto journal = open();
    journal->set(secured(1, 10));
    journal->set(secured(2, 11));
    ASSERT_TRUE(journal->begin(kNoGrants));
    EXPECT_EQ(journal->keys_of(BearerId{2}), (UsedKey{11, 2}));
    EXPECT_FALSE(journal->keys_of(BearerId{3}));
    journal->spend({12, 1});
    ASSERT_TRUE(journal->wait_for_disk());
  }
  {
    auto journal = open();
    EXPECT_EQ(journal->found().used_keys, (std::set<UsedKey>{{12, 1}}));
    journal->set(secured(1, 10));  // the other one does not come back
    ASSERT_TRUE(journal->begin(kNoGrants));
  }
  for (int run = 0; run < 2; ++run) {
    auto journal = open();
    EXPECT_EQ(journal->found().used_keys, (std::set<UsedKey>{{12, 1}, {11, 2}}));
    EXPECT_EQ(journal->found().bearers.size(), 1U);
    journal->set(secured(1, 10));
    ASSERT_TRUE(journal->begin(kNoGrants));
  }
  auto fresh = open(true);
  EXPECT_TRUE(fresh->found().used_keys.empty());
}

TEST_F(BearerJournalTest, a_bearer_of_the_configuration_that_was_added_again_stays_away_when_it_is_released_again) {
  const FileKey key{bearer(4).config.upf, bearer(4).config.uplink_teid};
  {
    auto journal = open();
    JournalBearer in_file = bearer(4);
    in_file.origin = JournalBearer::Origin::kFile;
    in_file.file = key;
    journal->set(in_file);
    ASSERT_TRUE(journal->begin(kNoGrants));
    journal->release(BearerId{4});
    journal->set(bearer(5));
    JournalBearer again = bearer(4);
    again.config.id = BearerId{6};
    journal->set(again);  // by the control socket
    journal->revive(key);
    ASSERT_TRUE(journal->wait_for_disk());
  }
  {
    auto journal = open();
    const auto& found = journal->found();
    EXPECT_EQ(found.bearers.at(6).origin, JournalBearer::Origin::kFile);
    EXPECT_EQ(found.bearers.at(5).origin, JournalBearer::Origin::kControl);
    EXPECT_TRUE(found.released.empty());
    for (const auto& [id, one] : found.bearers) journal->set(one);
    ASSERT_TRUE(journal->begin(kNoGrants));
    journal->release(BearerId{6});
    ASSERT_TRUE(journal->wait_for_disk());
  }
  EXPECT_EQ(open()->found().released, std::set<FileKey>{key});
}

TEST_F(BearerJournalTest, a_lease_is_granted_when_the_disk_has_it_and_not_before) {
  std::vector<BearerJournal::Grant> granted;
  std::atomic<std::uint32_t> on_disk{0};
  auto journal = open();
  journal->set(bearer(1, 64), BearerJournal::Grant{BearerId{1}, 0, {64, 0}});
  ASSERT_TRUE(journal->begin([&](std::span<const BearerJournal::Grant> grants) {
    granted.insert(granted.end(), grants.begin(), grants.end());
    const auto content = read_journal(octets(), settings_.owner);
    on_disk = content ? content->bearers.at(1).numbers.end : 0;
  }));
  ASSERT_EQ(granted.size(), 1U);
  EXPECT_EQ(on_disk, 64U);
  journal->extend({BearerId{1}, 64, {128, 96}}, 30);
  ASSERT_TRUE(journal->wait_for_disk());
  ASSERT_EQ(granted.size(), 2U);
  EXPECT_EQ(granted[1].from, 64U);
  EXPECT_EQ(on_disk, 128U);
}

TEST_F(BearerJournalTest, a_grant_that_a_worker_did_not_hear_is_given_again) {
  settings_.retry = std::chrono::milliseconds(20);
  std::mutex mutex;
  std::vector<BearerJournal::Grant> granted;
  bool silent = true;
  BearerJournal* at = nullptr;
  auto journal = open();
  at = journal.get();
  journal->set(bearer(1, 64));
  ASSERT_TRUE(journal->begin([&](std::span<const BearerJournal::Grant> grants) {
    const std::lock_guard guard(mutex);
    granted.insert(granted.end(), grants.begin(), grants.end());
    if (silent) at->again(grants[0]);
  }));
  journal->extend({BearerId{1}, 64, {128, 96}}, 30);
  ASSERT_TRUE(journal->wait_for_disk());
  const auto soon = [&](auto ready) {
    for (int i = 0; i < 10'000; ++i) {
      {
        const std::lock_guard guard(mutex);
        if (ready()) return true;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  };
  ASSERT_TRUE(soon([&] { return granted.size() >= 2; }));
  {
    const std::lock_guard guard(mutex);
    silent = false;
  }
  std::size_t heard = 0;
  ASSERT_TRUE(soon([&] { return (heard = granted.size()) >= 3; }));
  journal->stop();
  for (const auto& grant : granted) EXPECT_EQ(std::pair(grant.from, grant.lease.end), std::pair(64U, 128U));
  EXPECT_LE(granted.size(), heard + 1) << "and not for ever";
}

TEST_F(BearerJournalTest, a_worker_that_does_not_listen_delays_no_grant_of_the_others) {
  settings_.retry = 1h;
  std::vector<BearerJournal::Grant> granted;  // read when wait_for_disk() has answered, which is after the grants
  BearerJournal* at = nullptr;
  auto journal = open();
  at = journal.get();
  for (const std::uint32_t id : {1, 2}) journal->set(bearer(id, 64));
  ASSERT_TRUE(journal->begin([&](std::span<const BearerJournal::Grant> grants) {
    for (const auto& grant : grants) {
      if (grant.id == BearerId{1}) at->again(grant);
      granted.push_back(grant);
    }
  }));
  journal->extend({BearerId{1}, 64, {128, 96}}, 30);
  ASSERT_TRUE(journal->wait_for_disk());
  for (std::uint32_t end = 128; end <= 640; end += 64) {
    journal->extend({BearerId{2}, end - 64, {end, end - 32}}, end - 96);
    const auto settled = journal->wait_for_disk();
    ASSERT_TRUE(settled) << settled.error().message;
    EXPECT_EQ(granted.back().id, BearerId{2});
    EXPECT_EQ(granted.back().lease.end, end);
  }
  journal->extend({BearerId{1}, 128, {192, 160}}, 96);
  ASSERT_TRUE(journal->wait_for_disk());
  EXPECT_EQ(granted.back().from, 64U) << "from what the worker has";
  EXPECT_EQ(granted.back().lease.end, 192U);
}

TEST_F(BearerJournalTest, a_grant_of_other_keys_that_a_worker_did_not_hear_is_not_given_again) {
  settings_.retry = std::chrono::milliseconds(1);
  std::atomic<int> granted = 0;
  BearerJournal* at = nullptr;
  auto journal = open();
  at = journal.get();
  journal->set(bearer(1, 64));
  journal->set(bearer(2, 64));
  ASSERT_TRUE(journal->begin([&](std::span<const BearerJournal::Grant> grants) {
    for (const auto& grant : grants) {
      ++granted;
      // Numbers began anew while the worker was asked: of the second one only after this grant was put aside. That
      // they reach as far as before says nothing.
      if (grant.id == BearerId{1}) at->set_keys(bearer(1).config, {.end = 128});
      at->again(grant);
      if (grant.id == BearerId{2}) at->set_keys(bearer(2).config, {.end = 128});
    }
  }));
  journal->extend({BearerId{1}, 64, {128, 96}}, 30);
  journal->extend({BearerId{2}, 64, {128, 96}}, 30);
  ASSERT_TRUE(journal->wait_for_disk());
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  journal->stop();
  EXPECT_EQ(granted, 2);
}

TEST_F(BearerJournalTest, a_grant_that_a_worker_did_not_hear_outlives_a_change_of_keys_that_goes_on_or_was_refused) {
  settings_.retry = std::chrono::milliseconds(1);
  std::map<std::uint32_t, int> granted;
  BearerJournal* at = nullptr;
  auto journal = open();
  at = journal.get();
  journal->set(bearer(1, 64));
  journal->set(bearer(2, 64));
  ASSERT_TRUE(journal->begin([&](std::span<const BearerJournal::Grant> grants) {
    for (const auto& grant : grants) {
      if (++granted[grant.id.value] == 2) continue;  // the worker hears it
      ran::BearerConfig config = bearer(grant.id.value).config;
      config.security = ran::SecurityConfig{.key = 4};
      if (grant.id == BearerId{1}) {
        at->set_config(config);  // RLC AM: COUNTs go on with the new keys
        at->again(grant);
      } else {
        const auto before = at->set_keys(config, {.end = 32});
        at->again(grant);  // the worker still hangs
        at->restore_keys(bearer(2).config, before);
      }
    }
  }));
  journal->extend({BearerId{1}, 64, {128, 96}}, 30);
  journal->extend({BearerId{2}, 64, {128, 96}}, 30);
  ASSERT_TRUE(journal->wait_for_disk());
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  journal->stop();
  EXPECT_EQ(granted[1], 2);
  EXPECT_EQ(granted[2], 2);
}

TEST_F(BearerJournalTest, a_clean_end_leaves_exact_numbers) {
  auto journal = open();
  journal->set(bearer(1, 65536));
  ASSERT_TRUE(journal->begin(kNoGrants));
  journal->stop();
  const std::pair<BearerId, JournalNumbers> last{BearerId{1}, {.end = 17, .heard = 17}};
  ASSERT_TRUE(journal->finish({&last, 1}));
  journal.reset();
  EXPECT_EQ(open()->found().bearers.at(1).numbers.end, 17U);
}

TEST_F(BearerJournalTest, what_is_said_after_the_end_is_not_on_the_disk) {
  auto journal = open();
  journal->set(bearer(1, 64));
  ASSERT_TRUE(journal->begin(kNoGrants));
  journal->stop();
  ASSERT_TRUE(journal->finish({}));
  journal->set_numbers(BearerId{1}, {.end = 128});
  const auto settled = journal->wait_for_disk();
  ASSERT_FALSE(settled) << "a card would use COUNTs up to 128";
  EXPECT_THAT(settled.error().message, HasSubstr("is closed"));
  EXPECT_TRUE(journal->finish({})) << "the first time it was finished";
  journal.reset();
  EXPECT_EQ(open()->found().bearers.at(1).numbers.end, 64U);
}

TEST_F(BearerJournalTest, a_start_that_fails_leaves_the_file_as_it_was) {
  ASSERT_TRUE(open()->begin(kNoGrants));
  const auto before = octets();
  {
    auto journal = open();
    journal->set(bearer(1));
    journal->stop();
    EXPECT_TRUE(journal->finish({}));
  }
  EXPECT_EQ(octets(), before);
}

TEST_F(BearerJournalTest, fresh_forgets_a_damaged_file_which_is_refused_else) {
  std::filesystem::create_directory(directory_ / "deep");
  write({'x', 'y'});
  EXPECT_THAT(refused(), HasSubstr("is no journal of splitplane"));
  auto journal = open(true);
  ASSERT_TRUE(journal->begin(kNoGrants));
  journal.reset();
  EXPECT_TRUE(open()->found().bearers.empty());
}

TEST_F(BearerJournalTest, a_directory_that_cannot_be_made_is_named) {
  settings_.path = "/proc/nowhere/test.journal";
  EXPECT_THAT(refused(), HasSubstr("its directory cannot be made"));
  settings_.path = "/dev/null";
  EXPECT_THAT(refused(), HasSubstr("is no file"));
}

TEST_F(BearerJournalTest, a_file_that_grows_is_written_anew) {
  auto journal = open();
  for (std::uint32_t id = 1; id <= 2000; ++id) journal->set(bearer(id));
  ASSERT_TRUE(journal->begin(kNoGrants));
  const std::size_t small = journal->view().octets;
  std::size_t largest = 0;
  for (std::uint32_t round = 1; round <= 200; ++round) {
    for (std::uint32_t id = 1; id <= 2000; ++id) journal->set_numbers(BearerId{id}, {.end = round});
    ASSERT_TRUE(journal->wait_for_disk());
    largest = std::max(largest, journal->view().octets);
  }
  EXPECT_LT(largest, small + (std::size_t{5} << 20));
  EXPECT_GT(journal->view().written, largest);
  journal.reset();
  EXPECT_EQ(open()->found().bearers.at(2000).numbers.end, 200U);
}

// A file may not grow: as a full disk refuses it, and without root.
class FileLimit {
 public:
  explicit FileLimit(std::size_t octets) {
    std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{octets, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  rlimit before_{};
};

TEST_F(BearerJournalTest, a_full_disk_grants_nothing_and_is_over_when_there_is_room) {
  std::vector<BearerJournal::Grant> granted;
  std::mutex mutex;
  settings_.retry = 2s;  // not while the disk is full, however slow this thread is
  auto journal = open();
  journal->set(bearer(1, 64));
  ASSERT_TRUE(journal->begin([&](std::span<const BearerJournal::Grant> grants) {
    const std::lock_guard guard(mutex);
    granted.insert(granted.end(), grants.begin(), grants.end());
  }));
  {
    const FileLimit full(journal->view().octets + 10);  // a frame is torn
    journal->extend({BearerId{1}, 64, {128, 96}}, 30);
    const auto refused = journal->wait_for_disk();
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("cannot be written"));
    EXPECT_FALSE(journal->wait_for_disk()) << "known already";
    journal->extend({BearerId{1}, 128, {192, 160}}, 96);
    EXPECT_GE(journal->view().failures, 1U);
    const std::lock_guard guard(mutex);
    EXPECT_TRUE(granted.empty());
    const auto content = read_journal(octets(), settings_.owner);
    ASSERT_TRUE(content) << content.error().message;
    EXPECT_EQ(content->bearers.at(1).numbers.end, 64U);
  }
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  while (!journal->view().reason.empty() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(5ms);
  ASSERT_TRUE(journal->wait_for_disk());
  const std::lock_guard guard(mutex);
  ASSERT_EQ(granted.size(), 1U);
  EXPECT_EQ(granted[0].from, 64U) << "from what the worker has";
  EXPECT_EQ(granted[0].lease.end, 192U);
  EXPECT_EQ(read_journal(octets(), settings_.owner)->bearers.at(1).numbers.end, 192U);
}

// What the runs have in common, however they end.
struct Shared {
  static constexpr std::uint32_t kBearers = 8;
  std::array<std::atomic<std::uint32_t>, kBearers> next{};  // the first COUNT that no run has given
  std::atomic<std::uint64_t> numbered{0}, lives{0};
  std::array<char, 256> fault{};
};

void say(Shared& shared, const std::string& fault) {
  fault.copy(shared.fault.data(), shared.fault.size() - 1);
  ::_exit(1);
}

// One life: restores, numbers as fast as leases come, until it is killed.
[[noreturn]] void live(const BearerJournal::Settings& settings, Shared& shared) {
  auto journal = BearerJournal::open(settings, false);
  if (!journal) say(shared, journal.error().message);
  CountLeases leases;
  std::array<std::atomic<std::uint64_t>, Shared::kBearers> granted{};  // end << 32 | mark
  const auto pack = [](ran::CountLease l) { return std::uint64_t{l.end} << 32 | l.mark; };
  std::array<std::uint32_t, Shared::kBearers> next{};
  for (std::uint32_t id = 0; id < Shared::kBearers; ++id) {
    const auto& found = (*journal)->found().bearers;
    JournalBearer b = bearer(id + 1);
    b.config.pdcp_sn_bits = id % 2 == 0 ? 18 : 12;
    if (const auto at = found.find(id + 1); at != found.end()) b.numbers = at->second.numbers;
    next[id] = b.numbers.end;
    if (next[id] < shared.next[id])
      say(shared, fmt::format("bearer {} goes on at {}, and {} was given", id + 1, next[id], shared.next[id] - 1));
    const auto lease = leases.begin(b.config.id, b.config.pdcp_sn_bits, next[id], next[id] - b.numbers.heard);
    b.numbers.end = lease.end;
    (*journal)->set(b, BearerJournal::Grant{b.config.id, next[id], lease});
  }
  const auto begun = (*journal)->begin([&](std::span<const BearerJournal::Grant> grants) {
    for (const auto& g : grants) granted[g.id.value - 1] = pack(g.lease);
  });
  if (!begun) say(shared, begun.error().message);
  ++shared.lives;
  std::array<std::uint32_t, Shared::kBearers> asked{};
  for (;;) {
    for (std::uint32_t id = 0; id < Shared::kBearers; ++id) {
      for (int burst = 0; burst < 32; ++burst) {
        const std::uint64_t lease = granted[id];
        const auto end = static_cast<std::uint32_t>(lease >> 32), mark = static_cast<std::uint32_t>(lease);
        if (next[id] == mark && mark != end && asked[id] != end) {
          asked[id] = end;
          const auto more = leases.asked(BearerId{id + 1}, CountLeases::Clock::now(), (*journal)->horizon());
          (*journal)->extend({BearerId{id + 1}, more->from, more->lease}, more->heard);
        }
        if (next[id] == end) break;
        if (next[id] < shared.next[id]) say(shared, fmt::format("bearer {}: {} a second time", id + 1, next[id]));
        shared.next[id] = ++next[id];
        ++shared.numbered;
      }
    }
  }
}

TEST_F(BearerJournalTest, killed_at_any_moment_no_count_is_given_twice) {
  const char* wanted = std::getenv("SPLITPLANE_JOURNAL_KILLS");
  const int kills = wanted == nullptr ? 30 : std::atoi(wanted);
  auto* shared =
      new (::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Shared;
  std::mt19937 random(28);
  for (int i = 0; i < kills; ++i) {
    const pid_t child = ::fork();
    if (child == 0) live(settings_, *shared);
    ASSERT_GT(child, 0);
    // Most are killed at work, some while they start.
    const std::uint64_t lives = shared->lives;
    const auto deadline = std::chrono::steady_clock::now() + 30s;
    const auto has_ended = [child] {
      siginfo_t info{};
      return ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
    };
    while (i % 4 != 0 && shared->lives == lives && !has_ended() && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(100us);
    std::this_thread::sleep_for(std::chrono::microseconds(std::uniform_int_distribution(0, 10000)(random)));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << shared->fault.data();
  }
  EXPECT_GT(shared->lives, static_cast<std::uint64_t>(kills) / 4);
  EXPECT_GT(shared->numbered, 10000U);
  RecordProperty("lives", static_cast<int>(shared->lives));
  RecordProperty("numbered", fmt::format("{}", shared->numbered.load()));
  ::munmap(shared, sizeof(Shared));
}

}  // namespace
}  // namespace splitplane::app
