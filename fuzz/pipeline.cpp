// The gNB's packet path with retransmission, as a sequence: bursts from N3 and from the air, STATUS PDUs, ports that
// take fewer packets, timers, re-establishment, release. After each step every packet is accounted for (in = out +
// dropped + taken + held), and so is every mbuf of the pool. At the end none is left.
#include "pipeline_rig.h"
#include "wire/rlc_status.h"

namespace splitplane::fuzz {
namespace {

using datapath::test::N3Frame;

template <class Rig>
Bytes from_n3(const Rig& rig, Input& in) {
  const unsigned form = in.octet();
  if (form >= 0xF0) return in.bytes(in.octet());
  N3Frame frame{.teid = Rig::teid(in.octet() % (kBearers + 1))};
  frame.ipv6 = (form & 1) != 0;
  frame.sequence_number = (form & 2) != 0;
  if ((form & 4) != 0) frame.extensions.clear();
  if ((form & 8) != 0) frame.message = in.octet();
  const std::uint8_t seed = in.octet();
  frame.payload = datapath::test::inner_packet((form & 16) != 0 ? in.word() % 1500 : 40, seed);
  Bytes made = frame.make();
  const std::size_t sn_at = frame.ipv6 ? 70 : 50;
  if (frame.sequence_number && made.size() > sn_at + 2) wire::store_be16(made.data() + sn_at, in.octet());
  if ((form & 32) != 0) damage(made, in, in.octet() % 4);
  (void)rig;
  return made;
}

template <class Rig>
Bytes from_air(const Rig& rig, Input& in) {
  const unsigned form = in.octet();
  if (form >= 0xF0) return in.bytes(in.octet());
  const std::uint32_t index = 1 + in.octet() % kBearers;
  const ran::BearerConfig& config = rig.config(index % datapath::test::kLines);
  Bytes pdu;
  if ((form & 1) != 0 && config.rlc_mode == RlcMode::kAm) {
    ran::test::put_airhdr(pdu, config, Direction::kUplink);
    pdu.resize(10 + 128);
    wire::rlc::StatusWriter writer(wire::MutableOctets(pdu).subspan(10), config.rlc_sn_bits);
    for (unsigned n = in.octet() % 6; n != 0; --n) {
      const unsigned what = in.octet();
      writer.add({.sn = in.octet(),
                  .has_so = (what & 1) != 0,
                  .has_range = (what & 2) != 0,
                  .range = static_cast<std::uint8_t>((what & 2) != 0 ? 1 + in.octet() % 40 : 1),
                  .so_start = in.octet(),
                  .so_end = static_cast<std::uint16_t>((what & 4) != 0 ? 0xFFFF : in.word())});
    }
    pdu.resize(10 + writer.finish(in.octet()));
  } else {
    const std::uint8_t count = in.octet(), sn = in.octet(), payload = in.octet();
    pdu = ran::test::uplink_pdu(config, count, sn, Qfi{9}, datapath::test::inner_packet(payload), (form & 2) != 0);
  }
  pdu[3] = (form & 4) != 0 ? in.octet() : rig.epoch(index);
  if ((form & 8) != 0) damage(pdu, in, 1 + in.octet() % 4);
  return Rig::from_ue(pdu);
}

template <FeatureSet F>
void play(Input& in, bool with_arq, std::uint64_t ticks_per_ms) {
  Rig<F> rig(with_arq, ticks_per_ms);
  for (unsigned steps = 0; steps < 64 && !in.empty(); ++steps) {
    const unsigned op = in.octet();
    switch (op % 12) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
      case 5: {
        const bool down = op % 12 < 3;
        std::vector<Bytes> frames(1 + (op / 12) % kBurst);
        for (Bytes& frame : frames) frame = down ? from_n3(rig, in) : from_air(rig, in);
        rig.receive(frames, down);
        break;
      }
      case 6:
      case 7:
        rig.round();
        break;
      case 8:
        (op / 12 % 2 == 0 ? rig.air : rig.n3).room = in.octet() % 40;
        break;
      case 9:
        rig.air.room = rig.n3.room = ~0U;
        break;
      case 10:
        op / 12 % 2 == 0 ? rig.reestablish(op / 24 % 2 == 0 ? kAm18 : kAm12) : rig.detach(kAm12);
        break;
      default:
        rig.copies.drain();
        rig.punt.drain();
        if (op / 12 % 4 == 0) rig.detach(kAm12), rig.attach(kAm12);
    }
    rig.check();
  }
}

}  // namespace
}  // namespace splitplane::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  splitplane::fuzz::start_dpdk();
  return 0;
}

// The first octet chooses the feature set, retransmission, and the speed of the timers.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace splitplane;
  fuzz::Input in(data, bytes);
  const unsigned mode = in.octet();
  const std::uint64_t ticks_per_ms = mode % 2 == 0 ? 1 : rte_get_tsc_hz();  // at once, or not within one input
  switch (mode / 2 % 4) {
    case 0:
      fuzz::play<datapath::FeatureSet::clone>(in, false, ticks_per_ms);
      break;
    case 1:
      fuzz::play<datapath::FeatureSet::mat>(in, false, ticks_per_ms);
      break;
    default:
      fuzz::play<datapath::FeatureSet::clone>(in, true, ticks_per_ms);
  }
  return 0;
}
