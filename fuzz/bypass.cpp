// Compares host bypass with the host. The function gnb-headers of a ring's engine gets the same N3 frames as the host's
// packet path. The frames that both send are the same octet for octet. The ring's function sends every frame that the
// host sends. A frame that only the ring's function sends is refused by the host for a reason outside of the function's
// duties. The frame stays in its slot, and the octets after the slot are unchanged.
#include <bit>

#include "dpdk.h"
#include "gnb/datapath/downlink.h"
#include "gnb/datapath/test_gnb.h"
#include "gpu/rings/gnb_headers.h"

namespace splitplane::fuzz {
namespace {

using namespace datapath;
using datapath::test::N3Frame;

constexpr std::uint32_t kBearers = 7;
constexpr std::uint32_t kHeadroom = RTE_PKTMBUF_HEADROOM, kSlot = 2048, kLongest = 1400;

class Rig : public datapath::test::TestGnb {
 public:
  Rig() {
    context->air_frame_bytes = kLongest;
    add(5, {.rlc_sn_bits = 12, .pdcp_sn_bits = 12, .poll_pdu = 3}, datapath::test::kPeerV4);
    add(6, {.rlc_mode = RlcMode::kUm, .rlc_sn_bits = 6, .sdap_header_dl = false}, datapath::test::kPeerV4);
    add(kBearers, {.qfi = Qfi{63}, .poll_pdu = 1}, datapath::test::kPeerV4);
    for (std::uint32_t i = 1; i <= kBearers; ++i) {
      const ran::BearerConfig& c = config(i);
      lines_[i] = {.id = c.id.value,
                   .poll_pdu = c.poll_pdu,
                   .rlc_mode = c.rlc_mode,
                   .rlc_sn_bits = c.rlc_sn_bits,
                   .pdcp_sn_bits = c.pdcp_sn_bits,
                   .sdap_header = c.sdap_header_dl,
                   .qfi = c.qfi.value};
      lines_[i].pdcp_first = downlink[i].pdcp_tx_next = (1U << c.pdcp_sn_bits) - 3;  // shortly before the SN wraps
    }
  }

  void check(const Bytes& frame) {
    const std::size_t sent_before = air.frames.size();
    Burst burst;
    rte_mbuf* const m = pool.make(frame);
    if (m == nullptr || frame.size() > kSlot - kHeadroom) return rte_pktmbuf_free(m);
    burst.mbuf[burst.size++] = m;
    const std::array<std::uint64_t, kDropReasonCount> before = drops();
    host_.process(burst);
    const bool host_sends = air.frames.size() > sent_before;

    Bytes memory(kSlot + 16, 0xEE);
    std::ranges::copy(frame, memory.begin() + kHeadroom);
    gpu::Frame on_ring{memory.data() + kHeadroom, static_cast<std::uint32_t>(frame.size()), memory.data(), kSlot};
    const auto kept = lines_;
    const gpu::Verdict verdict = function_.process(gpu::CpuLane{}, on_ring);
    const bool ring_sends = verdict == gpu::Verdict::send;
    for (std::size_t i = kSlot; i < memory.size(); ++i) require(memory[i] == 0xEE, "octets behind the slot changed");
    if (!ring_sends) {
      require(!host_sends, "the host sends what the ring's function refuses as {}", name_of(verdict));
      require(std::memcmp(&kept, &lines_, sizeof kept) == 0, "numbers taken for a frame that is not sent");
    }
    if (ring_sends) {
      require(on_ring.data >= memory.data() && on_ring.data + on_ring.length <= memory.data() + kSlot,
              "out of its slot");
      const Octets made(on_ring.data, on_ring.length);
      if (host_sends) {
        require(std::ranges::equal(made, air.frames.back()), "ring: {:02x}\nhost: {:02x}", fmt::join(made, ""),
                fmt::join(air.frames.back(), ""));
      } else {
        check_host_only(before);
        lines_ = kept;  // the host has not used a number
      }
    }
    for (std::uint32_t i = 1; i <= kBearers; ++i) {
      same(lines_[i].pdcp_tx_next(), downlink[i].pdcp_tx_next, "TX_NEXT");
      same(lines_[i].rlc_tx_next(), downlink[i].rlc_tx_next, "TX_Next");
    }
    air.frames.clear();
    copies.drain();
    punt.drain();
    same(pool.in_use(), 0U, "mbufs left");
  }

 private:
  [[nodiscard]] std::array<std::uint64_t, kDropReasonCount> drops() const {
    std::array<std::uint64_t, kDropReasonCount> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = dropped(static_cast<DropReason>(i));
    return all;
  }
  // NICs steer by address, so the ring's function does not check it again. It also does not check the purpose of a
  // container's type.
  void check_host_only(const std::array<std::uint64_t, kDropReasonCount>& before) const {
    for (std::size_t i = 0; i < before.size(); ++i) {
      const auto reason = static_cast<DropReason>(i);
      if (dropped(reason) == before[i]) continue;
      require(reason == DropReason::not_for_us, "only the ring's function sends it; the host: {}", name_of(reason));
    }
  }

  datapath::test::Taken air;
  GnbDownlink<FeatureSet::mat, datapath::test::TestSink, SampledCycles> host_{*context, datapath::test::TestSink{&air},
                                                                              datapath::test::TestSink{&air}};
  std::array<gpu::GnbBearer, datapath::test::kLines> lines_{};
  gpu::GnbHeaders function_{lines_.data(), datapath::test::kLines, (1U << ran::kIndexBits) - 1,
                            std::bit_cast<gpu::AirHeader>(context->air_header), kLongest};
};

Bytes frame(Input& in) {
  const unsigned form = in.octet();
  if (form >= 0xF0) return in.bytes(in.word() % 1600);
  N3Frame f{.teid = Rig::teid(in.octet() % (kBearers + 2))};
  f.ipv6 = (form & 1) != 0;
  f.sequence_number = (form & 2) != 0;
  if ((form & 4) != 0) f.extensions = {{in.octet(), in.bytes(in.octet() % 30)}};
  if ((form & 4) != 0 && f.extensions[0].type == 0) f.extensions.clear();
  if ((form & 8) != 0) f.tags = {in.word()};
  const std::uint8_t seed = in.octet();
  // Many of them are as long as the air allows, or an octet more or less.
  const std::size_t bytes = (form & 16) == 0 ? 40U : seed % 4 == 0 ? in.word() % 1450U : 1360U + in.octet() % 32U;
  f.payload = datapath::test::inner_packet(bytes, seed, seed % 2 == 1);
  f.padding = seed % 8;
  Bytes made = f.make();
  if ((form & 32) != 0) damage(made, in, in.octet() % 4);
  if ((form & 64) != 0 && seed % 4 == 0) made.resize(in.word() % (made.size() + 1));
  return made;
}

}  // namespace
}  // namespace splitplane::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  splitplane::fuzz::start_dpdk();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  splitplane::fuzz::Input in(data, bytes);
  splitplane::fuzz::Rig rig;
  for (unsigned n = 0; n < 64 && !in.empty(); ++n) rig.check(splitplane::fuzz::frame(in));
  return 0;
}
