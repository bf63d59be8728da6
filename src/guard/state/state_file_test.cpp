#include "guard/state/state_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include "guard/state/recount.h"
#include "guard/state/test_memory.h"

namespace splitplane::guard {
namespace {

using test::numbered_tuple;
using testing::HasSubstr;

class StateFiles : public testing::Test {
 protected:
  StateFiles() {
    char name[] = "/tmp/splitplane-state-XXXXXX";
    directory = ::mkdtemp(name);
    path = directory + "/guard.state";
  }
  ~StateFiles() override { std::filesystem::remove_all(directory); }

  [[nodiscard]] StateFile::Settings settings(unsigned workers = 2) const {
    return {.path = path, .workers = workers, .sources = {.entries = 256}, .flows = {.entries = 512}};
  }
  [[nodiscard]] StateFile open() const { return open(settings()); }
  [[nodiscard]] static StateFile open(const StateFile::Settings& with) {
    auto file = StateFile::open(with);
    if (!file) throw std::runtime_error(file.error().message);
    return std::move(*file);
  }
  [[nodiscard]] std::string refusal() const {
    const auto file = StateFile::open(settings());
    return file ? "" : file.error().message;
  }
  // Writes octets over the file.
  void scribble(off_t at, const std::string& octets) const {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    ASSERT_EQ(::pwrite(fd, octets.data(), octets.size(), at), static_cast<ssize_t>(octets.size()));
    ::close(fd);
  }
  void prove_a_source(std::uint64_t key) const {
    const StateFile file = open();
    const StateFile::Part part = file.part(1);
    SourceTable sources(settings().sources, part.sources, part.secret);
    ASSERT_TRUE(sources.put(key, Proof::kVouched, 1));
  }

  std::string directory, path;
};

TEST_F(StateFiles, of_a_new_file_are_empty_and_private) {
  const StateFile file = open();
  EXPECT_FALSE(file.continues());
  EXPECT_THAT(file.beginning(), HasSubstr("begins with empty tables in " + path + ": it is new"));
  struct stat is{};
  ASSERT_EQ(::stat(path.c_str(), &is), 0);
  EXPECT_EQ(is.st_mode & 07777, 0600U);
  EXPECT_EQ(static_cast<std::size_t>(is.st_size), file.bytes());
  EXPECT_EQ(file.bytes(), StateFile::bytes_of(settings()));
  EXPECT_GE(is.st_blocks * 512, is.st_size) << "all of it is there";
  std::set<std::uint64_t> secrets;
  std::set<std::array<std::uint8_t, 16>> keys;
  for (unsigned worker = 0; worker < 2; ++worker) {
    const StateFile::Part part = file.part(worker);
    secrets.insert(part.secret);
    keys.insert(part.keys->key.begin(), part.keys->key.end());
    for (const auto& octets : {part.sources, part.flows})
      EXPECT_TRUE(std::all_of(octets.begin(), octets.end(), [](std::uint8_t octet) { return octet == 0; }));
    EXPECT_EQ(part.sources.size(), SourceTable::memory_bytes(settings().sources));
    EXPECT_EQ(part.flows.size(), FlowTable::memory_bytes(settings().flows));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(part.sources.data()) % 64, 0U);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(part.flows.data()) % 64, 0U);
  }
  EXPECT_EQ(secrets.size(), 2U);
  EXPECT_EQ(keys.size(), 4U);
}

TEST_F(StateFiles, without_a_path_are_memory_that_ends) {
  StateFile::Settings anonymous = settings();
  anonymous.path.clear();
  StateFile file = open(anonymous);
  EXPECT_FALSE(file.continues());
  EXPECT_THAT(file.beginning(), HasSubstr("ends with the process"));
  const StateFile moved = std::move(file);
  const StateFile::Part part = moved.part(1);
  SourceTable sources(anonymous.sources, part.sources, part.secret);
  EXPECT_TRUE(sources.put(9, Proof::kCookie, 1));
  EXPECT_TRUE(std::filesystem::is_empty(directory));
}

TEST_F(StateFiles, go_on_with_tables_keys_and_secrets) {
  CookieJar::Keys keys;
  std::uint64_t secret = 0;
  {
    const StateFile file = open();
    const StateFile::Part part = file.part(1);
    FlowTable flows(settings().flows, part.flows, part.secret);
    for (std::uint64_t n = 0; n < 400; ++n) {
      Flow* const flow = flows.insert(numbered_tuple(n), flows.hash_of(numbered_tuple(n)), 7);
      ASSERT_NE(flow, nullptr);
      flow->client_next = static_cast<std::uint32_t>(n);
      flow->state = FlowState::kEstablished;
    }
    part.keys->generation = 5;
    keys = *part.keys;
    secret = part.secret;
  }
  const StateFile file = open();
  EXPECT_TRUE(file.continues());
  EXPECT_THAT(file.beginning(), HasSubstr("goes on"));
  const StateFile::Part part = file.part(1);
  EXPECT_EQ(part.secret, secret);
  EXPECT_EQ(part.keys->key, keys.key);
  EXPECT_EQ(part.keys->generation, 5U);
  FlowTable flows(settings().flows, part.flows, part.secret);
  EXPECT_EQ(flows.counts().used, 400U);
  EXPECT_EQ(flows.find(numbered_tuple(77), flows.hash_of(numbered_tuple(77)), 8)->client_next, 77U);
  const StateFile::Part other = file.part(0);
  EXPECT_EQ(FlowTable(settings().flows, other.flows, other.secret).counts().used, 0U);
}

TEST_F(StateFiles, go_on_under_other_times_and_limits) {
  prove_a_source(5);
  StateFile::Settings other = settings();
  other.sources.vouched_seconds = 77;
  other.flows.established_seconds = 99;
  EXPECT_TRUE(open(other).continues());
}

TEST_F(StateFiles, begin_empty_where_the_file_does_not_fit) {
  const auto begins = [&](const StateFile::Settings& with, const char* why) {
    const StateFile file = open(with);
    EXPECT_FALSE(file.continues()) << why;
    EXPECT_THAT(file.beginning(), HasSubstr(std::string(": ") + why));
    const StateFile::Part part = file.part(with.workers - 1);
    EXPECT_EQ(SourceTable(with.sources, part.sources, part.secret).counts().live, 0U);
  };
  const auto change = [&](StateFile::Settings with, auto&& how) {
    how(with);
    return with;
  };
  prove_a_source(5);
  begins(settings(3), "it is for 2 workers, and there are 3");
  prove_a_source(5);
  begins(change(settings(), [](auto& s) { s.sources.entries = 512; }), "it is for tables of other sizes");
  prove_a_source(5);
  begins(change(settings(), [](auto& s) { s.flows.entries = 64; }), "it is for tables of other sizes");
  prove_a_source(5);
  std::filesystem::resize_file(path, StateFile::bytes_of(settings()) - 1);
  begins(settings(), "it is cut off");
  std::filesystem::resize_file(path, 40);
  begins(settings(), "it is cut off");
  std::filesystem::resize_file(path, 7);
  EXPECT_THAT(refusal(), HasSubstr("another content"));
  std::filesystem::resize_file(path, 0);
  begins(settings(), "it is new");
  prove_a_source(5);
  for (const off_t at : {17, 41, 57, 99}) {
    scribble(at, "\x5a");
    begins(settings(), "its header is damaged");
    EXPECT_TRUE(open().continues()) << "and it is sound again";
  }
}

TEST_F(StateFiles, end_with_the_machine_s_run) {
  prove_a_source(5);
  // A header of an earlier run of the machine: boot identity changed, and its CRC made anew.
  std::ifstream in(path, std::ios::binary);
  std::string header(104, '\0');
  in.read(header.data(), 104);
  const std::size_t boot = 16 + 6 * 4 + 16;
  ASSERT_EQ(header[boot + 8], '-') << "a boot_id is a UUID";
  header[boot] = header[boot] == 'a' ? 'b' : 'a';
  std::uint32_t crc = ~0U;
  for (const char c : header.substr(0, 100)) {
    crc ^= static_cast<std::uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (0x82f63b78U & (0U - (crc & 1U)));
  }
  crc = ~crc;
  std::memcpy(header.data() + 100, &crc, sizeof crc);
  scribble(0, header);
  EXPECT_THAT(open().beginning(), HasSubstr("the machine was started anew"));
}

TEST_F(StateFiles, are_for_one_process_at_a_time) {
  const StateFile file = open();
  EXPECT_EQ(refusal(), "state file " + path + ": another process has it");
}

TEST_F(StateFiles, of_others_are_refused_and_stay_as_they_are) {
  const auto write = [&](const std::string& text) { std::ofstream(path) << text; };
  write("an important letter, of a user who gave the wrong path");
  ::chmod(path.c_str(), 0600);
  EXPECT_THAT(refusal(), HasSubstr("has another content; remove it or name another"));
  std::ifstream in(path);
  std::string text;
  std::getline(in, text);
  EXPECT_EQ(text, "an important letter, of a user who gave the wrong path");

  std::filesystem::remove(path);
  prove_a_source(5);
  ::chmod(path.c_str(), 0640);
  EXPECT_THAT(refusal(), HasSubstr("others may open it (mode 0640)"));
  ::chmod(path.c_str(), 0600);
  EXPECT_EQ(refusal(), "");
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(path.c_str(), 12345, 0), 0);
    EXPECT_THAT(refusal(), HasSubstr("belongs to another user (uid 12345)"));
    ASSERT_EQ(::chown(path.c_str(), 0, 0), 0);
  }

  const std::string real = directory + "/real";
  std::filesystem::rename(path, real);
  std::filesystem::create_symlink(real, path);
  EXPECT_THAT(refusal(), HasSubstr("is a symbolic link"));
  std::filesystem::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(refusal(), HasSubstr("is no plain file"));
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  EXPECT_THAT(refusal(), HasSubstr("cannot be opened: Is a directory"));
  std::filesystem::remove(path);
  StateFile::Settings nowhere = settings();
  nowhere.path = directory + "/none/guard.state";
  EXPECT_THAT(StateFile::open(nowhere).error().message, HasSubstr("cannot be opened: No such file or directory"));
}

// Runs `what` in a child process; its exit status.
int in_child(auto&& what) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(what());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(StateFiles, that_have_no_room_say_so) {
  EXPECT_EQ(in_child([&] {
              ::signal(SIGXFSZ, SIG_IGN);
              const rlimit limit{1 << 16, 1 << 16};
              ::setrlimit(RLIMIT_FSIZE, &limit);
              return refusal() == "state file " + path + ": there is no room for its 1 MB: File too large" ? 0 : 1;
            }),
            0);
  EXPECT_EQ(refusal(), "") << "and the next time there is";
}

TEST_F(StateFiles, on_a_full_disk_say_so) {
  const int status = in_child([&] {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("none", directory.c_str(), "tmpfs", 0, "size=64k") != 0)
      return 77;
    if (refusal() != "state file " + path + ": there is no room for its 1 MB: No space left on device") return 1;
    return std::filesystem::file_size(path) <= 16 ? 0 : 2;
  });
  if (status == 77) GTEST_SKIP() << "mounting a tmpfs needs a privilege";
  EXPECT_EQ(status, 0);
}

TEST_F(StateFiles, without_memory_say_so) {
  StateFile::Settings large;
  large.workers = 60000;
  large.sources.entries = 1 << 28;
  large.flows.entries = 1 << 26;
  const auto file = StateFile::open(large);
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().message, HasSubstr("no memory for the"));
}

// A flow whose fields follow from its number, so that a torn one shows.
void write_flow(Flow& flow, std::uint64_t number) {
  flow.client_next = static_cast<std::uint32_t>(number * 3);
  flow.client_sent = static_cast<std::uint32_t>(number * 5);
  flow.sequence_delta = static_cast<std::uint32_t>(number * 7);
}
bool is_whole(const Flow& flow, std::uint64_t number) {
  return flow.client_next == static_cast<std::uint32_t>(number * 3) &&
         flow.client_sent == static_cast<std::uint32_t>(number * 5) &&
         flow.sequence_delta == static_cast<std::uint32_t>(number * 7);
}

constexpr std::uint64_t kKeptFlows = 250, kKeptSources = 100;

// Changes both tables of a worker until it is killed: so full that entries move all the time.
[[noreturn]] void change_for_ever(const StateFile::Settings& settings, unsigned seed) {
  auto file = StateFile::open(settings);
  if (!file) ::_exit(3);
  const StateFile::Part part = file->part(1);
  SourceTable sources(settings.sources, part.sources, part.secret);
  FlowTable flows(settings.flows, part.flows, part.secret);
  std::mt19937_64 random(seed);
  for (;;) {
    const std::uint64_t number = kKeptFlows + random() % 400;
    const FourTuple tuple = numbered_tuple(number);
    const FlowTable::Hash hash = flows.hash_of(tuple);
    if (Flow* const flow = flows.find(tuple, hash, 10); flow == nullptr) {
      if (Flow* const made = flows.insert(tuple, hash, 10); made != nullptr) write_flow(*made, number);
    } else if (random() % 2 == 0) {
      flows.remove(flow);
    }
    const SourceTable::Key key = 1 + kKeptSources + random() % 200;
    if (random() % 2 == 0)
      (void)sources.put(key, random() % 4 == 0 ? Proof::kVouched : Proof::kCookie, 10);
    else
      (void)sources.remove(key);
    (void)sources.take_flow(key, 10);
    (void)sources.take_syn(key, static_cast<std::uint32_t>(random() % 100));
    part.keys->generation += 1;
  }
}

TEST_F(StateFiles, survive_the_death_of_their_process_at_any_instant) {
  {
    const StateFile file = open();
    const StateFile::Part part = file.part(1);
    SourceTable sources(settings().sources, part.sources, part.secret);
    FlowTable flows(settings().flows, part.flows, part.secret);
    for (std::uint64_t n = 0; n < kKeptFlows; ++n) {
      Flow* const flow = flows.insert(numbered_tuple(n), flows.hash_of(numbered_tuple(n)), 10);
      ASSERT_NE(flow, nullptr);
      write_flow(*flow, n);
      flow->state = FlowState::kEstablished;
    }
    for (SourceTable::Key key = 1; key <= kKeptSources; ++key) ASSERT_TRUE(sources.put(key, Proof::kVouched, 10));
  }
  std::mt19937_64 random(1);
  for (unsigned round = 0; round < 100; ++round) {
    const pid_t child = ::fork();
    if (child == 0) change_for_ever(settings(), round);
    ::usleep(static_cast<useconds_t>(3000 + random() % 5000));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "it could not open the file";

    const StateFile file = open();
    ASSERT_TRUE(file.continues());
    const StateFile::Part part = file.part(1);
    SourceTable sources(settings().sources, part.sources, part.secret);
    FlowTable flows(settings().flows, part.flows, part.secret);
    for (std::uint64_t n = 0; n < kKeptFlows; ++n) {
      const Flow* const flow = flows.find(numbered_tuple(n), flows.hash_of(numbered_tuple(n)), 10);
      ASSERT_NE(flow, nullptr) << "an established flow is gone: " << n;
      ASSERT_TRUE(is_whole(*flow, n));
    }
    for (SourceTable::Key key = 1; key <= kKeptSources; ++key) ASSERT_EQ(sources.find(key, 10), Proof::kVouched);
    std::uint64_t used = 0;
    flows.for_each([&](const Flow& flow) {
      ++used;
      const FourTuple tuple = tuple_of(flow);
      ASSERT_EQ(flows.find(tuple, flows.hash_of(tuple), 10), &flow);
    });
    ASSERT_EQ(flows.counts().used, used);
    recount_flows(sources, flows);
  }
}

TEST_F(StateFiles, begin_empty_after_a_death_while_they_were_made) {
  std::mt19937_64 random(2);
  unsigned finished = 0, unfinished = 0;
  StateFile::Settings large = settings();
  large.flows.entries = 1 << 16;
  for (unsigned round = 0; round < 60; ++round) {
    std::filesystem::remove(path);
    const pid_t child = ::fork();
    if (child == 0) {
      const auto file = StateFile::open(large);
      ::_exit(file ? 0 : 1);
    }
    ::usleep(static_cast<useconds_t>(random() % 8000));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const StateFile file = open(large);
    ++(file.continues() ? finished : unfinished);
    const StateFile::Part part = file.part(0);
    EXPECT_NE(part.secret, 0U);
    EXPECT_NE(part.keys->key[0], part.keys->key[1]);
  }
  RecordProperty("finished", static_cast<int>(finished));
  EXPECT_GT(unfinished, 0U);
}

}  // namespace
}  // namespace splitplane::guard
