// The keys of a bearer as a host says it to a card, one row each: what card.install takes.
#pragma once

#include "card/protocol/bearer.h"
#include "fields/field.h"

namespace splitplane::nic {

enum CardKeys : unsigned {
  kSent = 1,   // by a host
  kTaken = 2,  // by a card
};

// Those that a request may say once for all its bearers.
[[nodiscard]] fields::Fields<CardBearer> common_fields(CardKeys in);
// Those that differ from bearer to bearer.
[[nodiscard]] fields::Fields<CardBearer> own_fields();

}  // namespace splitplane::nic
