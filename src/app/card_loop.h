// The loop of a card: its function under the power policies, the only place that instantiates them for it.
#pragma once

#include <atomic>

#include "datapath/mailbox.h"
#include "datapath/worker_power.h"
#include "nic/card_function.h"

namespace splitplane::app {

// Returns when `stop` is set.
void run_card(nic::Card& card, const std::vector<nic::CardEndpoint>& endpoints, datapath::WorkerPower& power,
              datapath::Mailbox& mailbox, datapath::WorkerStats& stats, const std::atomic<bool>& stop);

}  // namespace splitplane::app
