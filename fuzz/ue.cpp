// The UE side: air frames and packets of the TUN device in any order. A delivered packet is the one that a slow reader
// finds in the frame. The slow reader reads a sent frame as the same packet with the bearer's next numbers. Each frame
// has one outcome. The counters of bearers add up (received = delivered or dropped or control; sent or dropped).
#include <map>

#include "dpdk.h"
#include "slow_sdu.h"
#include "ue/ue_downlink.h"
#include "ue/ue_uplink.h"

namespace splitplane::fuzz {
namespace {

using ue::UeBearer;
using ue::UeOutcome;

class Rig {
 public:
  Rig() {
    for (const ran::BearerConfig& c : forms()) bearers_.establish(c, {});
  }

  void from_air(const Bytes& frame) {
    const auto r = down_.receive(frame);
    if (r.bearer != nullptr) ++received_[r.bearer->config.id.value];
    if (r.outcome != UeOutcome::ok) return require(r.packet.empty(), "a packet of {}", name_of(r.outcome));
    ++r.bearer->downlink.delivered;
    std::size_t header = 14;
    while (frame[header - 2] == 0x81 || frame[header - 2] == 0x88) {
      if (frame[header - 2] == 0x88 && frame[header - 1] == 0xb5) break;
      header += 4;
    }
    const std::size_t bytes = frame[header + 8] * 256U + frame[header + 9];
    require(header + 10 + bytes <= frame.size(), "delivered, and the PDU is longer than the frame");
    const auto slow =
        slow_sdu(Octets(frame).subspan(header + 10, bytes), r.bearer->config, r.bearer->config.sdap_header_dl);
    require(slow.has_value(), "delivered, and no complete SDU: {:02x}", fmt::join(frame, ""));
    require(r.packet.data() == slow->packet.data() && r.packet.size() <= slow->packet.size(), "another packet");
    const unsigned version = r.packet[0] >> 4;
    const std::size_t total = version == 4 ? r.packet[2] * 256U + r.packet[3] : 40 + r.packet[4] * 256U + r.packet[5];
    require((version == 4 || version == 6) && total == r.packet.size(), "{} octets of a packet of {}", r.packet.size(),
            total);
  }

  void from_tun(const Bytes& packet, std::size_t room) {
    Bytes memory(room + packet.size());
    std::ranges::copy(packet, memory.begin() + static_cast<std::ptrdiff_t>(room));
    const Octets in(memory.data() + room, packet.size());
    const auto f = up_.frame({memory.data(), room}, in);
    if (f.outcome != UeOutcome::ok) return;
    UeBearer& b = *f.bearer;
    ++b.uplink.sent;
    require(f.overhead_bytes <= room && f.packet_bytes <= packet.size(), "more octets than there are");
    SlowBits air(Octets(memory).subspan(room - f.overhead_bytes));
    air.skip(12 * 8);
    same(air.take32(16), 0x88b5U, "EtherType");
    same(air.take32(8), 0x20U, "version and kind");
    same(air.flag(), false, "direction");
    same(air.take32(2), static_cast<std::uint32_t>(b.config.rlc_mode), "RLC mode");
    same(air.take32(2) * 6, std::uint32_t{b.config.rlc_sn_bits}, "RLC SN length");
    same(air.take32(1) * 6 + 12, std::uint32_t{b.config.pdcp_sn_bits}, "PDCP SN length");
    same(air.flag(), b.config.sdap_header_ul, "SDAP");
    air.skip(1 + 16);
    same(air.take32(32), b.config.id.value, "bearer");
    const std::uint32_t length = air.take32(16);
    same(std::size_t{length}, air.rest().size() - (in.size() - f.packet_bytes), "length of the PDU");
    const auto sdu = slow_sdu(air.rest().first(length), b.config, b.config.sdap_header_ul);
    require(sdu.has_value() && sdu->packet.data() == in.data(), "the packet stands elsewhere");
    std::uint32_t& next = sent_[b.config.id.value];
    if (b.config.rlc_mode == RlcMode::kAm) same(sdu->rlc_sn, next % (1U << b.config.rlc_sn_bits), "AM SN");
    same(sdu->pdcp_sn, next % (1U << b.config.pdcp_sn_bits), "PDCP SN");
    if (b.config.sdap_header_ul) same(sdu->qfi, unsigned{b.config.qfi.value}, "QFI");
    ++next;
    std::array<std::uint8_t, ue::kStatusFrameBytes> status{};
    const std::size_t bytes = up_.write_status(b, status);
    same(bytes != 0, b.config.rlc_mode == RlcMode::kAm, "STATUS of a bearer");
    if (bytes != 0)
      require(slow_status(Octets(status).first(bytes).subspan(24), b.config.rlc_sn_bits).has_value(), "no STATUS");
  }

  void check() const {
    bearers_.for_each([&](const UeBearer& b) {
      const auto& d = b.downlink;
      const auto came = received_.find(b.config.id.value);
      same(d.received, came == received_.end() ? std::uint64_t{0} : came->second, "received");
      same(d.received, d.delivered + d.dropped + d.control, "downlink of a bearer");
      same(b.uplink.received, b.uplink.sent + b.uplink.dropped, "uplink of a bearer");
    });
  }

 private:
  ue::UeBearers bearers_;
  datapath::Arq arq_{{}};
  ue::UeEndMarkers due_;
  ue::UeDownlink down_{bearers_, arq_, due_};
  ue::UeUplink up_{bearers_, {.ours = {{2, 0, 0, 0, 0, 1}}, .peer = {{2, 0, 0, 0, 0, 2}}, .mtu = 600}};
  std::map<std::uint32_t, std::uint64_t> received_;
  std::map<std::uint32_t, std::uint32_t> sent_;
};

// IPv4 or IPv6 from the UE of bearer `n`, the rest from the input.
Bytes packet(Input& in, std::uint8_t n) {
  const bool v6 = in.octet() % 2 == 1;
  Bytes p = in.bytes(in.octet());
  p.resize(std::max<std::size_t>(p.size(), v6 ? 40 : 20));
  p[0] = v6 ? 0x60 : 0x45;
  if (v6) {
    p[4] = 0, p[5] = static_cast<std::uint8_t>(p.size() - 40);
    const std::array<std::uint8_t, 4> net{0xfd, 0, 0, 0x45};
    std::fill_n(p.begin() + 8, 16, std::uint8_t{0});
    std::ranges::copy(net, p.begin() + 8);
    p[23] = n;
  } else {
    wire::store_be16(p.data() + 2, static_cast<std::uint32_t>(p.size()));
    const std::array<std::uint8_t, 4> address{10, 45, 0, n};
    std::ranges::copy(address, p.begin() + 12);
  }
  return p;
}

}  // namespace
}  // namespace splitplane::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace splitplane;
  using namespace splitplane::fuzz;
  static const std::vector<ran::BearerConfig> all = forms();
  Input in(data, bytes);
  Rig rig;
  for (unsigned n = 0; n < 64 && !in.empty(); ++n) {
    const unsigned op = in.octet();
    const std::uint8_t which = in.octet();
    const ran::BearerConfig& c = all[which % all.size()];
    Bytes frame;
    if (op % 4 == 0) {
      frame = in.bytes(in.octet());
    } else {
      frame = packet(in, static_cast<std::uint8_t>(which % (all.size() + 1)));
    }
    if (op % 4 >= 2) {
      Bytes made{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xb5};
      const std::uint8_t count = in.octet(), sn = in.octet();
      const Bytes headers = ran::test::downlink_headers(c, count, sn, (op & 16) != 0, false, Qfi{9}, frame.size());
      made.insert(made.end(), headers.begin(), headers.end());
      made.insert(made.end(), frame.begin(), frame.end());
      frame = made;
    }
    if ((op & 8) != 0) damage(frame, in, in.octet() % 4);
    if (op % 4 == 1) {
      rig.from_tun(frame, in.octet() % 40);
    } else {
      rig.from_air(frame);
    }
    rig.check();
  }
  return 0;
}
