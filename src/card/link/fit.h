// Whether a card can serve the bearers of this host, by what its `card.show` answers.
#pragma once

#include <string>
#include <vector>

#include "card/link/settings.h"
#include "control/client.h"

namespace splitplane::app {

// A text member of the answer; empty if the card does not give it.
[[nodiscard]] std::string card_text(const Json& show, const char* key);

// Returns an error if this card cannot serve this host's bearers.
[[nodiscard]] Expected<void> fits_host(const Json& show, const CardLinkSettings& host);

// The card's own configuration says where it punts. Packets of bearers arrive even if that is wrong, so the card is not
// refused: there is one sentence of warning for each side.
[[nodiscard]] std::vector<std::string> punt_warnings(const Json& show, const CardLinkSettings& host);

}  // namespace splitplane::app
