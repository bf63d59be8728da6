// MAC blocks of any grants, SDUs and control elements, built by both schemes of ran/mac at once: their octets are the
// same, a slow reader finds in them exactly what was put in, and RLC on the other side delivers the SDUs. Then octets
// of a block are changed, and the receiving MAC has to account for each octet and agree with the slow reader.
#include <deque>

#include "buf/heap_buffer.h"
#include "ran/mac/demultiplexer.h"
#include "ran/mac/downlink.h"
#include "ran/mac/gather.h"
#include "ran/mac/iov.h"
#include "ran/mac/uplink.h"
#include "slow_air.h"

namespace splitplane::fuzz {
namespace {

using namespace ran::mac;
using Buffer = buf::HeapBuffer;
namespace rlc = ran::rlc;

constexpr rlc::MemorySizes kSmall{.sent_pages = 40,
                                  .received_pages = 40,
                                  .queue_pages = 40,
                                  .directories = 16,
                                  .segments = 200,
                                  .assemblies = 100,
                                  .intervals = 100};
constexpr std::uint32_t kAm = 4, kUm = 700;

// A UE with an AM and a UM channel, of which one end sends.
struct Side {
  explicit Side(Direction d) : direction(d), uplink({.phr = PhrConfig{.periodic = 9}}) {
    require(downlink.mux().add({.lcid = kAm}, am, 0) &&
                downlink.mux().add({.lcid = kUm, .lcp = {.priority = 2}}, um, 0) &&
                uplink.add({.lcid = kAm, .lcg = 2}, am, 0) &&
                uplink.add({.lcid = kUm, .lcg = 5, .lcp = {.priority = 2}}, um, 0),
            "a channel was refused");
  }
  template <class S>
  bool build(S& scheme, typename S::Block& block, std::size_t bytes, Time now) {
    return direction == Direction::kDownlink ? downlink.build(scheme, block, bytes, now)
                                             : uplink.build(scheme, block, bytes, {30, 40, 90}, now);
  }

  Direction direction;
  buf::HeapPool pool{{.headroom = 0}};
  rlc::Memory<Buffer> memory{kSmall};
  rlc::AmEntity<Buffer> am{{.sn_bits = 18, .poll_pdu = 4, .t_poll_retransmit = 1U << 20}, memory};
  rlc::UmSend<Buffer> um{{.sn_bits = 12}, memory};
  Downlink<Buffer> downlink{1'000'000'000};
  Uplink<Buffer> uplink;
};

struct Receiver {
  explicit Receiver(Direction direction) : demux(direction) {
    require(demux.add(kAm, am) && demux.add(kUm, um), "a channel was refused");
  }
  Buffer make(Octets octets) { return pool.make(octets); }
  void deliver(std::uint32_t lcid, std::span<rlc::Part<Buffer>> parts) {
    Bytes sdu;
    for (const auto& part : parts) sdu.insert(sdu.end(), part.data().begin(), part.data().end());
    auto& expected = lcid == kAm ? sent_am : sent_um;
    if (!checks) return;
    require(!expected.empty() && expected.front() == sdu, "LCID {} delivers another SDU than was sent", lcid);
    expected.pop_front();
  }
  void max_retx(std::uint32_t, std::uint32_t) {}
  bool element(std::uint8_t, Octets) { return true; }

  bool checks = true;
  buf::HeapPool pool{{.headroom = 0}};
  rlc::Memory<Buffer> memory{kSmall};
  rlc::AmEntity<Buffer> am{{.sn_bits = 18, .t_reassembly = 1U << 20}, memory};
  rlc::UmReceive<Buffer> um{{.sn_bits = 12, .t_reassembly = 1U << 20}, memory};
  Demultiplexer<Buffer> demux;
  std::deque<Bytes> sent_am, sent_um;
};

void accounted(const DemuxCounters& c) {
  same(c.octets, c.sdu_octets + c.element_octets + c.padding_octets + c.subheader_octets + c.dropped_octets,
       "octets of all blocks");
}

// The order that TS 38.321 6.1.2 asks for, and nothing after padding; padding is zero.
void well_ordered(Octets block, Direction direction) {
  bool to_the_end = false, sdu = false, element = false;
  const auto subpdus = slow_mac(block, direction == Direction::kDownlink, to_the_end);
  require(to_the_end, "a built block does not end well");
  for (const SlowSubPdu& s : subpdus) {
    const bool is_padding = s.lcid == 63, is_sdu = s.lcid <= 32 || s.lcid >= 320;
    if (is_padding) {
      require(std::ranges::all_of(s.payload, [](std::uint8_t octet) { return octet == 0; }), "padding is not zero");
      continue;
    }
    require(!is_sdu || direction == Direction::kDownlink || !element, "an SDU after an element in uplink");
    require(is_sdu || direction == Direction::kUplink || !sdu, "an element after an SDU in downlink");
    sdu |= is_sdu;
    element |= !is_sdu;
  }
}

void run(Input& in) {
  const Direction direction = in.octet() % 2 == 0 ? Direction::kDownlink : Direction::kUplink;
  Side gathers(direction), lists(direction);
  Receiver receiver(direction), damaged(direction);
  damaged.checks = false;
  Gather<Buffer> gather;
  Iov<Buffer> iov;
  for (Time now = 0; !in.empty() && now < 200; ++now) {
    const unsigned what = in.octet();
    for (unsigned n = what % 4; n != 0; --n) {
      const Bytes sdu(1 + in.word() % 700, in.octet());
      const bool am = in.octet() % 2 == 0;
      for (Side* side : {&gathers, &lists}) {
        Buffer buffer = side->pool.make(sdu);
        const bool taken = am ? side->am.send(buffer) : side->um.send(buffer);
        if (taken && side == &gathers) (am ? receiver.sent_am : receiver.sent_um).push_back(sdu);
      }
    }
    for (Side* side : {&gathers, &lists}) {
      if ((what & 0x10) != 0) (void)side->downlink.add(ControlElement::of(wire::mac::TimingAdvance{1, 2}));
      if ((what & 0x20) != 0) (void)side->downlink.add(ControlElement::long_drx());
      if ((what & 0x40) != 0) side->uplink.identify(0x4601);
    }
    const std::size_t bytes = in.word() % ((what & 0x80) != 0 ? 2000 : 40);
    Bytes memory(bytes, 0xE5), copy(bytes, 0xE5);
    MutableOctets block(memory);
    const bool built = gathers.build(gather, block, bytes, now);
    gather.flush();
    {
      IovBlock<Buffer> pieces(128, 1024);
      same(lists.build(iov, pieces, bytes, now), built, "the schemes");
      same(pieces.size(), built ? bytes : std::size_t{0}, "octets of the pieces");
      pieces.linearize(copy);
      pieces.release();
    }
    same(built, bytes != 0, "a block");
    if (!built) continue;
    require(memory == copy, "the two schemes make different octets");
    well_ordered(memory, direction);
    receiver.demux.receive(memory, now, receiver);
    accounted(receiver.demux.counters());
    for (const std::uint64_t drops : receiver.demux.counters().drops)
      same(drops, std::uint64_t{0}, "drops of good blocks");

    for (unsigned n = in.octet() % 4; n != 0; --n) memory[in.word() % bytes] = in.octet();
    memory.resize(bytes - in.octet() % std::min<std::size_t>(bytes, 256));
    bool to_the_end = false;
    const auto slow = slow_mac(memory, direction == Direction::kDownlink, to_the_end);
    const DemuxCounters before = damaged.demux.counters();
    damaged.demux.receive(memory, now, damaged);
    const DemuxCounters& after = damaged.demux.counters();
    accounted(after);
    std::uint64_t sdus = 0;
    for (const SlowSubPdu& s : slow) sdus += (s.lcid == kAm || s.lcid == kUm) && !s.payload.empty() ? 1 : 0;
    same(after.sdus - before.sdus, sdus, "SDUs of a damaged block");
    damaged.am.restart_at(0);
    damaged.um.restart_at(0);
  }
}

}  // namespace
}  // namespace splitplane::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  splitplane::fuzz::Input input(data, bytes);
  splitplane::fuzz::run(input);
  return 0;
}
