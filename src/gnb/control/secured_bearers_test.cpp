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
  ASSERT_TRUE(parts_->numbers.wait_for_disk());  // the journal's thread writes lines until then
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
      worker.baas = WorkerConfig::Baas::kInline;
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
  ASSERT_TRUE(owner(added->id).gnb->lease_requests->ask({added->id, UINT32_MAX}));
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
  ASSERT_TRUE(owner(added->id).gnb->lease_requests->ask({added->id, UINT32_MAX}));
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

// Three bearers of one session: DRB 1 is AM and the default, DRB 2 is UM, DRB 3 has no security.
class SessionRekeyTest : public RekeyTest {
 protected:
  [[nodiscard]] static ran::WantedSession wanted(std::uint32_t key = 3) {
    ran::WantedSession session{.config = {}, .shard = 1};
    session.config.bearers = {{.drb = ran::sdap::DrbId{1}, .config = secured(7, key, 1), .flows = {}},
                              {.drb = ran::sdap::DrbId{2}, .config = um(7, key), .flows = {Qfi{5}}},
                              {.drb = ran::sdap::DrbId{3}, .config = bearer(7), .flows = {Qfi{6}}}};
    session.config.bearers[1].config.security->drb = 2;
    session.config.default_drb = ran::sdap::DrbId{1};
    return session;
  }
  void add_session() {
    const auto added = parts_->bearers.add_session(wanted());
    ASSERT_TRUE(added) << added.error().message;
    take(added->session);
  }
  void take(const ran::SessionConfig& session) {
    teid_ = session.teid();
    am_ = session.bearers[0].config.id;
    um_ = session.bearers[1].config.id;
    plain_ = session.bearers[2].config.id;
    ASSERT_TRUE(parts_->numbers.wait_for_disk());
  }
  [[nodiscard]] ran::SessionConfig shown() { return parts_->bearers.show_session(teid_)->config; }
  [[nodiscard]] std::uint32_t key_of(BearerId id) { return shown().find(id)->config.security->key; }
  [[nodiscard]] std::string session_refused(std::uint32_t key) {
    const auto done = parts_->bearers.rekey_session(teid_, key);
    return done ? "(done)" : done.error().message;
  }
  static GnbConfig with_session(GnbConfig config, std::uint32_t key = 3) {
    config.sessions = {wanted(key)};
    return config;
  }
  void expect_newer_keys_after_a_restart(const GnbConfig& config) {
    set_counts(am_, 500, 400);
    set_counts(um_, 5000, 4000);
    const auto am = parts_->bearers.rekey(am_, 5), um = parts_->bearers.rekey(um_, 6);
    ASSERT_TRUE(am && um);
    set_counts(um_, 20, 10);
    const ran::SessionConfig before = shown();
    make(config);
    EXPECT_EQ(shown(), before);
    EXPECT_GE(entity(owner(am_), am_)->entity.tx().tx_next(), 500U);
    EXPECT_EQ(parts_->bearers.show(am_)->epoch, ran::next_epoch(am->epoch)) << "RLC AM begins anew";
    EXPECT_EQ(parts_->bearers.show(um_)->epoch, um->epoch);
    EXPECT_EQ(entity(owner(um_), um_)->entity.rx().rx_deliv(), 10U);
    EXPECT_LT(line(um_).pdcp_tx_next, 5000U);
    EXPECT_NE(refused(um_, 3).find("not above"), std::string::npos);
    // What it had before is given to no other bearer, and neither is what it has.
    for (const auto& [key, drb] : {std::pair{3U, 1}, {3U, 2}, {5U, 1}, {6U, 2}}) {
      EXPECT_FALSE(add(secured(99, key, static_cast<std::uint8_t>(drb)), 2)) << key << ' ' << drb;
    }
    EXPECT_TRUE(parts_->bearers.rekey(um_, 7));
  }

  Teid teid_;
  BearerId am_, um_, plain_;
};

TEST_F(SessionRekeyTest, each_bearer_of_a_session_gets_keys_in_its_own_lines_store_and_journal) {
  make(config_with_retransmission());
  add_session();
  set_counts(am_, 500, 400);
  set_counts(um_, 50, 40);
  const ran::CountLease am_lease = lease(am_);
  const ran::BearerDownlink session_line = *owner(am_).gnb->bearers.downlink_line(am_.value);
  const auto am = parts_->bearers.rekey(am_, 5), um = parts_->bearers.rekey(um_, 6);
  ASSERT_TRUE(am) << am.error().message;
  ASSERT_TRUE(um) << um.error().message;
  EXPECT_TRUE(ran::is_session(session_line, teid_.value));
  EXPECT_EQ(std::memcmp(owner(am_).gnb->bearers.downlink_line(am_.value), &session_line, sizeof session_line), 0)
      << "the line of the first bearer is elsewhere";
  const auto epoch_of = [&](BearerId id) { return reinterpret_cast<const std::uint8_t*>(&line(id).airhdr)[3]; };
  EXPECT_EQ(epoch_of(am_), am->epoch);
  EXPECT_EQ(epoch_of(um_), um->epoch);
  EXPECT_EQ(line(am_).pdcp_tx_next, 500U);
  EXPECT_EQ(line(um_).pdcp_tx_next, 0U);
  EXPECT_EQ(lease(am_).end, am_lease.end);
  EXPECT_EQ(lease(um_).end, 65536U);
  for (const BearerId id : {am_, um_}) {
    const ran::BearerUplink& uplink = *owner(id).gnb->bearers.uplink_line(id.value);
    EXPECT_TRUE(ran::is_secured(uplink) && ran::is_of_session(uplink));
    EXPECT_TRUE(ran::is_at_limit(line(id)));
  }
  EXPECT_EQ(key_of(am_), 5U);
  EXPECT_EQ(key_of(um_), 6U);
  const JournalBearer am_written = in_journal(am_), um_written = in_journal(um_);
  EXPECT_EQ(am_written.config.security->key, 5U);
  EXPECT_EQ(um_written.config.security->key, 6U);
  ASSERT_TRUE(am_written.session && um_written.session);
  EXPECT_EQ(um_written.session->flows, std::vector{Qfi{5}});
  EXPECT_FALSE(parts_->bearers.rekey(um_, 6)->changed);
  EXPECT_NE(refused(plain_, 7).find("has no security"), std::string::npos);
  EXPECT_NE(refused(um_, 5).find("not above the bearer's present key 6"), std::string::npos);
  // A repeated request names the keys of now, as that of a bearer by itself.
  ran::WantedSession again = wanted();
  EXPECT_FALSE(parts_->bearers.add_session(again));
  again.config.bearers[0].config.security->key = 5;
  again.config.bearers[1].config.security->key = 6;
  EXPECT_TRUE(parts_->bearers.add_session(again)->existed);
}

TEST_F(SessionRekeyTest, a_flow_may_move_before_and_after) {
  make(config_with_retransmission());
  add_session();
  ASSERT_TRUE(parts_->bearers.move_flow(teid_, Qfi{5}, ran::sdap::DrbId{1}));
  ASSERT_TRUE(parts_->bearers.rekey(am_, 5));
  ASSERT_TRUE(parts_->bearers.move_flow(teid_, Qfi{6}, ran::sdap::DrbId{2}));
  EXPECT_EQ(key_of(am_), 5U) << "a move keeps the keys of now";
  EXPECT_EQ(in_journal(am_).config.security->key, 5U);
  EXPECT_EQ(in_journal(am_).session->flows, std::vector{Qfi{5}});
  const ran::SessionConfig before = shown();
  make(config_with_retransmission());
  EXPECT_EQ(shown(), before);
}

TEST_F(SessionRekeyTest, after_a_restart_a_session_of_the_configuration_has_its_newer_keys) {
  const GnbConfig config = with_session(config_with_retransmission());
  make(config);
  take(parts_->bearers.list_sessions(0, 10)->front().config);
  expect_newer_keys_after_a_restart(config);
}

TEST_F(SessionRekeyTest, after_a_restart_a_session_of_the_control_socket_has_its_newer_keys) {
  make(config_with_retransmission());
  add_session();
  expect_newer_keys_after_a_restart(config_with_retransmission());
}

TEST_F(SessionRekeyTest, a_higher_number_in_the_configuration_counts_after_a_restart) {
  make(with_session(config_with_retransmission()));
  take(parts_->bearers.list_sessions(0, 10)->front().config);
  ASSERT_TRUE(parts_->bearers.rekey(um_, 5));
  make(with_session(config_with_retransmission(), 4));
  EXPECT_EQ(key_of(am_), 4U);
  EXPECT_EQ(key_of(um_), 5U);
}

TEST_F(SessionRekeyTest, counts_of_the_first_bearer_begin_anew_at_their_end_with_a_lease_of_its_own) {
  make(config_with_retransmission());
  add_session();
  set_counts(am_, ran::kCountEnd, 10);
  ASSERT_TRUE(parts_->bearers.rekey(am_, 5));
  EXPECT_EQ(line(am_).pdcp_tx_next, 0U);
  EXPECT_EQ(in_journal(am_).numbers.end, lease(am_).end);
  ASSERT_TRUE(in_journal(am_).session);
  ASSERT_TRUE(owner(am_).gnb->lease_requests->ask({am_, UINT32_MAX}));
  parts_->numbers.serve(parts_->control.lock(), std::chrono::steady_clock::now());
  const std::uint32_t written = in_journal(am_).numbers.end;
  EXPECT_GT(written, 65536U);
  EXPECT_EQ(lease(am_).end, written) << "the lease goes on from there";
}

TEST_F(SessionRekeyTest, a_session_gets_one_number_for_all_its_secured_bearers) {
  make(config_with_retransmission());
  add_session();
  ASSERT_TRUE(parts_->bearers.rekey(um_, 5));  // as after a failure in the middle
  const auto done = parts_->bearers.rekey_session(teid_, 5);
  ASSERT_TRUE(done) << done.error().message;
  ASSERT_EQ(done->size(), 2U);
  EXPECT_EQ((*done)[0].id, am_);
  EXPECT_TRUE((*done)[0].now.changed);
  EXPECT_EQ((*done)[1].drb.value, 2U);
  EXPECT_FALSE((*done)[1].now.changed);
  EXPECT_EQ((*done)[1].now.epoch, entity(owner(um_), um_)->epoch);
  EXPECT_EQ(key_of(am_), 5U);
  EXPECT_EQ(in_journal(am_).config.security->key, 5U);
  const auto again = parts_->bearers.rekey_session(teid_, 5);
  ASSERT_TRUE(again);
  for (const RekeyedBearer& one : *again) EXPECT_FALSE(one.now.changed);
}

TEST_F(SessionRekeyTest, a_session_of_which_one_bearer_may_not_have_the_keys_stays_as_it_is) {
  make(config_with_retransmission());
  add_session();
  const auto other = add(secured(8, 6, 2), 2);
  ASSERT_TRUE(other && parts_->bearers.rekey(um_, 5));
  EXPECT_EQ(session_refused(4),
            "drb 2: security.key: 4 is not above the bearer's present key 5; allowed: a higher "
            "number; no bearer was changed");
  EXPECT_NE(session_refused(6).find("number 6 were given to a bearer with drb 2 before"), std::string::npos);
  EXPECT_NE(session_refused(99).find("no keys with number 99"), std::string::npos);
  {
    const Hanging worker(owner(am_));
    EXPECT_NE(session_refused(7).find("does not answer"), std::string::npos);
  }
  EXPECT_EQ(key_of(am_), 3U);
  EXPECT_EQ(key_of(um_), 5U);
  EXPECT_EQ(in_journal(am_).config.security->key, 3U);
  // What was looked at is free for the bearers.
  EXPECT_EQ(session_refused(7), "(done)");
  const auto plain = parts_->bearers.rekey_session(Teid{other->id.value}, 9);
  ASSERT_FALSE(plain);
  EXPECT_NE(plain.error().message.find("no session with several bearers"), std::string::npos);
}

TEST_F(SessionRekeyTest, keys_that_one_bearer_has_already_are_found_before_the_first_one_changes) {
  make(config_with_retransmission());
  add_session();
  ASSERT_TRUE(parts_->bearers.rekey(um_, 4));
  using datapath::test::TestKeyFile;
  // Of these, DRB 2 alone has the cipher key already, under another number.
  std::ofstream(file_.path(), std::ios::app) << "20 " << TestKeyFile::hex(4) << ' ' << TestKeyFile::hex(0x77) << '\n';
  EXPECT_EQ(session_refused(20),
            "drb 2: security.key: a key with number 20 is that of number 4; allowed: keys that differ; no bearer was "
            "changed");
  EXPECT_EQ(key_of(am_), 3U);
  EXPECT_EQ(key_of(um_), 4U);
  EXPECT_TRUE(parts_->bearers.rekey(am_, 20)) << "what was looked at is free for the others";
}

TEST_F(SessionRekeyTest, a_bearer_of_a_session_is_reestablished_in_its_own_line) {
  make(config_with_retransmission());
  add_session();
  const auto epoch = parts_->bearers.reestablish(am_);
  ASSERT_TRUE(epoch) << epoch.error().message;
  EXPECT_EQ(reinterpret_cast<const std::uint8_t*>(&line(am_).airhdr)[3], *epoch);
  EXPECT_EQ(entity(owner(am_), am_)->epoch, *epoch);
  EXPECT_TRUE(ran::is_session(*owner(am_).gnb->bearers.downlink_line(am_.value), teid_.value));
  EXPECT_EQ(in_journal(am_).numbers.epoch, *epoch);
}

}  // namespace
}  // namespace splitplane::gnb::test
