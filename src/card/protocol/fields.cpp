#include "card/protocol/fields.h"

#include <array>
#include <cstring>

#include "ran/bearer_config.h"

namespace splitplane::nic {
namespace {

using B = CardBearer;
using fields::Field;
using fields::Value;

constexpr std::uint64_t kMaxVf = 63;
constexpr std::uint64_t kMaxLease = 0x7fffffff;
constexpr std::uint64_t kMax32 = 0xffffffff;
constexpr std::array<std::uint64_t, 2> kPdcpSnBits{12, 18};
constexpr std::array<std::string_view, 2> kRlcNames{"am18", "am12"};

Value rlc_of(const B& bearer) {
  return ran::rlc_name(RlcMode::kAm, bearer.rlc_sn_bits);
}
void set_rlc(B& bearer, const Value& name) {
  bearer.rlc_sn_bits = std::get<std::string>(name) == "am12" ? 12 : 18;
}

// In memory the octets are in network order.
Value n3_ipv4_of(const B& bearer) {
  std::array<std::uint8_t, 4> octets;
  std::memcpy(octets.data(), &bearer.n3_ipv4, sizeof bearer.n3_ipv4);
  return IpAddress::v4(octets);
}
void set_n3_ipv4(B& bearer, const Value& address) {
  std::memcpy(&bearer.n3_ipv4, std::get<IpAddress>(address).octets().data(), sizeof bearer.n3_ipv4);
}

// "::" stands for none, so that a bearer can have none where the common members have one.
Value n3_ipv6_of(const B& bearer) {
  return bearer.n3_ipv6.value_or(IpAddress::v6({}));
}
void set_n3_ipv6(B& bearer, const Value& address) {
  const IpAddress& given = std::get<IpAddress>(address);
  bearer.n3_ipv6 = given == IpAddress::v6({}) ? std::nullopt : std::optional(given);
}

// clang-format off
constexpr std::array<Field, 25> kCommon{
    fields::word<kPlaceNames, &B::place>("place"),
    fields::word_by_functions<kRlcNames, B, rlc_of, set_rlc>("rlc"),
    fields::one_number<kPdcpSnBits, &B::pdcp_sn_bits>("pdcp_sn"),
    fields::flag<&B::sdap_dl>("sdap_dl"),
    fields::flag<&B::sdap_ul>("sdap_ul"),
    fields::integer<&B::epoch>("epoch", 0, 0xff),
    fields::integer<&B::poll_pdu>("poll_pdu", 0, 0xffff),
    fields::integer<&B::qfi>("qfi", 0, 63),
    fields::by_functions<B, n3_ipv4_of, set_n3_ipv4>("n3_ipv4", fields::Kind::kIpv4),
    fields::by_functions<B, n3_ipv6_of, set_n3_ipv6>("n3_ipv6", fields::Kind::kIpv6),
    fields::integer<&B::n3_vlan>("n3_vlan", 0, kAnyVlan),
    fields::mac<&B::air_dst>("air_dst"),
    fields::mac<&B::air_src>("air_src"),
    fields::integer<&B::vf_n3>("vf_n3", 0, kMaxVf),
    fields::integer<&B::vf_air>("vf_air", 0, kMaxVf),
    fields::integer<&B::copies_vf>("copies_vf", 0, kMaxVf),
    fields::integer<&B::peer>("peer", 0, 255),
    fields::flag<&B::has_flows>("has_flows"),
    fields::integer<&B::session>("session", 0, kMax32),
    fields::integer<&B::flows>("flows", 0, ~std::uint64_t{0}),
    fields::integer<&B::next_count>("next_count", 0, kMax32),
    fields::integer<&B::next_rlc>("next_rlc", 0, (1U << 18) - 1),
    fields::integer<&B::ahead>("ahead", 0, kMaxLease),
    fields::integer<&B::lease>("lease", 0, kMaxLease),
    fields::integer<&B::in_flight>("in_flight", 0, kMax32, {.in = kTaken}),
};
constexpr std::array<Field, 5> kOwn{
    fields::integer<&B::id>("id", 1, kMax32, {.required = true}),
    fields::integer<&B::teid>("teid", 1, kMax32, {.required = true}),
    fields::ipv4<&B::ue_ipv4>("ue_ipv4"),
    fields::ipv6<&B::ue_ipv6>("ue_ipv6"),
    fields::integer<&B::uplink_teid>("ul_teid", 0, kMax32),
};
// clang-format on

}  // namespace

fields::Fields<CardBearer> common_fields(CardKeys in) {
  constexpr fields::Fields<CardBearer> kAll(kCommon);
  return kAll.where(in);
}

fields::Fields<CardBearer> own_fields() {
  constexpr fields::Fields<CardBearer> kAll(kOwn);
  return kAll;
}

}  // namespace splitplane::nic
