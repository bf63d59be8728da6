// For tests of ran/pdcp only: entities on heap buffers with all that they need, and what their neighbours hear. Memory
// that is still held when a home is destroyed is a leak and fails the test.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <vector>

#include "buf/heap_buffer.h"
#include "ran/pdcp/entity.h"
#include "ran/pdcp/rx_burst.h"
#include "ran/pdcp/tx_burst.h"

namespace splitplane::ran::pdcp::test {

using Buffer = buf::HeapBuffer;
using Bytes = std::vector<std::uint8_t>;
using crypto::CipherAlgorithm;
using crypto::IntegrityAlgorithm;

inline Bytes bytes_of(const Buffer& buffer) {
  const Octets octets = buf::octets(buffer);
  return {octets.begin(), octets.end()};
}
// `size` octets that differ from each other and by `salt`.
inline Bytes pattern(std::size_t size, unsigned salt = 0) {
  Bytes out(size);
  for (std::size_t i = 0; i < size; ++i) out[i] = static_cast<std::uint8_t>(i * 7 + salt * 31 + (i >> 8));
  return out;
}

class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  std::uint32_t operator()() { return static_cast<std::uint32_t>(engine_()); }

 private:
  std::mt19937 engine_;
};

// A pair of keys with its owner.
struct Keys {
  crypto::KeyStore::CipherKeyPtr cipher;
  crypto::KeyStore::IntegrityKeyPtr integrity;
  [[nodiscard]] Security security() const { return {cipher.get(), integrity.get()}; }
};

inline constexpr MemorySizes kSmall{.directories = 64, .sent_pages = 64, .reorder_pages = 64, .waiting_pages = 16};

// What the entities of one thread share.
struct Home {
  explicit Home(const MemorySizes& sizes = kSmall) : memory(sizes) {}
  ~Home() {
    EXPECT_TRUE(memory.unused()) << "a page or directory was not given back";
    EXPECT_EQ(pool.live(), 0U);
  }

  Keys keys(std::uint8_t first, CipherAlgorithm cipher = CipherAlgorithm::nea2,
            IntegrityAlgorithm integrity = IntegrityAlgorithm::nia2) {
    Bytes octets(16, first);
    const auto secret = [&](std::size_t size) {
      return size == 0 ? crypto::Secret() : *crypto::Secret::from_octets(octets);
    };
    Keys out;
    out.cipher = *store->make(cipher, secret(crypto::key_bytes(cipher)));
    octets[15] ^= 0xFF;
    out.integrity = *store->make(integrity, secret(crypto::key_bytes(integrity)));
    return out;
  }
  auto maker() {
    return [this](std::size_t size) {
      ++made;
      return buffers_left-- > 0 ? pool.make(size) : Buffer();
    };
  }

  std::unique_ptr<crypto::KeyStore> store = std::move(crypto::KeyStore::create().value());
  std::unique_ptr<crypto::Engine> engine = std::move(crypto::Engine::create().value());
  buf::HeapPool pool{{.headroom = 64, .tailroom = 20}};
  buf::HeapPool tight{{.headroom = 0, .tailroom = 0}};
  Memory<Buffer> memory;
  TxBurst<Buffer> tx_burst{*engine};
  RxBurst<Buffer> rx_burst{*engine};
  int made = 0;                // buffers that entities asked for
  int buffers_left = 1 << 30;  // that they get
};

// One entity and its neighbours.
class Side {
 public:
  using Tx = Transmitter<Buffer>;
  using Rx = Receiver<Buffer>;

  Side(Home& home, const Config& config, const Security& security)
      : entity(config, security, home.memory), home_(home) {}

  // As a TxSink and RxSink.
  void discard(Tx&, Count count) { discards.push_back(count.value); }
  void key_needed(Tx&) { ++tx_keys_needed; }
  void key_needed(Rx&) { ++rx_keys_needed; }
  void integrity_failure(Rx&, Count count) { failures.push_back(count.value); }
  void deliver(Rx&, Count count, Buffer sdu) {
    delivered.push_back(bytes_of(sdu));
    counts.push_back(count.value);
  }
  void status_report(Rx&, const wire::pdcp::StatusReport& report) { entity.tx().receive_status_report(report, *this); }

  TxOutcome send(const Bytes& sdu, Time now = 0) { return send(home_.pool.make(sdu), now); }
  TxOutcome send(Buffer sdu, Time now = 0) {
    TxItem<Buffer> item{.from = &entity.tx(), .buffer = std::move(sdu)};
    home_.tx_burst.protect({&item, 1}, now, *this, home_.maker());
    take({&item, 1});
    return item.outcome;
  }
  // Lower layers write a header, and the PDU is sent.
  void take(std::span<TxItem<Buffer>> items) {
    for (auto& item : items) {
      if (item.outcome != TxOutcome::sent) continue;
      pdus[item.count.value] = bytes_of(item.buffer);
      sent.push_back(item.count.value);
      if (item.buffer.prepend(3) != nullptr) item.lower_bytes = 3;
    }
    home_.tx_burst.keep(items);
    if (!rlc_keeps) return;
    for (auto& item : items) rlc.push_back(std::move(item.buffer));
  }
  RxOutcome receive(const Bytes& pdu, Time now = 0) {
    RxItem<Buffer> item{.to = &entity.rx(), .pdu = home_.pool.make(pdu)};
    home_.rx_burst.receive({&item, 1}, now, *this, home_.maker());
    return item.outcome;
  }
  std::vector<RxOutcome> receive_burst(const std::vector<Bytes>& burst, Time now = 0) {
    std::vector<RxItem<Buffer>> items;
    for (const Bytes& pdu : burst) items.push_back({.to = &entity.rx(), .pdu = home_.pool.make(pdu)});
    home_.rx_burst.receive(items, now, *this, home_.maker());
    std::vector<RxOutcome> out;
    for (const auto& item : items) out.push_back(item.outcome);
    return out;
  }
  // One step of what follows a change of keys. Returns how many PDUs it sent.
  std::size_t send_again(std::size_t most = 5) {
    std::vector<TxItem<Buffer>> items(most);
    const std::size_t count = home_.tx_burst.send_again(entity.tx(), items, *this, home_.maker());
    take(std::span(items).first(count));
    return count;
  }
  Bytes report() {
    Bytes out(entity.rx().report_bytes());
    out.resize(entity.rx().write_report(out));
    return out;
  }

  Entity<Buffer> entity;
  std::map<std::uint32_t, Bytes> pdus;  // the last PDU of each COUNT
  std::vector<std::uint32_t> sent, discards, failures, counts;
  std::vector<Bytes> delivered;
  int tx_keys_needed = 0, rx_keys_needed = 0;
  bool rlc_keeps = false;   // RLC has not released the buffers that it got
  std::vector<Buffer> rlc;  // those

 private:
  Home& home_;
};

// A gNB's and a UE's entity with the same keys.
struct Pair {
  Pair(Home& home, Config config, const Security& security)
      : gnb(home, config, security), ue(home, peer_of(config), security) {}
  static Config peer_of(Config config) {
    config.sends = Direction::kUplink;
    std::swap(config.tx_sn_bits, config.rx_sn_bits);
    std::swap(config.tx_sdap_header, config.rx_sdap_header);
    return config;
  }
  // TX_NEXT of the gNB and RX_DELIV of the UE.
  void begin_at(std::uint32_t count) {
    ASSERT_EQ(gnb.entity.set_counts(Count{count}, Count{0}, {}, gnb), Refusal::kNone);
    ASSERT_EQ(ue.entity.set_counts(Count{0}, Count{count}, {}, ue), Refusal::kNone);
  }
  Side gnb, ue;
};

[[nodiscard]] inline Config config_of(unsigned sn_bits, RlcMode rlc = RlcMode::kAm) {
  Config config;
  config.rlc = rlc;
  config.tx_sn_bits = config.rx_sn_bits = static_cast<std::uint8_t>(sn_bits);
  return config;
}

}  // namespace splitplane::ran::pdcp::test
