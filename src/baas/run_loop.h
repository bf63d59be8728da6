// A core of the buffering service as a packet loop: the only place that instantiates the power policies for it.
#pragma once

#include <atomic>

#include "baas/buffering.h"
#include "engine/mailbox.h"
#include "engine/worker_power.h"

namespace splitplane::baas {

// Returns when `stop` is set.
void run_loop(Buffering& buffering, datapath::WorkerPower& power, datapath::Mailbox& mailbox,
              datapath::WorkerStats& stats, const std::atomic<bool>& stop);

}  // namespace splitplane::baas
