// For tests of this room only: an instance whose card is a model in memory. The workers do not run; so the model's
// fences are passed at once, as if they had come over the VFs.
#pragma once

#include "card/link/test_model.h"
#include "control/server.h"
#include "gnb/control/test_parts.h"
#include "returns/fence_frame.h"
#include "returns/returned_frame.h"

namespace splitplane::gnb::test {

class PlaceTest : public PartsTest {
 protected:
  void TearDown() override {
    end();
    server_.reset();
    card_.reset();
    PartsTest::TearDown();
  }
  // An instance before card0; with `answers` the card is there.
  void make_with_card(bool answers, GnbConfig config = with_card()) {
    config.cards.front().control = folder_ / "card.sock";
    end();
    server_.reset();
    if (answers) start_card();
    make(std::move(config));
    if (!answers) return;
    parts_->cards.begin(parts_->control.lock());
    ASSERT_TRUE(soon([&] { return parts_->cards.views().front().filled; }));
  }
  template <class Condition>
  static bool soon(Condition condition) {
    for (int i = 0; i < 600; ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }
  // A bearer that the card has as it is desired, so that it can move.
  BearerId add_bearer(const std::string& card = "", unsigned shard = 0) {
    ran::BearerConfig config = bearer(++uplink_teids_);
    config.card = card;
    const auto added = add(config, shard);
    EXPECT_TRUE(added) << added.error().message;
    EXPECT_TRUE(card_ == nullptr || soon([&] { return parts_->cards.views().front().waiting == 0; }));
    return added ? added->id : BearerId{};
  }
  void release(BearerId id) { ASSERT_TRUE(parts_->bearers.release(id)); }
  [[nodiscard]] std::string place_of(BearerId id) {
    const Locked locked = parts_->control.lock();
    return parts_->store.find(id)->card;
  }
  [[nodiscard]] datapath::GnbContext& gnb(BearerId id) { return *parts_->workers.owner_of(id.value)->gnb; }
  [[nodiscard]] ran::BearerDownlink& line(BearerId id) { return *gnb(id).bearers.bearer_line(id.value); }
  // A returned frame of that bearer waits at its worker.
  void hold_packet(BearerId id, unsigned bytes) {
    rte_mbuf* m = rte_pktmbuf_alloc(gnb(id).pool);
    ASSERT_NE(m, nullptr);
    auto* const frame = rte_pktmbuf_append(m, static_cast<std::uint16_t>(datapath::kReturnedHeaderBytes + bytes));
    datapath::write_returned(id.value, 9, bytes, reinterpret_cast<std::uint8_t*>(frame) + 14);
    ASSERT_FALSE(gnb(id).card_returns.admit(line(id), id.value, m, 0));
  }

  std::unique_ptr<app::CardModel> card_;
  std::function<void(BearerId first)> behind_fence_;  // what comes to the worker behind a fence of N3
  bool fences_come_ = true;
  std::size_t room_ = 0;  // entries of the cards that are made from now on; 0: any number

 private:
  void start_card() {
    card_ = std::make_unique<app::CardModel>("a");
    card_->capacity = room_;
    card_->punt_air = 2;
    card_->vfs = {"n3-0", "n3-1", "air-0", "air-1"};  // as many as the ports have queue pairs
    card_->on_fence = [this](std::span<const BearerId> ids, std::uint64_t token) { pass_fence(ids, token); };
    app::MethodRegistry methods([] {});
    card_->add_methods(methods);
    auto server = app::ControlServer::start({.path = folder_ / "card.sock"}, app::answers_of(std::move(methods)));
    ASSERT_TRUE(server) << server.error().message;
    server_ = *std::move(server);
  }
  void pass_fence(std::span<const BearerId> ids, std::uint64_t token) {
    if (!fences_come_) return;
    datapath::GnbContext& context = gnb(ids.front());
    rte_mbuf* const m = rte_pktmbuf_alloc(context.pool);
    auto* const frame = rte_pktmbuf_append(m, static_cast<std::uint16_t>(datapath::fence_bytes(ids.size())));
    datapath::write_fence(token, ids, reinterpret_cast<std::uint8_t*>(frame));
    ASSERT_TRUE(context.card_moves.is_fence({reinterpret_cast<const std::uint8_t*>(frame), m->data_len}));
    context.card_moves.split_at(m, nullptr, 0);
    (void)context.card_moves.pass_fence(context.bearers, context.card_returns);
    context.card_moves.pass_copies_fence();
    if (behind_fence_) behind_fence_(ids.front());
  }

  std::unique_ptr<app::ControlServer> server_;
  std::uint32_t uplink_teids_ = 100;
};

}  // namespace splitplane::gnb::test
