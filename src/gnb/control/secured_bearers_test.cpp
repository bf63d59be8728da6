// Secured bearers on the control side: who gets keys, and that no COUNT is used twice under one key.
#include <gtest/gtest.h>

#include "gnb/control/test_parts.h"
#include "ran/control/session_json.h"
#include "secured/test_key_file.h"

namespace splitplane::gnb::test {
namespace {

class SecuredBearersTest : public PartsTest {
 protected:
  [[nodiscard]] GnbConfig config_with_keys() const {
    GnbConfig config = small_config();
    config.key_file = file_.path();
    config.journal = folder_ / "journal";
    return config;
  }
  static ran::BearerConfig secured(std::uint32_t uplink_teid, std::uint32_t key, std::uint8_t drb = 1) {
    ran::BearerConfig config = bearer(uplink_teid);
    config.security = ran::SecurityConfig{.key = key, .drb = drb};
    return config;
  }
  static datapath::SecuredBearer* entity(WorkerRuntime& worker, BearerId id) {
    return worker.gnb->secured_bearers.find(id.value);
  }

  datapath::test::TestKeyFile file_;
};

TEST_F(SecuredBearersTest, a_bearer_gets_its_keys_and_a_line_that_the_fast_path_leaves_alone) {
  make(config_with_keys());
  const auto added = add(secured(1, 3, 7), 1);
  ASSERT_TRUE(added) << added.error().message;
  ASSERT_TRUE(parts_->numbers.wait_for_disk());  // the journal's thread writes lines until then
  WorkerRuntime& worker = parts_->worker(0);
  ASSERT_NE(entity(worker, added->id), nullptr);
  EXPECT_NE(worker.gnb->bearers.downlink_line(added->id.value)->options & ran::kSecured, 0);
  EXPECT_TRUE(ran::is_at_limit(*worker.gnb->bearers.downlink_line(added->id.value)));
  const auto shown = parts_->bearers.show(added->id);
  ASSERT_TRUE(shown);
  const Json json = to_json(*shown);
  EXPECT_EQ(json["security"]["key"], 3);
  EXPECT_EQ(json["security"]["cipher"], "nea2");
  EXPECT_EQ(json.dump().find(datapath::test::TestKeyFile::hex(3)), std::string::npos);
  EXPECT_TRUE(bearer_from_json(json)->security == added->security);
}

TEST_F(SecuredBearersTest, without_keys_or_journal_a_secured_bearer_is_refused_and_says_why) {
  EXPECT_NE(add(secured(1, 3)).error().message.find("key_file"), std::string::npos);
  GnbConfig config = config_with_keys();
  config.journal.clear();
  make(std::move(config));
  EXPECT_NE(add(secured(1, 3)).error().message.find("journal"), std::string::npos);
  make(config_with_keys());
  EXPECT_NE(add(secured(1, 99)).error().message.find("no keys with number 99"), std::string::npos);
  EXPECT_EQ(parts_->bearers.count(), 0U);
  EXPECT_TRUE(add(secured(1, 3)));
}

TEST_F(SecuredBearersTest, a_card_does_not_serve_it) {
  ran::BearerConfig config = secured(1, 3);
  config.card = "card0";
  EXPECT_NE(ran::refuse(config)->find("a card neither ciphers"), std::string::npos);
}

TEST_F(SecuredBearersTest, keys_that_protected_something_are_not_given_out_again) {
  make(config_with_keys());
  const auto added = add(secured(1, 3));
  ASSERT_TRUE(added);
  EXPECT_NE(add(secured(2, 3)).error().message.find("were given to a bearer with drb 1"), std::string::npos);
  EXPECT_TRUE(add(secured(3, 3, 2))) << "another BEARER is another keystream";
  WorkerRuntime& worker = *parts_->workers.owner_of(added->id.value);
  entity(worker, added->id)->entity.tx().set_tx_next(Count{1});
  ASSERT_TRUE(parts_->bearers.release(added->id));
  EXPECT_FALSE(add(secured(4, 3)));
  EXPECT_TRUE(add(secured(4, 4)));
}

TEST_F(SecuredBearersTest, keys_that_protected_nothing_are_free_again) {
  make(config_with_keys());
  const auto added = add(secured(1, 3));
  ASSERT_TRUE(added);
  ASSERT_TRUE(parts_->bearers.release(added->id));
  EXPECT_TRUE(add(secured(2, 3)));
  // Two at a time, of which one is refused: the other one's keys are free.
  const std::vector<ran::BearerConfig> two{secured(5, 5), secured(6, 99)};
  EXPECT_FALSE(parts_->bearers.add(two, 1));
  EXPECT_TRUE(add(secured(5, 5)));
}

TEST_F(SecuredBearersTest, after_a_restart_counts_go_on_under_the_same_keys) {
  make(config_with_keys());
  const auto added = add(secured(1, 3), 1);
  ASSERT_TRUE(added);
  ASSERT_TRUE(parts_->numbers.wait_for_disk());
  WorkerRuntime& worker = parts_->worker(0);
  worker.gnb->bearers.downlink_line(added->id.value)->pdcp_tx_next = 100;
  worker.gnb->bearers.uplink_line(added->id.value)->pdcp_rx_next = 50;
  make(config_with_keys());
  const auto* again = entity(parts_->worker(0), added->id);
  ASSERT_NE(again, nullptr);
  EXPECT_GE(again->entity.tx().tx_next(), 100U);
  EXPECT_EQ(again->entity.rx().rx_deliv(), 50U);
  EXPECT_TRUE(parts_->bearers.show(added->id)->config.security == added->security);
}

TEST_F(SecuredBearersTest, what_was_received_is_in_the_journal_while_it_runs) {
  make(config_with_keys());
  const auto secured_one = add(secured(1, 3), 1), plain_one = add(bearer(2), 1);
  ASSERT_TRUE(secured_one && plain_one);
  ASSERT_TRUE(parts_->numbers.wait_for_disk());
  WorkerRuntime& worker = parts_->worker(0);
  for (const BearerId id : {secured_one->id, plain_one->id}) {
    worker.gnb->bearers.uplink_line(id.value)->pdcp_rx_next = 77;
  }
  parts_->numbers.serve(parts_->control.lock(), std::chrono::steady_clock::now());
  ASSERT_TRUE(parts_->numbers.wait_for_disk());
  std::ifstream file(folder_ / "journal", std::ios::binary);
  const std::vector<std::uint8_t> octets{std::istreambuf_iterator<char>(file), {}};
  const auto content = read_journal(octets, {parts_->config.file_prefix, parts_->config.instance});
  ASSERT_TRUE(content) << content.error().message;
  EXPECT_EQ(content->bearers.at(secured_one->id.value).numbers.rx_next, 77U);
  EXPECT_EQ(content->bearers.at(plain_one->id.value).numbers.rx_next, 0U);
}

TEST_F(SecuredBearersTest, a_session_has_secured_bearers_beside_plain_ones_and_its_counts_go_on) {
  make(config_with_keys());
  ran::WantedSession wanted{.config = {}, .shard = 1};
  wanted.config.bearers.resize(3);
  for (std::uint8_t i = 0; i < 3; ++i) {
    ran::SessionBearer& one = wanted.config.bearers[i];
    one.drb = ran::sdap::DrbId{static_cast<std::uint8_t>(i + 1)};
    one.config = i == 1 ? bearer(7) : secured(7, 3, i + 1);  // the same keys, another BEARER
  }
  wanted.config.bearers[2].flows = {Qfi{5}};
  wanted.config.default_drb = ran::sdap::DrbId{1};
  const auto added = parts_->bearers.add_session(wanted);
  ASSERT_TRUE(added) << added.error().message;
  const auto id = [&](std::size_t i) { return added->session.bearers[i].config.id; };
  EXPECT_NE(entity(parts_->worker(0), id(0)), nullptr);
  EXPECT_EQ(entity(parts_->worker(0), id(1)), nullptr);
  EXPECT_NE(entity(parts_->worker(0), id(2)), nullptr);
  ran::BearerTable& table = parts_->worker(0).gnb->bearers;
  EXPECT_TRUE(ran::is_at_limit(*table.bearer_line(id(0).value)));
  EXPECT_TRUE(ran::is_secured(*table.uplink_line(id(2).value)) && ran::is_of_session(*table.uplink_line(id(2).value)));
  const Json json = to_json(*parts_->bearers.show_session(added->session.teid()));
  EXPECT_EQ(json["bearers"][2]["security"]["key"], 3);
  EXPECT_FALSE(json["bearers"][1].contains("security"));
  EXPECT_NE(add(secured(8, 3, 3)).error().message.find("were given to a bearer with drb 3"), std::string::npos);

  ASSERT_TRUE(parts_->numbers.wait_for_disk());
  table.bearer_line(id(0).value)->pdcp_tx_next = 100;
  table.uplink_line(id(2).value)->pdcp_rx_next = 50;
  make(config_with_keys());
  const auto view = parts_->bearers.show_session(added->session.teid());
  ASSERT_TRUE(view) << view.error().message;
  EXPECT_EQ(view->config, added->session);
  EXPECT_GE(entity(parts_->worker(0), id(0))->entity.tx().tx_next(), 100U);
  EXPECT_EQ(entity(parts_->worker(0), id(2))->entity.rx().rx_deliv(), 50U);
}

TEST_F(SecuredBearersTest, a_session_without_keys_for_one_bearer_is_refused_and_gives_the_others_back) {
  make(config_with_keys());
  ran::WantedSession wanted{.config = {}, .shard = 1};
  wanted.config.bearers.resize(2);
  wanted.config.bearers[0] = {.drb = ran::sdap::DrbId{1}, .config = secured(7, 3, 1), .flows = {}};
  wanted.config.bearers[1] = {.drb = ran::sdap::DrbId{2}, .config = secured(7, 99, 2), .flows = {}};
  wanted.config.default_drb = ran::sdap::DrbId{1};
  const auto refused = parts_->bearers.add_session(wanted);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("no keys with number 99"), std::string::npos);
  EXPECT_EQ(parts_->bearers.count(), 0U);
  wanted.config.bearers[1].config.security->key = 3;
  EXPECT_TRUE(parts_->bearers.add_session(wanted));
}

}  // namespace
}  // namespace splitplane::gnb::test
