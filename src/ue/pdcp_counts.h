// Where the COUNTs of a bearer's PDCP entity begin at the UE side, so that none is used twice with the same keys.
#pragma once

#include "secured/worker_pdcp.h"
#include "ue/ue_bearer.h"

namespace splitplane::ue {

struct FirstCounts {
  Count tx_next, rx_deliv;
};
// Of a secured bearer that the gNB's list brings with these numbers. `used`: what this run has used of its keys;
// nullptr: nothing.
[[nodiscard]] FirstCounts first_counts(const ran::BearerConfig& config, const Numbers& gnb,
                                       const datapath::BearerKeys::Used* used);

// The COUNTs of an entity go on where those of its predecessor with the same keys ended.
void go_on(datapath::SecuredBearer& fresh, const datapath::SecuredBearer& old);

}  // namespace splitplane::ue
