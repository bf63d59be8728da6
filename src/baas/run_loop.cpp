#include "baas/run_loop.h"

#include "engine/worker.h"

namespace splitplane::baas {

void run_loop(Buffering& buffering, datapath::WorkerPower& power, datapath::Mailbox& mailbox,
              datapath::WorkerStats& stats, const std::atomic<bool>& stop) {
  datapath::run_worker(buffering, power, mailbox, stats, stop);
}

}  // namespace splitplane::baas
