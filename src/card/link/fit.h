// Whether a card can serve the bearers of this host, by what its `card.show` answers.
#pragma once

#include <string>
#include <vector>

#include "base/expected.h"
#include "card/link/settings.h"
#include "card/protocol/show.h"

namespace splitplane::app {

// Returns an error if this card cannot serve this host's bearers.
[[nodiscard]] Expected<void> fits_host(const CardShow& show, const CardLinkSettings& host);

// The card's own configuration says where it punts. Packets of bearers arrive even if that is wrong, so the card is not
// refused: there is one sentence of warning for each side.
[[nodiscard]] std::vector<std::string> punt_warnings(const CardShow& show, const CardLinkSettings& host);

}  // namespace splitplane::app
