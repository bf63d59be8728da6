// The cost of wire/ alone: nanoseconds for parsing and writing each header of the packet path. Inputs vary over a table
// that fits the first-level cache, so neither a branch predictor nor a constant removes the work.
#include <benchmark/benchmark.h>

#include <array>
#include <random>

#include "wire/airhdr.h"
#include "wire/n3.h"
#include "wire/pdcp.h"
#include "wire/rlc.h"
#include "wire/rlc_status.h"
#include "wire/sdap.h"

namespace splitplane::wire {
namespace {

constexpr std::size_t kInputs = 64;  // of 128 octets: 8 KiB
constexpr std::size_t kBytes = 128;
constexpr std::size_t kInnerBytes = kBytes - 14 - 20 - 8 - 16;

using Packets = std::array<std::array<std::uint8_t, kBytes>, kInputs>;

// Frames as a UPF sends them: IPv4 without options, DL PDU Session Container of the shortest form; TEID, QFI and RQI
// vary.
Packets frames() {
  Packets out{};
  std::mt19937 random(1);
  const ethernet::MacOctets mac{2, 0, 0, 0, 0, 1};
  for (auto& frame : out) {
    MutableOctets at(frame);
    at = at.subspan(ethernet::write(at, mac, mac, ethernet::kTypeIpv4));
    ipv4::Header ip;
    ip.ttl = 64;
    ip.protocol = ipv4::kProtocolUdp;
    ip.source = 0x0a000001;
    ip.destination = 0x0a000002;
    at = at.subspan(ipv4::write(at, ip, at.size() - 20));
    at = at.subspan(udp::write(at, 2152, gtpu::kPort, at.size() - 8));
    gtpu::write_gpdu_psc_dl(at, Teid{static_cast<std::uint32_t>(random())}, kInnerBytes,
                            Qfi{static_cast<std::uint8_t>(random() % 64)}, random() % 2 == 0);
  }
  return out;
}

// Air PDUs: airhdr, RLC AM 18, PDCP 18, SDAP, data.
Packets air_pdus() {
  Packets out{};
  std::mt19937 engine(2);
  const auto random = [&engine] { return static_cast<std::uint32_t>(engine()); };
  for (auto& pdu : out) {
    MutableOctets at(pdu);
    at = at.subspan(airhdr::write(at, {.direction = Direction::kDownlink,
                                       .bearer = BearerId{random() & 0xFFFF},
                                       .pdu_bytes = kBytes - airhdr::kHeaderBytes}));
    at = at.subspan(rlc::write_am(at, 18, {.poll = random() % 32 == 0, .sn = random() & 0x3FFFF}));
    at = at.subspan(pdcp::write_data(at, 18, random() & 0x3FFFF));
    sdap::write(at, sdap::DownlinkHeader{false, false, Qfi{static_cast<std::uint8_t>(random() % 64)}});
  }
  return out;
}

void count(benchmark::State& state) {
  state.SetItemsProcessed(state.iterations());
}

void ethernet_to_payload_parse(benchmark::State& state) {
  const Packets packets = frames();
  std::size_t i = 0;
  for (auto _ : state) {
    const auto p = n3::parse(packets[i++ % kInputs]);
    if (!p) state.SkipWithError("refused");
    std::uint32_t seen = p->gtpu.teid.value + p->payload_offset + p->payload_bytes + p->gtpu.psc.qfi.value;
    benchmark::DoNotOptimize(seen);
  }
  count(state);
}
BENCHMARK(ethernet_to_payload_parse);

void gtpu_psc_parse(benchmark::State& state) {
  const Packets packets = frames();
  std::size_t i = 0;
  for (auto _ : state) {
    const auto h = gtpu::parse(Octets(packets[i++ % kInputs]).subspan(42));
    if (!h) state.SkipWithError("refused");
    std::uint32_t seen = h->teid.value + h->payload_offset + h->payload_bytes + h->psc.qfi.value;
    benchmark::DoNotOptimize(seen);
  }
  count(state);
}
BENCHMARK(gtpu_psc_parse);

void gtpu_psc_write(benchmark::State& state) {
  std::array<std::uint8_t, 64> out{};
  std::uint32_t i = 0;
  for (auto _ : state) {
    ++i;
    std::size_t bytes = gtpu::write_gpdu_psc_ul(out, Teid{i}, 40 + i % 1024, Qfi{static_cast<std::uint8_t>(i % 64)});
    if (bytes == 0) state.SkipWithError("refused");
    benchmark::DoNotOptimize(bytes);
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  count(state);
}
BENCHMARK(gtpu_psc_write);

// The whole N3 encapsulation of the uplink: Ethernet, IPv4 with checksum, UDP, GTP-U with container.
void n3_headers_write(benchmark::State& state) {
  std::array<std::uint8_t, 64> out{};
  const ethernet::MacOctets mac{2, 0, 0, 0, 0, 1};
  ipv4::Header ip;
  ip.ttl = 64;
  ip.protocol = ipv4::kProtocolUdp;
  std::uint32_t i = 0;
  for (auto _ : state) {
    const std::size_t payload = 40 + ++i % 1024;
    ip.destination = i;
    MutableOctets at(out);
    at = at.subspan(ethernet::write(at, mac, mac, ethernet::kTypeIpv4));
    at = at.subspan(ipv4::write(at, ip, payload + 24));
    at = at.subspan(udp::write(at, 2152, gtpu::kPort, payload + 16));
    std::size_t bytes = gtpu::write_gpdu_psc_ul(at, Teid{i}, payload, Qfi{9});
    if (bytes == 0) state.SkipWithError("refused");
    benchmark::DoNotOptimize(bytes);
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  count(state);
}
BENCHMARK(n3_headers_write);

void airhdr_rlc_pdcp_sdap_parse(benchmark::State& state) {
  const Packets packets = air_pdus();
  std::size_t i = 0;
  for (auto _ : state) {
    const Octets in(packets[i++ % kInputs]);
    const auto air = airhdr::parse(in);
    const Octets rlc_pdu = airhdr::pdu_of(*air, in);
    const auto rlc = rlc::parse_am(rlc_pdu, air->rlc_sn_bits);
    const Octets pdcp_pdu = rlc_pdu.subspan(rlc->header_bytes);
    const auto pdcp = pdcp::parse_data(pdcp_pdu, air->pdcp_sn_bits);
    const auto sdap = sdap::parse_downlink(pdcp_pdu.subspan(pdcp->header_bytes));
    if (!air || !rlc || !pdcp || !sdap) state.SkipWithError("refused");
    std::uint32_t seen = air->bearer.value + rlc->sn + pdcp->sn + sdap->qfi.value;
    benchmark::DoNotOptimize(seen);
  }
  count(state);
}
BENCHMARK(airhdr_rlc_pdcp_sdap_parse);

void airhdr_rlc_pdcp_sdap_write(benchmark::State& state) {
  std::array<std::uint8_t, 64> out{};
  std::uint32_t i = 0;
  for (auto _ : state) {
    ++i;
    MutableOctets at(out);
    at = at.subspan(airhdr::write(
        at, {.direction = Direction::kDownlink, .bearer = BearerId{i}, .pdu_bytes = static_cast<std::uint16_t>(i)}));
    at = at.subspan(rlc::write_am(at, 18, {.poll = i % 32 == 0, .sn = i & 0x3FFFF}));
    at = at.subspan(pdcp::write_data(at, 18, i & 0x3FFFF));
    std::size_t bytes = sdap::write(at, sdap::DownlinkHeader{false, false, Qfi{static_cast<std::uint8_t>(i % 64)}});
    if (bytes == 0) state.SkipWithError("refused");
    benchmark::DoNotOptimize(bytes);
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  count(state);
}
BENCHMARK(airhdr_rlc_pdcp_sdap_write);

// STATUS with 18-bit SNs and `range(0)` NACK blocks, parsed and walked.
void rlc_status_parse(benchmark::State& state) {
  const auto blocks = static_cast<std::uint32_t>(state.range(0));
  std::array<std::uint8_t, 512> out{};
  rlc::StatusWriter writer(out, 18);
  for (std::uint32_t i = 0; i < blocks; ++i) {
    rlc::Nack n{.sn = 10 * i};
    n.has_so = i % 3 == 1;
    n.has_range = i % 3 == 2;
    if (n.has_range) n.range = 4;
    writer.add(n);
  }
  const Octets pdu(out.data(), writer.finish(10 * blocks));
  benchmark::DoNotOptimize(out.data());
  for (auto _ : state) {
    benchmark::ClobberMemory();
    const auto status = rlc::parse_status(pdu, 18);
    if (!status) state.SkipWithError("refused");
    std::uint32_t missing = 0;
    rlc::Nack nack;
    for (rlc::NackCursor c(*status); c.next(nack);) missing += nack.range;
    benchmark::DoNotOptimize(missing);
  }
  count(state);
}
BENCHMARK(rlc_status_parse)->Arg(0)->Arg(1)->Arg(8)->Arg(64);

}  // namespace
}  // namespace splitplane::wire
