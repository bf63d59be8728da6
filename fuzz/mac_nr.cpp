// Compares the reader of the UDP framing mac-nr with a slow one that takes bit after bit. Both accept the same
// datagrams and read the same fields, and what our writer makes of the fields is read back as the same.
#include "wire/mac_nr.h"

#include <optional>

#include "slow_bits.h"

namespace splitplane::fuzz {
namespace {

namespace mac_nr = wire::mac_nr;

struct SlowFrame {
  std::uint32_t radio = 0, direction = 0, rnti_type = 0;
  std::optional<std::uint32_t> rnti, ue_id, harq, sfn, slot;
  bool type2 = false;
  Octets pdu;
};

std::optional<SlowFrame> slow_frame(Octets in) {
  SlowBits b(in);
  for (const char c : {'m', 'a', 'c', '-', 'n', 'r'}) {
    if (b.take(8) != static_cast<std::uint64_t>(c) || b.ended()) return std::nullopt;
  }
  SlowFrame f;
  f.radio = b.take32(8);
  f.direction = b.take32(8);
  f.rnti_type = b.take32(8);
  if (b.ended() || f.radio == 0 || f.radio > 2 || f.direction > 1 || f.rnti_type > 5) return std::nullopt;
  while (true) {
    const std::uint32_t tag = b.take32(8);
    if (b.ended()) return std::nullopt;
    if (tag == 1) {
      f.pdu = b.rest();
      return f;
    }
    if (tag == 2) f.rnti = b.take32(16);
    if (tag == 3) f.ue_id = b.take32(16);
    if (tag == 4) b.skip(16);
    if (tag == 5) f.type2 = b.take32(8) > 0;
    if (tag == 6) f.harq = b.take32(8);
    if (tag == 7) f.sfn = b.take32(16);
    if (tag == 7) f.slot = b.take32(16);
    if (b.ended() || tag == 0 || tag > 7) return std::nullopt;
  }
}

template <class Ours>
void same_option(const std::optional<Ours>& ours, const std::optional<std::uint32_t>& slow, const char* what) {
  same(ours.has_value(), slow.has_value(), what);
  if (ours) same(std::uint32_t{*ours}, *slow, what);
}

void same_fields(const mac_nr::Header& h, const SlowFrame& slow) {
  same(static_cast<std::uint32_t>(h.radio_type), slow.radio, "radio type");
  same(static_cast<std::uint32_t>(h.direction), slow.direction, "direction");
  same(static_cast<std::uint32_t>(h.rnti_type), slow.rnti_type, "RNTI type");
  same_option(h.rnti, slow.rnti, "RNTI");
  same_option(h.ue_id, slow.ue_id, "UE id");
  same_option(h.harq_process, slow.harq, "HARQ process");
  same(h.slot.has_value(), slow.sfn.has_value(), "slot");
  if (h.slot) same(std::uint32_t{h.slot->sfn}, *slow.sfn, "SFN");
  if (h.slot) same(std::uint32_t{h.slot->slot}, *slow.slot, "slot in the frame");
  same(h.phr_type2_other_cell, slow.type2, "PHR type");
}

}  // namespace
}  // namespace splitplane::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace splitplane::fuzz;
  const Octets in(data, bytes);
  namespace mac_nr = splitplane::wire::mac_nr;
  const auto ours = mac_nr::parse(in);
  const auto slow = slow_frame(in);
  same(bool{ours}, slow.has_value(), "mac-nr accepted");
  if (!slow) return 0;
  same_fields(ours->header, *slow);
  same(ours->pdu.size(), slow->pdu.size(), "PDU");
  require(ours->pdu.empty() || ours->pdu.data() == slow->pdu.data(), "the PDU begins elsewhere");
  Bytes again(mac_nr::kMaxHeaderBytes);
  again.resize(mac_nr::write(again, ours->header));
  require(!again.empty(), "a header that was read does not fit");
  again.insert(again.end(), ours->pdu.begin(), ours->pdu.end());
  const auto second = slow_frame(again);
  require(second.has_value(), "what was written is refused");
  same_fields(ours->header, *second);
  same(second->pdu.size(), slow->pdu.size(), "PDU of what was written");
  return 0;
}
