#include "card/pipeline/io.h"

#include "engine/burst.h"

namespace splitplane::nic {
namespace {

// Frames of all queues of the worker may come to one output between two flushes, and each may be cloned.
constexpr std::size_t kReserved = 8 * std::size_t{datapath::kBurst};

}  // namespace

// In the sink the reference is taken and released: the feature set clone_drop measures that cost.
void PipelineOutput::send_reference(rte_mbuf* m) {
  rte_pktmbuf_refcnt_update(m, 1);  // of every segment
  if (is_sink()) {
    rte_pktmbuf_free(m);
    ++io->clones_sunk;
    return;
  }
  append(m);
  ++clones;
}

void PipelineOutput::send_copy(rte_mbuf* m, std::uint32_t most_bytes) {
  if (is_sink()) {
    ++io->clones_sunk;
    return;
  }
  rte_mbuf* const copy = rte_pktmbuf_copy(m, m->pool, 0, most_bytes);
  if (copy == nullptr) {
    ++io->clones_failed;
    return;
  }
  append(copy);
  ++clones;
}

PipelineIo::PipelineIo(unsigned ports) : outputs(ports + 1) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    outputs[i].io = this;
    outputs[i].number = static_cast<std::uint16_t>(i);
    outputs[i].mbufs.reserve(kReserved);
  }
  pending.reserve(outputs.size() + 2 * std::size_t{datapath::kMaxQueues});
}

PipelineIo::~PipelineIo() {
  for (PipelineOutput& out : outputs) {
    for (rte_mbuf* m : out.mbufs) rte_pktmbuf_free(m);
  }
}

}  // namespace splitplane::nic
