#include "card/gnb_program.h"

#include <algorithm>
#include <bit>

#include "n3/interface.h"
#include "ran/bearer.h"
#include "wire/airhdr.h"
#include "wire/bytes.h"

namespace splitplane::nic {
namespace {

constexpr unsigned kEthernetBytes = 14;
constexpr std::uint64_t kNoPoll = 0xffff;
constexpr std::uint64_t kToN3 = 64, kToAir = 65;  // numbers in the table `out_ports`; VFs have their own

constexpr std::uint64_t kHasFlows = 1;  // in `modes` of an entry

// Values of the actions, in the order of the names beside them.
enum Serve { kSlot, kProfile, kModes, kEpoch, kId, kLimit, kRlcOffset, kQfi, kCopies, kVf, kServeCount };
constexpr std::array<std::string_view, kServeCount> kServeNames{"slot",  "profile",    "modes", "epoch",  "id",
                                                                "limit", "rlc_offset", "qfi",   "copies", "vf"};
enum Profile { kN3, kLongest, kPollLast, kRlcMask, kPdcpMask, kReserve, kVlan, kVlanMask, kProfileCount };
constexpr std::array<std::string_view, kProfileCount> kProfileNames{"n3",        "longest", "poll_last", "rlc_mask",
                                                                    "pdcp_mask", "reserve", "vlan",      "vlan_mask"};
constexpr std::array<std::string_view, 3> kAirNames{"dst", "src", "rlc_flags"};
// By form: RLC SN of 18 bits (1), PDCP SN of 18 bits (2), an SDAP header (4).
constexpr std::array<std::string_view, 8> kAirForms{"am12_pdcp12",      "am18_pdcp12",      "am12_pdcp18",
                                                    "am18_pdcp18",      "am12_pdcp12_sdap", "am18_pdcp12_sdap",
                                                    "am12_pdcp18_sdap", "am18_pdcp18_sdap"};
enum Uplink { kUpSlot, kUpModes, kUpQfi, kUpTeid, kPeer, kUpCopies, kUpVf, kUplinkCount };
constexpr std::array<std::string_view, kUplinkCount> kUplinkNames{"slot", "modes",  "qfi", "teid",
                                                                  "peer", "copies", "vf"};
constexpr std::array<std::string_view, 2> kPeerNames{"longest", "checksum_base"};
constexpr std::array<std::string_view, 5> kUpfNames{"eth_dst", "eth_src", "src", "dst", "tag"};
constexpr std::array<std::string_view, 1> kVfName{"vf"}, kNumberName{"number"}, kPortName{"port"},
    kSessionName{"session"};
constexpr std::array<std::string_view, 2> kFromN3Names{"vf", "checksums"}, kInTurnNames{"first", "last_turn"};
constexpr std::array<std::string_view, 1> kTosName{"tos"}, kFirstName{"first"};

std::uint64_t number_of(const MacAddress& mac) {
  std::uint64_t value = 0;
  for (const std::uint8_t octet : mac.octets) value = value << 8 | octet;
  return value;
}
// A one's complement sum in 16 bits.
std::uint32_t folded(std::uint32_t sum) {
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}
std::uint32_t number_of(const IpAddress& v4) {
  return static_cast<std::uint32_t>(wire::load_be32(v4.octets().data()));
}

// The UE may move a flow to another bearer at any time, and only the host keeps its order then.
bool is_of_session(const CardBearer& b) {
  return b.has_flows || b.session.value != 0;
}

std::uint8_t form_of(const CardBearer& b) {
  return static_cast<std::uint8_t>((b.rlc_sn_bits == 18 ? 1U : 0U) | (b.pdcp_sn_bits == 18 ? 2U : 0U) |
                                   (b.sdap_dl ? 4U : 0U));
}

N3Pair n3_of(const CardBearer& b) {
  if (!b.n3_ipv6) return {b.n3_ipv4, 0, 0};
  const std::uint8_t* const octets = b.n3_ipv6->octets().data();
  return {b.n3_ipv4, wire::load_be64(octets), wire::load_be64(octets + 8)};
}

BearerProfile profile_of(const CardBearer& b) {
  return {.air_dst = number_of(b.air_dst),
          .air_src = number_of(b.air_src),
          .n3 = n3_of(b),
          .n3_vlan = b.n3_vlan,
          .poll_pdu = b.poll_pdu,
          .form = form_of(b)};
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
unsigned air_overhead(std::uint8_t form, bool with_headers) {
  if (!with_headers) return kEthernetBytes;
  const unsigned rlc = (form & 1) != 0 ? 3 : 2, pdcp = (form & 2) != 0 ? 3 : 2, sdap = (form & 4) != 0 ? 1 : 0;
  return kEthernetBytes + static_cast<unsigned>(wire::airhdr::kHeaderBytes) + rlc + pdcp + sdap;
}

// RLC's SN is COUNT plus this, cut to the length of the SN: a constant, because the card gives both one by one.
std::uint64_t rlc_offset(const EntryNumbers& numbers) {
  constexpr std::uint32_t kSnMask = (1U << 18) - 1;
  return (0 - numbers.rlc_begin) & kSnMask;
}

std::array<std::uint64_t, kServeCount> serve_values(const CardBearer& b, std::uint32_t slot, std::uint8_t profile,
                                                    const EntryNumbers& numbers) {
  std::array<std::uint64_t, kServeCount> v{};
  v[kSlot] = slot;
  v[kProfile] = profile;
  v[kModes] = ran::airhdr_modes(ran_config(b), Direction::kDownlink);
  v[kEpoch] = b.epoch;
  v[kId] = b.id.value;
  v[kLimit] = numbers.limit;
  v[kRlcOffset] = rlc_offset(numbers);
  v[kQfi] = b.qfi.value;
  v[kCopies] = b.copies_vf;
  v[kVf] = b.vf_n3;
  return v;
}

std::array<std::uint64_t, kUplinkCount> uplink_values(const CardBearer& b, std::uint32_t slot) {
  std::array<std::uint64_t, kUplinkCount> v{};
  v[kUpSlot] = slot;
  v[kUpModes] = ran::airhdr_modes(ran_config(b), Direction::kUplink);
  v[kUpQfi] = b.sdap_ul ? 0 : b.qfi.value;
  v[kUpTeid] = b.uplink_teid.value;
  v[kPeer] = b.peer;
  v[kUpCopies] = b.copies_vf;
  v[kUpVf] = b.vf_air;
  return v;
}

}  // namespace

Expected<GnbProgram> GnbProgram::of(Pipeline& pipeline, const CardSettings& settings) {
  GnbProgram program(settings);
  const SpecFile& spec = pipeline.spec();
  program.by_ue_address_ = spec.defines_has("BY_UE_ADDRESS");
  program.has_headers_ = !spec.defines_has("FEATURE=FEATURE_decap");
  if (spec.defines_has("FEATURE=FEATURE_clone_drop")) program.clone_port_ = kFirstVf + settings.vfs;
  if (auto done = program.bind(pipeline); !done) return tl::unexpected(done.error());
  return program;
}

Expected<void> GnbProgram::bind_tables(Pipeline& pipeline) {
  const auto bind_action = [&](TableAction& out, const PipelineTable* table, std::string_view action,
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
  upfs_ = pipeline.table("upfs");
  fixed_ = pipeline.table("fixed");
  marker_ = pipeline.table("marker");
  profile_rows_ = pipeline.table("profiles");
  air_ = pipeline.table("air");
  n3_addresses_ = pipeline.table("n3_addresses");
  n3_addresses_v6_ = pipeline.table("n3_addresses_v6");
  marks_ = pipeline.table("marks");
  spread_ = pipeline.table("spread");
  buckets_ = pipeline.table("buckets");
  flows_ = pipeline.table("flows");
  ports_ = pipeline.table("ports");
  out_ports_ = pipeline.table("out_ports");
  clones_ = pipeline.table("clones");
  Expected<void> done = bind_action(serve_, bearers_, "serve", kServeNames);
  if (done) done = bind_action(to_host_, bearers_, "to_host", kVfName);
  if (done) done = bind_action(serve_flow_, flows_, "serve", kServeNames);
  if (done) done = bind_action(flow_to_host_, flows_, "to_host", kVfName);
  if (done && flows_ != nullptr) done = bind_action(flows_to_host_, bearers_, "flows_to_host", kVfName);
  if (done) done = bind_action(serve_v6_, bearers_v6_, "serve", kServeNames);
  if (done) done = bind_action(to_host_v6_, bearers_v6_, "to_host", kVfName);
  if (done) done = bind_action(serve_fixed_, fixed_, "serve", kServeNames);
  if (done) done = bind_action(to_host_fixed_, fixed_, "to_host", kVfName);
  if (done) done = bind_action(miss_fixed_, fixed_, "miss", {});
  if (done) done = bind_action(profile_, profile_rows_, "profile", kProfileNames);
  if (done) done = bind_action(n3_address_, n3_addresses_, "n3_address", kNumberName);
  if (done) done = bind_action(n3_address_v6_, n3_addresses_v6_, "n3_address", kNumberName);
  if (done) done = bind_action(mark_, marks_, "mark", kTosName);
  if (done) done = bind_action(in_turn_, spread_, "in_turn", kInTurnNames);
  if (done) done = bind_action(by_hash_, spread_, "by_hash", kFirstName);
  if (done) done = bind_action(bucket_, buckets_, "bucket", kVfName);
  for (std::size_t form = 0; done && form < air_forms_.size(); ++form)
    done = bind_action(air_forms_[form], air_, has_headers_ ? kAirForms[form] : "decap", kAirNames);
  if (done) done = bind_action(uplink_serve_, uplink_, "uplink_serve", kUplinkNames);
  if (done) done = bind_action(uplink_to_host_, uplink_, "uplink_to_host", kVfName);
  if (done) done = bind_action(peer_, peers_, "peer", kPeerNames);
  if (done) done = bind_action(to_upf_, upfs_, "to_upf", kUpfNames);
  if (done) done = bind_action(to_upf_vlan_, upfs_, "to_upf_vlan", kUpfNames);
  if (done) done = bind_action(on_card_, marker_, "on_card", {});
  if (done) done = bind_action(on_host_, marker_, "on_host", kVfName);
  if (done) done = bind_action(from_n3_, ports_, "from_n3", kFromN3Names);
  if (done) done = bind_action(from_air_, ports_, "from_air", kVfName);
  if (done) done = bind_action(from_vf_, ports_, "from_vf", {});
  if (done) done = bind_action(send_, out_ports_, "send", kPortName);
  if (done) done = bind_action(clone_to_, clones_, "clone_to", kSessionName);
  return done;
}

Expected<void> GnbProgram::bind(Pipeline& pipeline) {
  if (auto bound = bind_tables(pipeline); !bound) return bound;
  next_count_ = pipeline.registers("next_count");
  waiting_ = pipeline.registers("waiting");
  polls_ = pipeline.registers("polls");
  dl_packets_ = pipeline.registers("dl_packets");
  ul_packets_ = pipeline.registers("ul_packets");
  dl_octets_ = pipeline.registers("dl_octets");
  ul_octets_ = pipeline.registers("ul_octets");
  punts_ = pipeline.registers("punts");
  drops_ = pipeline.registers("drops");
  rlc_control_ = pipeline.registers("rlc_control");
  if (auto complete = require_all(pipeline.spec()); !complete) return complete;
  slots_ = settings_.capacity;
  for (const PipelineTable* table : {bearers_, bearers_v6_, uplink_}) {
    if (table != nullptr) slots_ = std::min(slots_, table->size());
  }
  for (const PipelineRegisters& registers : {next_count_, waiting_, polls_}) {
    if (registers) slots_ = std::min(slots_, registers.size());
  }
  if (slots_ < settings_.capacity) {
    return fail("card {}: capacity is {}; allowed: at most {}, what the program's tables hold", settings_.name,
                settings_.capacity, slots_);
  }
  states_.resize(slots_);
  return write_ports();
}

// Which port is what: rows that stay as they are.
Expected<void> GnbProgram::write_ports() {
  if (ports_ == nullptr || out_ports_ == nullptr) return {};
  using Values = std::array<std::uint64_t, 2>;
  const auto row = [](PipelineTable& table, std::uint64_t key, const TableAction& action, const Values& values) {
    return table.set(std::array<std::uint64_t, 1>{key}, action, values);
  };
  bool fits = row(*ports_, kN3Port, from_n3_, {settings_.punt_n3, settings_.verify_checksum ? 1U : 0U}) &&
              row(*ports_, kAirPort, from_air_, {settings_.punt_air}) && row(*out_ports_, kToN3, send_, {kN3Port}) &&
              row(*out_ports_, kToAir, send_, {kAirPort});
  for (unsigned vf = 0; fits && vf < settings_.vfs; ++vf) {
    fits = row(*ports_, kFirstVf + vf, from_vf_, {}) && row(*out_ports_, vf, send_, {kFirstVf + vf});
    // The number of a mirror session is the port that it leads to.
    if (clones_ != nullptr) {
      fits = fits && row(*clones_, vf, clone_to_, {clone_port_ != 0 ? clone_port_ : kFirstVf + vf});
    }
  }
  if (!fits) return fail("card {}: the program's tables of ports do not hold {} VFs", settings_.name, settings_.vfs);
  return {};
}

// A .spec whose first line says program gnb must have all tables that a card fills. Otherwise bearers would be
// installed nowhere.
Expected<void> GnbProgram::require_all(const SpecFile& spec) const {
  if (spec.program != "gnb") return {};
  const bool serves = !spec.defines_has("FEATURE=FEATURE_drop");
  const bool one_bearer = !has_headers_ || spec.defines_has("FEATURE=FEATURE_headers");
  const bool downlink =
      one_bearer ? fixed_ != nullptr : bearers_ != nullptr && (!by_ue_address_ || bearers_v6_ != nullptr);
  const bool shared =
      profile_rows_ != nullptr && air_ != nullptr && n3_addresses_ != nullptr && n3_addresses_v6_ != nullptr;
  const bool uplink = uplink_ != nullptr && peers_ != nullptr && upfs_ != nullptr && marks_ != nullptr;
  const bool registers = next_count_ && waiting_ && polls_ && dl_packets_ && ul_packets_ && dl_octets_ && ul_octets_;
  if (ports_ != nullptr && out_ports_ != nullptr && punts_ && drops_ &&
      (!serves || (downlink && shared && uplink && (one_bearer || registers))))
    return {};
  return fail("{}: calls itself program gnb and lacks tables or registers of it; allowed: what `make p4` makes",
              spec.path);
}

BearerKeys GnbProgram::keys_of(const CardBearer& b) const {
  BearerKeys keys;
  if (!by_ue_address_) {
    keys.push_back({.low = b.teid.value});
    for (std::uint64_t left = b.flows; left != 0; left &= left - 1)
      keys.push_back({.low = b.session.value, .flow = static_cast<std::uint8_t>(std::countr_zero(left))});
    return keys;
  }
  if (b.ue_ipv4) keys.push_back({.low = number_of(*b.ue_ipv4)});
  if (b.ue_ipv6) {
    const std::uint8_t* const octets = b.ue_ipv6->octets().data();
    keys.push_back({wire::load_be64(octets), wire::load_be64(octets + 8), true});
  }
  return keys;
}

unsigned GnbProgram::longest_sdu(std::uint8_t form) const {
  const unsigned overhead = air_overhead(form, has_headers_);
  return std::clamp(settings_.air_frame_bytes, overhead, overhead + 0x7fffU) - overhead;
}

bool GnbProgram::write_profile(const BearerProfile& profile, std::uint8_t number, std::uint8_t n3) {
  constexpr std::uint64_t kPolls = 1;
  const bool rlc18 = (profile.form & 1) != 0, pdcp18 = (profile.form & 2) != 0;
  std::array<std::uint64_t, kProfileCount> v{};
  v[kN3] = n3;
  v[kLongest] = (longest_sdu(profile.form) - 1) & 0xffffU;
  v[kPollLast] = profile.poll_pdu == 0 ? kNoPoll : profile.poll_pdu - 1U;
  v[kRlcMask] = rlc18 ? 0x3ffff : 0xfff;
  v[kPdcpMask] = pdcp18 ? 0x3ffff : 0xfff;
  v[kReserve] = kLeaseReserve;
  constexpr std::uint64_t kTagged = 0x1000, kAllBits = 0xffff;  // as in p4/gnb.p4i
  const bool any_vlan = profile.n3_vlan == kAnyVlan;
  v[kVlanMask] = any_vlan ? 0 : kAllBits;
  v[kVlan] = any_vlan || profile.n3_vlan == 0 ? 0 : kTagged | profile.n3_vlan;
  const std::array<std::uint64_t, 1> row{number};
  const std::array<std::uint64_t, 2> silent{number, 0}, polling{number, kPolls};
  const std::array<std::uint64_t, 3> data{profile.air_dst, profile.air_src, rlc18 ? 0x800000U : 0x8000U},
      poll{profile.air_dst, profile.air_src, rlc18 ? 0xc00000U : 0xc000U};
  const TableAction& action = air_forms_[profile.form];
  return profile_rows_->set(row, profile_, v) && air_->set(silent, action, data) && air_->set(polling, action, poll);
}

void GnbProgram::give_back(const BearerProfile& profile, std::uint8_t number) {
  if (!profiles_.give_back(profile)) return;
  profile_rows_->remove(std::array<std::uint64_t, 1>{number});
  for (const std::uint64_t poll : {0U, 1U}) air_->remove(std::array<std::uint64_t, 2>{number, poll});
  give_back_addresses(profile.n3);
}

std::optional<std::uint8_t> GnbProgram::take_addresses(const N3Pair& pair) {
  const auto taken = n3_numbers_.take(pair);
  if (!taken || !taken->fresh) return taken ? std::optional(taken->number) : std::nullopt;
  const std::array<std::uint64_t, 1> number{taken->number}, v4{__builtin_bswap32(pair.v4)};
  const std::array<std::uint64_t, 2> v6{pair.high, pair.low};
  if ((pair.v4 == 0 || n3_addresses_->set(v4, n3_address_, number)) &&
      (!pair.has_v6() || n3_addresses_v6_->set(v6, n3_address_v6_, number))) {
    if (pair.v4 != 0) n3_rows_[{pair.v4, 0, 0}] = pair;
    if (pair.has_v6()) n3_rows_[{0, pair.high, pair.low}] = pair;
    return taken->number;
  }
  (void)n3_numbers_.give_back(pair);
  return std::nullopt;
}

void GnbProgram::give_back_addresses(const N3Pair& pair) {
  if (!n3_numbers_.give_back(pair)) return;
  const auto is_owned = [&](const N3Pair& address) {
    const auto row = n3_rows_.find(address);
    return row != n3_rows_.end() && row->second == pair;
  };
  const std::array<std::uint64_t, 1> v4{__builtin_bswap32(pair.v4)};
  const std::array<std::uint64_t, 2> v6{pair.high, pair.low};
  if (const N3Pair address{pair.v4, 0, 0}; pair.v4 != 0 && is_owned(address)) {
    n3_addresses_->remove(v4);
    n3_rows_.erase(address);
    n3_numbers_.for_each([&](const N3Pair& other, std::uint8_t number) {
      if (other.v4 != pair.v4 || !n3_addresses_->set(v4, n3_address_, std::array<std::uint64_t, 1>{number})) return;
      n3_rows_[address] = other;
    });
  }
  if (const N3Pair address{0, pair.high, pair.low}; pair.has_v6() && is_owned(address)) {
    n3_addresses_v6_->remove(v6);
    n3_rows_.erase(address);
    n3_numbers_.for_each([&](const N3Pair& other, std::uint8_t number) {
      const bool same = other.high == pair.high && other.low == pair.low;
      if (!same || !n3_addresses_v6_->set(v6, n3_address_v6_, std::array<std::uint64_t, 1>{number})) return;
      n3_rows_[address] = other;
    });
  }
}

// The slot's former profile stays until write_entries() has replaced what names it.
Expected<void> GnbProgram::take_profile(const CardBearer& b, std::uint32_t slot) {
  SlotState& state = states_[slot];
  const BearerProfile wanted = profile_of(b);
  if (state.has_profile && state.profile == wanted) return {};
  const auto taken = profiles_.take(wanted);
  if (!taken) {
    return fail("bearer {}: card {} has {} combinations of next hop, SN lengths, pollPDU and N3 address; allowed: {}",
                b.id.value, settings_.name, profiles_.in_use(), kCardProfiles);
  }
  if (taken->fresh) {
    const auto n3 = take_addresses(wanted.n3);
    if (!n3) {
      (void)profiles_.give_back(wanted);
      return fail("bearer {}: card {} has {} addresses on N3; allowed: {}", b.id.value, settings_.name,
                  n3_numbers_.in_use(), kCardN3Addresses);
    }
    if (!write_profile(wanted, taken->number, *n3)) {
      give_back(wanted, taken->number);
      return fail("bearer {}: the tables of card {} have no place for its next hop; allowed: fewer of them", b.id.value,
                  settings_.name);
    }
  }
  state.has_profile = true;
  state.profile_number = taken->number;
  state.profile = wanted;
  return {};
}

void GnbProgram::release(std::uint32_t slot) {
  SlotState& state = states_[slot];
  if (std::exchange(state.has_profile, false)) give_back(state.profile, state.profile_number);
}

GnbProgram::KeyRow GnbProgram::row_of(const BearerKey& key) const {
  if (key.flow) return {flows_, {key.low, *key.flow}, &serve_flow_, &flow_to_host_};
  if (key.v6) return {bearers_v6_, {key.high, key.low}, &serve_v6_, &to_host_v6_};
  return {bearers_, {key.low, 0}, &serve_, &to_host_};
}

bool GnbProgram::write_key(const BearerKey& key, const CardBearer& b, std::uint32_t slot, const EntryNumbers& numbers) {
  const KeyRow row = row_of(key);
  if (row.table == nullptr) return true;
  const bool has_flows = b.has_flows && flows_ != nullptr && !key.flow;
  if (b.place == Place::kHost) {
    return row.table->set(row.words, has_flows ? flows_to_host_ : *row.to_host, std::array<std::uint64_t, 1>{b.vf_n3});
  }
  auto values = serve_values(b, slot, states_[slot].profile_number, numbers);
  if (has_flows) values[kModes] |= kHasFlows;
  return row.table->set(row.words, *row.serve, values);
}

EntryNumbers GnbProgram::first_numbers(const CardBearer& b) {
  return {.limit = b.next_count + b.lease, .rlc_begin = b.next_count - b.next_rlc};
}

void GnbProgram::erase_key(const BearerKey& key) {
  const KeyRow row = row_of(key);
  if (row.table != nullptr) row.table->remove(row.words);
}

Expected<void> GnbProgram::write_entries(const CardBearer& b, std::uint32_t slot, const EntryNumbers& numbers) {
  const SlotState before = states_[slot];
  const bool is_served = b.place != Place::kHost && profile_rows_ != nullptr;
  if (is_served) {
    if (auto taken = take_profile(b, slot); !taken) return taken;
  }
  bool fits = true;
  for (const BearerKey& key : keys_of(b)) fits = fits && write_key(key, b, slot, numbers);
  if (uplink_ != nullptr) {
    const std::array<std::uint64_t, 1> id{b.id.value}, port{b.vf_air};
    const bool is_served_up = b.place != Place::kHost && !is_of_session(b);
    fits = fits && (is_served_up ? uplink_->set(id, uplink_serve_, uplink_values(b, slot))
                                 : uplink_->set(id, uplink_to_host_, port));
  }
  if (before.has_profile && (!is_served || before.profile != states_[slot].profile)) {
    states_[slot].has_profile = is_served;
    give_back(before.profile, before.profile_number);
  }
  if (fits) return {};
  return fail("bearer {}: the tables of card {} have no place left for it; allowed: other keys, or fewer", b.id.value,
              settings_.name);
}

void GnbProgram::erase_uplink(BearerId id) {
  if (uplink_ != nullptr) uplink_->remove(std::array<std::uint64_t, 1>{id.value});
}

void GnbProgram::set_fixed(const CardBearer* b, std::uint32_t slot) {
  if (fixed_ == nullptr) return;
  if (b == nullptr) return fixed_->set_default(miss_fixed_, {});
  if (b->place == Place::kHost) {
    return fixed_->set_default(to_host_fixed_, std::array<std::uint64_t, 1>{b->vf_n3});
  }
  fixed_->set_default(serve_fixed_, serve_values(*b, slot, states_[slot].profile_number, states_[slot].numbers));
}

// Registers of a slot that was never used are 0 already.
void GnbProgram::begin_numbers(const CardBearer& b, Slot taken, const CardBearer* before, bool restart) {
  const std::uint32_t slot = taken.number;
  const bool is_new = before == nullptr;
  const bool is_zero = is_new && taken.fresh;
  if (is_new || restart || comes_from_host(before, b)) {
    states_[slot].numbers = first_numbers(b);
    if (!is_zero || b.next_count != 0) next_count_.write(slot, b.next_count);
    if (!is_zero) polls_.write(slot, 0);
    if (is_new && !taken.fresh) {
      for (PipelineRegisters* counter : {&dl_packets_, &ul_packets_, &dl_octets_, &ul_octets_}) counter->write(slot, 0);
    }
  }
  const bool moves_here = b.place == Place::kCard && (is_new || restart || before->place == Place::kHost);
  if (moves_here && (!is_zero || b.in_flight != 0)) waiting_.write(slot, b.in_flight);
}

void GnbProgram::begin_moved(const CardBearer& b, std::uint32_t slot, std::uint32_t settled) {
  states_[slot].numbers = first_numbers(b);
  next_count_.write(slot, b.next_count);
  polls_.write(slot, 0);
  const std::uint64_t waiting = waiting_.read(slot);
  waiting_.write(slot, waiting - std::min<std::uint64_t>(waiting, settled));
  // There is room, because the entries are replaced.
  for (const BearerKey& key : keys_of(b)) (void)write_key(key, b, slot, states_[slot].numbers);
}

std::uint32_t GnbProgram::pdcp_next(std::uint32_t slot) const {
  return static_cast<std::uint32_t>(next_count_.read(slot));
}

void GnbProgram::set_lease(const CardBearer& b, std::uint32_t slot, std::uint32_t first_not_allowed) {
  states_[slot].numbers.limit = first_not_allowed;
  if (b.place == Place::kHost) return;
  // There is room, because the entries are replaced.
  for (const BearerKey& key : keys_of(b)) (void)write_key(key, b, slot, states_[slot].numbers);
}

CardNumbers GnbProgram::numbers(std::uint32_t slot) const {
  const EntryNumbers& entry = states_[slot].numbers;
  return {.pdcp_next = pdcp_next(slot),
          .rlc_next = pdcp_next(slot) - entry.rlc_begin,
          .in_flight = static_cast<std::uint32_t>(waiting_.read(slot)),
          .dl_packets = dl_packets_.read(slot),
          .ul_packets = ul_packets_.read(slot),
          .dl_octets = dl_octets_.read(slot),
          .ul_octets = ul_octets_.read(slot),
          .lease_end = entry.limit};
}

Expected<void> GnbProgram::set_peer(const CardPeer& peer) {
  if (peer.number >= kCardPeers) return fail("peer {}: no such number; allowed: 0 to {}", peer.number, kCardPeers - 1);
  if (peer.from.is_v6() || peer.to.is_v6()) {
    return fail("peer {}: {} is an IPv6 address; allowed on a card: IPv4", peer.number, peer.to.to_string());
  }
  if (peers_ == nullptr || upfs_ == nullptr) return {};  // feature set drop has no uplink
  datapath::N3Addresses ours{.mac = peer.src};
  std::memcpy(&ours.ipv4, peer.from.octets().data(), 4);
  const std::array<std::uint64_t, 1> row{peer.number};
  const std::array<std::uint64_t, 2> limits{(peer.max_payload - 1U) & 0xffffU,
                                            folded(datapath::make_peer(ours, peer.to, peer.dst).checksum_base)};
  const std::array<std::uint64_t, 5> headers{number_of(peer.dst), number_of(peer.src), number_of(peer.from),
                                             number_of(peer.to), peer.vlan};
  if (!upfs_->set(row, peer.vlan == 0 ? to_upf_ : to_upf_vlan_, headers) || !peers_->set(row, peer_, limits)) {
    return fail("peer {}: the card's table of peers is full; allowed: {} peers", peer.number, peers_->size());
  }
  has_peer_[peer.number] = true;
  return {};
}

void GnbProgram::unset_peer(unsigned number) {
  if (peers_ == nullptr || number >= kCardPeers || !std::exchange(has_peer_[number], false)) return;
  const std::array<std::uint64_t, 1> row{number};
  peers_->remove(row);
  upfs_->remove(row);
}

Expected<void> GnbProgram::set_marks(const CardMarks& tos) {
  if (marks_ == nullptr) return {};  // feature set drop has no uplink
  for (std::size_t qfi = 0; qfi < tos.size(); ++qfi) {
    const std::array<std::uint64_t, 1> key{qfi};
    if (tos[qfi] == 0) {
      marks_->remove(key);
    } else if (!marks_->set(key, mark_, std::array<std::uint64_t, 1>{tos[qfi]})) {
      return fail("card {}: the table of marks is full; allowed: 64", settings_.name);
    }
  }
  return {};
}

Expected<void> GnbProgram::set_markers(std::uint64_t to_host, unsigned vf) {
  if (marker_ == nullptr) {
    return fail("card {}: the program looks at no marker; allowed: program gnb with MARKER", settings_.name);
  }
  if (vf >= settings_.vfs) {
    return fail("card {}: VF {} is none of its own; allowed: 0 to {}", settings_.name, vf, settings_.vfs - 1);
  }
  for (std::uint64_t value = 0; value < 64; ++value) {
    const std::array<std::uint64_t, 1> key{value}, port{vf};
    if (!marker_->set(key, (to_host >> value & 1) != 0 ? on_host_ : on_card_, port)) {
      return fail("card {}: the table of markers is full; allowed: 64", settings_.name);
    }
  }
  return {};
}

Expected<void> GnbProgram::set_spread(unsigned first, unsigned count, VfSpread how) {
  if (spread_ == nullptr || buckets_ == nullptr) {
    return fail("card {}: the program deals out nothing; allowed: program gnb with MARKER", settings_.name);
  }
  if (count == 0 || first + count > settings_.vfs) {
    return fail("card {}: VFs {} to {} are none of its own; allowed: 0 to {}", settings_.name, first, first + count - 1,
                settings_.vfs - 1);
  }
  bool fits = true;
  for (unsigned vf = first; vf < first + count; ++vf) {
    const std::array<std::uint64_t, 1> key{vf}, from{first};
    if (how == VfSpread::kBearer) {
      spread_->remove(key);
    } else if (how == VfSpread::kTurn) {
      fits = fits && spread_->set(key, in_turn_, std::array<std::uint64_t, 2>{first, count - 1});
    } else {
      fits = fits && spread_->set(key, by_hash_, from);
    }
  }
  constexpr unsigned kBuckets = 64;
  for (unsigned bucket = 0; fits && how == VfSpread::kHash && bucket < kBuckets; ++bucket) {
    const std::array<std::uint64_t, 2> key{first, bucket};
    fits = buckets_->set(key, bucket_, std::array<std::uint64_t, 1>{first + bucket % count});
  }
  if (!fits) return fail("card {}: the tables of shared VFs are full; allowed: 8 ports by hash", settings_.name);
  return {};
}

void GnbProgram::add_reasons(CardCounters& counters) const {
  counters.rlc_control += rlc_control_.read(0);
  for (std::uint32_t i = 0; i < kPuntReasonCount; ++i) counters.punts[i] += punts_.read(i);
  for (std::uint32_t i = 0; i < kCardDropCount; ++i) counters.drops[i] += drops_.read(i);
}

}  // namespace splitplane::nic
