// Checksums of packets that arrive on N3: by the flags of a port that verifies them, in software, or not at all. The
// decision is made once a burst, so a port without the check pays nothing else.
#pragma once

#include "engine/burst.h"
#include "engine/checksum_mode.h"
#include "n3/interface.h"

namespace splitplane::datapath {

// Returns the reason to drop the frame, or ok. The parser judges frames that are not IP, cut short or fragments.
[[nodiscard]] DropReason verify_checksums(const rte_mbuf* m, ChecksumMode mode);

// Takes the frames with wrong checksums out of the burst.
void drop_wrong_checksums(Burst& burst, ChecksumMode mode, Drops& drops);

}  // namespace splitplane::datapath
