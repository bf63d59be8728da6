// Compares src/wire with a slow reader for RLC, PDCP, SDAP and MAC. Both accept the same PDUs and read the same fields.
// A header or STATUS PDU that our writer makes of the fields equals the input, except for reserved bits.
#include "slow_air.h"
#include "wire/mac.h"
#include "wire/pdcp.h"
#include "wire/rlc.h"
#include "wire/rlc_status.h"
#include "wire/sdap.h"

namespace splitplane::fuzz {
namespace {

namespace rlc = wire::rlc;

// Octets without the bits that are reserved in the first of them.
Bytes without_reserved(Octets header, std::uint8_t reserved) {
  Bytes octets(header.begin(), header.end());
  octets[0] = static_cast<std::uint8_t>(octets[0] & ~reserved);
  return octets;
}

void compare_um(Octets in, unsigned sn_bits) {
  const auto ours = rlc::parse_um(in, sn_bits);
  const auto slow = slow_um(in, sn_bits);
  same(bool{ours}, slow.has_value(), "UMD PDU accepted");
  if (!slow) return;
  same(static_cast<unsigned>(ours->si), slow->si, "SI");
  same(ours->sn, slow->sn, "SN");
  same(std::uint32_t{ours->so}, slow->so, "SO");
  same(std::size_t{ours->header_bytes}, slow->header, "UMD header");
  std::array<std::uint8_t, rlc::kMaxHeaderBytes> room{};
  const std::uint8_t reserved = slow->si == 0 ? 0x3F : sn_bits == 12 ? 0x30 : 0;
  const Octets made = Octets(room).first(rlc::write_um(room, sn_bits, *ours));
  require(std::ranges::equal(made, without_reserved(in.first(slow->header), reserved)), "UMD header written otherwise");
}

void compare_am(Octets in, unsigned sn_bits) {
  const auto ours = rlc::parse_am(in, sn_bits);
  const auto slow = slow_am(in, sn_bits);
  same(bool{ours}, slow.has_value(), "AMD PDU accepted");
  if (!slow) return;
  same(ours->poll, slow->poll, "P");
  same(static_cast<unsigned>(ours->si), slow->si, "SI");
  same(ours->sn, slow->sn, "SN");
  same(std::uint32_t{ours->so}, slow->so, "SO");
  same(std::size_t{ours->header_bytes}, slow->header, "AMD header");
  std::array<std::uint8_t, rlc::kMaxHeaderBytes> room{};
  const std::uint8_t reserved = sn_bits == 18 ? 0x0C : 0;
  const Octets made = Octets(room).first(rlc::write_am(room, sn_bits, *ours));
  require(std::ranges::equal(made, without_reserved(in.first(slow->header), reserved)), "AMD header written otherwise");
}

void compare_status(Octets in, unsigned sn_bits) {
  const auto ours = rlc::parse_status(in, sn_bits);
  const auto slow = slow_status(in, sn_bits);
  same(bool{ours}, slow.has_value(), "STATUS accepted");
  if (!slow) return;
  same(ours->ack_sn, slow->ack, "ACK_SN");
  same(std::size_t{ours->nack_blocks}, slow->nacks.size(), "NACK blocks");
  Bytes room(in.size());
  rlc::StatusWriter writer(room, sn_bits);
  rlc::Nack nack;
  rlc::NackCursor cursor(*ours);
  for (const SlowNack& expected : slow->nacks) {
    require(cursor.next(nack), "a NACK is missing");
    same(nack.sn, expected.sn, "NACK_SN");
    same(nack.has_so, expected.has_so, "E2");
    same(nack.has_range, expected.has_range, "E3");
    same(std::uint32_t{nack.so_start}, expected.start, "SOstart");
    same(std::uint32_t{nack.so_end}, expected.end, "SOend");
    same(std::uint32_t{nack.range}, expected.range, "NACK range");
    require(writer.add(nack), "the writer refuses a NACK that was read");
  }
  require(!cursor.next(nack), "a NACK too many");
  same(writer.finish(ours->ack_sn), in.size(), "STATUS written");
  const auto again = slow_status(room, sn_bits);
  require(again && again->ack == slow->ack && again->nacks.size() == slow->nacks.size(), "STATUS written otherwise");
}

void compare_pdcp(Octets in) {
  for (const unsigned sn_bits : {12U, 18U}) {
    const auto ours = wire::pdcp::parse_data(in, sn_bits);
    const auto slow = slow_pdcp_data(in, sn_bits);
    same(bool{ours}, slow.has_value(), "PDCP data PDU accepted");
    if (!slow) continue;
    same(ours->sn, slow->sn, "PDCP SN");
    same(std::size_t{ours->header_bytes}, slow->header, "PDCP header");
    std::array<std::uint8_t, 3> room{};
    const Octets made = Octets(room).first(wire::pdcp::write_data(room, sn_bits, ours->sn));
    const std::uint8_t reserved = sn_bits == 12 ? 0x70 : 0x7C;
    require(std::ranges::equal(made, without_reserved(in.first(slow->header), reserved)), "PDCP header otherwise");
  }
  const auto report = wire::pdcp::parse_status_report(in);
  const auto slow = slow_report(in);
  same(bool{report}, slow.has_value(), "PDCP status report accepted");
  if (report) {
    same(report->fmc.value, slow->fmc, "FMC");
    for (std::size_t k = 0; k < slow->received.size(); ++k) {
      const std::uint64_t count = slow->fmc + k + 1;
      if (count > 0xFFFFFFFF) break;  // COUNT does not wrap
      same(report->confirms({static_cast<std::uint32_t>(count)}), bool{slow->received[k]}, "bitmap");
    }
  }
  const bool feedback = in.size() >= 2 && in.size() <= 9000 && in[0] >> 4 == 1;
  same(bool{wire::pdcp::parse_rohc_feedback(in)}, feedback, "ROHC feedback accepted");
  const auto up = wire::sdap::parse_uplink(in);
  SlowBits b(in);
  const bool data = b.flag();
  b.skip(1);
  const std::uint32_t qfi = b.take32(6);
  same(bool{up}, !in.empty() && (data || in.size() == 1), "SDAP accepted");
  if (up) same(std::uint32_t{up->qfi.value}, qfi, "QFI of SDAP");
  if (up) same(up->is_data, data, "D/C of SDAP");
}

void compare_mac(Octets in, Direction direction) {
  bool to_the_end = false;
  const auto slow = slow_mac(in, direction == Direction::kDownlink, to_the_end);
  wire::mac::Cursor cursor(in, direction);
  wire::mac::SubPdu s;
  for (const SlowSubPdu& expected : slow) {
    require(cursor.next(s), "a subPDU is missing");
    same(s.lcid, expected.lcid, "LCID");
    same(s.payload.size(), expected.payload.size(), "subPDU");
    require(s.payload.empty() || s.payload.data() == expected.payload.data(), "the subPDU begins elsewhere");
  }
  require(!cursor.next(s), "a subPDU too many");
  same(cursor.reason() == wire::Reason::ok, to_the_end && !in.empty(), "transport block well ended");
}

}  // namespace
}  // namespace splitplane::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  return 0;
}

// The first octet chooses the test.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace splitplane::fuzz;
  Input input(data, bytes);
  const unsigned what = input.octet() % 8;
  const Octets in = input.rest();
  if (what < 2) compare_um(in, what == 0 ? 6 : 12);
  if (what == 2 || what == 3) compare_am(in, what == 2 ? 12 : 18);
  if (what == 4 || what == 5) compare_status(in, what == 4 ? 12 : 18);
  if (what == 6) compare_pdcp(in);
  if (what == 7) {
    compare_mac(in, splitplane::Direction::kDownlink);
    compare_mac(in, splitplane::Direction::kUplink);
  }
  return 0;
}
