// Epochs of secured bearers at the UE side: a frame of another epoch may have other keys.
#include <gtest/gtest.h>

#include "secured/test_key_file.h"
#include "ue/ue_downlink.h"
#include "ue/ue_test_frames.h"
#include "ue/ue_uplink.h"

namespace splitplane::ue {
namespace {

using namespace test;

class UeSecuredTest : public ::testing::Test {
 protected:
  UeSecuredTest() {
    auto made = datapath::WorkerPdcp::create({.sends = Direction::kUplink}, file_.keys());
    EXPECT_TRUE(made);
    pdcp_ = std::move(*made);
    downlink_.take_pdcp(*pdcp_);
  }
  UeBearer& establish(ran::BearerConfig config, std::uint8_t epoch) {
    config.security = ran::SecurityConfig{.key = 3};
    bearers_.establish(config, {});
    auto made = pdcp_->make(config, Count{0}, Count{0});
    EXPECT_TRUE(made);
    secured_ = std::move(*made);
    secured_->epoch = epoch;
    UeBearer& bearer = *bearers_.find(config.id);
    bearer.secured = secured_.get();
    if (config.acknowledged) arq_bearer_ = arq_.make(config, epoch);
    bearer.arq = arq_bearer_.get();
    return bearer;
  }
  UeDownlink::Received receive(const std::string& air, const std::string& pdu) {
    held_.push_back(frame(air, pdu));
    return downlink_.receive(held_.back());
  }
  std::string lower(UeBearer& bearer) {
    HeapOctets room(64);
    const std::size_t bytes = uplink_.write_lower(bearer, room.all(), 9);
    return to_hex(wire::Octets(room).last(bytes));
  }

  datapath::test::TestKeyFile file_;
  std::unique_ptr<datapath::WorkerPdcp> pdcp_;
  std::unique_ptr<datapath::SecuredBearer> secured_;
  UeBearers bearers_;
  datapath::Arq arq_{{}};
  std::unique_ptr<datapath::ArqBearer> arq_bearer_;
  UeEndMarkers due_;
  UeDownlink downlink_{bearers_, arq_, due_};
  UeUplink uplink_{bearers_, {}};
  std::vector<HeapOctets> held_;
};

TEST_F(UeSecuredTest, um_takes_and_sends_frames_of_the_epoch_of_its_keys_alone) {
  UeBearer& bearer = establish(test::bearer(RlcMode::kUm, 12, 18), 5);
  const auto taken = receive("20b6 0005 01020304", "00 800000 09 00112233445566778899");
  EXPECT_EQ(name_of(taken.outcome), "ok");
  EXPECT_TRUE(taken.is_protected);
  for (const char* other : {"20b6 0004 01020304", "20b6 0000 01020304", "20b6 0006 01020304"}) {
    const auto refused = receive(other, "00 800000 09 00112233445566778899");
    EXPECT_EQ(name_of(refused.outcome), "rlc_other_epoch");
    EXPECT_FALSE(refused.is_protected);
  }
  EXPECT_EQ(bearer.downlink.dropped, 3U);
  EXPECT_EQ(lower(bearer).substr(28), tidy("2036 0005 01020304 000a 00"));
  bearer.secured = nullptr;
  EXPECT_EQ(lower(bearer).substr(28), tidy("2036 0000 01020304 000a 00"));
}

TEST_F(UeSecuredTest, am_waits_for_a_gnb_that_has_begun_another_epoch) {
  ran::BearerConfig config = test::bearer(RlcMode::kAm, 18, 18);
  config.acknowledged = true;
  UeBearer& bearer = establish(config, 5);
  EXPECT_EQ(name_of(receive("20de 0006 01020304", "800000 800000 09 0011").outcome), "rlc_other_epoch");
  EXPECT_TRUE(bearer.arq->peer_is_elsewhere);
  EXPECT_TRUE(receive("20de 0005 01020304", "800000 800000 09 0011").is_protected);
  EXPECT_FALSE(bearer.arq->peer_is_elsewhere);
  EXPECT_EQ(name_of(receive("20de 0004 01020304", "800000 800000 09 0011").outcome), "rlc_other_epoch");
  EXPECT_FALSE(bearer.arq->peer_is_elsewhere) << "that frame is late";
}

}  // namespace
}  // namespace splitplane::ue
