#include "app/card_loop.h"

#include "datapath/cpu_time.h"
#include "datapath/worker.h"

namespace splitplane::app {

void CardLoop::run(const std::atomic<bool>& stop) {
  if (alone) {
    datapath::run_worker(*alone, power, mailbox, stats, stop);
  } else {
    datapath::run_worker(*together, power, mailbox, stats, stop);
  }
  cpu_at_end = datapath::thread_cpu_time();
}

}  // namespace splitplane::app
