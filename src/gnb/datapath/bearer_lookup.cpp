#include "gnb/datapath/bearer_lookup.h"

#include <array>
#include <bit>
#include <cstring>

namespace splitplane::datapath {
namespace {

ran::Ipv4Key ipv4_key(const std::uint8_t* octets) {
  ran::Ipv4Key key;
  std::memcpy(&key, octets, sizeof key);
  return key;
}

ran::Ipv6Key ipv6_key(const std::uint8_t* octets) {
  ran::Ipv6Key key;
  std::memcpy(key.data(), octets, key.size());
  return key;
}

// Where the destination address of an IP packet lies, by its version (RFC 791 3.1, RFC 8200 3).
constexpr unsigned kIpv4Destination = 16, kIpv4Header = 20;
constexpr unsigned kIpv6Destination = 24, kIpv6Header = 40;

// The destination of a T-PDU. `home` is the key's home in the table that has it; nothing if the T-PDU is no IP packet.
struct Sought {
  std::uint32_t home = 0;
  std::uint8_t version = 0;
};

Sought prefetch_address(const BearerLookup& keys, const std::uint8_t* packet, unsigned bytes) {
  if (packet[0] >> 4 == 4 && bytes >= kIpv4Header && keys.ue_ipv4) {
    return {keys.ue_ipv4->prefetch(ipv4_key(packet + kIpv4Destination)), 4};
  }
  if (packet[0] >> 4 == 6 && bytes >= kIpv6Header && keys.ue_ipv6) {
    return {keys.ue_ipv6->prefetch(ipv6_key(packet + kIpv6Destination)), 6};
  }
  return {};
}

std::uint32_t find_address(const BearerLookup& keys, const std::uint8_t* packet, Sought sought) {
  std::optional<std::uint32_t> id;
  if (sought.version == 4) id = keys.ue_ipv4->find_at(sought.home, ipv4_key(packet + kIpv4Destination));
  if (sought.version == 6) id = keys.ue_ipv6->find_at(sought.home, ipv6_key(packet + kIpv6Destination));
  return id.value_or(0);
}

template <class Table, class Key>
bool put(std::optional<Table>& table, const Key& key, std::uint32_t id) {
  return table && table->insert(key, id) != ran::KeyInsert::full;
}

}  // namespace

bool enter(BearerLookup& keys, const ran::BearerConfig& bearer) {
  const std::uint32_t id = bearer.id.value;
  bool room = !bearer.dl_teid || put(keys.teids, bearer.dl_teid->value, id);
  if (keys.by_ue_address) {
    if (bearer.ue_ipv4) room = room && put(keys.ue_ipv4, ipv4_key(bearer.ue_ipv4->octets().data()), id);
    if (bearer.ue_ipv6) room = room && put(keys.ue_ipv6, ipv6_key(bearer.ue_ipv6->octets().data()), id);
  }
  if (!room) leave(keys, bearer);
  return room;
}

void leave(BearerLookup& keys, const ran::BearerConfig& bearer) {
  if (bearer.dl_teid && keys.teids) keys.teids->erase(bearer.dl_teid->value);
  if (!keys.by_ue_address) return;
  if (bearer.ue_ipv4 && keys.ue_ipv4) keys.ue_ipv4->erase(ipv4_key(bearer.ue_ipv4->octets().data()));
  if (bearer.ue_ipv6 && keys.ue_ipv6) keys.ue_ipv6->erase(ipv6_key(bearer.ue_ipv6->octets().data()));
}

void find_by_teid(const BearerLookup& keys, ran::BearerTable& bearers, GPdu* gpdus, ran::BearerDownlink** lines,
                  unsigned n) {
  if (!keys.teids || keys.teids->size() == 0) return;
  std::array<std::uint32_t, kBurst> teids, ids;  // NOLINT(cppcoreguidelines-pro-type-member-init): written before read
  std::array<std::uint8_t, kBurst> place;        // NOLINT(cppcoreguidelines-pro-type-member-init)
  unsigned missing = 0;
  for (unsigned i = 0; i < n; ++i) {
    if (ran::BearerTable::is(*lines[i], gpdus[i].teid)) continue;
    teids[missing] = gpdus[i].teid;
    place[missing++] = static_cast<std::uint8_t>(i);
  }
  const std::uint64_t found = keys.teids->find_bulk({teids.data(), missing}, ids);
  for (unsigned k = 0; k < missing; ++k) {
    if ((found >> k & 1) == 0) continue;
    const unsigned i = place[k];
    gpdus[i].teid = ids[k];
    lines[i] = bearers.downlink_line(ids[k]);
    rte_prefetch0(lines[i]);
  }
}

void find_by_flow(ran::BearerTable& bearers, const FlowCounters& counters, GPdu* gpdus, ran::BearerDownlink** lines,
                  unsigned n) {
  static_assert(kBurst <= 64);
  std::uint64_t of_sessions = 0;
  for (unsigned i = 0; i < n; ++i) of_sessions |= std::uint64_t{ran::is_session(*lines[i], gpdus[i].teid)} << i;
  if (of_sessions == 0) return;
  for (std::uint64_t left = of_sessions; left != 0; left &= left - 1) {
    counters.prefetch(gpdus[std::countr_zero(left)].teid);
  }
  constexpr std::uint8_t kQfiBits = 0x3f;  // of GPdu::sdap
  std::array<ran::sdap::FlowCount*, kBurst> counts;
  std::uint64_t counted = 0;
  for (std::uint64_t left = of_sessions; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    GPdu& gpdu = gpdus[i];
    const auto qfi = static_cast<std::uint8_t>(gpdu.sdap & kQfiBits);
    const unsigned number = ran::number_of_flow(*lines[i], gpdu.has_qfi, qfi);
    if (number == ran::kMovingFlow) continue;
    const ran::PlacedBearer bearer = ran::session_bearer(*lines[i], gpdu.teid, number);
    lines[i] = bearers.downlink_line(bearer.place);
    rte_prefetch0(lines[i]);
    if (FlowCounts* const session = counters.find(gpdu.teid); session != nullptr) {
      // A packet without a QFI gets the one of its bearer on the air.
      counts[i] = &session->flows[gpdu.has_qfi ? qfi : lines[i]->qfi].downlink;
      counted |= std::uint64_t{1} << i;
      __builtin_prefetch(counts[i], 1);
    }
    gpdu.teid = bearer.id;
  }
  // Not in the loop above: there each packet would wait for its line from memory.
  for (; counted != 0; counted &= counted - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(counted));
    counts[i]->add(gpdus[i].bytes);
  }
}

void find_by_ue_address(const BearerLookup& keys, ran::BearerTable& bearers, rte_mbuf* const* mbufs, GPdu* gpdus,
                        ran::BearerDownlink** lines, unsigned n) {
  std::array<Sought, kBurst> sought;
  for (unsigned i = 0; i < n; ++i) rte_prefetch0(octets(mbufs[i]) + gpdus[i].offset + kIpv4Destination);
  for (unsigned i = 0; i < n; ++i) {
    sought[i] = prefetch_address(keys, octets(mbufs[i]) + gpdus[i].offset, gpdus[i].bytes);
  }
  for (unsigned i = 0; i < n; ++i) {
    gpdus[i].teid = find_address(keys, octets(mbufs[i]) + gpdus[i].offset, sought[i]);
    lines[i] = bearers.downlink_line(gpdus[i].teid);
    rte_prefetch0(lines[i]);
  }
}

std::uint32_t identity_of(const BearerLookup& keys, rte_mbuf* m, const GPdu& gpdu) {
  if (keys.by_ue_address) {
    const std::uint8_t* packet = octets(m) + gpdu.offset;
    return find_address(keys, packet, prefetch_address(keys, packet, gpdu.bytes));
  }
  if (!keys.teids || keys.teids->size() == 0) return gpdu.teid;
  return keys.teids->find(gpdu.teid).value_or(gpdu.teid);
}

}  // namespace splitplane::datapath
