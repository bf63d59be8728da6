// The cost of PDCP on mbufs: bursts of 32 packets of 64 K bearers, each algorithm pair, transmitter and receiver beside
// the engine alone and intel-ipsec-mb alone, in turns on one core. Packets are in the cache, as their stage before
// leaves them; entities and keys are not. The receiver has entities and keys that the transmitter did not touch.
// Results are medians in nanoseconds per packet. Prints one JSON object.
#include <fmt/format.h>
#include <rte_cycles.h>
#include <sys/mman.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "crypto_ways.h"
#include "engine/mbuf_buffer.h"
#include "on_core.h"
#include "quiet.h"
#include "ran/pdcp/entity.h"
#include "ran/pdcp/rx_burst.h"
#include "ran/pdcp/tx_burst.h"

namespace splitplane::bench {
namespace {

using Buffer = datapath::MbufBuffer;
using Tx = ran::pdcp::Transmitter<Buffer>;
using Rx = ran::pdcp::Receiver<Buffer>;
using ran::pdcp::RxOutcome;
using ran::pdcp::TxOutcome;

constexpr std::size_t kMostBytes = 2000;

// Objects of one type side by side, in large pages where the system has them.
template <class T>
class Block {
 public:
  explicit Block(std::size_t size) : bytes_(size * sizeof(T)) {
    void* const at = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) throw std::runtime_error("no memory for the entities");
    madvise(at, bytes_, MADV_HUGEPAGE);
    at_ = static_cast<T*>(at);
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() {
    for (std::size_t i = 0; i < size_; ++i) at_[i].~T();
    munmap(at_, bytes_);
  }
  template <class... Arguments>
  void add(Arguments&&... arguments) {
    new (at_ + size_++) T(std::forward<Arguments>(arguments)...);
  }
  T& operator[](std::size_t i) { return at_[i]; }

 private:
  T* at_ = nullptr;
  std::size_t size_ = 0, bytes_;
};

struct Pair {
  const char* name;
  CipherAlgorithm cipher;
  IntegrityAlgorithm integrity;
  bool signs;
};
constexpr Pair kPairs[] = {{"nea0", CipherAlgorithm::nea0, IntegrityAlgorithm::nia0, false},
                           {"nea2", CipherAlgorithm::nea2, IntegrityAlgorithm::nia2, false},
                           {"nia1+nea1", CipherAlgorithm::nea1, IntegrityAlgorithm::nia1, true},
                           {"nia2+nea2", CipherAlgorithm::nea2, IntegrityAlgorithm::nia2, true},
                           {"nia3+nea3", CipherAlgorithm::nea3, IntegrityAlgorithm::nia3, true}};

// The same secrets as keys for one side.
class SideKeys {
 public:
  SideKeys(KeyStore& store, const Pair& pair) {
    std::mt19937_64 random(3);
    std::array<std::uint8_t, 16> octets{};
    for (std::size_t i = 0; i < kBearers; ++i) {
      for (auto& octet : octets) octet = static_cast<std::uint8_t>(random());
      const auto secret = [&](std::size_t bytes) {
        return bytes == 0 ? Secret() : value_of(Secret::from_octets(octets));
      };
      ciphers_.push_back(value_of(store.make(pair.cipher, secret(key_bytes(pair.cipher)))));
      if (pair.signs) integrities_.push_back(value_of(store.make(pair.integrity, secret(16))));
    }
  }
  ran::pdcp::Security operator[](std::size_t i) const {
    return {ciphers_[i].get(), integrities_.empty() ? nullptr : integrities_[i].get()};
  }

 private:
  std::vector<KeyStore::CipherKeyPtr> ciphers_;
  std::vector<KeyStore::IntegrityKeyPtr> integrities_;
};

struct Sink {
  void discard(Tx&, Count) {}
  void key_needed(Tx&) {}
  void key_needed(Rx&) {}
  void integrity_failure(Rx&, Count) {}
  void status_report(Rx&, const wire::pdcp::StatusReport&) {}
  void deliver(Rx&, Count, Buffer sdu) { (*sdus)[delivered++] = std::move(sdu); }
  std::array<Buffer, kBurst>* sdus = nullptr;
  std::size_t delivered = 0;
};

class Bench {
 public:
  Bench(rte_mempool* pool, const Pair& pair, unsigned repeats) : pool_(pool), pair_(pair), repeats_(repeats) {
    for (const bool am : {false, true}) {
      for (std::size_t i = 0; i < kBearers; ++i) {
        ran::pdcp::Config config;
        config.rlc = am ? RlcMode::kAm : RlcMode::kUm;
        config.drb = static_cast<std::uint8_t>(1 + i % 32);
        config.tx_sdap_header = config.rx_sdap_header = true;
        (am ? am_ : um_).add(config, tx_keys_[i], memory_);
        config.sends = Direction::kUplink;
        if (!am) rx_.add(config, rx_keys_[i], memory_);
      }
    }
    for (Buffer& sdu : sdus_) sdu = Buffer::make(pool_, kMostBytes, 256);
    for (auto& bearer : order_) bearer = static_cast<std::uint32_t>(random_() % kBearers);
  }

  nlohmann::json run(std::uint32_t bytes) {
    figures_.clear();
    for (Buffer& sdu : sdus_) {
      if (sdu.size() > bytes) static_cast<void>(sdu.trim_back(sdu.size() - bytes));
      if (sdu.size() < bytes) static_cast<void>(sdu.append(bytes - sdu.size()));
    }
    const unsigned bursts = bytes > 1000 ? 60 : 200;
    for (unsigned repeat = 0; repeat <= repeats_; ++repeat) {
      for (unsigned i = 0; i < bursts; ++i) {
        tx_and_rx();
        am();
        alone(bytes);
      }
      for (auto& [name, way] : figures_) {
        const double ns = static_cast<double>(way.cycles) * 1e9 / static_cast<double>(rte_get_tsc_hz());
        if (repeat != 0) way.ns.push_back(ns / (bursts * kBurst));  // the first one warms up
        way.cycles = 0;
      }
    }
    nlohmann::json out{{"algorithms", pair_.name}, {"bytes", bytes}};
    for (auto& [name, way] : figures_) {
      const auto middle = way.ns.begin() + static_cast<std::ptrdiff_t>(way.ns.size() / 2);
      std::nth_element(way.ns.begin(), middle, way.ns.end());
      out[name] = *middle;
    }
    for (const char* against : {"library", "library_hot"}) {
      if (!out.contains(against)) continue;
      for (const char* way : {"tx", "rx"}) {
        out[fmt::format("{}_per_{}", way, against)] = out[way].get<double>() / out[against].get<double>();
      }
    }
    return out;
  }

 private:
  struct Way {
    std::uint64_t cycles = 0;
    std::vector<double> ns;
  };
  template <class Do>
  void time(const char* name, Do&& work) {
    const std::uint64_t before = rte_rdtsc_precise();
    work();
    figures_[name].cycles += rte_rdtsc_precise() - before;
  }
  const std::uint32_t* next() {
    at_ = (at_ + kBurst) % order_.size();
    return order_.data() + at_;
  }
  static Buffer none(std::size_t) { return {}; }

  // A burst through transmitters, and what comes out through the receivers of the same bearers.
  void tx_and_rx() {
    const std::uint32_t* const bearers = next();
    std::array<ran::pdcp::TxItem<Buffer>, kBurst> out;
    std::array<ran::pdcp::RxItem<Buffer>, kBurst> in;
    for (std::size_t i = 0; i < kBurst; ++i) {
      out[i].from = &um_[bearers[i]];
      out[i].buffer = std::move(sdus_[i]);
    }
    time("tx", [&] {
      tx_burst_.protect(out, 0, sink_, none);
      tx_burst_.keep(out);
    });
    for (std::size_t i = 0; i < kBurst; ++i) {
      if (out[i].outcome != TxOutcome::sent) throw std::runtime_error("an SDU was not sent");
      in[i].to = &rx_[bearers[i]];
      in[i].pdu = std::move(out[i].buffer);
    }
    sink_.sdus = &sdus_;
    sink_.delivered = 0;
    time("rx", [&] { rx_burst_.receive(in, 0, sink_, none); });
    if (sink_.delivered != kBurst) throw std::runtime_error("a PDU was not delivered");
  }

  // AM bearers store what they send, until it is confirmed.
  void am() {
    const std::uint32_t* const bearers = next();
    std::array<ran::pdcp::TxItem<Buffer>, kBurst> out;
    for (std::size_t i = 0; i < kBurst; ++i) {
      out[i].from = &am_[bearers[i]];
      out[i].buffer = std::move(sdus_[i]);
    }
    time("tx_am", [&] {
      tx_burst_.protect(out, 0, sink_, none);
      tx_burst_.keep(out);
    });
    time("confirm_am", [&] {
      for (const auto& item : out) item.from->confirm(item.count);
    });
    for (std::size_t i = 0; i < kBurst; ++i) {
      const auto& cover = out[i].from->cover();
      if (!out[i].buffer.trim_front(cover.header_bytes) || !out[i].buffer.trim_back(cover.mac_bytes)) {
        throw std::runtime_error("a PDU is still stored");
      }
      sdus_[i] = std::move(out[i].buffer);
    }
  }

  void alone(std::uint32_t bytes) {
    if (pair_.cipher == CipherAlgorithm::nea0) return;
    const std::uint32_t mac = pair_.signs ? 4 : 0;
    time("engine", [&] {
      if (pair_.signs) ours_.integrity(packets_, bytes + 3, true);
      ours_.cipher(packets_, bytes - 1 + mac);
    });
    const auto library = [&](Alone& alone) {
      if (pair_.signs) alone.integrity(pair_.integrity, packets_, bytes + 3);
      alone.cipher(pair_.cipher, packets_, bytes - 1 + mac);
    };
    time("library", [&] { library(library_); });
    time("library_hot", [&] { library(library_hot_); });
  }

  rte_mempool* pool_;
  Pair pair_;
  unsigned repeats_;
  std::mt19937_64 random_{4};
  std::unique_ptr<KeyStore> store_ = value_of(KeyStore::create());
  std::unique_ptr<Engine> engine_ = value_of(Engine::create());
  SideKeys tx_keys_{*store_, pair_}, rx_keys_{*store_, pair_};
  ran::pdcp::Memory<Buffer> memory_{{}};
  Block<Tx> um_{kBearers}, am_{kBearers};
  Block<Rx> rx_{kBearers};
  ran::pdcp::TxBurst<Buffer> tx_burst_{*engine_};
  ran::pdcp::RxBurst<Buffer> rx_burst_{*engine_};
  Bearers bearers_{*store_, pair_.cipher == CipherAlgorithm::nea0 ? CipherAlgorithm::nea2 : pair_.cipher,
                   pair_.integrity == IntegrityAlgorithm::nia0 ? IntegrityAlgorithm::nia2 : pair_.integrity};
  Ours ours_{*engine_, bearers_};
  Alone library_{kBearers}, library_hot_{kBurst};  // keys of 64 K bearers; 32 keys that stay in the cache
  Packets packets_;
  Sink sink_;
  std::array<Buffer, kBurst> sdus_;
  std::vector<std::uint32_t> order_ = std::vector<std::uint32_t>(std::size_t{1} << 20);
  std::size_t at_ = 0;
  std::map<std::string, Way> figures_;
};

}  // namespace
}  // namespace splitplane::bench

int main(int argc, char** argv) {
  unsigned repeats = 41, core = 0;
  std::vector<std::uint32_t> sizes{64, 512, 1500};
  CLI::App app{"ns per packet of PDCP, beside its engine and intel-ipsec-mb alone; prints JSON."};
  app.add_option("--repeats", repeats, "batches of each way, in turns; the result is their median")
      ->check(CLI::Range(1, 1001));
  app.add_option("--core", core, "core to measure on");
  app.add_option("--bytes", sizes, "sizes of an SDU")->delimiter(',')->check(CLI::Range(2, 1900));
  CLI11_PARSE(app, argc, argv);

  using namespace splitplane::bench;
  return on_core("pdcp_bench", core, {.file_prefix = "splitpdcpbench", .megabytes = 128}, [&](bool hugepages) {
    rte_mempool* const pool = rte_pktmbuf_pool_create("sdus", 1023, 32, 0, 2560, SOCKET_ID_ANY);
    if (pool == nullptr) throw std::runtime_error("no memory for the bench's pool");
    const auto before = measure_jitter(100);
    nlohmann::json report{{"rows", nlohmann::json::array()}};
    for (const Pair& pair : kPairs) {
      Bench bench(pool, pair, repeats);
      for (const std::uint32_t bytes : sizes) report["rows"].push_back(bench.run(bytes));
    }
    const auto after = measure_jitter(100);
    report["entity_bytes"] = sizeof(splitplane::ran::pdcp::Entity<Buffer>);
    report["hugepages"] = hugepages;
    report["jitter_percent"] = std::max(before.lost_percent, after.lost_percent);
    std::printf("%s\n", report.dump(1).c_str());
  });
}
