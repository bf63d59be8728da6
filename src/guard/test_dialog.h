// For tests of the guard only: one client and one server that talk through a Bump, segment by segment. Nothing here
// decides anything: a test says what each side sends, and this keeps the numbers.
#pragma once

#include <gtest/gtest.h>

#include "guard/test_bump.h"

namespace splitplane::guard::test {

// Options as in a Linux SYN; what is 0 or absent is left out.
struct Offer {
  std::uint16_t mss = 1460;
  bool sack = true, timestamps = true;
  int scale = 7;  // -1: none
};

inline Bytes stamps(std::uint32_t value, std::uint32_t echo) {
  Bytes out{1, 1, 8, 10};
  put32(out, value);
  put32(out, echo);
  return out;
}

inline Bytes options_of(const Offer& offer, std::uint32_t value, std::uint32_t echo) {
  Bytes out;
  if (offer.mss != 0) {
    put(out, {2, 4});
    put16(out, offer.mss);
  }
  if (offer.sack) put(out, {1, 1, 4, 2});
  if (offer.timestamps) put(out, stamps(value, echo));
  if (offer.scale >= 0) put(out, {1, 3, 3, static_cast<std::uint8_t>(offer.scale)});
  return out;
}

// What options of a SYN or SYN-ACK say.
struct Said {
  std::uint16_t mss = 0;
  bool sack = false, timestamps = false;
  int scale = -1;
  std::uint32_t value = 0, echo = 0;
};
inline Said said_in(const Bytes& options) {
  Said said;
  for (std::size_t i = 0; i < options.size() && options[i] != 0;) {
    if (options[i] == 1) {
      ++i;
      continue;
    }
    const std::uint8_t* const data = options.data() + i + 2;
    if (options[i] == 2) said.mss = wire::load_be16(data);
    if (options[i] == 3) said.scale = *data;
    if (options[i] == 4) said.sack = true;
    if (options[i] == 8) {
      said.timestamps = true;
      said.value = wire::load_be32(data);
      said.echo = wire::load_be32(data + 4);
    }
    i += options[i + 1];
  }
  return said;
}

// A connection from 192.0.2.7:40000 to 10.0.0.1:80, or between the same hosts of IPv6.
class Dialog {
 public:
  static constexpr std::uint32_t kClientIsn = 0xFFFFFFFE, kServerIsn = 0x12345678;  // the client's wraps at once
  static constexpr std::uint32_t kClientClock = 5000, kServerClock = 900'000;

  explicit Dialog(Bump& bump, const Offer& client = {}, bool v6 = false) : bump_(bump), client_(client) {
    if (v6) {
      base_.from = "2001:db8:1::7";
      base_.to = "2001:db8::1";
    }
  }

  [[nodiscard]] Frame of_client(std::uint8_t flags) const {
    Frame f = base_;
    f.flags = flags;
    f.sequence = client_next;
    f.acknowledgment = (flags & kAck) != 0 ? server_next : 0;
    if (client_.timestamps && cookie_said.timestamps) f.options = stamps(kClientClock + 10, server_clock);
    return f;
  }
  [[nodiscard]] Frame of_server(std::uint8_t flags) const {
    Frame f = base_.back();
    f.flags = flags;
    f.sequence = kServerIsn + 1;
    f.acknowledgment = kClientIsn + 1;
    return f;
  }
  [[nodiscard]] Frame syn(std::uint8_t flags = kSyn) const {
    Frame f = base_;
    f.flags = flags;
    f.sequence = kClientIsn;
    f.options = options_of(client_, kClientClock, 0);
    return f;
  }
  // The client's SYN, and what it takes from the SYN-ACK.
  void begin(std::uint8_t flags = kSyn) {
    ASSERT_EQ(bump_.from_client(syn(flags)), Outcome::challenged_syn);
    ASSERT_EQ(bump_.to_client.size(), 1U);
    ASSERT_TRUE(bump_.to_server.empty());
    cookie = read_back(bump_.to_client[0]);
    take_cookie();
  }
  void take_cookie() {
    ASSERT_TRUE(cookie.checksums_good);
    cookie_said = said_in(cookie.frame.options);
    client_next = kClientIsn + 1;
    server_next = cookie.frame.sequence + 1;
    server_clock = cookie_said.value;
  }
  // The client's ACK, and the SYN that the server gets.
  void prove() {
    Frame ack = of_client(kAck);
    ack.window = 502;
    ASSERT_EQ(bump_.from_client(ack), Outcome::connected);
    ASSERT_EQ(bump_.to_server.size(), 1U);
    ASSERT_TRUE(bump_.to_client.empty());
    server_syn = read_back(bump_.to_server[0]);
    ASSERT_TRUE(server_syn.checksums_good);
  }
  [[nodiscard]] Frame syn_ack(const Offer& server, std::uint16_t window = 65160) const {
    Frame f = of_server(kSyn | kAck);
    f.sequence = kServerIsn;
    f.window = window;
    const Said asked = said_in(server_syn.frame.options);
    Offer answer = server;
    answer.sack = server.sack && asked.sack;
    answer.timestamps = server.timestamps && asked.timestamps;
    if (asked.scale < 0) answer.scale = -1;
    f.options = options_of(answer, kServerClock, asked.value);
    return f;
  }
  // The server's SYN-ACK, and both segments that follow from it.
  void answer(const Offer& server = {}, std::uint16_t window = 65160) {
    ASSERT_EQ(bump_.from_server(syn_ack(server, window)), Outcome::handshake);
    ASSERT_EQ(bump_.to_server.size(), 1U);
    ASSERT_EQ(bump_.to_client.size(), 1U);
    server_ack = read_back(bump_.to_server[0]);
    window_update = read_back(bump_.to_client[0]);
    ASSERT_TRUE(server_ack.checksums_good);
    ASSERT_TRUE(window_update.checksums_good);
  }
  void connect(const Offer& server = {}) {
    ASSERT_NO_FATAL_FAILURE(begin());
    ASSERT_NO_FATAL_FAILURE(prove());
    ASSERT_NO_FATAL_FAILURE(answer(server));
  }
  // Sends a frame and returns what came out on the other side.
  [[nodiscard]] Frame passes_to_server(const Frame& f, Outcome outcome = Outcome::translated) {
    EXPECT_EQ(bump_.from_client(f), outcome);
    return one(bump_.to_server);
  }
  [[nodiscard]] Frame passes_to_client(const Frame& f, Outcome outcome = Outcome::translated) {
    EXPECT_EQ(bump_.from_server(f), outcome);
    return one(bump_.to_client);
  }
  [[nodiscard]] Flow* flow() {
    Segment s;
    rte_mbuf* const m = bump_.pool().make(write(base_));
    SegmentParser(bump_.guard.servers).parse(m, Side::kClient, s);
    rte_pktmbuf_free(m);
    return bump_.guard.flows.find(s.tuple, bump_.guard.flows.hash_of(s.tuple), bump_.guard.time.seconds);
  }
  [[nodiscard]] FlowState state() {
    const Flow* const found = flow();
    return found == nullptr ? FlowState::kFree : found->state;
  }
  // What a server's numbers are for the client.
  [[nodiscard]] std::uint32_t delta() const { return cookie.frame.sequence - kServerIsn; }

  ReadBack cookie, server_syn, server_ack, window_update;
  Said cookie_said;
  std::uint32_t client_next = 0, server_next = 0, server_clock = 0;  // as the client sees them

 private:
  static Frame one(const std::vector<Bytes>& frames) {
    EXPECT_EQ(frames.size(), 1U);
    if (frames.empty()) return {};
    const ReadBack back = read_back(frames[0]);
    EXPECT_TRUE(back.checksums_good);
    return back.frame;
  }

  Bump& bump_;
  Offer client_;
  Frame base_;
};

}  // namespace splitplane::guard::test
