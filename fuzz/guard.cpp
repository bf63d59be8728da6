// Fuzz target: the guard, in any mode and state, with any frame of either side. The rig of its mutation test judges
// each burst: nothing is answered but a sound SYN or a server that was asked, no answer is longer than its cause, what
// is to pass passes unchanged, and packets, outcomes and buffers add up (src/guard/test_rig.h).
#include "dpdk.h"
#include "fuzz.h"
#include "guard/test_bump.h"
#include "guard/test_rig.h"

namespace splitplane::fuzz {
namespace {

using namespace guard;
using namespace guard::test;

constexpr std::uint32_t kClientIsn = 1000, kServerIsn = 7000, kServerClock = 5000;

// One of eight connections: IPv4 or IPv6, with and without a VLAN tag, of two ports.
struct Connection {
  Frame client;
  FourTuple tuple;

  explicit Connection(unsigned number) {
    const bool v6 = (number & 1) != 0;
    client.from = v6 ? "2001:db8:1::7" : "192.0.2.7";
    client.to = v6 ? "2001:db8::1" : "10.0.0.1";
    if ((number & 2) != 0) client.vlans = {5};
    if ((number & 4) != 0) client.from_port = 40001;
    const guard::test::Bytes from = address_of(client.from), to = address_of(client.to);
    std::copy(from.begin(), from.end(), tuple.client.begin());
    std::copy(to.begin(), to.end(), tuple.server.begin());
    tuple.client_port = client.from_port;
    tuple.server_port = client.to_port;
    tuple.is_v6 = v6 ? 1 : 0;
    tuple.vlan = client.vlans.empty() ? std::uint16_t{0} : client.vlans.back();
  }
};

class Game {
 public:
  Game(Input& in, const GuardSettings& settings) : in_(in), rig_(settings, pool()) { rule(in.octet()); }

  void play() {
    for (unsigned steps = 0; steps < 64 && !in_.empty(); ++steps) step();
  }

 private:
  // Made once, because that takes longer than an input.
  static datapath::test::Pool& pool() {
    static auto* const made = new datapath::test::Pool(128, Rig::kRoom);
    return *made;
  }

  // Mode, and whether it acts.
  void rule(unsigned how) {
    for (const bool v6 : {false, true}) {
      const auto mode = static_cast<Mode>(how % 4);
      ServerRule r = v6 ? rule_v6(mode) : guard::test::rule(mode);
      r.arm = (how & 4) != 0 ? Arm::kAuto : Arm::kAlways;
      r.arming.arm_syns_per_second = 100;
      if ((how & 8) != 0) r.mss = std::uint16_t{1400};
      if ((how & 16) != 0) r.window_scale = std::uint8_t{3};
      rig_.protect(r);
    }
  }

  [[nodiscard]] Flow* flow_of(const Connection& c) {
    return rig_.guard.flows.find(c.tuple, rig_.guard.flows.hash_of(c.tuple), rig_.guard.time.seconds);
  }

  void step() {
    const unsigned op = in_.octet();
    switch (op % 8) {
      case 0:
      case 1:
      case 2:
      case 3: {
        const Side from = op % 2 == 0 ? Side::kClient : Side::kServer;
        for (unsigned n = 1 + (op / 8) % 8; n != 0; --n) add(from);
        rig_.run(from, op >= 192 && op < 200);
        break;
      }
      case 4:
        rig_.pass_ms(in_.word());
        rig_.run(Side::kClient);
        break;
      case 5:
        rule(op / 8);
        break;
      case 6:
        rig_.limit_room(op / 8 % 2 == 0 ? Side::kClient : Side::kServer, in_.octet() % 16);
        break;
      default:
        disturb(op / 8);
    }
  }

  // A state that another process may have left, or that a long life leads to.
  void disturb(unsigned how) {
    WorkerGuard& guard = rig_.guard;
    const Connection c(in_.octet() % 8);
    switch (how % 4) {
      case 0:
        (void)guard.sources.put(SourceTable::key_of(c.tuple), how / 4 % 2 == 0 ? Proof::kCookie : Proof::kVouched,
                                guard.time.seconds);
        break;
      case 1:
        (void)guard.sources.remove(SourceTable::key_of(c.tuple));
        break;
      case 2:
        if (Flow* const flow = flow_of(c); flow != nullptr) guard.flows.remove(flow);
        break;
      default: {
        Flow* flow = flow_of(c);
        if (flow == nullptr) flow = guard.flows.insert(c.tuple, guard.flows.hash_of(c.tuple), guard.time.seconds);
        if (flow == nullptr) return;
        flow->flags = in_.octet();
        flow->server_scale = in_.octet() % 15;
        flow->told_scale = in_.octet() % 15;
        flow->client_scale = static_cast<std::uint8_t>(in_.octet() % 15) & 0xF;
        const std::uint8_t cookie = in_.octet();
        flow->mss_index = cookie & 7;
        flow->cookie_kind = cookie >> 3 & 1;
        flow->sequence_delta = static_cast<std::uint32_t>(in_.word()) << 16 | in_.word();
        flow->ts_delta = in_.word();
        flow->client_next = kClientIsn + in_.octet();
        flow->client_sent = static_cast<std::uint32_t>(in_.word()) << 16 | in_.word();
        flow->state = static_cast<FlowState>(1 + in_.octet() % 4);
      }
    }
  }

  void add(Side from) {
    const unsigned form = in_.octet();
    fuzz::Bytes frame;
    if ((form & 1) != 0) {
      frame = in_.bytes(in_.octet());
    } else {
      frame = from == Side::kClient ? of_client() : of_server();
      if ((form & 2) != 0) damage(frame, in_, 1 + in_.octet() % 4);
      if ((form & 4) != 0) frame.resize(in_.octet() * frame.size() / 255);
      if ((form & 8) != 0) repair(frame);
    }
    Lie lie;
    if ((form & 16) != 0) lie.first_bytes = in_.octet();
    lie.no_tailroom = (form & 32) != 0;
    if ((form & 64) != 0) lie.ol_flags = RTE_MBUF_F_RX_L4_CKSUM_BAD;
    rig_.add(frame, lie);
  }

  // Numbers that fit are computed, because no fuzzer finds a cookie.
  fuzz::Bytes of_client() {
    const unsigned kind = in_.octet();
    const Connection c(kind / 16 % 8);
    const CookieJar& jar = rig_.guard.jar;
    Frame f = c.client;
    f.sequence = kClientIsn + 1;
    f.flags = kAck;
    CookieOptions kept{.mss = 1460};
    kept.has_timestamps = (kind & 128) != 0;
    if (kept.has_timestamps) {
      kept.window_scale = std::uint8_t{7};
      kept.told_scale = 7;
      kept.sack_permitted = true;
    }
    const Flow* const flow = flow_of(c);
    FourTuple tuple = c.tuple;  // as the flow's own cookie, or one for the tuple of a flow (proxy.cpp)
    if (flow != nullptr && flow->cookie_kind == 0 && (flow->flags & Flow::kChallenged) != 0) tuple.vlan |= 1 << 15;
    const auto cookie =
        jar.syn_cookie(tuple, kClientIsn, kept, static_cast<std::uint32_t>(rig_.guard.time.milliseconds));
    switch (kind % 16) {
      case 0:
      case 1:
        f.flags = kSyn;
        f.sequence = kClientIsn;
        break;
      case 2:
        f.flags = kSyn | kEce | kCwr;
        f.sequence = kClientIsn;
        f.payload = guard::test::Bytes(in_.octet(), 1);
        break;
      case 3:
        f.flags = kRst;
        f.sequence = jar.rst_cookie(c.tuple);
        break;
      case 4:
      case 5:
      case 6:
        f.acknowledgment = cookie.sequence + 1;
        if (kind % 16 == 6) f.sequence = kClientIsn;
        if (kept.has_timestamps) {
          f.options = {1, 1, 8, 10, 0, 0, 0, 1};
          put32(f.options, cookie.ts_value);
          return write(f);
        }
        break;
      case 7:
      case 8:
      case 9:
      case 10:
        f.sequence = flow == nullptr ? 0 : flow->client_next;
        f.acknowledgment = flow == nullptr ? 0 : flow->sequence_delta + kServerIsn + 1;
        f.flags = in_.octet();
        f.payload = guard::test::Bytes(in_.octet(), 2);
        break;
      case 11:
        return error_about(with_server_numbers(c, kAck), in_.octet());
      case 12:
        extend(f);
        f.flags = in_.octet();
        break;
      default:
        f.flags = in_.octet();
        f.sequence = kClientIsn + in_.octet();
        f.acknowledgment = in_.word();
    }
    f.options = some_options();
    return write(f);
  }

  Frame with_server_numbers(const Connection& c, std::uint8_t flags) {
    Frame f = c.client.back();
    const Flow* const flow = flow_of(c);
    f.flags = flags;
    f.sequence = kServerIsn + 1;
    f.acknowledgment = flow == nullptr ? kClientIsn + 1 : flow->client_next;
    return f;
  }
  fuzz::Bytes of_server() {
    const unsigned kind = in_.octet();
    const Connection c(kind / 16 % 8);
    Frame f = with_server_numbers(c, kAck);
    switch (kind % 8) {
      case 0:
      case 1:
        f.flags = kSyn | kAck;
        f.sequence = kServerIsn;
        break;
      case 2:
        f.flags = kRst | kAck;
        break;
      case 3:
      case 4:
        f.flags = in_.octet();
        f.payload = guard::test::Bytes(in_.octet(), 3);
        break;
      case 5: {
        Frame quoted = c.client;
        quoted.flags = kAck;
        quoted.acknowledgment = kServerIsn + 1;
        return error_about(quoted, in_.octet());
      }
      case 6:
        extend(f);
        break;
      default:
        f.flags = in_.octet();
        f.sequence = in_.word();
        f.acknowledgment = kClientIsn + in_.octet();
    }
    f.options = some_options();
    return write(f);
  }

  guard::test::Bytes some_options() {
    const unsigned how = in_.octet();
    switch (how % 4) {
      case 0:
        return {};
      case 1:
        return {2, 4, 5, 0xB4, 4, 2, 8, 10, 0, 0, 0, 9, 0, 0, 0, 0, 1, 3, 3, 9};
      case 2: {
        guard::test::Bytes options{1, 1, 8, 10};
        put32(options, kServerClock + in_.octet());
        put32(options, in_.word());
        return options;
      }
      default: {
        guard::test::Bytes options = in_.bytes(how / 4 % 11 * 4);
        options.resize((options.size() + 3) / 4 * 4);
        return options;
      }
    }
  }
  // IP options, extension headers, a fragment.
  void extend(Frame& f) {
    const bool v6 = f.to.find(':') != std::string::npos;
    f.extension = in_.octet();
    f.ip_options = in_.bytes(v6 ? 8 : in_.octet() % 11 * 4);
    f.ip_options.resize((f.ip_options.size() + (v6 ? 7 : 3)) / (v6 ? 8 : 4) * (v6 ? 8 : 4));
    if (v6 && !f.ip_options.empty()) f.ip_options[0] = 6;
    if (!v6) f.fragment = in_.word();
    f.padding = in_.octet() % 32;
  }
  static fuzz::Bytes error_about(const Frame& quoted, std::size_t bytes) {
    const bool v6 = quoted.to.find(':') != std::string::npos;
    Frame f = quoted.back();
    f.from = v6 ? "2001:db8:9::1" : "203.0.113.9";
    const guard::test::Bytes whole = ip_of(quoted, 6, tcp_of(quoted));
    bytes = std::min(bytes, whole.size());
    return icmp_error(f, v6 ? 2 : 3, {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes)});
  }

  Input& in_;
  Rig rig_;
};

}  // namespace
}  // namespace splitplane::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  splitplane::fuzz::start_dpdk();
  return 0;
}

// The first octet chooses who verifies checksums and how large the tables are; the second one the mode.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace splitplane;
  fuzz::Input in(data, bytes);
  const unsigned how = in.octet();
  guard::GuardSettings settings;
  settings.sources.entries = settings.flows.entries = (how & 1) != 0 ? 64 : 512;
  settings.sources.flows_each = (how & 2) != 0 ? 1 : 100;
  settings.sources.syn_per_second = 5;
  settings.key_seconds = 0;  // new keys would be random ones
  settings.replies_per_second = (how & 4) != 0 ? 10 : 1000;
  settings.unproven_per_second = 10;
  if ((how & 8) != 0) settings.checksums = datapath::ChecksumMode::offload;
  fuzz::Game(in, settings).play();
  return 0;
}
