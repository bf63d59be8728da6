// For tests only: a CardLink and its card, a model in memory that can be killed and started again.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>

#include "card/link/link.h"
#include "card/link/test_model.h"
#include "control/server.h"

namespace splitplane::app {

inline constexpr std::uint32_t kFirst = 0x04000001, kSecond = 0x04000002, kHost = 0x04040001;

inline nic::CardBearer bearer(std::uint32_t id, unsigned pdcp_sn_bits = 18) {
  return {.id = BearerId{id},
          .teid = Teid{id},
          .pdcp_sn_bits = static_cast<std::uint8_t>(pdcp_sn_bits),
          .poll_pdu = 32,
          .qfi = Qfi{9},
          .vf_air = 1,
          .copies_vf = 2,
          .uplink_teid = Teid{0x1001}};
}

// Of the links: flow 5 has DSCP 46.
inline constexpr nic::CardMarks kMarks{0, 0, 0, 0, 0, 46 << 2};

class CardLinkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/splitplane-card-XXXXXX";
    directory_ = ::mkdtemp(name);
  }
  void TearDown() override {
    link_.reset();
    server_.reset();
    std::filesystem::remove_all(directory_);
  }
  void start_card(const std::string& boot, std::set<std::uint32_t> refuses = {}) {
    card_ = std::make_unique<CardModel>(boot);
    card_->refuses = std::move(refuses);
    serve();
  }
  void serve() {
    MethodRegistry methods([] {});
    card_->add_methods(methods);
    auto server = ControlServer::start({.path = directory_ + "/card.sock"}, answers_of(std::move(methods)));
    ASSERT_TRUE(server) << server.error().message;
    server_ = *std::move(server);
  }
  void kill_card() { server_.reset(); }
  void make_link(unsigned vfs = 3, std::chrono::milliseconds answer = std::chrono::milliseconds(200)) {
    link_ = std::make_unique<CardLink>(CardLinkSettings{.name = "card0",
                                                        .control = directory_ + "/card.sock",
                                                        .vfs = vfs,
                                                        .punt_air = 1,
                                                        .marks = kMarks,
                                                        .punts_to_owner = punts_to_owner_,
                                                        .retry = std::chrono::milliseconds(5),
                                                        .answer = answer,
                                                        .show_each = std::chrono::milliseconds(20),
                                                        .journal = lease_journal_,
                                                        .notify = notify_,
                                                        .begin = begin_,
                                                        .settle_after = std::chrono::milliseconds(100)});
  }
  void start_link() {
    make_link();
    link_->begin();
  }
  Expected<void> put(const std::vector<nic::CardBearer>& bearers) { return link_->wait_for(link_->put(bearers)); }
  void remove(std::initializer_list<BearerId> ids) { ASSERT_TRUE(link_->wait_for(link_->remove(ids))); }
  template <class Condition>
  static bool soon(Condition condition) {
    for (int i = 0; i < 2000; ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }
  bool up() {
    return soon([&] { return link_->view().up && link_->view().waiting == 0; });
  }
  std::uint32_t seen(std::uint32_t id) { return link_->look(std::array{BearerId{id}})[0].numbers.pdcp_next; }
  // Uses every COUNT that the card may use now.
  unsigned use_up(std::uint32_t id) { return card_->send(id, 1U << 20, used_); }
  void expect_each_count_once() const {
    for (const std::uint32_t count : used_) ASSERT_EQ(used_.count(count), 1U) << "COUNT " << count;
  }

  std::string directory_;
  CardLinkSettings::Journal lease_journal_;  // of the links that are made from now on
  CardLinkSettings::Notify notify_;          // the same
  CardLinkSettings::Begin begin_;            // the same
  bool punts_to_owner_ = false;              // the same
  std::unique_ptr<CardModel> card_;
  std::unique_ptr<ControlServer> server_;
  std::unique_ptr<CardLink> link_;
  std::multiset<std::uint32_t> used_;
};

}  // namespace splitplane::app
