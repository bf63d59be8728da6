// The VFs of a running card whose host may go and come back. VfKeeper says when a VF is connected or given up; this
// class does it, on a thread. A port is taken from the loops before it is removed, so no loop ever polls a device that
// is taken down.
#pragma once

#include <atomic>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "card/config/config.h"
#include "card/control/loops.h"
#include "card/control/ports.h"
#include "card/control/vf_keeper.h"

namespace splitplane::app {

// The VFs that the card connects itself: virtio_user devices. Rings and devices of other kinds are there from the start
// to the end.
[[nodiscard]] std::vector<VfKeeper::Vf> kept_vfs(const CardConfig& config);

class VfConnections {
 public:
  // All of these must outlive this. `mutex` protects ports and loops.
  VfConnections(const CardConfig& config, CardPorts& ports, CardLoops& loops, std::mutex& mutex);
  ~VfConnections() { stop(); }
  VfConnections(const VfConnections&) = delete;
  VfConnections& operator=(const VfConnections&) = delete;

  // Connects the VFs whose host is there now. Before start().
  void connect_present();
  void start();
  // Ends the thread, and waits a while for it.
  void stop();
  // After stop(): the thread still waits for a host that hangs, so ports and loops must not be destroyed.
  [[nodiscard]] bool stuck() const { return stuck_; }
  // The ports that have no host now; for any thread.
  [[nodiscard]] std::vector<std::string> waiting() const { return keeper_.waiting(); }

 private:
  void use_device(const std::string& port, std::uint16_t id);
  [[nodiscard]] Expected<void> connect(const std::string& port);
  [[nodiscard]] bool is_up(const std::string& port) const;
  void disconnect(const std::string& port);

  const CardConfig& config_;
  CardPorts& ports_;
  CardLoops& loops_;
  std::mutex& mutex_;
  VfKeeper keeper_;
  std::thread thread_;
  std::future<void> end_;
  std::atomic<bool> stop_{false};
  bool stuck_ = false;
};

}  // namespace splitplane::app
