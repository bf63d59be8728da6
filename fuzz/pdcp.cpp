// PDCP. Two entities of one bearer take the same steps: one takes received PDUs in bursts, the other one by one. PDUs
// have any octets and no integrity protection, so each SN reaches the state machine. Both deliver the same SDUs, keep
// the order of their state variables (TS 38.323 7.1), count each PDU once, and give all memory back.
#include <memory>
#include <vector>

#include "buf/heap_buffer.h"
#include "fuzz.h"
#include "ran/pdcp/entity.h"
#include "ran/pdcp/rx_burst.h"
#include "ran/pdcp/tx_burst.h"

namespace splitplane::fuzz {
namespace {

using namespace ran::pdcp;
using Buffer = buf::HeapBuffer;

// One entity, what it needs, and what its neighbours hear.
class Side {
 public:
  using Tx = Transmitter<Buffer>;
  using Rx = Receiver<Buffer>;

  Side(const Config& config, const Security& security, crypto::Engine& engine)
      : tx_burst_(engine), rx_burst_(engine), entity(config, security, memory_) {}

  void discard(Tx&, Count count) { heard.push_back(count.value); }
  void key_needed(Tx&) { heard.push_back(1); }
  void key_needed(Rx&) { heard.push_back(2); }
  void integrity_failure(Rx&, Count) { require(false, "a bearer without integrity protection found a wrong MAC-I"); }
  void deliver(Rx&, Count count, Buffer sdu) {
    require(sdu.size() != 0 && sdu.size() <= wire::pdcp::kMaxSduBytes, "an SDU of {} octets", sdu.size());
    heard.push_back(count.value);
    heard.insert(heard.end(), sdu.data(), sdu.data() + sdu.size());
  }
  void status_report(Rx&, const wire::pdcp::StatusReport& report) { entity.tx().receive_status_report(report, *this); }

  void receive(const std::vector<Bytes>& pdus, Time now) {
    std::vector<RxItem<Buffer>> items;
    for (const Bytes& pdu : pdus) items.push_back({.to = &entity.rx(), .pdu = pool_.make(pdu)});
    rx_burst_.receive(items, now, *this, make_);
    received_ += pdus.size();
    std::uint64_t counted = 0;
    for (std::size_t i = 0; i < kRxOutcomeCount; ++i) counted += entity.rx().counters()[static_cast<RxOutcome>(i)];
    require(counted == received_, "{} PDUs came, and {} are counted", received_, counted);
  }
  void send(const Bytes& sdu, Time now) {
    TxItem<Buffer> item{.from = &entity.tx(), .buffer = pool_.make(sdu)};
    tx_burst_.protect({&item, 1}, now, *this, make_);
    tx_burst_.keep({&item, 1});
    heard.push_back(item.outcome == TxOutcome::sent ? item.count.value : 3);
  }
  void send_again() {
    std::vector<TxItem<Buffer>> items(3);
    while (entity.tx().sending_again()) {
      const std::size_t count = tx_burst_.send_again(entity.tx(), items, *this, make_);
      if (count == 0) break;  // it is done, or pages are short
      tx_burst_.keep(std::span(items).first(count));
      for (std::size_t i = 0; i < count; ++i) heard.push_back(items[i].count.value);
    }
  }
  void check() const {
    const auto& rx = entity.rx();
    require(rx.rx_deliv() <= rx.rx_next(), "RX_DELIV {} is above RX_NEXT {}", rx.rx_deliv(), rx.rx_next());
    if (!rx.reordering()) return;
    require(rx.rx_deliv() < rx.rx_reord() && rx.rx_reord() <= rx.rx_next(), "RX_REORD is {} with RX_DELIV {}",
            rx.rx_reord(), rx.rx_deliv());
  }
  void end() {
    entity.release(*this);
    require(memory_.unused() && pool_.live() == 0, "memory was not given back");
  }

 private:
  buf::HeapPool pool_{{.headroom = 32, .tailroom = 16}};
  struct Maker {
    buf::HeapPool& pool;
    Buffer operator()(std::size_t bytes) const { return pool.make(bytes); }
  } make_{pool_};
  Memory<Buffer> memory_{{.directories = 16, .sent_pages = 16, .reorder_pages = 16, .waiting_pages = 4}};
  TxBurst<Buffer> tx_burst_;
  RxBurst<Buffer> rx_burst_;
  std::uint64_t received_ = 0;

 public:
  Entity<Buffer> entity;
  std::vector<std::uint32_t> heard;  // what neighbours hear and deliver, as numbers
};

// NEA0 first, then keys of NEA2.
std::vector<crypto::KeyStore::CipherKeyPtr> make_keys(crypto::KeyStore& store) {
  std::vector<crypto::KeyStore::CipherKeyPtr> keys;
  keys.push_back(*store.make(crypto::CipherAlgorithm::nea0, crypto::Secret()));
  for (std::uint8_t i = 0; i < 4; ++i) {
    keys.push_back(*store.make(crypto::CipherAlgorithm::nea2, *crypto::Secret::from_octets(Bytes(16, i))));
  }
  return keys;
}

void run(Input in) {
  static const auto store = std::move(crypto::KeyStore::create().value());
  static const auto engine = std::move(crypto::Engine::create().value());
  static const auto keys = make_keys(*store);
  const std::uint8_t kind = in.octet();
  Config config;
  config.rlc = (kind & 1) != 0 ? RlcMode::kAm : RlcMode::kUm;
  config.tx_sn_bits = config.rx_sn_bits = (kind & 2) != 0 ? 12 : 18;
  config.out_of_order_delivery = (kind & 4) != 0;
  config.tx_sdap_header = (kind & 8) != 0;
  config.t_reordering = (kind & 16) != 0 ? 0 : (kind & 32) != 0 ? 20 : kNever;
  config.discard_timer = (kind & 64) != 0 ? 30 : kNever;
  config.max_in_flight = (kind & 128) != 0 ? 5 : 0;
  const Security first{keys[in.octet() % keys.size()].get(), nullptr};
  Side burst(config, first, *engine), single(config, first, *engine);
  const auto both = [&](auto&& step) {
    step(burst);
    step(single);
  };
  std::vector<Bytes> waiting;
  Time now = 0;
  const auto flush = [&] {
    burst.receive(waiting, now);
    for (const Bytes& pdu : waiting) single.receive({pdu}, now);
    waiting.clear();
    both([&](Side& side) { side.check(); });
    require(burst.heard == single.heard, "a burst is not as its PDUs one by one");
    both([&](Side& side) { side.heard.clear(); });
  };
  while (!in.empty()) {
    const std::uint8_t op = in.octet();
    if (op < 160) {
      waiting.push_back(in.bytes(op % 16));
      continue;
    }
    flush();
    now += op % 8;
    const std::uint32_t number = in.word();
    const Security next{keys[number % keys.size()].get(), nullptr};
    both([&](Side& side) {
      side.entity.advance(now, side);
      switch (op % 10) {
        case 0:
          static_cast<void>(side.entity.reestablish(next, side));
          break;
        case 1:
          static_cast<void>(side.entity.suspend(side));
          break;
        case 2:
          static_cast<void>(side.entity.data_recovery());
          break;
        case 3:
          side.entity.rx().set_t_reordering(number % 50, now, side);
          break;
        case 4:
          static_cast<void>(side.entity.set_counts(Count{number << 16 | number}, Count{number << (op % 16)}, {}, side));
          break;
        case 5:
          side.entity.tx().confirm(Count{side.entity.tx().tx_next() - number % 80});
          break;
        case 6: {
          Bytes report(side.entity.rx().report_bytes());
          report.resize(side.entity.rx().write_report(report));
          require(wire::pdcp::parse_status_report(report).reason == wire::Reason::ok, "our status report is wrong");
          break;
        }
        default:
          side.send(Bytes(number % 70, op), now);
      }
      side.send_again();
    });
  }
  flush();
  both([](Side& side) { side.end(); });
}

}  // namespace
}  // namespace splitplane::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  return 0;
}
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  splitplane::fuzz::run({data, bytes});
  return 0;
}
