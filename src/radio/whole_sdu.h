// An SDU that RLC put together, as PDCP wants it: in one mbuf.
#pragma once

#include <span>

#include "engine/mbuf_buffer.h"
#include "ran/rlc/types.h"

namespace splitplane::datapath {

struct WholeSdu {
  MbufBuffer sdu;       // empty: no buffer is free, or the SDU is longer than one
  bool copied = false;  // into a new buffer from `pool`, with DPDK's headroom
};

// Takes the buffer of an SDU that came in one PDU, and cuts the rest off. An SDU of several segments is copied, and so
// is one whose buffer has another user.
[[nodiscard]] WholeSdu whole_sdu(std::span<ran::rlc::Part<MbufBuffer>> parts, rte_mempool* pool);

}  // namespace splitplane::datapath
