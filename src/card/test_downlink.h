// For tests of card/ only: random frames from N3, from the most frequent forms to forms that no UPF should send.
#pragma once

#include "card/test_random.h"

namespace splitplane::nic::test {

class DownlinkMaker : PacketParts {
 public:
  using PacketParts::PacketParts;

  Packet next() {
    if (below(5) < 2) return usual();
    return odd();
  }

  // A packet that a card must serve itself if its bearer is on a card.
  Packet usual() {
    const TestBearer& b = any([](const TestBearer& one) { return !one.monitored; });
    N3Frame f = to(b);
    f.tags.resize(below(2), static_cast<std::uint16_t>(random_()));
    f.sequence_number = below(4) == 0;
    f.n_pdu_number = below(4) == 0;
    if (below(4) == 0) f.extensions.clear();
    if (below(3) == 0) f.fragment = 0;
    f.ipv6 = below(5) == 0;
    Packet p{.octets = f.make(), .what = "usual", .valid = true, .bearer = &b};
    const std::size_t ip = 14 + 4 * f.tags.size();
    if (f.ipv6) {
      p.udp_checksum = true;  // 0 is wrong, too (RFC 8200 8.1)
      if (below(2) == 0) add_udp_checksum(p, ip, 40);
      return p;
    }
    wire::store_be16(p.octets.data() + ip + 4, static_cast<std::uint32_t>(random_() & 0xffff));  // Identification
    p.octets[ip + 1] = static_cast<std::uint8_t>(random_());                                     // DSCP, ECN
    wire::store_be16(p.octets.data() + ip + 10, 0);
    wire::store_be16(p.octets.data() + ip + 10, wire::ipv4::checksum({p.octets.data() + ip, 20}));
    if (below(3) == 0) add_udp_checksum(p, ip, 20);
    return p;
  }

 private:
  Packet odd() {
    const TestBearer& b = any([](const TestBearer& one) { return !one.monitored; });
    N3Frame f = to(b);
    if (below(4) == 0) f.tags = {5};
    f.ipv6 = below(5) == 0;
    Packet p{.bearer = &b};
    spoil(f, p);
    if (p.octets.empty()) p.octets = f.make();
    return p;
  }

  void add_udp_checksum(Packet& p, std::size_t ip, std::size_t ip_bytes) {
    const wire::Octets packet = wire::Octets(p.octets).subspan(ip);
    const std::size_t address = ip_bytes == 20 ? 4 : 16, source = ip_bytes - 2 * address;
    const std::uint16_t right = wire::udp::checksum(
        packet.subspan(source, address), packet.subspan(source + address, address), packet.subspan(ip_bytes));
    p.udp_checksum = true;
    wire::store_be16(p.octets.data() + ip + ip_bytes + 6,
                     below(2) == 0 ? right : std::uint32_t{right} ^ (1U << below(16)));
  }

  void spoil(N3Frame& f, Packet& p) {
    const auto octet = [this] { return static_cast<std::uint8_t>(random_()); };
    switch (below(26)) {
      case 0:
        p.what = "any T-PDU";
        f.payload = payload(bytes(), below(2) == 0 ? p.bearer : nullptr);
        return;
      case 1:
        p.what = "two tags";
        f.tags = {7, 8};
        return;
      case 2:
        p.what = "three tags, or a service tag";
        f.tags = {7};
        p.octets = f.make();
        if (below(2) == 0) {
          p.octets.insert(p.octets.begin() + 12, {0x88, 0xa8, 0, 1, 0x81, 0, 0, 2});
        } else {
          p.octets[12] = 0x88, p.octets[13] = 0xa8;
        }
        return;
      case 3:
        p.what = "IP options";
        f.ip_options = Bytes(4 * (1 + below(10)), 1);
        return;
      case 4:
        p.what = "fragment";
        f.fragment = static_cast<std::uint16_t>(below(2) == 0 ? 0x2000 : 1 + below(0x1fff));
        return;
      case 5:
        p.what = "not UDP, or another port";
        if (below(2) == 0)
          f.first_next = octet();
        else
          f.port = static_cast<std::uint16_t>(random_());
        return;
      case 6:
        p.what = "unknown TEID";
        f.teid = below(3) == 0   ? 0
                 : below(2) == 0 ? teid(kLines - 1 + below(2))
                                 : static_cast<std::uint32_t>(random_());
        p.bearer = nullptr;
        return;
      case 7:
        p.what = "another message";
        f.message = std::array<std::uint8_t, 6>{1, 2, 26, 31, 254, octet()}[below(6)];
        return;
      case 8:
        p.what = "not for us";
        f.destination ^= 1U << below(32);
        f.destination_v6[below(16)] ^= static_cast<std::uint8_t>(1U << below(8));
        return;
      case 9:
        p.what = "outer IPv6";
        f.ipv6 = true;
        if (below(2) == 0) f.ip_options = datapath::test::ipv6_extension_headers(), f.first_next = 0;
        return;
      case 10:
        p.what = "ARP or neighbour discovery";
        p.octets = below(2) == 0 ? datapath::test::arp_frame() : datapath::test::neighbor_frame(135 + below(3) % 2);
        p.bearer = nullptr;
        return;
      case 11:
        p.what = "another EtherType";
        p.octets = f.make();
        wire::store_be16(p.octets.data() + 12,
                         std::array<std::uint32_t, 4>{0x88b5, 0x88cc, 46, below(0x10000)}[below(4)]);
        return;
      case 12:
        p.what = "extension chain";
        chain(f);
        return;
      case 13:
        p.what = "long or damaged chain";
        f.extensions.assign(1 + below(10), {static_cast<std::uint8_t>(below(2) == 0 ? 0x40 : 0x81), {0, 1}});
        if (below(2) == 0) f.extensions.push_back({0x85, {0, 9}});
        if (below(2) == 0) f.extensions[0].content.resize(2 + 4 * below(4));
        p.octets = f.make();
        if (below(2) == 0) p.octets[gtpu_at(f) + 12] = octet();
        return;
      case 14:
        p.what = "PDU Session Container of another form";
        f.extensions[0].content[0] = below(2) == 0 ? 0 : octet() & 0x17;  // QMP: monitored bearers only
        f.extensions[0].content[1] = octet();
        f.extensions[0].content.resize(2 + 4 * below(3));
        return;
      case 15:
        p.what = "E without an extension header";
        f.sequence_number = true;
        f.extensions.clear();
        p.octets = f.make();
        p.octets[gtpu_at(f)] |= 4;
        return;
      case 16:
        p.what = "truncated";
        p.octets = f.make();
        p.octets.resize(below(std::min<std::size_t>(p.octets.size(), 110)));
        shorten_lengths(p.octets, f, below(4));
        return;
      case 17: {
        p.what = "a wrong length";
        p.octets = f.make();
        const std::size_t ip = 14 + 4 * f.tags.size();
        const auto fields = f.ipv6 ? std::array<std::size_t, 3>{4, 44, 50} : std::array<std::size_t, 3>{2, 24, 30};
        std::uint8_t* const field = p.octets.data() + ip + fields[below(3)];
        const std::uint32_t right = wire::load_be16(field);
        wire::store_be16(field, below(3) == 0 ? below(0x10000) : (right + 0xfff8 + below(17)) & 0xffff);
        return;
      }
      case 18:
        p.what = "padding, or slack between the layers";
        (below(3) == 0 ? f.padding : below(2) == 0 ? f.udp_slack : f.ip_slack) = 1 + below(40);
        return;
      case 19:
        p.what = "another first octet of GTP-U";
        p.octets = f.make();
        p.octets[gtpu_at(f)] = octet();
        return;
      case 20:
        p.what = "no T-PDU";
        f.payload.clear();
        return;
      case 21:
        p.what = "too long for the air, or nearly";
        f.payload = payload(longest(*p.bearer) - 1 + below(60), p.bearer);
        return;
      case 22:
        p.what = "container with time stamps";
        if (std::ranges::none_of(bearers_, &TestBearer::monitored)) return;
        p.bearer = &any([](const TestBearer& one) { return one.monitored; });
        f.teid = p.bearer->id();
        f.extensions = {{0x85, {0x08, 0x09, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}};
        f.payload = payload(60, p.bearer);
        return;
      default:
        p.what = "damaged";
        p.octets = f.make();
        damage(p.octets, gtpu_at(f) + 13);
        return;
    }
  }

  // The lengths of the first `layers` of IPv4, UDP and GTP-U say where the frame ends.
  static void shorten_lengths(Bytes& frame, const N3Frame& f, std::uint32_t layers) {
    using Places = std::array<std::size_t, 3>;
    const std::size_t ip = 14 + 4 * f.tags.size();
    const Places field = f.ipv6 ? Places{4, 44, 50} : Places{2, 24, 30},
                 less = f.ipv6 ? Places{40, 40, 56} : Places{0, 20, 36};
    for (std::uint32_t i = 0; i < layers && frame.size() >= ip + field[i] + 2; ++i) {
      const std::size_t bytes = frame.size() - ip;
      wire::store_be16(frame.data() + ip + field[i],
                       bytes < less[i] ? 0U : static_cast<std::uint32_t>(bytes - less[i]));
    }
  }

  void chain(N3Frame& f) {
    constexpr std::array<std::uint8_t, 8> kTypes{0x85, 0xc0, 0x40, 0x20,
                                                 0x82, 0x84, 0x41, 0xc1};  // 0x41, 0xc1: unknown
    const std::size_t at = below(2);
    f.extensions.insert(f.extensions.begin() + static_cast<std::ptrdiff_t>(at),
                        GtpuExtension{kTypes[below(8)], Bytes(below(2) == 0 ? 2 : 6, 1)});
  }
  static std::size_t gtpu_at(const N3Frame& f) {
    return 14 + 4 * f.tags.size() + (f.ipv6 ? 40 : 20) + f.ip_options.size() + 8;
  }
};

}  // namespace splitplane::nic::test
