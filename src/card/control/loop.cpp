#include "card/control/loop.h"

#include "engine/worker.h"

namespace splitplane::app {

void CardLoop::run(const std::atomic<bool>& stop) {
  if (alone) {
    datapath::run_worker(*alone, power, mailbox, stats, stop);
  } else {
    datapath::run_worker(*together, power, mailbox, stats, stop);
  }
}

void CardLoop::set_endpoint(unsigned number, const nic::CardEndpoint& at) {
  if (alone) alone->set_endpoint(number, at);
  if (together) together->set_endpoint(number, at);
  power.set(power.settings());  // begins anew, with what announces packets of that port now
}

}  // namespace splitplane::app
