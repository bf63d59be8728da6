#include "gnb/control/n3_control.h"

#include <algorithm>

#include "gnb/control/test_parts.h"

namespace splitplane::gnb {
namespace {

using namespace std::chrono_literals;
using datapath::test::N3Frame;
using test::Bytes;
using test::injected;
using test::kUpf;
using test::punt;

class N3ControlTest : public test::PartsTest {
 protected:
  void serve() { parts_->n3.serve(parts_->control.lock(), now_); }
  // One turn, in which the control thread finds what w0 has handed over; what it gives w0 to send.
  std::vector<Bytes> answers_to(const Bytes& frame) {
    (void)injected(parts_->worker(0));
    punt(parts_->worker(0), frame);
    serve();
    return injected(parts_->worker(0));
  }
  [[nodiscard]] std::uint64_t counted(GtpuCounter counter) {
    return parts_->n3_interface().gtpu.counters[static_cast<std::size_t>(counter)];
  }
  [[nodiscard]] const datapath::OwnAddresses& own() { return parts_->n3_interface().own; }
  // A G-PDU for a TEID that no bearer has.
  [[nodiscard]] static Bytes for_unknown_teid(std::uint32_t teid = 0x04000000) { return N3Frame{.teid = teid}.make(); }
  Time now_ = std::chrono::steady_clock::now();
};

TEST_F(N3ControlTest, an_arp_request_for_our_address_is_answered) {
  const datapath::OwnAddresses upf{.ipv4 = kUpf, .mac = test::kUpfMac};
  const auto answers = answers_to(*datapath::make_neighbor_request(*own().ipv4, upf));
  ASSERT_EQ(answers.size(), 1U);
  const auto said = datapath::handle_neighbor_frame(answers[0], upf).claim;
  ASSERT_TRUE(said);
  EXPECT_EQ(said->ip, *own().ipv4);
  EXPECT_EQ(said->mac, own().mac);
}

TEST_F(N3ControlTest, an_echo_request_is_answered_at_most_so_often) {
  const Bytes request =
      N3Frame{.message = wire::gtpu::kEchoRequest, .teid = 0, .sequence_number = true, .extensions = {}, .payload = {}}
          .make();
  const auto answers = answers_to(request);
  ASSERT_EQ(answers.size(), 1U);
  const auto answer = datapath::read_n3_message(answers[0]);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->header.message_type, wire::gtpu::kEchoResponse);
  EXPECT_EQ(answer->ends.destination, kUpf);
  for (unsigned i = 0; i < 2 * kEchoAnswersPerS; ++i) (void)answers_to(request);
  EXPECT_GE(counted(GtpuCounter::echo_responses_withheld), 1U);
  EXPECT_EQ(counted(GtpuCounter::echo_responses_sent) + counted(GtpuCounter::echo_responses_withheld),
            1 + 2 * kEchoAnswersPerS);
}

TEST_F(N3ControlTest, a_packet_for_an_unknown_teid_draws_an_error_indication) {
  const auto answers = answers_to(for_unknown_teid());
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(datapath::read_n3_message(answers[0])->header.message_type, wire::gtpu::kErrorIndication);
  EXPECT_EQ(counted(GtpuCounter::error_indications_sent), 1U);
}

TEST_F(N3ControlTest, a_teid_that_was_just_released_draws_none) {
  const auto added = add(test::bearer(7));
  ASSERT_TRUE(added);
  serve();  // asks for its UPF
  EXPECT_TRUE(answers_to(for_unknown_teid(added->id.value)).empty()) << "a bearer has that TEID";
  ASSERT_TRUE(parts_->bearers.release(added->id));
  EXPECT_TRUE(answers_to(for_unknown_teid(added->id.value)).empty());
  EXPECT_EQ(counted(GtpuCounter::error_indications_withheld), 1U);
  const ran::BearerDownlink& line = *parts_->worker(0).gnb->bearers.downlink_line(added->id.value);
  EXPECT_TRUE(ran::is_released(line, added->id.value));
  now_ += 6s;  // longer than released_teid_silence_s
  serve();
  EXPECT_FALSE(ran::is_released(line, added->id.value));
}

TEST_F(N3ControlTest, a_new_upf_is_asked_for_and_resolved_by_its_answer) {
  ASSERT_TRUE(add(test::bearer(7)));
  const datapath::N3Peer& peer = parts_->worker(0).gnb->peers[0];
  serve();
  const auto questions = injected(parts_->worker(0));
  ASSERT_EQ(questions.size(), 1U);
  EXPECT_EQ(questions[0], *datapath::make_neighbor_request(kUpf, own()));
  EXPECT_FALSE(peer.resolved);
  (void)answers_to(test::arp_answer(kUpf, test::kUpfMac, own()));
  EXPECT_TRUE(peer.resolved);
  EXPECT_EQ(PeerTable::mac_of(parts_->n3_interface(), kUpf), test::kUpfMac);
}

TEST_F(N3ControlTest, a_second_upf_is_asked_for_at_once) {
  ASSERT_TRUE(add(test::bearer(7)));
  serve();
  (void)injected(parts_->worker(0));
  now_ += 1ms;
  serve();
  EXPECT_TRUE(injected(parts_->worker(0)).empty()) << "nothing is due";
  ASSERT_TRUE(add(test::bearer(8, test::kOtherUpf)));
  serve();
  EXPECT_EQ(injected(parts_->worker(0)).size(), 1U);
}

TEST_F(N3ControlTest, a_resolved_upf_is_supervised_by_echo) {
  ASSERT_TRUE(add(test::bearer(7)));
  serve();
  const auto sent = answers_to(test::arp_answer(kUpf, test::kUpfMac, own()));
  const auto echo = std::ranges::find_if(sent, [](const Bytes& frame) {
    const auto message = datapath::read_n3_message(frame);
    return message && message->header.message_type == wire::gtpu::kEchoRequest;
  });
  ASSERT_NE(echo, sent.end());
  (void)answers_to(*datapath::answer_echo(*datapath::read_n3_message(*echo), test::kUpfMac));
  const auto rows = parts_->n3.peer_rows(parts_->control.lock());
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].at("name"), "10.100.0.2");
  EXPECT_EQ(rows[0].at("state"), "up");
  EXPECT_EQ(rows[0].at("mac"), test::kUpfMac.to_string());
  EXPECT_EQ(rows[0].at("bearers"), 1);
}

TEST_F(N3ControlTest, a_upf_without_a_mac_address_is_not_up) {
  ASSERT_TRUE(add(test::bearer(7)));
  serve();
  const auto seen = parts_->n3.observe(parts_->control.lock());
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].name, "n3");
  ASSERT_EQ(seen[0].paths.size(), 1U);
  EXPECT_FALSE(seen[0].paths[0].resolved);
  EXPECT_NE(seen[0].paths[0].state, datapath::PathState::up);
}

TEST_F(N3ControlTest, a_frame_for_which_the_worker_has_no_room_is_counted) {
  WorkerRuntime& w0 = parts_->worker(0);
  const datapath::OwnAddresses upf{.ipv4 = kUpf, .mac = test::kUpfMac};
  const Bytes question = *datapath::make_neighbor_request(*own().ipv4, upf);
  const unsigned room = rte_ring_get_capacity(w0.gnb->inject);
  for (unsigned i = 0; i < room + 3; ++i) {
    punt(w0, question);
    serve();
  }
  EXPECT_EQ(w0.gnb->stats.inject_refused.get(), 3U);
  EXPECT_EQ(injected(w0).size(), room);
  const auto rows = parts_->n3.gtpu_rows(parts_->control.lock());
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].at("name"), "n3");
  EXPECT_EQ(rows[0].at("malformed"), 0);
}

}  // namespace
}  // namespace splitplane::gnb
