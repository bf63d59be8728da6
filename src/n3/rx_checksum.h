// Checksums of what arrives on N3: by the flags of a port that verifies them, in software, or not at all. One decision
// a burst; a port without the check costs nothing else.
#pragma once

#include "engine/burst.h"
#include "engine/checksum_mode.h"
#include "n3/interface.h"

namespace splitplane::datapath {

// The reason to drop the frame, or ok. Frames that are no IP, cut short or fragments are left to the parser.
[[nodiscard]] DropReason verify_checksums(const rte_mbuf* m, ChecksumMode mode);

// Takes the frames with wrong checksums out of the burst.
void drop_wrong_checksums(Burst& burst, ChecksumMode mode, Losses& losses);

}  // namespace splitplane::datapath
