// For tests of this room only: FullUe against a gNB with PDCP. Packets are IPv4 and UDP with a number in front.
#pragma once

#include "secured/test_key_file.h"
#include "ue/terminal/full_changes.h"
#include "ue/terminal/test_gnb.h"
#include "wire/ipv4.h"
#include "wire/udp.h"

namespace splitplane::ue::test {

inline IpAddress address_of(std::uint32_t index) {
  return IpAddress::v4({10, 45, static_cast<std::uint8_t>(index >> 8), static_cast<std::uint8_t>(index)});
}
inline constexpr std::uint32_t kServer = 0x08080808;

inline Bytes ip_packet(std::uint32_t from, std::uint32_t to, const Bytes& payload) {
  Bytes packet(wire::ipv4::kMinHeaderBytes + wire::udp::kHeaderBytes);
  wire::ipv4::Header ip{.ttl = 64, .protocol = wire::ipv4::kProtocolUdp, .source = from, .destination = to};
  const std::size_t at = wire::ipv4::write(packet, ip, wire::udp::kHeaderBytes + payload.size());
  wire::store_be16(&packet[at], 40000);
  wire::store_be16(&packet[at + 2], 40000);
  wire::store_be16(&packet[at + 4], static_cast<std::uint16_t>(wire::udp::kHeaderBytes + payload.size()));
  packet.insert(packet.end(), payload.begin(), payload.end());
  return packet;
}
inline std::uint32_t v4_of(const IpAddress& address) {
  return wire::load_be32(address.octets().data());
}

struct FullOptions {
  FullUe::Settings ues;
  unsigned mbufs = 8191;
  bool has_keys = true;
  UeAddresses* addresses = nullptr;
};

class FullEnds {
 public:
  explicit FullEnds(const FullOptions& options = {})
      : pool(options.mbufs),
        gnb(options.mbufs),
        has_tun(options.ues.tun != nullptr),
        ues(settings(options)),
        changes(ues, options.addresses, [](const auto& command) {
          command();
          return true;
        }) {
    gnb_pdcp = end(Direction::kDownlink, gnb.pool);
    if (options.has_keys) ues.take_pdcp(end(Direction::kUplink, pool));
    gnb.deliver = [this](LogicalChannel& from, MbufBuffer sdu) {
      gnb_pdcp->incoming.add(*secured.at(from.id()), sdu.detach());
      receive_at_gnb();
    };
  }
  ~FullEnds() {
    for (const auto& [id, config] : configs) change({.kind = BearerChange::Kind::kRelease, .config = config});
    for (const auto& [id, one] : secured) gnb_pdcp->detach(*one);
    EXPECT_EQ(ues.size(), 0U);
    EXPECT_TRUE(ues.balanced());
    EXPECT_EQ(pool.in_use(), has_tun ? 1U : 0U) << "the one for the TUN device's next packet";
  }

  // The bearers of one UE, at the gNB only.
  Gnb::Ue& add_at_gnb(const std::vector<ran::BearerConfig>& bearers) {
    for (const auto& one : bearers) {
      auto made = gnb_pdcp->make(one, Count{0}, Count{0});
      EXPECT_TRUE(made);
      secured[one.id] = std::move(*made);
      configs[one.id] = one;
    }
    return gnb.add(bearers);
  }
  // What the gNB's list would say.
  BearerChange establishment(const ran::BearerConfig& config, const Gnb::Ue& ue, std::uint32_t lcid = 4) {
    return {.kind = BearerChange::Kind::kEstablish,
            .config = config,
            .numbers = {.pdcp_downlink = secured[config.id]->entity.tx().tx_next(),
                        .pdcp_uplink = secured[config.id]->entity.rx().rx_next()},
            .radio = RadioPlace{ue.rnti, lcid}};
  }
  Gnb::Ue& add(const ran::BearerConfig& config) {
    Gnb::Ue& ue = add_at_gnb({config});
    change(establishment(config, ue));
    return ue;
  }
  void change(const BearerChange& one) { EXPECT_TRUE(changes.carry_out({one}).empty()); }

  // A bearer of its own for each UE, with the address of its number.
  static ran::BearerConfig config(std::uint32_t index, RlcMode mode = RlcMode::kAm, std::uint8_t sn_bits = 18) {
    ran::BearerConfig one = bearer(index, mode, sn_bits);
    one.ue_ipv4 = address_of(index);
    one.security->drb = static_cast<std::uint8_t>(1 + index % 32);
    one.security->key = 1 + index / 32 % 8;
    return one;
  }

  bool send_down(const ran::BearerConfig& to, const Bytes& payload, std::uint8_t sdap = 9) {
    LogicalChannel& channel = gnb.channel(to.id);
    if (!gnb.cell.has_room() || channel.room() == 0) return false;
    Bytes sdu = ip_packet(kServer, v4_of(*to.ue_ipv4), payload);
    sdu.insert(sdu.begin(), sdap);
    gnb_pdcp->outgoing.add(*secured.at(to.id), gnb.pool.make(sdu));
    gnb_pdcp->protect(gnb_pdcp->outgoing);
    gnb_pdcp->outgoing.size = 0;
    auto& item = gnb_pdcp->outgoing.item[0];
    EXPECT_EQ(item.outcome, ran::pdcp::TxOutcome::sent);
    return gnb.cell.send(channel, item.buffer);
  }
  void send_up(const ran::BearerConfig& from, const Bytes& payload) {
    datapath::Burst burst;
    burst.mbuf[burst.size++] = pool.make(ip_packet(v4_of(*from.ue_ipv4), kServer, payload));
    ues.send(burst);
  }
  void run(unsigned slots = 1) {
    for (; slots != 0; --slots) {
      gnb.run(ues.terminals());
      gnb_pdcp->serve(gnb.now, keep());
      (void)ues.serve(gnb.now);
      EXPECT_TRUE(ues.balanced());
    }
  }
  void run_until_silent() {
    for (unsigned most = 20000; most != 0 && !(gnb.silent() && ues.cell().rlc().held() == 0); --most) run();
    run(700);  // STATUS PDUs, and t-Reordering
  }

  datapath::test::TestKeyFile file;
  Pool pool;
  Gnb gnb;
  std::unique_ptr<datapath::WorkerPdcp> gnb_pdcp;
  std::map<BearerId, std::unique_ptr<datapath::SecuredBearer>> secured;
  std::map<BearerId, ran::BearerConfig> configs;
  std::map<BearerId, std::vector<Bytes>> up;  // SDUs of SDAP, as PDCP of the gNB delivers them
  bool has_tun;
  FullUe ues;
  FullChanges changes;

 private:
  FullUe::Settings settings(const FullOptions& options) const {
    FullUe::Settings s = options.ues;
    s.radio.rlc.pool = pool.get();
    s.radio.rlc.ticks_per_ms = kMs;
    return s;
  }
  std::unique_ptr<datapath::WorkerPdcp> end(Direction sends, const Pool& buffers) const {
    auto made = datapath::WorkerPdcp::create(
        {.sends = sends, .pool = buffers.get(), .max_held = 4096, .ticks_per_ms = kMs}, file.keys());
    EXPECT_TRUE(made);
    return std::move(*made);
  }
  std::function<void(BearerId, MbufBuffer)> keep() {
    return [this](BearerId id, const MbufBuffer& sdu) { up[id].push_back(octets_of(sdu)); };
  }
  void receive_at_gnb() {
    gnb_pdcp->receive(gnb_pdcp->incoming, gnb.now, keep());
    for (unsigned i = 0; i < gnb_pdcp->incoming.size; ++i) gnb_pdcp->incoming.item[i].pdu.release();
    gnb_pdcp->incoming.size = 0;
  }
};

}  // namespace splitplane::ue::test
