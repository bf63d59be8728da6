// PDCP with SDAP, RLC data and STATUS PDUs, as our writers write them.
#include "emit.h"
#include "wire/pdcp.h"
#include "wire/rlc.h"
#include "wire/rlc_status.h"
#include "wire/sdap.h"

namespace splitplane::oracle {
namespace {

using namespace wire;

// A data PDU of SN length 12 or 18: sdap 0 none, 1 UL, 2 DL, 3 UL end marker (the framing's bit mask, and one more).
void pdcp_data(Random& random, unsigned sn_bits, std::uint32_t sn, unsigned sdap, std::uint32_t ue) {
  Line line("pdcp");
  line.add("sn_bits", sn_bits).add("direction", sdap == 1 || sdap == 3 ? 0 : 1).add("ue", ue).add("pdu_type", 1);
  line.add("sn", sn);
  Buffer out;
  append(out, [&](MutableOctets o) { return pdcp::write_data(o, sn_bits, sn); });
  const Qfi qfi{static_cast<std::uint8_t>(random.in(0, 63))};
  if (sdap == 2) {
    const sdap::DownlinkHeader h{random.flip(), random.flip(), qfi};
    append(out, [&](MutableOctets o) { return sdap::write(o, h); });
    line.add("sdap", 2).add("rdi", h.rdi ? 1 : 0).add("rqi", h.rqi ? 1 : 0).add("qfi", qfi.value);
  } else if (sdap != 0) {
    append(out, [&](MutableOctets o) { return sdap::write(o, sdap::UplinkHeader{sdap == 1, qfi}); });
    line.add("sdap", 1).add("sdap_data", sdap == 1 ? 1 : 0).add("qfi", qfi.value);
  }
  if (sdap != 3) {
    const Buffer data = random.data(random.in(1, 40));
    append(out, data);
    line.add("data", to_hex(data));
  }
  line.print(out);
}

void pdcp_control(Random& random, std::uint32_t ue) {
  const Count fmc{random.in(0, 0xFFFF0000)};
  const std::uint32_t bitmap = random.in(0, 20);
  std::uint8_t report[5 + 20];
  const std::size_t bytes = pdcp::write_status_report(report, fmc, bitmap);
  for (std::uint32_t k = 1; k <= 8 * bitmap; ++k) {
    if (random.flip()) pdcp::mark_received(MutableOctets(report).first(bytes), k);
  }
  std::vector<std::uint8_t> octets(report + 5, report + bytes);
  Line line("pdcp");
  line.add("sn_bits", 18).add("direction", 0).add("ue", ue).add("pdu_type", 0).add("control", 0).add("fmc", fmc.value);
  line.list("bitmap", octets).print(Octets(report, bytes));
  const Buffer feedback = random.data(random.in(1, 12));
  Buffer out;
  append(out, [&](MutableOctets o) { return pdcp::write_rohc_feedback(o, feedback); });
  Line("pdcp")
      .add("sn_bits", 18)
      .add("direction", 0)
      .add("ue", ue + 1)
      .add("pdu_type", 0)
      .add("control", 1)
      .add("data", to_hex(feedback))
      .print(out);
}

rlc::Segment segment(Random& random) {
  return static_cast<rlc::Segment>(random.in(0, 3));
}

Line rlc_line(const char* mode, unsigned sn_bits, std::uint32_t ue, unsigned direction = 1) {
  Line line("rlc");
  return line.add("mode", mode).add("sn_bits", sn_bits).add("direction", direction).add("ue", ue);
}

void rlc_um(Random& random, unsigned sn_bits, std::uint32_t sn, std::uint32_t ue) {
  rlc::UmHeader h{segment(random), 0, 0, sn};
  if (rlc::has_segment_offset(h.si)) h.so = static_cast<std::uint16_t>(random.in(1, 0xFFFF));
  Buffer out;
  append(out, [&](MutableOctets o) { return rlc::write_um(o, sn_bits, h); });
  const Buffer data = random.data(random.in(1, 30));
  append(out, data);
  Line line = rlc_line("um", sn_bits, ue);
  line.add("um_si", static_cast<unsigned>(h.si)).add("um_data", to_hex(data));
  if (h.si != rlc::Segment::kComplete) line.add("um_sn", sn);
  if (h.so != 0) line.add("um_so", h.so);
  line.print(out);
}

void rlc_am(Random& random, unsigned sn_bits, std::uint32_t sn, std::uint32_t ue) {
  rlc::AmHeader h{random.flip(), segment(random), 0, 0, sn};
  if (rlc::has_segment_offset(h.si)) h.so = static_cast<std::uint16_t>(random.in(1, 0xFFFF));
  Buffer out;
  append(out, [&](MutableOctets o) { return rlc::write_am(o, sn_bits, h); });
  const Buffer data = random.data(random.in(1, 30));
  append(out, data);
  Line line = rlc_line("am", sn_bits, ue);
  line.add("dc", 1).add("poll", h.poll ? 1 : 0).add("am_si", static_cast<unsigned>(h.si)).add("am_sn", sn);
  if (h.so != 0) line.add("am_so", h.so);
  line.add("am_data", to_hex(data)).print(out);
}

// NACK blocks in ascending order below ACK_SN, from a lower window edge `base`.
void status(Random& random, unsigned sn_bits, std::uint32_t base, std::uint32_t ue) {
  const std::uint32_t mask = (1U << sn_bits) - 1;
  std::uint8_t out[256];
  rlc::StatusWriter writer(out, sn_bits);
  std::vector<unsigned> sns, starts, ends, ranges;
  unsigned missing = 0;
  std::uint32_t sn = base;
  for (std::uint32_t blocks = random.in(0, 8); blocks > 0; --blocks) {
    sn += random.in(1, 20);
    rlc::Nack n{.sn = sn & mask, .has_so = random.flip(), .has_range = random.flip()};
    if (n.has_range) n.range = static_cast<std::uint8_t>(random.in(1, 255));
    if (n.has_so) {
      n.so_start = static_cast<std::uint16_t>(random.in(0, 9000));
      n.so_end = random.flip() ? rlc::kSoEnd : static_cast<std::uint16_t>(n.so_start + random.in(0, 3000));
      starts.push_back(n.so_start);
      ends.push_back(n.so_end);
    }
    if (n.has_range) ranges.push_back(n.range);
    sns.push_back(n.sn);
    missing += n.range;
    sn += n.range;
    if (!writer.add(n)) std::exit(1);
  }
  const std::uint32_t ack_sn = (sn + random.in(1, 5)) & mask;
  const std::size_t bytes = writer.finish(ack_sn);
  Line line = rlc_line("am", sn_bits, ue, 0);
  line.add("dc", 0).add("control", 0).add("ack_sn", ack_sn).list("nack_sn", sns).list("so_start", starts);
  line.list("so_end", ends).list("range", ranges);
  if (missing != 0) line.add("nacks", missing);
  line.add("wraps", ack_sn < base ? 1 : 0).print(Octets(out, bytes));
}

// The last SNs before a wrap, and the first after it.
constexpr std::uint32_t around_wrap(unsigned sn_bits, std::uint32_t i) {
  return (i + (1U << sn_bits) - 4) & ((1U << sn_bits) - 1);
}
constexpr std::uint32_t kWrapSteps = 8;

}  // namespace

// Each line has a UE of its own, as the judge keeps state; the wraps are one UE each.
void emit_pdcp(Random& random, unsigned count) {
  std::uint32_t ue = 0;
  for (const unsigned sn_bits : {12U, 18U}) {
    ++ue;
    for (std::uint32_t i = 0; i < kWrapSteps; ++i) pdcp_data(random, sn_bits, around_wrap(sn_bits, i), 2, ue);
    for (unsigned i = 0; i < count; ++i) pdcp_data(random, sn_bits, random.in(0, (1U << sn_bits) - 1), i % 4, ++ue);
  }
  for (unsigned i = 0; i < count; ++i, ++ue) pdcp_control(random, ++ue);
}

void emit_rlc(Random& random, unsigned count) {
  std::uint32_t ue = 0;
  for (const unsigned sn_bits : {6U, 12U}) {
    for (std::uint32_t i = 0; i < kWrapSteps; ++i) rlc_um(random, sn_bits, around_wrap(sn_bits, i), ++ue);
    for (unsigned i = 0; i < count; ++i) rlc_um(random, sn_bits, random.in(0, (1U << sn_bits) - 1), ++ue);
  }
  for (const unsigned sn_bits : {12U, 18U}) {
    for (std::uint32_t i = 0; i < kWrapSteps; ++i) rlc_am(random, sn_bits, around_wrap(sn_bits, i), ++ue);
    for (unsigned i = 0; i < count; ++i) rlc_am(random, sn_bits, random.in(0, (1U << sn_bits) - 1), ++ue);
  }
}

void emit_status(Random& random, unsigned count) {
  std::uint32_t ue = 30000;
  for (const unsigned sn_bits : {12U, 18U}) {
    for (std::uint32_t i = 0; i < kWrapSteps; ++i) status(random, sn_bits, around_wrap(sn_bits, i), ++ue);
    for (unsigned i = 0; i < count; ++i) status(random, sn_bits, random.in(0, (1U << sn_bits) - 1), ++ue);
  }
}

}  // namespace splitplane::oracle
