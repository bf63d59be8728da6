// What verifies the checksums of packets that a port receives.
#pragma once

#include "base/outcome_list.h"

namespace splitplane::datapath {

#define SPLITPLANE_CHECKSUM_MODES(X)                                    \
  X(offload, "the card verifies, its flags are obeyed")                 \
  X(software, "verified here: costs a pass over every received packet") \
  X(off, "not verified")

SPLITPLANE_OUTCOMES(ChecksumMode, SPLITPLANE_CHECKSUM_MODES)

}  // namespace splitplane::datapath
