// What the card's N3 port finds out about the outer IPv4 checksum, as hardware ports do.
#pragma once

#include <rte_mbuf.h>

namespace splitplane::nic {

// Returns true for frames that are not IPv4, and if the header does not fit the frame: the program judges these.
[[nodiscard]] bool outer_checksum_is_good(const rte_mbuf* m);

}  // namespace splitplane::nic
