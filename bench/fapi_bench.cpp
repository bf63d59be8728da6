// The cost of phy/fapi: a slot's messages written and read, and transport blocks cut into datagrams and put together.
// The rows with "per" items count those; the others count messages.
#include <benchmark/benchmark.h>

#include <memory>

#include "phy/fapi/codec.h"
#include "phy/fapi/dl_tti.h"
#include "phy/fapi/p7_receiver.h"
#include "phy/fapi/p7_sender.h"
#include "phy/fapi/tx_data.h"

namespace splitplane::fapi {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kMaxDatagram = 1472;

std::unique_ptr<DlTtiRequest> slot_of(std::int64_t pdus) {
  auto message = std::make_unique<DlTtiRequest>();
  for (std::int64_t i = 0; i < pdus; ++i) {
    auto& pdsch = message->pdus.append()->body.emplace<PdschPdu>();
    pdsch.rnti = static_cast<std::uint16_t>(i + 1);
    pdsch.pdu_index = static_cast<std::uint16_t>(i);
    pdsch.codewords.add({.target_code_rate = 6660, .qam_mod_order = 6, .mcs_index = 19, .tb_size = 1500});
    auto* const prg = pdsch.precoding.prgs.append();
    pdsch.precoding.prg_size = 273;
    prg->pm_idx = 1;
  }
  return message;
}

void dl_tti_write_per_pdu(benchmark::State& state) {
  const auto message = slot_of(state.range(0));
  Bytes room(1 << 17);
  for (auto _ : state) {
    const Written w = write_body(room, *message);
    if (w.reason != Reason::ok) state.SkipWithError("refused");
    benchmark::DoNotOptimize(room.data());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(dl_tti_write_per_pdu)->Arg(1)->Arg(100);

void dl_tti_read_per_pdu(benchmark::State& state) {
  const auto message = slot_of(state.range(0));
  auto read = std::make_unique<DlTtiRequest>();
  Bytes room(1 << 17);
  const Octets body = Octets(room).first(write_body(room, *message).bytes);
  for (auto _ : state) {
    if (read_body(body, *read) != Reason::ok) state.SkipWithError("refused");
    benchmark::DoNotOptimize(read.get());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(dl_tti_read_per_pdu)->Arg(1)->Arg(100);

// A TX_DATA of `pdus` blocks of `bytes` octets each.
class Slot {
 public:
  Slot(std::int64_t pdus, std::int64_t bytes, ChecksumMode checksums)
      : block_(static_cast<std::size_t>(bytes), 0x5A), sender_(std::make_unique<P7Sender>(1, kMaxDatagram, checksums)) {
    for (std::int64_t i = 0; i < pdus; ++i) message_->pdus.append()->parts.add({block_});
  }
  std::span<const P7Sender::Datagram> datagrams() {
    if (writer_->write(*message_, PayloadTag::kInline) != Reason::ok) return {};
    if (sender_->cut(MessageId::kTxDataRequest, writer_->pieces(), 0) != Reason::ok) return {};
    return sender_->datagrams();
  }

 private:
  Bytes block_;
  std::unique_ptr<TxDataRequest> message_ = std::make_unique<TxDataRequest>();
  std::unique_ptr<TxDataWriter> writer_ = std::make_unique<TxDataWriter>();
  std::unique_ptr<P7Sender> sender_;
};

void tx_data_cut(benchmark::State& state, ChecksumMode checksums) {
  Slot slot(state.range(0), state.range(1), checksums);
  for (auto _ : state) {
    const auto datagrams = slot.datagrams();
    if (datagrams.empty()) state.SkipWithError("refused");
    benchmark::DoNotOptimize(datagrams.data());
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * state.range(1));
}
BENCHMARK_CAPTURE(tx_data_cut, checksum, ChecksumMode::kIfThere)->Args({100, 1500})->Args({1, 160 << 10});
BENCHMARK_CAPTURE(tx_data_cut, no_checksum, ChecksumMode::kIgnored)->Args({100, 1500})->Args({1, 160 << 10});

void tx_data_receive(benchmark::State& state, ChecksumMode checksums) {
  Slot slot(state.range(0), state.range(1), checksums);
  P7Receiver receiver({.phy_id = 1, .checksums = checksums, .timeout = 1'000'000'000});
  auto read = std::make_unique<TxDataRequest>();
  std::vector<Bytes> datagrams;
  P7Receiver::Time now = 0;
  for (auto _ : state) {
    state.PauseTiming();  // a network copies the octets; the numbers go on
    datagrams.clear();
    for (const auto datagram : slot.datagrams()) {
      Bytes& copy = datagrams.emplace_back();
      for (const Octets piece : datagram) copy.insert(copy.end(), piece.begin(), piece.end());
    }
    state.ResumeTiming();
    Octets body;
    for (const Bytes& datagram : datagrams) body = receiver.receive(datagram, ++now).body;
    if (read_tx_data(body, *read) != Reason::ok) state.SkipWithError("refused");
    benchmark::DoNotOptimize(read.get());
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * state.range(1));
}
BENCHMARK_CAPTURE(tx_data_receive, checksum, ChecksumMode::kIfThere)->Args({100, 1500})->Args({1, 160 << 10});

}  // namespace
}  // namespace splitplane::fapi
