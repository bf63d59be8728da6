// Captures on a real file, read back by libpcap's view of it: Ethernet, IPv4, UDP, mac-nr.
#include "phy/capture/mac_capture.h"

#include <gmock/gmock.h>
#include <pcap/pcap.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "tap/framing_headers.h"
#include "wire/ethernet.h"
#include "wire/ipv4.h"
#include "wire/mac_nr.h"
#include "wire/udp.h"

namespace splitplane::phy {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;

struct Block {
  wire::mac_nr::Header header;
  Bytes pdu;
  std::uint32_t source = 0;
};

// Nothing where the file is no capture of such blocks.
std::vector<Block> blocks_of(const fs::path& file) {
  std::vector<Block> blocks;
  char error[PCAP_ERRBUF_SIZE] = "";
  pcap_t* const pcap = pcap_open_offline(file.c_str(), error);
  EXPECT_NE(pcap, nullptr) << error;
  if (pcap == nullptr) return blocks;
  pcap_pkthdr* packet = nullptr;
  const u_char* octets = nullptr;
  while (pcap_next_ex(pcap, &packet, &octets) == 1) {
    EXPECT_EQ(packet->caplen, packet->len);
    const wire::Octets frame(octets, packet->caplen);
    const auto ip = wire::ipv4::parse(frame.subspan(14));
    EXPECT_TRUE(ip);
    const auto udp = wire::udp::parse(frame.subspan(34));
    EXPECT_TRUE(udp);
    const auto mac = wire::mac_nr::parse(frame.subspan(tap::kFramingHeaderBytes));
    EXPECT_TRUE(mac);
    if (mac) blocks.push_back({mac->header, Bytes(mac->pdu.begin(), mac->pdu.end()), ip->source});
  }
  pcap_close(pcap);
  return blocks;
}

class MacCaptureTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / fmt::format("sp-mac-capture-{}", ::getpid());
    fs::create_directories(folder_);
    settings_.file = folder_ / "mac.pcapng";
  }
  void TearDown() override { fs::remove_all(folder_); }
  static Grant grant(Direction direction) {
    return {.slot = {Numerology{1}, 1023, 19}, .rnti = 0x4601, .direction = direction, .process = 13};
  }
  fs::path folder_;
  MacCapture::Settings settings_;
};

TEST_F(MacCaptureTest, a_block_is_written_with_its_ue_process_and_slot) {
  auto capture = MacCapture::start(settings_);
  ASSERT_TRUE(capture) << capture.error().message;
  const Bytes down{1, 2, 3}, up(9000, 0x5a);
  (*capture)->crossed(grant(Direction::kDownlink), down, true);
  (*capture)->crossed(grant(Direction::kUplink), up, true);
  (*capture)->crossed(grant(Direction::kUplink), up, false);  // lost, so not written
  (*capture)->finish();
  const auto blocks = blocks_of(settings_.file);
  ASSERT_EQ(blocks.size(), 2U);
  EXPECT_EQ((*capture)->counters().blocks.get(), 2U);
  EXPECT_EQ((*capture)->counters().bytes.get(), fs::file_size(settings_.file));
  EXPECT_EQ(blocks[0].header.direction, Direction::kDownlink);
  EXPECT_EQ(blocks[0].header.rnti, 0x4601);
  EXPECT_EQ(blocks[0].header.ue_id, 0x4601);
  EXPECT_EQ(blocks[0].header.harq_process, 13);
  EXPECT_EQ(blocks[0].header.slot, (wire::mac_nr::SlotInfo{1023, 19}));
  EXPECT_EQ(blocks[0].pdu, down);
  EXPECT_EQ(blocks[1].header.direction, Direction::kUplink);
  EXPECT_EQ(blocks[1].pdu, up);
  EXPECT_NE(blocks[0].source, blocks[1].source);
}

TEST_F(MacCaptureTest, blocks_that_the_air_lost_are_written_if_that_is_wanted) {
  settings_.lost = true;
  auto capture = MacCapture::start(settings_);
  ASSERT_TRUE(capture) << capture.error().message;
  (*capture)->crossed(grant(Direction::kUplink), Bytes(40), false);
  (*capture)->finish();
  EXPECT_EQ(blocks_of(settings_.file).size(), 1U);
}

TEST_F(MacCaptureTest, a_block_longer_than_a_datagram_is_counted_and_left_out) {
  auto capture = MacCapture::start(settings_);
  ASSERT_TRUE(capture) << capture.error().message;
  const std::size_t framing = wire::mac_nr::kMaxHeaderBytes - 2;  // without the PHR's tag
  (*capture)->crossed(grant(Direction::kDownlink), Bytes(tap::kMostFramingPayload - framing + 1), true);
  (*capture)->crossed(grant(Direction::kDownlink), Bytes(tap::kMostFramingPayload - framing), true);
  (*capture)->finish();
  EXPECT_EQ((*capture)->counters().too_long.get(), 1U);
  const auto blocks = blocks_of(settings_.file);
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_EQ(blocks[0].pdu.size(), tap::kMostFramingPayload - framing);
}

TEST_F(MacCaptureTest, at_the_limit_of_its_file_it_ends_and_each_block_is_counted) {
  settings_.limits = {.bytes = 100'000, .files = 1};
  auto capture = MacCapture::start(settings_);
  ASSERT_TRUE(capture) << capture.error().message;
  for (unsigned i = 0; i < 100; ++i) (*capture)->crossed(grant(Direction::kDownlink), Bytes(2000), true);
  (*capture)->finish();
  const auto& counted = (*capture)->counters();
  EXPECT_EQ(counted.blocks.get(), blocks_of(settings_.file).size());
  EXPECT_GT(counted.blocks.get(), 40U);
  EXPECT_EQ(counted.blocks.get() + counted.stopped.get(), 100U);
  EXPECT_LE(fs::file_size(settings_.file), 100'000U);
}

TEST_F(MacCaptureTest, on_a_full_disk_blocks_that_are_not_in_the_file_are_counted_as_such) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit limit = before;
  limit.rlim_cur = 50'000;
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  auto capture = MacCapture::start(settings_);
  if (capture) {
    for (unsigned i = 0; i < 100; ++i) (*capture)->crossed(grant(Direction::kDownlink), Bytes(2000), true);
    (*capture)->finish();
  }
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  (void)std::signal(SIGXFSZ, handler);
  ASSERT_TRUE(capture) << capture.error().message;
  const auto& counted = (*capture)->counters();
  EXPECT_EQ(counted.blocks.get(), blocks_of(settings_.file).size());
  EXPECT_GT(counted.blocks.get(), 20U);
  EXPECT_EQ(counted.blocks.get() + counted.stopped.get(), 100U);
}

TEST_F(MacCaptureTest, blocks_that_find_no_room_are_counted) {
  settings_.ring_bytes = 4096;
  auto capture = MacCapture::start(settings_);
  ASSERT_TRUE(capture) << capture.error().message;
  (*capture)->crossed(grant(Direction::kDownlink), Bytes(5000), true);
  (*capture)->finish();
  EXPECT_EQ((*capture)->counters().no_room.get(), 1U);
  EXPECT_EQ((*capture)->counters().blocks.get(), 0U);
}

TEST_F(MacCaptureTest, a_file_that_cannot_be_written_is_named) {
  settings_.file = "/no/such/folder/mac.pcapng";
  const auto capture = MacCapture::start(settings_);
  ASSERT_FALSE(capture);
  EXPECT_THAT(capture.error().message, ::testing::StartsWith("/no/such/folder/mac.pcapng: "));
}

}  // namespace
}  // namespace splitplane::phy
