// The thread that hands the workers' requests for grants on to the link of their card. It sleeps while no worker asks.
#pragma once

#include <atomic>
#include <functional>
#include <span>
#include <thread>
#include <vector>

#include "engine/wakeup.h"
#include "returns/card_requests.h"

namespace splitplane::app {

class CardRequestReader {
 public:
  using Take = std::function<void(std::span<const datapath::CardRequest>)>;

  CardRequestReader() = default;
  ~CardRequestReader() { end(); }
  CardRequestReader(const CardRequestReader&) = delete;
  CardRequestReader& operator=(const CardRequestReader&) = delete;

  // Whom the workers wake.
  [[nodiscard]] datapath::Wakeup& wakeup() { return wakeup_; }
  // Before begin().
  void add(datapath::CardRequests requests) { rings_.push_back(requests); }
  void begin(Take take);
  void end();

 private:
  void serve();
  [[nodiscard]] bool take_all();
  void sleep();

  datapath::Wakeup wakeup_;
  std::vector<datapath::CardRequests> rings_;
  Take take_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace splitplane::app
