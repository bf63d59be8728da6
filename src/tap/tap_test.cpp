// A tap on real rings, real mbufs and a real file: what it writes, what it counts, how it ends.
#include "tap/tap.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "engine/test_dpdk.h"
#include "wire/airhdr.h"
#include "wire/ethernet.h"

namespace splitplane::tap {
namespace {

using Bytes = std::vector<std::uint8_t>;
constexpr std::chrono::milliseconds kSoon{5000};
namespace fs = std::filesystem;

[[maybe_unused]] const auto* const kDpdk =
    testing::AddGlobalTestEnvironment(new datapath::test::DpdkEnvironment("tap"));

struct TapTest : testing::Test {
  void SetUp() override {
    static unsigned number = 0;
    pool = rte_pktmbuf_pool_create(fmt::format("traffic{}", number++).c_str(), 511, 0, 0, 2048 + RTE_PKTMBUF_HEADROOM,
                                   SOCKET_ID_ANY);
    ASSERT_NE(pool, nullptr);
    folder = fs::temp_directory_path() / fmt::format("sp-tap-test-{}", ::getpid());
    fs::create_directories(folder);
  }
  void TearDown() override {
    EXPECT_EQ(rte_mempool_in_use_count(pool), 0U);
    rte_mempool_free(pool);
    fs::remove_all(folder);
  }
  [[nodiscard]] Settings settings() const {
    return {.name = "t", .port = "air", .file = folder / "t.pcapng", .snap = 256, .buffers = 255};
  }
  rte_mbuf* packet(std::size_t bytes) const {
    rte_mbuf* m = rte_pktmbuf_alloc(pool);
    std::memset(rte_pktmbuf_append(m, static_cast<std::uint16_t>(bytes)), 0xab, bytes);
    return m;
  }
  // One downlink AM PDU of a bearer.
  rte_mbuf* air_packet(std::uint32_t bearer, std::size_t payload) const {
    rte_mbuf* m = packet(14 + 10 + 3 + 3 + 1 + payload);
    const wire::MutableOctets frame(rte_pktmbuf_mtod(m, std::uint8_t*), m->data_len);
    wire::ethernet::write(frame, std::array<std::uint8_t, 6>{2}, std::array<std::uint8_t, 6>{2}, 0x88b5);
    wire::airhdr::write(frame.subspan(14), {.direction = Direction::kDownlink,
                                            .bearer = BearerId{bearer},
                                            .pdu_bytes = static_cast<std::uint16_t>(7 + payload)});
    constexpr std::array<std::uint8_t, 7> kHeaders{0x80, 0, 5, 0x80, 0, 7, 9};
    std::copy(kHeaders.begin(), kHeaders.end(), frame.begin() + 24);
    return m;
  }
  static Bytes read(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  // Types of the blocks of a file, which must all be whole.
  static std::vector<std::uint32_t> blocks(const fs::path& path) {
    const Bytes file = read(path);
    EXPECT_EQ(pcapng::whole_blocks(file, file.size()), file.size());
    std::vector<std::uint32_t> types;
    for (std::size_t at = 0; at + 8 <= file.size();) {
      std::uint32_t head[2];
      std::memcpy(head, file.data() + at, 8);
      types.push_back(head[0]);
      at += head[1];
    }
    return types;
  }
  static std::size_t packets_in(const fs::path& path) {
    const auto types = blocks(path);
    return static_cast<std::size_t>(std::count(types.begin(), types.end(), 6U));
  }
  template <class Condition>
  static bool soon(Condition condition) {
    for (int i = 0; i < 5000 && !condition(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds{1});
    return condition();
  }

  rte_mempool* pool = nullptr;
  fs::path folder;
  datapath::TapPoint point;
};

TEST_F(TapTest, a_received_packet_is_in_the_file_and_stays_what_it_was) {
  auto tap = Tap::start(settings(), {{"air", "port air"}});
  ASSERT_TRUE(tap.has_value()) << tap.error().message;
  point.attach((*tap)->lane(0), true, true);
  rte_mbuf* m = packet(100);
  point.take_received(&m, 1);
  EXPECT_EQ(rte_mbuf_refcnt_read(m), 1);
  EXPECT_EQ(m->data_len, 100);
  rte_pktmbuf_free(m);
  ASSERT_TRUE(soon([&] { return (*tap)->numbers().packets == 1; }));
  point.detach((*tap)->lane(0));
  EXPECT_FALSE(point.taps_in() || point.taps_out());
  tap->reset();
  EXPECT_EQ(blocks(folder / "t.pcapng"), (std::vector<std::uint32_t>{0x0A0D0D0A, 1, 6, 5}));
}

TEST_F(TapTest, what_the_port_did_not_take_was_never_sent) {
  auto tap = Tap::start(settings(), {{"air", ""}});
  ASSERT_TRUE(tap.has_value());
  point.attach((*tap)->lane(0), false, true);
  std::array<rte_mbuf*, 3> burst{packet(60), packet(61), packet(62)};
  point.hold(burst.data(), 3);
  point.release(2);
  rte_pktmbuf_free_bulk(burst.data(), 3);
  point.detach((*tap)->lane(0));
  tap->reset();
  EXPECT_EQ(packets_in(folder / "t.pcapng"), 2U);
}

TEST_F(TapTest, packets_are_cut_at_the_snap_length) {
  auto tap = Tap::start(settings(), {{"air", ""}});
  ASSERT_TRUE(tap.has_value());
  point.attach((*tap)->lane(0), true, false);
  rte_mbuf* m = packet(1000);
  point.take_received(&m, 1);
  rte_pktmbuf_free(m);
  point.detach((*tap)->lane(0));
  tap->reset();
  const Bytes file = read(folder / "t.pcapng");
  const Bytes lengths{0, 1, 0, 0, 0xe8, 3, 0, 0, 0xab};  // captured 256 of 1000, then the packet
  EXPECT_NE(std::search(file.begin(), file.end(), lengths.begin(), lengths.end()), file.end());
}

TEST_F(TapTest, without_a_free_buffer_packets_are_dropped_and_counted) {
  auto lane = datapath::TapLane::make({.buffers = 31, .snap = 64});
  ASSERT_TRUE(lane.has_value());
  point.attach(**lane, true, false);
  rte_mbuf* m = packet(60);
  for (int i = 0; i < 40; ++i) point.take_received(&m, 1);
  rte_pktmbuf_free(m);
  EXPECT_EQ((*lane)->dropped(), 9U);
  std::array<rte_mbuf*, 64> copies{};
  EXPECT_EQ((*lane)->receive(copies), 31U);
  datapath::TapLane::give_back(std::span(copies).first(31));
  point.detach(**lane);
}

TEST_F(TapTest, several_taps_of_a_port_come_and_go_in_any_order) {
  std::vector<std::unique_ptr<datapath::TapLane>> lanes;
  for (int i = 0; i < 3; ++i) {
    lanes.push_back(*datapath::TapLane::make({.buffers = 31, .snap = 64}));
    point.attach(*lanes.back(), true, i != 1);
  }
  point.detach(*lanes[1]);
  rte_mbuf* m = packet(60);
  point.take_received(&m, 1);
  rte_pktmbuf_free(m);
  std::array<rte_mbuf*, 8> copies{};
  for (const std::size_t i : {0U, 2U}) {
    EXPECT_EQ(lanes[i]->receive(copies), 1U);
    datapath::TapLane::give_back(std::span(copies).first(1));
  }
  EXPECT_EQ(lanes[1]->receive(copies), 0U);
  point.detach(*lanes[2]);
  point.detach(*lanes[0]);
  point.detach(*lanes[0]);
  EXPECT_FALSE(point.taps_in() || point.taps_out());
}

TEST_F(TapTest, a_bearer_filter_lets_only_its_bearer_through) {
  auto with = settings();
  with.bearer = 7;
  auto tap = Tap::start(with, {{"air", ""}});
  ASSERT_TRUE(tap.has_value());
  point.attach((*tap)->lane(0), true, false);
  std::array<rte_mbuf*, 3> burst{air_packet(6, 40), air_packet(7, 40), packet(20)};
  point.take_received(burst.data(), 3);
  rte_pktmbuf_free_bulk(burst.data(), 3);
  point.detach((*tap)->lane(0));
  tap->reset();
  EXPECT_EQ(packets_in(folder / "t.pcapng"), 1U);
}

TEST_F(TapTest, what_a_view_cannot_show_is_skipped_and_counted) {
  auto with = settings();
  with.view = View::kPdcpNr;
  auto tap = Tap::start(with, {{"air", ""}});
  ASSERT_TRUE(tap.has_value());
  point.attach((*tap)->lane(0), true, false);
  rte_mbuf* control = air_packet(7, 40);
  rte_pktmbuf_mtod(control, std::uint8_t*)[24] = 0x00;  // RLC D/C: a STATUS PDU
  std::array<rte_mbuf*, 3> burst{air_packet(7, 40), packet(60), control};
  point.take_received(burst.data(), 3);
  rte_pktmbuf_free_bulk(burst.data(), 3);
  ASSERT_TRUE(soon([&] { return (*tap)->numbers().skipped == 2; }));
  point.detach((*tap)->lane(0));
  tap->reset();
  EXPECT_EQ(packets_in(folder / "t.pcapng"), 1U);
}

TEST_F(TapTest, a_view_has_ue_numbers_for_65535_bearers_and_skips_the_others) {
  AirView view(View::kRlcNr);
  rte_mbuf* m = air_packet(1, 40);
  const wire::MutableOctets frame(rte_pktmbuf_mtod(m, std::uint8_t*), m->data_len);
  const auto shown = [&](std::uint32_t bearer) {
    wire::store_be32(frame.data() + 18, bearer);
    return view.translate(frame, static_cast<std::uint32_t>(frame.size())).has_value();
  };
  for (std::uint32_t bearer = 1; bearer <= 65535; ++bearer) ASSERT_TRUE(shown(bearer)) << bearer;
  EXPECT_FALSE(shown(65536));
  EXPECT_TRUE(shown(1));
  rte_pktmbuf_free(m);
}

// Wireshark's tags: 5 and the DRB, 0x0f for a MAC-I, 1 in front of the PDU (packet-pdcp-nr.h).
TEST_F(TapTest, a_view_of_pdcp_names_the_drb_and_the_mac_i_of_a_secured_bearer) {
  const auto secured = std::make_shared<SecuredDrbs>();
  AirView view(View::kPdcpNr, secured);
  rte_mbuf* m = air_packet(7, 40);
  const std::span<const std::uint8_t> frame(rte_pktmbuf_mtod(m, const std::uint8_t*), m->data_len);
  const auto framing = [&] {
    const auto seen = view.translate(frame, static_cast<std::uint32_t>(frame.size()));
    const std::size_t behind = 14 + 20 + 8 + 7;  // Ethernet, IPv4, UDP, signature
    return Bytes(seen->octets.begin() + behind, seen->octets.end() - 44);
  };
  const Bytes plain{2, 2, 18, 3, 1, 4, 1, 5, 1, 6, 0, 1, 0x10, 2, 1};
  EXPECT_EQ(framing(), plain);
  secured->set(BearerId{7}, {.number = 32, .has_mac_i = true});
  EXPECT_EQ(framing(), (Bytes{2, 2, 18, 3, 1, 4, 1, 5, 32, 6, 0, 1, 0x10, 2, 0x0f, 1}));
  secured->set(BearerId{7}, {.number = 9, .has_mac_i = false});
  EXPECT_EQ(framing(), (Bytes{2, 2, 18, 3, 1, 4, 1, 5, 9, 6, 0, 1, 0x10, 2, 1}));
  secured->remove(BearerId{7});
  EXPECT_EQ(framing(), plain);
  rte_pktmbuf_free(m);
}

TEST_F(TapTest, a_rotation_keeps_the_newest_files) {
  auto with = settings();
  with.max_mb = 1;
  with.files = 2;
  with.snap = 2000;
  auto tap = Tap::start(with, {{"air", ""}});
  ASSERT_TRUE(tap.has_value());
  point.attach((*tap)->lane(0), true, false);
  rte_mbuf* m = packet(1900);
  for (unsigned i = 1; i <= 2000; ++i) {  // 3.9 MB: begun four times
    point.take_received(&m, 1);
    if (i % 100 == 0) {
      ASSERT_TRUE(soon([&] { return (*tap)->numbers().packets == i; }));
    }
  }
  rte_pktmbuf_free(m);
  point.detach((*tap)->lane(0));
  tap->reset();
  EXPECT_TRUE(fs::exists(folder / "t.pcapng") && fs::exists(folder / "t.1.pcapng"));
  EXPECT_FALSE(fs::exists(folder / "t.2.pcapng"));
  EXPECT_EQ(packets_in(folder / "t.1.pcapng"), (1048576U - 200) / (32 + 1900 + 12));
  EXPECT_LE(fs::file_size(folder / "t.1.pcapng"), 1048576U);
}

TEST_F(TapTest, at_its_limit_a_single_file_ends_and_says_why) {
  auto with = settings();
  with.max_mb = 1;
  with.snap = 2000;
  with.buffers = 1023;
  auto tap = Tap::start(with, {{"air", ""}});
  ASSERT_TRUE(tap.has_value());
  point.attach((*tap)->lane(0), true, false);
  rte_mbuf* m = packet(1900);
  EXPECT_TRUE(soon([&] {
    point.take_received(&m, 1);
    return !(*tap)->stopped().empty();
  }));
  rte_pktmbuf_free(m);
  EXPECT_NE((*tap)->stopped().find("limit of 1048576 octets"), std::string::npos) << (*tap)->stopped();
  point.detach((*tap)->lane(0));
  tap->reset();
  EXPECT_GT(packets_in(folder / "t.pcapng"), 500U);
}

TEST_F(TapTest, a_file_that_a_tap_writes_is_refused_under_any_other_path) {
  const auto head = [](pcapng::Buffer& out) { pcapng::put_section(out, "test"); };
  const auto first = File::create(folder / "t.pcapng", {}, head);
  ASSERT_TRUE(first.has_value());
  const auto bytes = fs::file_size(folder / "t.pcapng");
  fs::create_hard_link(folder / "t.pcapng", folder / "linked.pcapng");
  for (const fs::path& path : {folder / "t.pcapng", folder / "." / "t.pcapng", folder / "linked.pcapng"}) {
    const auto second = File::create(path, {}, head);
    ASSERT_FALSE(second.has_value());
    EXPECT_NE(second.error().message.find("belongs to another tap"), std::string::npos);
  }
  EXPECT_EQ(fs::file_size(folder / "t.pcapng"), bytes);
}

void put(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string get(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void only_section(pcapng::Buffer& out) {
  pcapng::put_section(out, "test");
}

// Fills files until one rotation has happened, or the error.
Expected<void> rotate_once(File& file) {
  const std::uint64_t begin = file.bytes_written();
  while (file.bytes_written() - begin < 4096) {
    if (auto room = file.make_room(512); !room) return room;
    pcapng::put_section(file.blocks(), std::string(400, 'x'));
  }
  return file.flush();
}

TEST_F(TapTest, only_a_missing_an_empty_or_a_pcapng_file_is_begun_anew) {
  const fs::path config = folder / "gnb.yaml", empty = folder / "empty.pcapng", older = folder / "older.pcapng";
  put(config, "ports: {}\n");
  put(empty, "");
  put(folder / "short", "\n");
  {
    const auto file = File::create(older, {}, only_section);
  }
  const auto refused = File::create(config, {}, only_section);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("is there, and is no pcapng file"), std::string::npos);
  EXPECT_EQ(get(config), "ports: {}\n");
  EXPECT_FALSE(File::create(folder / "short", {}, only_section).has_value());
  EXPECT_TRUE(File::create(empty, {}, only_section).has_value());
  EXPECT_TRUE(File::create(older, {}, only_section).has_value());
}

TEST_F(TapTest, names_that_rotation_will_use_are_looked_at_and_taken_at_the_start) {
  put(folder / "t.2.pcapng", "notes of somebody");
  const auto refused = File::create(folder / "t.pcapng", {.bytes = 1024, .files = 3}, only_section);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message.find((folder / "t.2.pcapng").string()), 0U) << refused.error().message;
  EXPECT_FALSE(fs::exists(folder / "t.pcapng")) << "nothing was begun";
  fs::remove(folder / "t.2.pcapng");
  const auto first = File::create(folder / "t.pcapng", {.bytes = 1024, .files = 3}, only_section);
  ASSERT_TRUE(first.has_value());
  EXPECT_FALSE(File::create(folder / "t.2.pcapng", {}, only_section).has_value()) << "the rotation's";
  EXPECT_FALSE(File::create(folder / "." / "t.1.pcapng", {.bytes = 1024, .files = 2}, only_section).has_value());
  EXPECT_TRUE(File::create(folder / "t.3.pcapng", {}, only_section).has_value());
}

TEST_F(TapTest, a_rotation_replaces_no_file_that_appeared_on_its_way) {
  auto file = File::create(folder / "t.pcapng", {.bytes = 1024, .files = 3}, only_section);
  ASSERT_TRUE(file.has_value());
  put(folder / "t.1.pcapng", "notes of somebody");
  const auto rotated = rotate_once(*file);
  ASSERT_FALSE(rotated.has_value());
  EXPECT_NE(rotated.error().message.find("no pcapng file"), std::string::npos) << rotated.error().message;
  EXPECT_EQ(get(folder / "t.1.pcapng"), "notes of somebody");
}

// All older files are there, as in most of a rotation's life. One of them is removed, and another file gets its name.
TEST_F(TapTest, a_full_rotation_replaces_no_file_that_took_the_place_of_one_of_its_own) {
  for (const char* name : {"t.1.pcapng", "t.2.pcapng"}) {
    auto file = File::create(folder / "t.pcapng", {.bytes = 1024, .files = 3}, only_section);
    ASSERT_TRUE(file.has_value());
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(rotate_once(*file).has_value());
    fs::remove(folder / name);
    put(folder / name, "notes of somebody");
    EXPECT_FALSE(rotate_once(*file).has_value()) << name;
    EXPECT_EQ(get(folder / name), "notes of somebody");
    fs::remove(folder / name);
  }
}

TEST_F(TapTest, a_full_rotation_leaves_the_file_of_another_process_that_took_such_a_place) {
  auto file = File::create(folder / "t.pcapng", {.bytes = 1024, .files = 3}, only_section);
  ASSERT_TRUE(file.has_value());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(rotate_once(*file).has_value());
  fs::remove(folder / "t.2.pcapng");
  const int other = ::open((folder / "t.2.pcapng").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640);
  ASSERT_GE(other, 0);
  ASSERT_EQ(::flock(other, LOCK_EX | LOCK_NB), 0);
  const auto rotated = rotate_once(*file);
  ASSERT_FALSE(rotated.has_value());
  EXPECT_NE(rotated.error().message.find("belongs to another tap"), std::string::npos) << rotated.error().message;
  struct stat info{};
  ASSERT_EQ(::fstat(other, &info), 0);
  EXPECT_EQ(info.st_nlink, 1U) << "its name was taken away";
  ::close(other);
}

TEST_F(TapTest, a_rotation_goes_on_where_one_of_its_older_files_was_deleted) {
  auto file = File::create(folder / "t.pcapng", {.bytes = 1024, .files = 4}, only_section);
  ASSERT_TRUE(file.has_value());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(rotate_once(*file).has_value());
  fs::remove(folder / "t.2.pcapng");
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(rotate_once(*file).has_value());
  for (const char* name : {"t.pcapng", "t.1.pcapng", "t.2.pcapng", "t.3.pcapng"})
    EXPECT_TRUE(fs::exists(folder / name));
}

TEST_F(TapTest, the_files_of_a_rotation_are_no_other_processs_to_begin_anew) {
  auto file = File::create(folder / "t.pcapng", {.bytes = 1024, .files = 3}, only_section);
  ASSERT_TRUE(file.has_value());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(rotate_once(*file).has_value());
  for (const char* name : {"t.pcapng", "t.1.pcapng", "t.2.pcapng"}) {
    const int other = ::open((folder / name).c_str(), O_RDWR | O_CLOEXEC);  // a descriptor as another process has
    ASSERT_GE(other, 0) << name;
    EXPECT_NE(::flock(other, LOCK_EX | LOCK_NB), 0) << name;
    ::close(other);
  }
}

TEST_F(TapTest, a_device_that_is_no_file_is_refused) {
  auto with = settings();
  for (const char* place : {"/dev/full", "/nowhere/t.pcapng", "/tmp"}) {
    with.file = place;
    const auto tap = Tap::start(with, {{"air", ""}});
    ASSERT_TRUE(tap.has_value());
    ASSERT_EQ((*tap)->wait_open(kSoon), Tap::State::kStopped);
    EXPECT_EQ((*tap)->stopped().find(place), 0U) << (*tap)->stopped();
  }
}

TEST_F(TapTest, a_tap_ends_when_it_is_asked_to_and_says_so) {
  auto tap = Tap::start(settings(), {{"air", ""}});
  ASSERT_TRUE(tap.has_value());
  ASSERT_EQ((*tap)->wait_open(kSoon), Tap::State::kOn);
  point.attach((*tap)->lane(0), true, false);
  rte_mbuf* m = packet(100);
  point.take_received(&m, 1);
  rte_pktmbuf_free(m);
  point.detach((*tap)->lane(0));
  EXPECT_FALSE((*tap)->wait_end(std::chrono::milliseconds{0})) << "nobody asked it to";
  (*tap)->end();
  EXPECT_TRUE((*tap)->wait_end(kSoon));
  EXPECT_EQ(packets_in(folder / "t.pcapng"), 1U);
}

}  // namespace
}  // namespace splitplane::tap
