// Damaged packets in every state of the guard: every mode, idle and armed, sources known and unknown, and flows of
// every state. The rig judges each burst (test_rig.h). SPLITPLANE_MUTATIONS sets how many packets each state gets, and
// SPLITPLANE_SEED where the random numbers begin.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <random>

#include "guard/test_bump.h"
#include "guard/test_rig.h"

namespace splitplane::guard {
namespace {

using namespace test;

#if defined(SPLITPLANE_TSAN)
constexpr std::uint64_t kMutations = 20'000;
#else
constexpr std::uint64_t kMutations = 200'000;
#endif

std::uint64_t number_in_environment(const char* name, std::uint64_t otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

constexpr std::uint32_t kClientIsn = 1000, kServerIsn = 0xFFFFFF00, kServerClock = 5000;

Bytes be32(std::uint32_t v) {
  Bytes out;
  put32(out, v);
  return out;
}
Bytes stamps(std::uint32_t value, std::uint32_t echo) {
  Bytes out{1, 1, 8, 10};
  put(out, be32(value));
  put(out, be32(echo));
  return out;
}
const Bytes kLinuxSynOptions{2, 4, 5, 0xB4, 4, 2, 8, 10, 0, 0, 0, 9, 0, 0, 0, 0, 1, 3, 3, 7};
const Bytes kFastOpen{2, 4, 5, 0xB4, 34, 10, 1, 2, 3, 4, 5, 6, 7, 8, 1, 1};

// The same connection in six kinds of frames: IPv4 and IPv6, no to two VLAN tags.
struct Connection {
  Frame client;  // from the client, without more
  FourTuple tuple;
  CookieJar::SynCookie cookie;        // with timestamps
  CookieJar::SynCookie plain_cookie;  // without
  std::uint32_t rst_cookie = 0;
};

CookieOptions kept_options() {
  CookieOptions kept;
  kept.mss = 1460;
  kept.window_scale = std::uint8_t{7};
  kept.told_scale = 7;
  kept.sack_permitted = kept.has_timestamps = true;
  return kept;
}

std::vector<Connection> connections(const WorkerGuard& guard, std::uint32_t clock_ms) {
  std::vector<Connection> all;
  for (const bool v6 : {false, true}) {
    for (const std::vector<std::uint16_t>& vlans : {std::vector<std::uint16_t>{}, {5}, {100, 6}}) {
      Connection c;
      c.client.from = v6 ? "2001:db8:1::7" : "192.0.2.7";
      c.client.to = v6 ? "2001:db8::1" : "10.0.0.1";
      c.client.vlans = vlans;
      const Bytes from = address_of(c.client.from), to = address_of(c.client.to);
      std::copy(from.begin(), from.end(), c.tuple.client.begin());
      std::copy(to.begin(), to.end(), c.tuple.server.begin());
      c.tuple.client_port = c.client.from_port;
      c.tuple.server_port = c.client.to_port;
      c.tuple.is_v6 = v6 ? 1 : 0;
      c.tuple.vlan = vlans.empty() ? std::uint16_t{0} : vlans.back();
      c.cookie = guard.jar.syn_cookie(c.tuple, kClientIsn, kept_options(), clock_ms);
      c.plain_cookie = guard.jar.syn_cookie(c.tuple, kClientIsn, {.mss = 536}, clock_ms);
      c.rst_cookie = guard.jar.rst_cookie(c.tuple);
      all.push_back(c);
    }
  }
  return all;
}

Frame with(Frame f, std::uint8_t flags, std::uint32_t sequence, std::uint32_t acknowledgment, Bytes options = {},
           std::size_t payload = 0) {
  f.flags = flags;
  f.sequence = sequence;
  f.acknowledgment = acknowledgment;
  f.options = std::move(options);
  f.payload = Bytes(payload, 0x5A);
  return f;
}

// An ICMP error about `quoted`, from a router on the way.
Bytes error_about(const Frame& quoted, bool v6, std::size_t bytes) {
  Frame f = quoted.back();
  f.from = v6 ? "2001:db8:9::1" : "203.0.113.9";
  const Bytes whole = ip_of(quoted, 6, tcp_of(quoted));
  return icmp_error(f, v6 ? 2 : 3, Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes)));
}

std::vector<Bytes> frames_of_client(const Connection& c) {
  const Frame& f = c.client;
  const std::uint32_t next = kClientIsn + 1, ours = c.cookie.sequence + 1, clock = c.cookie.ts_value;
  const bool v6 = c.tuple.is_v6 != 0;
  std::vector<Bytes> all;
  const auto add = [&](const Frame& frame) { all.push_back(write(frame)); };
  add(with(f, kSyn, kClientIsn, 0));
  add(with(f, kSyn, kClientIsn, 0, kLinuxSynOptions));
  add(with(f, kSyn | kEce | kCwr, kClientIsn, 0, kLinuxSynOptions));
  add(with(f, kSyn, kClientIsn, 0, kFastOpen, 100));
  add(with(f, kAck, next, ours, stamps(10, clock)));
  add(with(f, kAck, next - 1, ours, stamps(10, clock)));
  add(with(f, kAck, next, c.plain_cookie.sequence + 1));
  add(with(f, kAck | kPsh, next, c.plain_cookie.sequence + 1, {}, 1));
  add(with(f, kRst, c.rst_cookie, 0));
  add(with(f, kRst, next, 0));
  add(with(f, kRst | kAck, next, ours));
  add(with(f, kAck | kPsh, next, ours, stamps(11, clock), 100));
  Bytes sack = stamps(12, clock);
  put(sack, {1, 1, 5, 10});
  put(sack, be32(ours + 1000));
  put(sack, be32(ours + 2000));
  add(with(f, kAck, next, ours, sack));
  add(with(f, kAck | kFin, next, ours, stamps(13, clock)));
  add(with(f, kSyn | kAck, next, ours));
  add(with(f, kSyn | kFin, next, ours));
  add(with(f, 0, next, ours));
  add(with(f, 0xFF, next, ours));
  Frame part = with(f, kAck, next, ours, {}, 40);
  if (v6) {
    part.extension = 44;
    part.ip_options = {6, 0, 0, 1, 0, 0, 0, 9};
  } else {
    part.fragment = 0x2000;
  }
  add(part);
  Frame optional = with(f, kSyn, kClientIsn, 0, kLinuxSynOptions);
  optional.extension = 60;
  optional.ip_options = v6 ? Bytes{6, 0, 1, 4, 0, 0, 0, 0} : Bytes{7, 3, 4, 1};
  optional.padding = 6;
  add(optional);
  const Frame of_server = with(f.back(), kAck, kServerIsn + 1, next, stamps(kServerClock, 10), 60);
  all.push_back(error_about(of_server, v6, (v6 ? 40 : 20) + 8));
  all.push_back(error_about(of_server, v6, (v6 ? 40 : 20) + 32));
  Frame other = with(f, kSyn, kClientIsn, 0);
  other.to = v6 ? "2001:db8::2" : "10.0.0.2";
  add(other);
  return all;
}

std::vector<Bytes> frames_of_server(const Connection& c) {
  const Frame f = c.client.back();
  const std::uint32_t next = kServerIsn + 1, acknowledged = kClientIsn + 1;
  const bool v6 = c.tuple.is_v6 != 0;
  std::vector<Bytes> all;
  const auto add = [&](const Frame& frame) { all.push_back(write(frame)); };
  Bytes options{2, 4, 5, 0xB4, 4, 2, 8, 10};
  put(options, be32(kServerClock));
  put(options, {0, 0, 0, 10, 1, 3, 3, 9});
  add(with(f, kSyn | kAck, kServerIsn, acknowledged, options));
  add(with(f, kSyn | kAck, kServerIsn, acknowledged, {2, 4, 5, 0xB4}));
  add(with(f, kSyn | kAck | kEce, kServerIsn, acknowledged, options));
  add(with(f, kRst | kAck, 0, acknowledged));
  add(with(f, kRst, next, 0));
  add(with(f, kAck, next, acknowledged, stamps(kServerClock + 1, 10)));
  add(with(f, kAck | kPsh, next, acknowledged, stamps(kServerClock + 1, 10), 500));
  add(with(f, kAck | kFin, next, acknowledged, stamps(kServerClock + 2, 10)));
  add(with(f, kAck, 77, 99));
  add(with(f, kSyn, 77, 0, kLinuxSynOptions));
  const Frame of_client = with(c.client, kAck, acknowledged, next, stamps(10, kServerClock), 60);
  all.push_back(error_about(of_client, v6, (v6 ? 40 : 20) + 8));
  all.push_back(error_about(of_client, v6, (v6 ? 40 : 20) + 32));
  return all;
}

// What the guard is in before each burst.
struct State {
  const char* name;
  Mode mode = Mode::kProxy;
  bool acts = true;
  Proof proof = Proof::kNone;         // of the clients
  FlowState flow = FlowState::kFree;  // kFree: none
  bool challenged = false;
  // What must have come of it: else the test looks at nothing.
  std::vector<Outcome> reached;

  friend void PrintTo(const State& state, std::ostream* out) { *out << state.name; }
};

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t n) { return random_() % n; }

  void damage(Bytes& frame) {
    for (std::uint64_t times = below(4); times != 0 && !frame.empty(); --times) {
      const std::size_t at = below(std::min<std::size_t>(frame.size(), 120));
      switch (below(8)) {
        case 0:
          frame[at] = static_cast<std::uint8_t>(random_());
          break;
        case 1:
          frame[at] ^= static_cast<std::uint8_t>(1U << below(8));
          break;
        case 2:
          frame[at] = below(2) == 0 ? 0 : 0xFF;
          break;
        case 3:
          ++frame[at];
          break;
        case 4:
          --frame[at];
          break;
        case 5:
          frame.resize(below(frame.size() + 1));
          break;
        case 6:
          frame.resize(frame.size() + below(20), static_cast<std::uint8_t>(random_()));
          break;
        default:
          damage_tcp(frame);
      }
    }
    if (below(3) != 0) repair(frame);
  }

 private:
  // Flags, options and numbers, where most of the guard's decisions are.
  void damage_tcp(Bytes& frame) {
    const auto s = SlowReader(frame).tcp();
    if (!s) return;
    const std::size_t bytes = std::min<std::size_t>(s->end - s->tcp_at, 60);
    frame[s->tcp_at + below(bytes)] = static_cast<std::uint8_t>(random_());
    if (below(2) == 0) frame[s->tcp_at + 13] = static_cast<std::uint8_t>(random_());
  }
  std::mt19937_64 random_;
};

void arrange(Rig& rig, const State& state, const std::vector<Connection>& all) {
  WorkerGuard& guard = rig.guard;
  const std::uint32_t now = guard.time.seconds;
  guard.sources.clear();
  for (const Connection& c : all) {
    if (state.proof != Proof::kNone) (void)guard.sources.put(SourceTable::key_of(c.tuple), state.proof, now);
    const FlowTable::Hash hash = guard.flows.hash_of(c.tuple);
    Flow* flow = guard.flows.find(c.tuple, hash, now);
    if (state.flow == FlowState::kFree) {
      if (flow != nullptr) guard.flows.remove(flow);
      continue;
    }
    if (flow == nullptr) flow = guard.flows.insert(c.tuple, hash, now);
    ASSERT_NE(flow, nullptr);
    const bool connecting = state.flow == FlowState::kConnecting;
    flow->flags = Flow::kHasTimestamps | Flow::kSackPermitted | Flow::kHasScale;
    if (state.challenged) {  // by cookies of the kind that the connections' are
      flow->flags |= Flow::kChallenged;
      flow->cookie_kind = 1;
    }
    flow->server_scale = 9;
    flow->told_scale = flow->client_scale = 7;
    flow->mss_index = 6;
    flow->seen = now;
    flow->sequence_delta = c.cookie.sequence - (connecting ? 0 : kServerIsn);
    flow->ts_delta = c.cookie.ts_value - (connecting ? 0 : kServerClock);
    flow->client_next = kClientIsn + 1;
    flow->client_sent = connecting ? 64240 : kClientIsn + 1;
    flow->state = state.flow;
  }
}

ServerRule rule_of(const State& state, bool v6) {
  ServerRule r = v6 ? rule_v6(state.mode) : rule(state.mode);
  r.arm = state.acts ? Arm::kAlways : Arm::kAuto;
  r.arming.arm_syns_per_second = r.arming.always_syns_per_second = 0xFFFFFFFF;  // not by these packets
  return r;
}

class Mutations : public testing::TestWithParam<State> {};

TEST_P(Mutations, do_no_harm) {
  const State& state = GetParam();
  const std::uint64_t mutations = number_in_environment("SPLITPLANE_MUTATIONS", kMutations);
  Mutator random(number_in_environment("SPLITPLANE_SEED", 1) + std::hash<std::string_view>{}(state.name));
  GuardSettings settings = small_settings();
  settings.unproven_per_second = 1000;
  settings.sources.syn_per_second = 2;
  datapath::test::Pool pool(128, Rig::kRoom);
  Rig rig(settings, pool);
  rig.protect(rule_of(state, false));
  rig.protect(rule_of(state, true));
  rig.pass_ms(1000);
  std::vector<Connection> all;
  std::array<std::vector<Bytes>, 2> frames;
  Bytes frame;
  for (std::uint64_t burst = 0; rig.packets() < mutations && !HasFailure(); ++burst) {
    rig.pass_ms(random.below(8));
    if (burst % 500 == 0) {  // keys rotate meanwhile
      all = connections(rig.guard, static_cast<std::uint32_t>(rig.guard.time.milliseconds));
      for (auto& side : frames) side.clear();
      for (const Connection& c : all) {
        for (const Bytes& one : frames_of_client(c)) frames[0].push_back(one);
        for (const Bytes& one : frames_of_server(c)) frames[1].push_back(one);
      }
    }
    arrange(rig, state, all);
    const auto from = static_cast<Side>(random.below(2));
    const auto& base = frames[static_cast<std::size_t>(from)];
    for (std::uint64_t n = 1 + random.below(datapath::kBurst); n != 0; --n) {
      frame = base[random.below(base.size())];
      random.damage(frame);
      Lie lie;
      if (random.below(16) == 0) lie.first_bytes = random.below(frame.size() + 1);
      lie.no_tailroom = random.below(32) == 0;
      rig.add(frame, lie);
    }
    if (random.below(64) == 0)
      rig.limit_room(random.below(2) == 0 ? Side::kClient : Side::kServer, static_cast<unsigned>(random.below(20)));
    rig.run(from, random.below(64) == 0);
  }
  for (const Outcome outcome : state.reached) EXPECT_GT(rig.count(outcome), 0U) << name_of(outcome);
  RecordProperty("packets", static_cast<int>(rig.packets()));
}

std::vector<State> states() {
  using enum Outcome;
  return {State{.name = "bypass", .mode = Mode::kBypass, .reached = {passed, passed_unarmed, passed_server}},
          State{.name = "observe", .mode = Mode::kObserve, .acts = false, .reached = {passed_unarmed, passed_server}},
          State{.name = "auth_idle", .mode = Mode::kAuth, .acts = false, .reached = {passed_unarmed, passed_server}},
          State{.name = "auth_of_unknown_sources",
                .mode = Mode::kAuth,
                .reached = {challenged_rst, proved_rst, forged_rst, bad_flags, bad_checksum, not_unicast, fragment,
                            mbuf_segmented, passed_unproven, tcp_truncated, tcp_bad_header_length, tx_full}},
          State{.name = "auth_of_known_sources",
                .mode = Mode::kAuth,
                .proof = Proof::kCookie,
                .reached = {passed_proven, source_capped, proved_rst}},
          State{.name = "auth_of_vouched_sources",
                .mode = Mode::kAuth,
                .proof = Proof::kVouched,
                .reached = {passed_proven, source_capped, proved_rst}},
          State{.name = "proxy_idle", .acts = false, .reached = {passed_unarmed, passed_server}},
          State{.name = "proxy_without_flows",
                .reached = {challenged_syn, connected, forged_ack, forged_rst, bad_flags, bad_checksum, bad_options,
                            not_unicast, fragment, no_buffer, mbuf_segmented}},
          State{.name = "proxy_of_vouched_sources",
                .proof = Proof::kVouched,
                .reached = {challenged_syn, connected, passed_proven, bad_flags}},
          State{.name = "proxy_connecting",
                .flow = FlowState::kConnecting,
                .reached = {challenged_syn, reconnected, handshake, refused_by_server, older_reset, outside_window,
                            forged_ack, bad_options, no_buffer}},
          State{.name = "proxy_established",
                .flow = FlowState::kEstablished,
                .reached = {challenged_syn, translated, outside_window, bad_flags, bad_options, mbuf_segmented}},
          State{.name = "proxy_challenged",
                .flow = FlowState::kEstablished,
                .challenged = true,
                .reached = {challenged_syn, connected, translated}},
          State{.name = "proxy_closing", .flow = FlowState::kClosing, .reached = {challenged_syn, translated}},
          State{.name = "proxy_closed", .flow = FlowState::kClosed, .reached = {challenged_syn, translated}},
          State{.name = "proxy_idle_with_flows",
                .acts = false,
                .flow = FlowState::kEstablished,
                .reached = {translated, passed_unarmed}},
          State{.name = "auth_with_flows",
                .mode = Mode::kAuth,
                .flow = FlowState::kEstablished,
                .reached = {translated, challenged_rst}}};
}

INSTANTIATE_TEST_SUITE_P(In, Mutations, testing::ValuesIn(states()), [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace splitplane::guard
