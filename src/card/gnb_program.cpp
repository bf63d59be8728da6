#include "card/gnb_program.h"

#include <algorithm>

#include "n3/interface.h"
#include "ran/bearer.h"
#include "wire/bytes.h"

namespace splitplane::nic {
namespace {

constexpr std::uint32_t kNeverPolls = 0xffffffff;

// Values of the actions, in the order of the names beside them.
enum Serve {
  kSlot,
  kAirDst,
  kAirSrc,
  kAirhdr,
  kId,
  kForm,
  kPollPdu,
  kQfi,
  kN3Dst,
  kSession,
  kIsArmed,
  kVf,
  kLongest,
  kServeCount
};
constexpr std::array<std::string_view, kServeCount> kServeNames{"slot",  "air_dst",  "air_src", "airhdr", "id",
                                                                "form",  "poll_pdu", "qfi",     "n3_dst", "session",
                                                                "armed", "vf",       "longest"};
enum Uplink { kUpSlot, kModes, kUpQfi, kUpTeid, kPeer, kCopies, kUpVf, kUplinkCount };
constexpr std::array<std::string_view, kUplinkCount> kUplinkNames{"slot", "modes",  "qfi", "teid",
                                                                  "peer", "copies", "vf"};
constexpr std::array<std::string_view, 6> kPeerNames{"eth_dst", "eth_src",       "src",
                                                     "dst",     "checksum_base", "max_payload"};

constexpr std::array<std::string_view, 1> kVfName{"vf"};

std::uint64_t number_of(const MacAddress& mac) {
  std::uint64_t value = 0;
  for (const std::uint8_t octet : mac.octets) value = value << 8 | octet;
  return value;
}
std::uint32_t number_of(const IpAddress& v4) {
  return static_cast<std::uint32_t>(wire::load_be32(v4.octets().data()));
}

// RLC SN of 18 bits, PDCP SN of 18 bits, an SDAP header.
std::uint64_t form_of(const CardBearer& b, bool sdap) {
  return (b.rlc_sn_bits == 18 ? 1U : 0U) | (b.pdcp_sn_bits == 18 ? 2U : 0U) | (sdap ? 4U : 0U);
}

ran::BearerConfig ran_config(const CardBearer& b) {
  ran::BearerConfig config;
  config.id = b.id;
  config.rlc_mode = RlcMode::kAm;
  config.rlc_sn_bits = b.rlc_sn_bits;
  config.pdcp_sn_bits = b.pdcp_sn_bits;
  config.sdap_header_dl = b.sdap_dl;
  config.sdap_header_ul = b.sdap_ul;
  return config;
}

// Octets in front of an SDU on the air: Ethernet, and airhdr, RLC, PDCP, SDAP.
unsigned air_overhead(const CardBearer& b, bool with_headers) {
  constexpr unsigned kEthernet = 14, kAirhdr = 10;
  if (!with_headers) return kEthernet;
  const unsigned rlc = b.rlc_sn_bits == 18 ? 3 : 2, pdcp = b.pdcp_sn_bits == 18 ? 3 : 2;
  return kEthernet + kAirhdr + rlc + pdcp + (b.sdap_dl ? 1 : 0);
}

std::array<std::uint64_t, kServeCount> serve_values(const CardBearer& b, std::uint32_t slot, std::uint32_t session,
                                                    unsigned longest) {
  std::array<std::uint64_t, kServeCount> v{};
  v[kSlot] = slot;
  v[kAirDst] = number_of(b.air_dst);
  v[kAirSrc] = number_of(b.air_src);
  v[kAirhdr] = 0x20000000U | ran::airhdr_modes(ran_config(b), Direction::kDownlink) << 16 | b.epoch;
  v[kId] = b.id.value;
  v[kForm] = form_of(b, b.sdap_dl);
  v[kPollPdu] = b.poll_pdu == 0 ? kNeverPolls : b.poll_pdu;
  v[kQfi] = b.qfi.value;
  v[kN3Dst] = __builtin_bswap32(b.n3_ipv4);
  v[kSession] = session;
  v[kIsArmed] = b.place == Place::kArmed ? 1 : 0;
  v[kVf] = kFirstVf + b.vf_n3;
  v[kLongest] = longest;
  return v;
}

std::array<std::uint64_t, kUplinkCount> uplink_values(const CardBearer& b, std::uint32_t slot) {
  std::array<std::uint64_t, kUplinkCount> v{};
  v[kUpSlot] = slot;
  v[kModes] = ran::airhdr_modes(ran_config(b), Direction::kUplink);
  v[kUpQfi] = b.sdap_ul ? 0 : b.qfi.value;
  v[kUpTeid] = b.uplink_teid.value;
  v[kPeer] = b.peer;
  v[kCopies] = kFirstVf + b.copies_vf;
  v[kUpVf] = kFirstVf + b.vf_air;
  return v;
}

}  // namespace

Expected<GnbProgram> GnbProgram::of(SwxPipeline& pipeline, const CardSettings& settings) {
  GnbProgram program;
  program.settings_ = settings;
  const SpecFile& spec = pipeline.spec();
  program.by_ue_address_ = spec.defines_has("BY_UE_ADDRESS");
  program.has_headers_ = !spec.defines_has("FEATURE=FEATURE_decap");
  if (spec.defines_has("FEATURE=FEATURE_clone_drop")) program.clone_port_ = kFirstVf + settings.vfs;
  if (auto done = program.bind(pipeline); !done) return tl::unexpected(done.error());
  return program;
}

Expected<void> GnbProgram::bind(SwxPipeline& pipeline) {
  const auto bind_action = [&](SwxAction& out, const SwxTable* table, std::string_view action,
                               std::span<const std::string_view> values) -> Expected<void> {
    if (table == nullptr) return {};
    auto bound = table->action(action, values);
    if (!bound) return tl::unexpected(bound.error());
    out = std::move(*bound);
    return {};
  };
  bearers_ = pipeline.table("bearers");
  bearers_v6_ = pipeline.table("bearers_v6");
  uplink_ = pipeline.table("uplink");
  peers_ = pipeline.table("peers");
  fixed_ = pipeline.table("fixed");
  SwxTable* const punt_n3 = pipeline.table("punt_n3");
  SwxTable* const punt_air = pipeline.table("punt_air");
  SwxTable* const marker = marker_ = pipeline.table("marker");
  SwxAction to_n3_vf, to_air_vf;
  Expected<void> done = bind_action(serve_, bearers_, "serve", kServeNames);
  if (done) done = bind_action(to_host_, bearers_, "to_host", kVfName);
  if (done) done = bind_action(serve_v6_, bearers_v6_, "serve", kServeNames);
  if (done) done = bind_action(to_host_v6_, bearers_v6_, "to_host", kVfName);
  if (done) done = bind_action(serve_fixed_, fixed_, "serve", kServeNames);
  if (done) done = bind_action(to_host_fixed_, fixed_, "to_host", kVfName);
  if (done) done = bind_action(miss_fixed_, fixed_, "miss", {});
  if (done) done = bind_action(uplink_serve_, uplink_, "uplink_serve", kUplinkNames);
  if (done) done = bind_action(uplink_to_host_, uplink_, "uplink_to_host", kVfName);
  if (done) done = bind_action(peer_, peers_, "peer", kPeerNames);
  if (done) done = bind_action(on_card_, marker, "on_card", {});
  if (done) done = bind_action(on_host_, marker, "on_host", kVfName);
  if (done) done = bind_action(to_n3_vf, punt_n3, "punt", kVfName);
  if (done) done = bind_action(to_air_vf, punt_air, "punt", kVfName);
  if (!done) return done;
  if (punt_n3 != nullptr) punt_n3->set_default(to_n3_vf, std::array<std::uint64_t, 1>{kFirstVf + settings_.punt_n3});
  if (punt_air != nullptr)
    punt_air->set_default(to_air_vf, std::array<std::uint64_t, 1>{kFirstVf + settings_.punt_air});

  pdcp_next_ = pipeline.registers("pdcp_next");
  rlc_next_ = pipeline.registers("rlc_next");
  without_poll_ = pipeline.registers("without_poll");
  lease_ = pipeline.registers("lease");
  in_flight_ = pipeline.registers("in_flight");
  dl_packets_ = pipeline.registers("dl_packets");
  ul_packets_ = pipeline.registers("ul_packets");
  punts_ = pipeline.registers("punts");
  drops_ = pipeline.registers("drops");
  rlc_control_ = pipeline.registers("rlc_control");
  if (auto complete = require_all(pipeline.spec(), punt_n3 != nullptr && punt_air != nullptr); !complete)
    return complete;
  slots_ = settings_.capacity;
  for (const SwxTable* table : {bearers_, bearers_v6_, uplink_}) {
    if (table != nullptr) slots_ = std::min(slots_, table->size());
  }
  for (const SwxRegisters& registers : {pdcp_next_, rlc_next_, without_poll_, lease_, in_flight_}) {
    if (registers) slots_ = std::min(slots_, registers.size());
  }
  if (slots_ < settings_.capacity) {
    return fail("card {}: capacity is {}; allowed: at most {}, what the program's tables hold", settings_.name,
                settings_.capacity, slots_);
  }
  return {};
}

// A .spec whose first line says program gnb must have all tables that a card fills. Otherwise bearers would be
// installed nowhere.
Expected<void> GnbProgram::require_all(const SpecFile& spec, bool punts) const {
  if (spec.program != "gnb") return {};
  const bool serves = !spec.defines_has("FEATURE=FEATURE_drop");
  const bool one_bearer = spec.defines_has("FEATURE=FEATURE_decap") || spec.defines_has("FEATURE=FEATURE_headers");
  const bool downlink =
      one_bearer ? fixed_ != nullptr : bearers_ != nullptr && (!by_ue_address_ || bearers_v6_ != nullptr);
  const bool registers = pdcp_next_ && rlc_next_ && without_poll_ && lease_ && in_flight_ && dl_packets_ && ul_packets_;
  if (punts && punts_ && drops_ &&
      (!serves || (downlink && uplink_ != nullptr && peers_ != nullptr && (one_bearer || registers))))
    return {};
  return fail("{}: calls itself program gnb and lacks tables or registers of it; allowed: what `make p4` makes",
              spec.path);
}

BearerKeys GnbProgram::keys_of(const CardBearer& b) const {
  BearerKeys keys;
  if (!by_ue_address_) keys.push_back({.low = b.teid.value});
  if (!by_ue_address_) return keys;
  if (b.ue_ipv4) keys.push_back({.low = number_of(*b.ue_ipv4)});
  if (b.ue_ipv6) {
    const std::uint8_t* const octets = b.ue_ipv6->octets().data();
    keys.push_back({wire::load_be64(octets), wire::load_be64(octets + 8), true});
  }
  return keys;
}

unsigned GnbProgram::longest_sdu(const CardBearer& b) const {
  const unsigned overhead = air_overhead(b, has_headers_);
  return std::clamp(settings_.air_frame_bytes, overhead, overhead + 0xffffU) - overhead;
}

bool GnbProgram::write_key(const BearerKey& key, const CardBearer& b, std::uint32_t slot) {
  SwxTable* const table = key.v6 ? bearers_v6_ : bearers_;
  if (table == nullptr) return true;
  const std::array<std::uint64_t, 2> words{key.v6 ? key.high : key.low, key.low};
  if (b.place == Place::kHost) {
    const std::array<std::uint64_t, 1> port{kFirstVf + b.vf_n3};
    return table->set(words, key.v6 ? to_host_v6_ : to_host_, port);
  }
  const std::uint32_t session = clone_port_ != 0 ? clone_port_ : kFirstVf + b.copies_vf;
  return table->set(words, key.v6 ? serve_v6_ : serve_, serve_values(b, slot, session, longest_sdu(b)));
}

void GnbProgram::erase_key(const BearerKey& key) {
  SwxTable* const table = key.v6 ? bearers_v6_ : bearers_;
  const std::array<std::uint64_t, 2> words{key.v6 ? key.high : key.low, key.low};
  if (table != nullptr) table->remove(words);
}

bool GnbProgram::write_entries(const CardBearer& b, std::uint32_t slot) {
  for (const BearerKey& key : keys_of(b)) {
    if (!write_key(key, b, slot)) return false;
  }
  if (uplink_ == nullptr) return true;
  const std::array<std::uint64_t, 1> id{b.id.value};
  if (b.place == Place::kHost) {
    return uplink_->set(id, uplink_to_host_, std::array<std::uint64_t, 1>{kFirstVf + b.vf_air});
  }
  return uplink_->set(id, uplink_serve_, uplink_values(b, slot));
}

void GnbProgram::erase_uplink(BearerId id) {
  if (uplink_ != nullptr) uplink_->remove(std::array<std::uint64_t, 1>{id.value});
}

void GnbProgram::set_fixed(const CardBearer* b, std::uint32_t slot) {
  if (fixed_ == nullptr) return;
  if (b == nullptr) return fixed_->set_default(miss_fixed_, {});
  if (b->place == Place::kHost) {
    return fixed_->set_default(to_host_fixed_, std::array<std::uint64_t, 1>{kFirstVf + b->vf_n3});
  }
  fixed_->set_default(serve_fixed_, serve_values(*b, slot, 0, longest_sdu(*b)));
}

// Registers of a slot that was never used are 0 already.
void GnbProgram::begin_numbers(const CardBearer& b, Slot taken, const CardBearer* before, bool restart) {
  const std::uint32_t slot = taken.number;
  const bool is_new = before == nullptr;
  if (is_new || restart) {
    lease_.write(slot, (std::uint64_t{b.next_count} + b.lease) & UINT32_MAX);
    const bool is_zero = is_new && taken.fresh;
    if (!is_zero || b.next_count != 0) pdcp_next_.write(slot, b.next_count);
    if (!is_zero) {
      rlc_next_.write(slot, 0);
      without_poll_.write(slot, 0);
    }
    if (is_new && !taken.fresh) {
      dl_packets_.write(slot, 0);
      ul_packets_.write(slot, 0);
    }
  }
  const bool was_armed = !is_new && before->place == Place::kArmed;
  if (b.place == Place::kArmed && (!was_armed || restart)) {
    in_flight_.write(slot, b.in_flight);
  } else if (is_new && !taken.fresh) {
    in_flight_.write(slot, 0);
  }
}

std::uint32_t GnbProgram::pdcp_next(std::uint32_t slot) const {
  return static_cast<std::uint32_t>(pdcp_next_.read(slot));
}

void GnbProgram::set_lease(std::uint32_t slot, std::uint32_t first_not_allowed) {
  lease_.write(slot, first_not_allowed);
}

CardNumbers GnbProgram::numbers(std::uint32_t slot) const {
  return {.pdcp_next = pdcp_next(slot),
          .rlc_next = static_cast<std::uint32_t>(rlc_next_.read(slot)),
          .in_flight = static_cast<std::uint32_t>(in_flight_.read(slot)),
          .dl_packets = dl_packets_.read(slot),
          .ul_packets = ul_packets_.read(slot),
          .lease_end = static_cast<std::uint32_t>(lease_.read(slot))};
}

Expected<void> GnbProgram::set_peer(const CardPeer& peer) {
  if (peer.number >= kCardPeers) return fail("peer {}: no such number; allowed: 0 to {}", peer.number, kCardPeers - 1);
  if (peer.from.is_v6() || peer.to.is_v6()) {
    return fail("peer {}: {} is an IPv6 address; allowed on a card: IPv4", peer.number, peer.to.to_string());
  }
  if (peers_ == nullptr) return {};  // feature set drop has no uplink
  datapath::N3Addresses ours{.mac = peer.src};
  std::memcpy(&ours.ipv4, peer.from.octets().data(), 4);
  const std::array<std::uint64_t, 6> values{number_of(peer.dst),
                                            number_of(peer.src),
                                            number_of(peer.from),
                                            number_of(peer.to),
                                            datapath::make_peer(ours, peer.to, peer.dst).checksum_base,
                                            peer.max_payload};
  if (!peers_->set(std::array<std::uint64_t, 1>{peer.number}, peer_, values)) {
    return fail("peer {}: the card's table of peers is full; allowed: {} peers", peer.number, peers_->size());
  }
  has_peer_[peer.number] = true;
  return {};
}

void GnbProgram::unset_peer(unsigned number) {
  if (peers_ == nullptr || number >= kCardPeers || !std::exchange(has_peer_[number], false)) return;
  peers_->remove(std::array<std::uint64_t, 1>{number});
}

Expected<void> GnbProgram::set_markers(std::uint64_t to_host, unsigned vf) {
  if (marker_ == nullptr) {
    return fail("card {}: the program looks at no marker; allowed: program gnb with MARKER", settings_.name);
  }
  if (vf >= settings_.vfs) {
    return fail("card {}: VF {} is none of its own; allowed: 0 to {}", settings_.name, vf, settings_.vfs - 1);
  }
  for (std::uint64_t value = 0; value < 64; ++value) {
    const std::array<std::uint64_t, 1> key{value}, port{kFirstVf + vf};
    if (!marker_->set(key, (to_host >> value & 1) != 0 ? on_host_ : on_card_, port)) {
      return fail("card {}: the table of markers is full; allowed: 64", settings_.name);
    }
  }
  return {};
}

void GnbProgram::add_reasons(CardCounters& counters) const {
  counters.rlc_control += rlc_control_.read(0);
  for (std::uint32_t i = 0; i < kPuntReasonCount; ++i) counters.punts[i] += punts_.read(i);
  for (std::uint32_t i = 0; i < kCardDropCount; ++i) counters.drops[i] += drops_.read(i);
}

}  // namespace splitplane::nic
