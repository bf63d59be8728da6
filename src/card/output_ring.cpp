#include "card/output_ring.h"

#include <rte_ring_elem.h>

namespace splitplane::nic {

void FreeOutputRing::operator()(rte_ring* ring) const {
  CoreOutput left;
  while (rte_ring_sc_dequeue_elem(ring, &left, kCoreOutputBytes) == 0) rte_pktmbuf_free(left.mbuf);
  rte_ring_free(ring);
}

OutputRing make_output_ring(const std::string& name, unsigned entries) {
  return OutputRing(rte_ring_create_elem(name.c_str(), kCoreOutputBytes, entries, SOCKET_ID_ANY,
                                         RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ));
}

}  // namespace splitplane::nic
