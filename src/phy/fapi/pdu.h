// One PDU of DL_TTI.request, UL_TTI.request or UCI.indication: a type, a size, then the fields of that type. A PDU of a
// type that is not offered here is kept as octets, so that the others of the message can be used and groups still name
// the right PDU.
#pragma once

#include <cstdint>
#include <type_traits>
#include <variant>

#include "phy/fapi/payload.h"

namespace splitplane::fapi {

struct UnknownPdu {
  std::uint16_t type = 0xFFFF;
  Payload octets;

  friend bool operator==(const UnknownPdu&, const UnknownPdu&) = default;
};

// `Known::kType` is the type on the wire.
template <class... Known>
struct Pdu {
  std::variant<UnknownPdu, Known...> body;

  template <class Io, class Self>
  static void fields(Io& io, Self& m) {
    if constexpr (Io::kReads) {
      io.pdu([&m](auto& inner, std::uint16_t type) {
        const bool known =
            ((type == Known::kType && (Known::fields(inner, m.body.template emplace<Known>()), true)) || ...);
        if (known) return;
        m.body.template emplace<UnknownPdu>().type = type;
        inner.payload("octets", std::get<UnknownPdu>(m.body).octets, inner.rest().size());
      });
    } else {
      std::visit(
          [&io]<class Held>(const Held& held) {
            if constexpr (std::is_same_v<Held, UnknownPdu>) {
              io.pdu(held.type, [&held](auto& inner) { inner.payload("octets", held.octets, held.octets.size()); });
            } else {
              io.pdu(Held::kType, [&held](auto& inner) { Held::fields(inner, held); });
            }
          },
          m.body);
    }
  }

  friend bool operator==(const Pdu&, const Pdu&) = default;
};

// How many PDUs of a list are of one type.
template <class Body, class Pdus>
[[nodiscard]] std::size_t count_of(const Pdus& pdus) {
  std::size_t count = 0;
  for (const auto& pdu : pdus) count += std::holds_alternative<Body>(pdu.body) ? 1 : 0;
  return count;
}

}  // namespace splitplane::fapi
