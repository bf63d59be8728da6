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

TEST_F(SecuredBearersTest, keys_of_a_bearer_that_is_gone_are_not_given_out_after_a_restart_either) {
  GnbConfig config = config_with_keys();
  config.bearers = {{.first = secured(1, 3)}, {.first = secured(2, 4)}};
  make(config);
  const auto by_control = add(secured(5, 5)), unused = add(secured(6, 6));
  ASSERT_TRUE(by_control && unused && parts_->numbers.wait_for_disk());
  WorkerRuntime& worker = *parts_->workers.owner_of(by_control->id.value);
  entity(worker, by_control->id)->entity.tx().set_tx_next(Count{9});
  ASSERT_TRUE(parts_->bearers.release(by_control->id));
  ASSERT_TRUE(parts_->bearers.release(unused->id));
  ASSERT_TRUE(parts_->numbers.wait_for_disk());
  config.bearers = {{.first = secured(1, 3)}};  // names the bearer with keys 4 no longer
  for (int run = 0; run < 2; ++run) {
    make(config);
    EXPECT_EQ(parts_->bearers.count(), run == 0 ? 1U : 2U);
    EXPECT_NE(add(secured(7, 5)).error().message.find("were given to a bearer with drb 1"), std::string::npos);
    EXPECT_FALSE(add(secured(8, 4)));
    EXPECT_FALSE(add(secured(9, 3)));
    EXPECT_TRUE(add(secured(10, 4, 2))) << "another BEARER is another keystream";
  }
  EXPECT_TRUE(add(secured(11, 6))) << "these protected nothing";
}

TEST_F(SecuredBearersTest, a_new_bearer_of_the_configuration_does_not_take_the_keys_of_one_that_comes_back) {
  make(config_with_keys());
  const auto by_control = add(secured(5, 5));
  ASSERT_TRUE(by_control && parts_->numbers.wait_for_disk());
  GnbConfig config = config_with_keys();
  config.bearers = {{.first = secured(1, 5)}};
  end();
  parts_ = std::make_unique<test::Parts>(std::move(config));
  const auto made = parts_->make();
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("were given to a bearer with drb 1"), std::string::npos) << made.error().message;
}

TEST_F(SecuredBearersTest, a_bearer_that_came_back_and_sent_nothing_keeps_its_keys_used) {
  make(config_with_keys());
  const auto added = add(secured(5, 5));
  ASSERT_TRUE(added && parts_->numbers.wait_for_disk());
  entity(*parts_->workers.owner_of(added->id.value), added->id)->entity.tx().set_tx_next(Count{9});
  parts_->workers.owner_of(added->id.value)->gnb->bearers.downlink_line(added->id.value)->pdcp_tx_next = 9;
  make(config_with_keys());
  ASSERT_TRUE(parts_->bearers.release(added->id));
  EXPECT_FALSE(add(secured(6, 5)));
}

TEST_F(SecuredBearersTest, keys_of_a_bearer_that_no_worker_took_are_free) {
  make(config_with_keys());
  {
    const test::Hanging worker(parts_->worker(0));
    EXPECT_NE(add(secured(1, 3), 1).error().message.find("does not answer"), std::string::npos);
  }
  EXPECT_TRUE(add(secured(1, 3), 1));
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

class RekeyTest : public SecuredBearersTest {
 protected:
  static ran::BearerConfig um(std::uint32_t uplink_teid, std::uint32_t key) {
    ran::BearerConfig config = secured(uplink_teid, key);
    config.rlc_mode = RlcMode::kUm;
    config.rlc_sn_bits = 12;
    return config;
  }
  [[nodiscard]] GnbConfig config_with_retransmission() const {
    GnbConfig config = config_with_keys();
    for (WorkerConfig& worker : config.workers) {
      worker.features = datapath::FeatureSet::clone;
      worker.baas_inline = true;
    }
    return config;
  }
  [[nodiscard]] std::string refused(BearerId id, std::uint32_t key) {
    const auto done = parts_->bearers.rekey(id, key);
    return done ? "(done)" : done.error().message;
  }
  [[nodiscard]] JournalBearer in_journal(BearerId id) {
    EXPECT_TRUE(parts_->numbers.wait_for_disk());
    std::ifstream file(folder_ / "journal", std::ios::binary);
    const std::vector<std::uint8_t> octets{std::istreambuf_iterator<char>(file), {}};
    const auto content = read_journal(octets, {parts_->config.file_prefix, parts_->config.instance});
    EXPECT_TRUE(content) << content.error().message;
    return content->bearers.at(id.value);
  }
  [[nodiscard]] WorkerRuntime& owner(BearerId id) { return *parts_->workers.owner_of(id.value); }
  [[nodiscard]] ran::CountLease lease(BearerId id) { return *owner(id).gnb->bearers.lease(id.value); }
  [[nodiscard]] ran::BearerDownlink& line(BearerId id) { return *owner(id).gnb->bearers.bearer_line(id.value); }
  // As if the bearer had sent and received so much.
  void set_counts(BearerId id, std::uint32_t tx_next, std::uint32_t rx_next) {
    datapath::SecuredBearer& bearer = *entity(owner(id), id);
    bearer.entity.tx().set_tx_next(Count{tx_next});
    bearer.entity.rx().set_rx_deliv(Count{rx_next});
    line(id).pdcp_tx_next = tx_next;
    owner(id).gnb->bearers.uplink_line(id.value)->pdcp_rx_next = rx_next;
  }
};

TEST_F(RekeyTest, um_begins_with_count_0_and_a_lease_that_the_disk_has) {
  make(config_with_keys());
  const auto added = add(um(1, 3), 1);
  ASSERT_TRUE(added && parts_->numbers.wait_for_disk());
  set_counts(added->id, 500, 400);
  const std::uint8_t before = entity(owner(added->id), added->id)->epoch;
  const auto done = parts_->bearers.rekey(added->id, 5);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_TRUE(done->changed);
  EXPECT_NE(done->epoch, before);
  const auto shown = parts_->bearers.show(added->id);
  EXPECT_EQ(shown->config.security->key, 5U);
  EXPECT_EQ(shown->pdcp_tx_next, 0U);
  EXPECT_EQ(shown->pdcp_rx_next, 0U);
  EXPECT_EQ(to_json(*shown)["epoch"], done->epoch);
  EXPECT_EQ(reinterpret_cast<const std::uint8_t*>(&line(added->id).airhdr)[3], done->epoch);
  EXPECT_EQ(lease(added->id).end, 65536U);
  const JournalBearer written = in_journal(added->id);
  EXPECT_EQ(written.config.security->key, 5U);
  EXPECT_EQ(written.numbers.end, 65536U);
  EXPECT_EQ(written.numbers.rx_next, 0U);
  EXPECT_EQ(written.numbers.epoch, done->epoch);
  // The lease goes on from there.
  ASSERT_TRUE(owner(added->id).gnb->lease_requests->ask(added->id));
  parts_->numbers.serve(parts_->control.lock(), std::chrono::steady_clock::now());
  ASSERT_TRUE(parts_->numbers.wait_for_disk());
  EXPECT_EQ(lease(added->id).mark, 32768U);
}

TEST_F(RekeyTest, am_keeps_its_counts_and_its_lease) {
  make(config_with_retransmission());
  const auto added = add(secured(1, 3), 1);
  ASSERT_TRUE(added && added->acknowledged && parts_->numbers.wait_for_disk());
  set_counts(added->id, 500, 400);
  const ran::CountLease before = lease(added->id);
  const auto done = parts_->bearers.rekey(added->id, 5);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(lease(added->id).end, before.end);
  const auto shown = parts_->bearers.show(added->id);
  EXPECT_EQ(shown->pdcp_tx_next, 500U);
  EXPECT_EQ(shown->rlc_am->epoch, done->epoch);
  EXPECT_EQ(entity(owner(added->id), added->id)->entity.rx().rx_deliv(), 400U);
  const JournalBearer written = in_journal(added->id);
  EXPECT_EQ(written.config.security->key, 5U);
  EXPECT_EQ(written.numbers.end, before.end);
  EXPECT_EQ(written.numbers.epoch, done->epoch);
}

TEST_F(RekeyTest, a_bearer_at_the_end_of_its_counts_sends_again) {
  make(config_with_retransmission());
  const auto am = add(secured(1, 3), 1), um_bearer = add(um(2, 4), 1), upwards = add(secured(3, 5), 1);
  ASSERT_TRUE(am && um_bearer && upwards && parts_->numbers.wait_for_disk());
  set_counts(am->id, ran::kCountEnd, 10);
  set_counts(um_bearer->id, ran::kCountEnd, 10);
  set_counts(upwards->id, 10, 0xfffffff0);
  EXPECT_EQ(to_json(*parts_->bearers.show(am->id))["count_exhausted"], true);
  std::uint32_t key = 6;
  for (const BearerId id : {am->id, um_bearer->id, upwards->id}) {
    ASSERT_TRUE(parts_->bearers.rekey(id, key++));
    const Json shown = to_json(*parts_->bearers.show(id));
    EXPECT_EQ(shown["count_exhausted"], false);
    EXPECT_EQ(shown["pdcp_tx_next"], 0);
    EXPECT_EQ(shown["pdcp_rx_next"], 0);
    EXPECT_GE(lease(id).end, 65536U);
    EXPECT_EQ(in_journal(id).numbers.end, lease(id).end);
  }
}

TEST_F(RekeyTest, the_same_request_again_does_nothing) {
  make(config_with_keys());
  const auto added = add(um(1, 3), 1);
  ASSERT_TRUE(added && parts_->numbers.wait_for_disk());
  const auto first = parts_->bearers.rekey(added->id, 5);
  ASSERT_TRUE(first);
  set_counts(added->id, 7, 8);
  const auto second = parts_->bearers.rekey(added->id, 5);
  ASSERT_TRUE(second);
  EXPECT_FALSE(second->changed);
  EXPECT_EQ(second->epoch, first->epoch);
  EXPECT_EQ(parts_->bearers.show(added->id)->pdcp_tx_next, 7U);
}

TEST_F(RekeyTest, what_cannot_be_done_is_said_and_changes_nothing) {
  make(config_with_keys());
  const auto added = add(um(1, 3), 1), other = add(um(2, 6), 1), plain = add(bearer(9), 1);
  ASSERT_TRUE(added && other && plain && parts_->numbers.wait_for_disk());
  EXPECT_NE(refused(BearerId{0x0600ffff}, 5).find("no bearer with identity"), std::string::npos);
  EXPECT_NE(refused(plain->id, 5).find("has no security; allowed: a bearer with keys"), std::string::npos);
  EXPECT_NE(refused(added->id, 99).find("no keys with number 99"), std::string::npos);
  EXPECT_NE(refused(added->id, 6).find("number 6 were given to a bearer with drb 1"), std::string::npos);
  EXPECT_NE(refused(added->id, 2).find("2 is not above the bearer's present key 3"), std::string::npos);
  ASSERT_TRUE(parts_->bearers.rekey(other->id, 7));
  ASSERT_TRUE(parts_->bearers.release(other->id));
  EXPECT_NE(refused(added->id, 6).find("were given"), std::string::npos) << "the keys before are used, too";
  {
    const Hanging worker(owner(added->id));
    EXPECT_NE(refused(added->id, 5).find("does not answer"), std::string::npos);
  }
  EXPECT_EQ(parts_->bearers.show(added->id)->config.security->key, 3U);
  EXPECT_EQ(in_journal(added->id).config.security->key, 3U);
  EXPECT_TRUE(parts_->bearers.rekey(added->id, 5));
}

TEST_F(RekeyTest, a_key_that_is_that_of_before_is_refused_and_the_lease_goes_on) {
  make(config_with_keys());
  const auto added = add(um(1, 3), 1);
  ASSERT_TRUE(added && parts_->numbers.wait_for_disk());
  using datapath::test::TestKeyFile;
  std::ofstream(file_.path(), std::ios::app) << "20 " << TestKeyFile::hex(3) << ' ' << TestKeyFile::hex(0x77) << '\n';
  set_counts(added->id, 500, 400);
  const ran::CountLease before = lease(added->id);
  EXPECT_NE(refused(added->id, 20).find("a key with number 20 is that of number 3"), std::string::npos);
  EXPECT_EQ(parts_->bearers.show(added->id)->pdcp_tx_next, 500U);
  EXPECT_EQ(in_journal(added->id).config.security->key, 3U);
  EXPECT_GE(in_journal(added->id).numbers.end, before.end);
  EXPECT_EQ(lease(added->id).end, in_journal(added->id).numbers.end);
  ASSERT_TRUE(owner(added->id).gnb->lease_requests->ask(added->id));
  parts_->numbers.serve(parts_->control.lock(), std::chrono::steady_clock::now());
  ASSERT_TRUE(parts_->numbers.wait_for_disk());
  EXPECT_EQ(lease(added->id).end, in_journal(added->id).numbers.end);
  EXPECT_GT(lease(added->id).end, 500U);
}

TEST_F(RekeyTest, after_a_restart_the_new_keys_go_on_also_of_a_bearer_of_the_configuration) {
  GnbConfig config = config_with_keys();
  config.bearers.push_back({.first = um(1, 3)});
  config.bearers.push_back({.first = um(2, 4)});
  make(config);
  const auto page = parts_->bearers.list(0, 10);
  ASSERT_TRUE(page && page->size() == 2);
  const BearerId id = page->front().config.id;
  ASSERT_TRUE(parts_->numbers.wait_for_disk());
  set_counts(id, 5000, 4000);
  const auto done = parts_->bearers.rekey(id, 8);
  ASSERT_TRUE(done);
  set_counts(id, 20, 10);
  make(config);
  const auto shown = parts_->bearers.show(id);
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->config.security->key, 8U);
  EXPECT_EQ(shown->epoch, done->epoch) << "frames on their way have the same keys";
  EXPECT_GE(shown->pdcp_tx_next, 20U);
  EXPECT_LT(shown->pdcp_tx_next, 5000U);
  EXPECT_NE(refused(id, 3).find("not above"), std::string::npos) << "also by a process that did not use them";
}

TEST_F(RekeyTest, an_epoch_comes_again_as_late_as_eight_bits_allow) {
  make(config_with_retransmission());
  const auto added = add(secured(1, 3), 1);
  ASSERT_TRUE(added && parts_->numbers.wait_for_disk());
  const std::uint8_t before = entity(owner(added->id), added->id)->epoch;
  const auto rekeyed = parts_->bearers.rekey(added->id, 4);
  ASSERT_TRUE(rekeyed);
  EXPECT_EQ(rekeyed->epoch, ran::next_epoch(before));
  const auto reestablished = parts_->bearers.reestablish(added->id);
  ASSERT_TRUE(reestablished);
  EXPECT_EQ(*reestablished, ran::next_epoch(rekeyed->epoch));
}

TEST_F(RekeyTest, a_bearer_that_got_another_epoch_alone_is_heard_in_it) {
  make(config_with_retransmission());
  const auto added = add(secured(1, 3), 1);
  ASSERT_TRUE(added && parts_->numbers.wait_for_disk());
  const auto epoch = parts_->bearers.reestablish(added->id);
  ASSERT_TRUE(epoch);
  EXPECT_EQ(entity(owner(added->id), added->id)->epoch, *epoch);
}

}  // namespace
}  // namespace splitplane::gnb::test
