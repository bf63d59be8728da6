// For tests of the guard only: one worker's guard between rings, with a clock that a test steps. Frames go in as octets
// and are read back as octets.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "engine/endpoints.h"
#include "engine/test_environment.h"
#include "guard/guard_function.h"
#include "guard/segment/test_frames.h"
#include "guard/state/test_memory.h"

namespace splitplane::guard::test {

// One tick is a microsecond.
struct SteppedTicks {
  const std::uint64_t* now = nullptr;
  [[nodiscard]] std::uint64_t operator()() const { return *now; }
};

inline GuardSettings small_settings() {
  GuardSettings settings;
  settings.sources.entries = 1024;
  settings.flows.entries = 1024;
  return settings;
}

inline ServerRule rule(Mode mode, Arm arm = Arm::kAlways) {
  ServerRule r;
  r.name = "web";
  r.address = IpAddress::parse("10.0.0.1").value();
  r.mode = mode;
  r.arm = arm;
  return r;
}
inline ServerRule rule_v6(Mode mode, Arm arm = Arm::kAlways) {
  ServerRule r = rule(mode, arm);
  r.name = "web6";
  r.address = IpAddress::parse("2001:db8::1").value();
  r.prefix = 128;
  return r;
}

class Bump {
 public:
  using Function = GuardFunction<datapath::RingSource, datapath::RingSink, SteppedTicks>;

  explicit Bump(const GuardSettings& settings = small_settings(), unsigned slots = 256)
      : client_in_(256),
        server_in_(256),
        client_out_(slots),
        server_out_(slots),
        sources_(SourceTable::memory_bytes(settings.sources)),
        flows_(FlowTable::memory_bytes(settings.flows)),
        keys_(CookieJar::random_keys()),
        guard(settings, {sources_.span(), flows_.span(), &keys_, 0x5eed}),
        function(guard, GuardClock(1'000'000, 0, 0),
                 {{client_in_.get()}, {server_in_.get()}, {client_out_.get()}, {server_out_.get()}},
                 SteppedTicks{&now_}) {}
  // Every packet that was received has one outcome, whatever the test does.
  ~Bump() {
    EXPECT_EQ(guard.stats.sum(Side::kClient), received[0]);
    EXPECT_EQ(guard.stats.sum(Side::kServer), received[1]);
  }

  // The rule is in force at once.
  void protect(const ServerRule& r) {
    const auto index = guard.put_server(r);
    ASSERT_TRUE(index) << index.error().message;
    function.show_servers();
  }

  // One round with these frames on one side. What comes out stands in to_client and to_server.
  void round(Side from, const std::vector<Bytes>& frames) {
    for (const Bytes& octets : frames) enter(from, pool_.make(octets));
    round();
  }
  void enter(Side from, rte_mbuf* m) {
    ASSERT_NE(m, nullptr);
    ++received[static_cast<std::size_t>(from)];
    ASSERT_EQ(rte_ring_sp_enqueue((from == Side::kClient ? client_in_ : server_in_).get(), m), 0);
  }
  void round() {
    datapath::Burst burst;
    for (auto& queue : function.queues()) {
      while (queue.receive(burst) != 0) function.process(queue, burst);
    }
    function.flush();
    to_client = client_out_.drain();
    to_server = server_out_.drain();
  }
  // One frame; returns its outcome.
  Outcome send(Side from, const Bytes& octets) {
    const auto before = counts(from);
    round(from, {octets});
    return changed(from, before);
  }
  Outcome from_client(const Frame& f) { return send(Side::kClient, write(f)); }
  Outcome from_server(const Frame& f) { return send(Side::kServer, write(f)); }
  Outcome send(Side from, rte_mbuf* m) {
    const auto before = counts(from);
    enter(from, m);
    round();
    return changed(from, before);
  }

  // Time passes in steps of 10 ms, with a round after each.
  void wait_ms(std::uint64_t ms) {
    for (; ms >= 10; ms -= 10) {
      now_ += 10'000;
      round();
    }
    now_ += ms * 1000;
  }
  [[nodiscard]] std::uint64_t now() const { return now_; }
  [[nodiscard]] std::uint64_t count(Side side, Outcome outcome) const { return guard.stats.of(side, outcome).get(); }
  [[nodiscard]] const ServerLine& line(std::size_t index = 0) const { return guard.stats.servers[index]; }
  [[nodiscard]] SourceTable::Key key_of(const std::string& address) {
    FourTuple tuple;
    const Bytes octets = address_of(address);
    std::copy(octets.begin(), octets.end(), tuple.client.begin());
    tuple.is_v6 = octets.size() == 16 ? 1 : 0;
    return SourceTable::key_of(tuple);
  }
  void prove(const std::string& address, Proof proof = Proof::kCookie) {
    ASSERT_TRUE(guard.sources.put(key_of(address), proof, guard.time.seconds));
  }
  [[nodiscard]] Proof proof_of(const std::string& address) {
    return guard.sources.find(key_of(address), guard.time.seconds);
  }
  [[nodiscard]] datapath::test::Pool& pool() { return pool_; }

 private:
  using Snapshot = std::array<std::uint64_t, kOutcomeCount>;
  [[nodiscard]] Snapshot counts(Side side) const {
    Snapshot all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = count(side, static_cast<Outcome>(i));
    return all;
  }
  [[nodiscard]] Outcome changed(Side side, const Snapshot& before) const {
    const Snapshot after = counts(side);
    std::size_t found = kOutcomeCount;
    for (std::size_t i = 0; i < after.size(); ++i) {
      if (after[i] == before[i]) continue;
      EXPECT_EQ(found, kOutcomeCount) << "more than one outcome of one packet";
      EXPECT_EQ(after[i], before[i] + 1);
      found = i;
    }
    EXPECT_NE(found, kOutcomeCount) << "a packet without outcome";
    return static_cast<Outcome>(found);
  }

  datapath::test::Pool pool_;  // the rings free into it
  datapath::test::Ring client_in_, server_in_, client_out_, server_out_;
  TableMemory sources_, flows_;
  CookieJar::Keys keys_;
  std::uint64_t now_ = 1'000'000'000;

 public:
  std::array<std::uint64_t, 2> received{};
  WorkerGuard guard;
  Function function;
  std::vector<Bytes> to_client, to_server;
};

}  // namespace splitplane::guard::test
