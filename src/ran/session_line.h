// The line of a PDU session with several bearers. It stands in the downlink table at the place of the session's TEID,
// where a session with one bearer has that bearer's line. So a lookup by TEID costs the same for both, and only the
// packets of several bearers need a second load. docs/design/sessions.md has the layout and the reasons.
//
// The line is free as a bearer (id 0), so the fast path never uses it. It is written and read as octets of a
// BearerDownlink, because both kinds share a table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "ran/bearer.h"
#include "ran/session_config.h"

namespace splitplane::ran {

struct alignas(64) SessionDownlink {
  // The number of each flow's bearer, two flows an octet, the even QFI in the low half. Flows without a rule have the
  // default bearer's number. Numbers are 1 to 8.
  std::array<std::uint8_t, sdap::kFlows / 2> flows{};
  std::uint32_t id = 0;                                       // always 0
  std::array<std::uint8_t, 3 * kMaxSessionBearers> places{};  // index of each bearer's line in the shard, little endian
  std::uint8_t instance = 0;                                  // of the TEID; place and shard tell the rest of it
  std::uint8_t default_number = 0;
  std::uint8_t reserved = 0;
  std::uint8_t options = kSession;
};
static_assert(sizeof(SessionDownlink) == sizeof(BearerDownlink));
static_assert(offsetof(SessionDownlink, id) == offsetof(BearerDownlink, id));
static_assert(offsetof(SessionDownlink, options) == offsetof(BearerDownlink, options));

// The number of the bearer whose identity is the session's TEID.
inline constexpr unsigned kFirstBearer = 1;

// The number of a flow whose packets wait until it has another bearer. It is the number of no bearer.
inline constexpr unsigned kMovingFlow = 15;

// Makes the line. `config` must not be one that refuse() refuses.
[[nodiscard]] BearerDownlink make_session(const SessionConfig& config);
// Gives a flow of a session line the bearer with that number, or kMovingFlow.
void set_flow(BearerDownlink& session, Qfi qfi, unsigned number);
// The downlink line of a session's bearer, as make_downlink(), with RDI if the bearer is reflective.
[[nodiscard]] BearerDownlink make_session_bearer(const SessionBearer& bearer);
// Its uplink line, which the fast path leaves to the session's order of flows (is_of_session).
[[nodiscard]] BearerUplink make_session_uplink(const BearerConfig& config, PeerId peer);

namespace detail {
inline const std::uint8_t* octets_of(const BearerDownlink& line) {
  return reinterpret_cast<const std::uint8_t*>(&line);
}
// The place of a bearer's line, as the identity that it would have there.
inline std::uint32_t place_of(const BearerDownlink& session, std::uint32_t teid, unsigned number) {
  std::uint32_t index;
  std::memcpy(&index, octets_of(session) + offsetof(SessionDownlink, places) + 3 * (number - std::size_t{1}), 4);
  return (teid & ~((1U << kIndexBits) - 1)) | (index & 0xffffffU);
}
}  // namespace detail

[[nodiscard]] inline bool is_session(const BearerDownlink& line, std::uint32_t teid) {
  return line.options == kSession && line.id == 0 &&
         detail::octets_of(line)[offsetof(SessionDownlink, instance)] == teid >> (kIndexBits + kShardBits);
}

// A bearer of a session: its identity, and under which identity its downlink line is found.
struct PlacedBearer {
  std::uint32_t id = 0, place = 0;
};

// The bearer with that number. The first one has the session's identity.
[[nodiscard]] inline PlacedBearer session_bearer(const BearerDownlink& session, std::uint32_t teid, unsigned number) {
  const std::uint32_t place = detail::place_of(session, teid, number);
  return {number == kFirstBearer ? teid : place, place};
}

// The number of a packet's bearer, or kMovingFlow. `qfi` is at most 63.
[[nodiscard]] inline unsigned number_of_flow(const BearerDownlink& session, bool has_qfi, std::uint8_t qfi) {
  const std::uint8_t* octets = detail::octets_of(session);
  const unsigned of_flow = octets[offsetof(SessionDownlink, flows) + qfi / 2U] >> (qfi % 2U * 4U) & 0xfU;
  return has_qfi ? of_flow : octets[offsetof(SessionDownlink, default_number)];
}
// The bearer of a packet whose flow is not moving.
[[nodiscard]] inline PlacedBearer bearer_of_flow(const BearerDownlink& session, std::uint32_t teid, bool has_qfi,
                                                 std::uint8_t qfi) {
  return session_bearer(session, teid, number_of_flow(session, has_qfi, qfi));
}

}  // namespace splitplane::ran
