// The UEs that are scheduled together, at the end of DL_TTI.request and UL_TTI.request: for each group the numbers of
// its PDUs in the message, counted from 0.
#pragma once

#include <cstdint>

#include "phy/fapi/bounded.h"
#include "phy/fapi/reason.h"

namespace splitplane::fapi {

// nPDUs and nGroup have eight bits.
inline constexpr std::size_t kMaxPdus = 255;
inline constexpr std::size_t kMaxGroups = 255;

template <std::size_t kMaxUes>
struct Group {
  Bounded<std::uint8_t, kMaxUes> pdu_idx;

  friend bool operator==(const Group&, const Group&) = default;
};

template <class Io, class Groups>
void group_fields(Io& io, Groups& groups, std::size_t count, std::size_t pdus) {
  io.elements("groups", groups, count, [pdus](auto& each, auto& group) {
    each.template list<std::uint8_t>("n_ue", "pdu_idx", group.pdu_idx, [pdus](auto& one, auto& index) {
      one("", index);
      if (one.ok() && index >= pdus) one.refuse(Reason::bad_group);
    });
  });
}

}  // namespace splitplane::fapi
