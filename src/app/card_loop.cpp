#include "app/card_loop.h"

#include "datapath/worker.h"

namespace splitplane::app {

void run_card(nic::Card& card, const std::vector<nic::CardEndpoint>& endpoints, datapath::WorkerPower& power,
              datapath::Mailbox& mailbox, datapath::WorkerStats& stats, const std::atomic<bool>& stop) {
  nic::CardFunction function(card, endpoints, stats);
  datapath::run_worker(function, power, mailbox, stats, stop);
}

}  // namespace splitplane::app
