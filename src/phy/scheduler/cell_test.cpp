// The parts of a slot together, in stepped time: facts from HARQ and backlogs, grants, TBs over an air that loses TBs
// and feedback, and back. Each UE's octets arrive once, except those of TBs that HARQ gave up.
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <vector>

#include "base/random.h"
#include "phy/scheduler/average_rates.h"
#include "phy/scheduler/proportional_fair.h"
#include "phy/scheduler/round_robin.h"
#include "phy/slots/harq_cell.h"
#include "phy/slots/harq_receiver.h"
#include "phy/slots/slot_source.h"

namespace splitplane::phy {
namespace {

using Block = std::vector<std::uint8_t>;  // its octets count up from the UE's place
constexpr std::size_t kCellUes = 30;

template <class S>
class Downlink {
 public:
  explicit Downlink(double loss)
      : loss_(loss), facts_(kCellUes), receivers_(kCellUes), backlog_(kCellUes), sent_(kCellUes), arrived_(kCellUes) {
    for (std::size_t ue = 0; ue < kCellUes; ++ue)
      facts_[ue] = {static_cast<Rnti>(1000 + ue), static_cast<std::uint8_t>(ue % 28)};
  }

  void run(std::uint64_t slots, bool fill) {
    for (std::uint64_t i = 0; i < slots; ++i) {
      const Tick tick = source_.wait();
      take_feedback(tick);
      harq_.expire(tick.slot, release());
      if (fill) {
        std::uint32_t& some = backlog_[random_.below(kCellUes)];
        some += random_.below(3000);
      }
      for (std::size_t ue = 0; ue < kCellUes; ++ue) {
        const auto& sender = harq_.ue(static_cast<std::uint16_t>(ue));
        facts_[ue].process = sender.free_process();
        facts_[ue].ndi = facts_[ue].process == kNoProcess ? 0 : sender.next_ndi(facts_[ue].process);
        facts_[ue].backlog_bytes = backlog_[ue];
      }
      const SlotFacts facts{.slot = tick.slot,
                            .prbs = 106,
                            .shape = {},
                            .ues = facts_,
                            .average_rates = averages_.rates(),
                            .retransmissions = harq_.waiting()};
      const std::span<const Grant> grants = std::span(grants_).first(scheduler_.schedule(facts, grants_));
      averages_.update(grants);
      for (const Grant& grant : grants) {
        if (!grant.retransmission) fill_block(grant);
      }
      harq_.retransmit(grants);
      for (const Grant& grant : grants) transmit(grant, tick);
    }
  }

  void expect_all_accounted() const {
    std::uint64_t delivered = 0, sent = 0, arrived = 0;
    HarqSenderCounters sum;
    for (std::size_t ue = 0; ue < kCellUes; ++ue) {
      EXPECT_EQ(backlog_[ue], 0U) << ue;
      const HarqSenderCounters& c = harq_.ue(static_cast<std::uint16_t>(ue)).counters();
      const std::uint64_t done = c.counted(Feedback::acked) + c.counted(Feedback::given_up);
      EXPECT_EQ(c.blocks, done) << ue;
      EXPECT_LE(arrived_[ue], sent_[ue]) << ue;
      sent += sent_[ue];
      arrived += arrived_[ue];
      sum.blocks += c.blocks;
      sum.retransmissions += c.retransmissions;
      sum.feedback[0] += c.counted(Feedback::acked);
      delivered += receivers_[ue].counters().counted(HarqReception::delivered);
    }
    EXPECT_EQ(released_, sum.blocks);
    EXPECT_TRUE(harq_.waiting().empty());
    if (loss_ == 0) {
      EXPECT_EQ(arrived, sent);
      EXPECT_EQ(sum.retransmissions, 0U);
    } else {
      EXPECT_GT(static_cast<double>(arrived), 0.99 * static_cast<double>(sent));
      EXPECT_GT(sum.retransmissions, sum.blocks / 100);
    }
    // But for blocks whose every transmission passed unseen, what is acknowledged was delivered.
    EXPECT_LE(sum.counted(Feedback::acked), delivered + sum.blocks / 1000);
  }

 private:
  struct Answer {
    std::uint64_t due;
    Grant grant;
    bool ack;
  };
  auto release() {
    return [this](const Block&) { ++released_; };
  }

  void fill_block(const Grant& grant) {
    Block block(grant.tb_bytes);
    for (std::size_t i = 0; i < block.size(); ++i) block[i] = static_cast<std::uint8_t>(grant.ue + i);
    backlog_[grant.ue] -= std::min(backlog_[grant.ue], grant.tb_bytes);
    sent_[grant.ue] += grant.tb_bytes;
    harq_.start(grant, std::move(block));
  }

  void transmit(const Grant& grant, const Tick& tick) {
    const Block& block = harq_.ue(grant.ue).block(grant.process);
    ASSERT_EQ(block.size(), grant.tb_bytes);   // of a retransmission, too
    if (random_.unit() <= loss_ / 10) return;  // the UE does not see it
    const bool decoded = random_.unit() > loss_;
    const HarqReception what = receivers_[grant.ue].receive(grant.process, grant.ndi, decoded);
    if (what == HarqReception::delivered) {
      ASSERT_EQ(block.back(), static_cast<std::uint8_t>(grant.ue + block.size() - 1));
      arrived_[grant.ue] += block.size();
    }
    if (random_.unit() <= loss_ / 10) return;  // the gNB does not see the feedback
    answers_.push_back({tick.number + 4, grant, what != HarqReception::failed});
  }

  void take_feedback(const Tick& tick) {
    while (!answers_.empty() && answers_.front().due <= tick.number) {
      const Answer& a = answers_.front();
      (void)harq_.feedback(a.grant.ue, a.grant.process, a.grant.slot, a.ack, release());
      answers_.pop_front();
    }
  }

  double loss_;
  Random random_{7};
  SteppedSlots source_{Slot{{1}, 1000, 0}};  // the frame number wraps on the way
  S scheduler_{kCellUes, 8};
  AverageRates averages_{kCellUes, 200};
  HarqCell<Block> harq_{kCellUes, {.processes = 8, .max_retransmissions = 4, .feedback_slots = 12}};
  std::vector<UeFacts> facts_;
  std::vector<HarqReceiver> receivers_;
  std::vector<std::uint32_t> backlog_;
  std::vector<std::uint64_t> sent_, arrived_;  // octets, by UE
  std::array<Grant, 32> grants_;
  std::deque<Answer> answers_;
  std::uint64_t released_ = 0;
};

template <class S>
class CellTest : public testing::Test {};
using BothSchedulers = testing::Types<RoundRobin, ProportionalFair>;
TYPED_TEST_SUITE(CellTest, BothSchedulers);

TYPED_TEST(CellTest, each_octet_arrives_once_or_its_block_is_given_up) {
  for (const double loss : {0.0, 0.05, 0.2}) {
    Downlink<TypeParam> downlink(loss);
    downlink.run(5'000, true);
    downlink.run(2'000, false);  // what waits is sent
    downlink.expect_all_accounted();
  }
}

}  // namespace
}  // namespace splitplane::phy
