// For tests of ran/rlc only: AM entities on heap buffers with all that they need, and PDUs as hex text. Memory that is
// still held when a side is destroyed is a leak and fails the test.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "buf/heap_buffer.h"
#include "ran/rlc/am_entity.h"
#include "wire/test_octets.h"

namespace splitplane::ran::rlc::test {

using Buffer = buf::HeapBuffer;
using Bytes = std::vector<std::uint8_t>;
using wire::test::from_hex;
using wire::test::tidy;
using wire::test::to_hex;

inline constexpr MemorySizes kSmall{.sent_pages = 80,
                                    .received_pages = 80,
                                    .queue_pages = 80,
                                    .directories = 16,
                                    .segments = 500,
                                    .assemblies = 200,
                                    .intervals = 500};

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::uint32_t operator()() { return static_cast<std::uint32_t>(engine_()); }
  bool percent(unsigned chance) { return (*this)() % 100 < chance; }

 private:
  std::mt19937_64 engine_;
};

// `count` octets that differ from each other and by `salt`.
inline Bytes pattern(std::size_t count, unsigned salt = 0) {
  Bytes out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<std::uint8_t>(i * 7 + salt * 31 + (i >> 8));
  return out;
}

// The buffers and memory of entities of one thread. All of it must be given back before this is destroyed.
struct Home {
  explicit Home(const MemorySizes& sizes = kSmall) : memory(sizes) {}
  ~Home() {
    EXPECT_TRUE(memory.unused()) << "a page, segment, assembly, interval or directory was not given back";
    EXPECT_EQ(pool.live(), 0U);
  }
  [[nodiscard]] Buffer make(Octets octets) { return pool.make(octets); }

  buf::HeapPool pool{{.headroom = 0}};
  Memory<Buffer> memory;
};

inline Bytes joined(std::span<const Part<Buffer>> parts) {
  Bytes out;
  for (const Part<Buffer>& part : parts) out.insert(out.end(), part.data().begin(), part.data().end());
  return out;
}

// An AM entity and its output.
struct AmSide {
  explicit AmSide(const AmConfig& config, const MemorySizes& sizes = kSmall)
      : home(sizes), entity(std::make_unique<AmEntity<Buffer>>(config, home.memory)) {}

  bool send(const Bytes& sdu) {
    Buffer buffer = home.make(sdu);
    return entity->send(buffer);
  }
  // The next PDU, empty if there is none.
  Bytes pull(std::size_t grant) {
    wire::test::HeapOctets out(grant);
    const std::size_t bytes = entity->pull(out.all(), now);
    const Octets pdu = Octets(out).first(bytes);
    return {pdu.begin(), pdu.end()};
  }
  std::string pull_hex(std::size_t grant) { return to_hex(pull(grant)); }
  void receive(const Bytes& pdu) {
    entity->receive(
        home.make(pdu), now, [this](auto parts) { delivered.push_back(joined(parts)); },
        [this](std::uint32_t sn) { max_retx.push_back(sn); });
  }
  void receive(std::string_view hex) { receive(from_hex(hex)); }
  void tick(Time time) {
    now = time;
    entity->tick(now, [this](std::uint32_t sn) { max_retx.push_back(sn); });
  }
  std::size_t release(std::size_t budget = 1U << 20) {
    return entity->release(budget, [this](std::uint32_t sn, Buffer) { released.push_back(sn); });
  }
  // Sends `count` SDUs of `bytes` octets and pulls them, a PDU each; the PDUs.
  std::vector<Bytes> submit(std::size_t count, std::size_t bytes = 4) {
    std::vector<Bytes> pdus;
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_TRUE(send(pattern(bytes, static_cast<unsigned>(i))));
      pdus.push_back(pull(bytes + 8));
    }
    return pdus;
  }

  [[nodiscard]] const AmSend<Buffer>& sender() const { return entity->sender(); }
  [[nodiscard]] const AmRetx<Buffer>& retx() const { return entity->retx(); }
  [[nodiscard]] const AmReceive<Buffer>& receiver() const { return entity->receiver(); }

  Home home;
  std::unique_ptr<AmEntity<Buffer>> entity;  // gone before its memory is judged
  Time now = 0;
  std::vector<Bytes> delivered;
  std::vector<std::uint32_t> max_retx, released;
};

// A STATUS PDU; SNs may lie beyond the modulus.
inline Bytes status_pdu(unsigned sn_bits, std::uint32_t ack, std::vector<wire::rlc::Nack> nacks = {}) {
  Bytes out(wire::rlc::kStatusFixedBytes + nacks.size() * wire::rlc::kMaxNackBytes);
  wire::rlc::StatusWriter writer(out, sn_bits);
  for (wire::rlc::Nack& nack : nacks) {
    nack.sn &= sn_mask(sn_bits);
    EXPECT_TRUE(writer.add(nack));
  }
  out.resize(writer.finish(ack & sn_mask(sn_bits)));
  return out;
}

// Polls only where the rules of an empty buffer or a full window ask for it.
inline AmConfig am12() {
  return {.sn_bits = 12,
          .max_retx = 4,
          .poll_pdu = 0,
          .t_poll_retransmit = 45,
          .t_reassembly = 35,
          .t_status_prohibit = 10,
          .max_queued = 8192};
}
inline AmConfig am18() {
  AmConfig config = am12();
  config.sn_bits = 18;
  return config;
}

// The state that an ignored PDU must not change.
struct AmState {
  std::uint32_t next, next_ack, poll_sn, unacked, pending, rx_next, rx_highest, rx_status;
  std::uint32_t pdu_without_poll, byte_without_poll;
  Time poll_retransmit, reassembly, prohibit;
  bool poll_wanted, triggered;
  std::size_t delivered, live;
  bool operator==(const AmState&) const = default;
};
inline AmState state_of(const AmSide& side) {
  const auto& [s, x, r] = std::tie(side.sender(), side.retx(), side.receiver());
  return {s.next(),
          x.next_ack(),
          x.poll_sn(),
          x.unacked(),
          x.pending(),
          r.next(),
          r.next_highest(),
          r.highest_status(),
          s.pdu_without_poll(),
          s.byte_without_poll(),
          x.t_poll_retransmit().expiry(),
          r.t_reassembly().expiry(),
          r.t_status_prohibit().expiry(),
          x.poll_wanted(),
          r.triggered(),
          side.delivered.size(),
          side.home.pool.live()};
}

}  // namespace splitplane::ran::rlc::test
