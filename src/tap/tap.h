// A running tap: lanes from the workers that use its port, and the thread that writes what they bring to a file. The
// owner attaches and detaches the lanes on the workers' own threads; a tap whose disk is full only drains them. Only
// the writer's thread touches the disk: one that hangs keeps nobody else waiting.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/tap_lane.h"
#include "tap/air_view.h"
#include "tap/file.h"
#include "tap/settings.h"

namespace splitplane::tap {

// One worker's end of the tapped port.
struct Source {
  std::string name;  // as Wireshark shows the interface
  std::string description;
};

struct Numbers {
  std::uint64_t packets = 0, bytes = 0;  // in the file or files; octets on disk
  std::uint64_t dropped = 0;             // not written: no buffer was free, or the tap has stopped
  std::uint64_t skipped = 0;             // not what the view shows
};

class Tap {
 public:
  // Starts the writer, which opens the file. Error: one sentence.
  static Expected<std::unique_ptr<Tap>> start(const Settings& settings, const std::vector<Source>& sources);
  ~Tap() { finish(); }
  Tap(const Tap&) = delete;
  Tap& operator=(const Tap&) = delete;

  enum class State : std::uint8_t { kOpening, kOn, kStopped };  // stopped: writes no longer, and says why
  // The state once the file is open or refused, or after so long.
  State wait_open(std::chrono::milliseconds patience);

  // Every lane must have been detached: the writer is to empty them, write the statistics and end.
  void end() { end_.store(true, std::memory_order_release); }
  // Whether it has ended, now or within so long.
  bool wait_end(std::chrono::milliseconds patience);
  void finish();  // end(), for as long as it takes

  [[nodiscard]] const Settings& settings() const { return settings_; }
  [[nodiscard]] datapath::TapLane& lane(std::size_t source) { return *lanes_[source]->lane; }
  [[nodiscard]] Numbers numbers() const;
  [[nodiscard]] State state() const;
  // Why it writes no longer; empty while it does.
  [[nodiscard]] std::string stopped() const;

 private:
  struct Lane {
    Source source;
    std::unique_ptr<datapath::TapLane> lane;
    std::uint64_t seen = 0;  // by the writer
  };
  explicit Tap(const Settings& settings) : settings_(settings), view_(settings.view) {}
  void write_head(pcapng::Buffer& out) const;
  void run();
  [[nodiscard]] bool open();
  void write_all();
  unsigned drain(std::uint32_t index);
  void write(std::uint32_t index, rte_mbuf* copy);
  void stop_writing(const std::string& why);

  Settings settings_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  AirView view_;
  std::unique_ptr<File> file_;
  std::array<rte_mbuf*, 256> copies_{};
  Counter packets_, bytes_, skipped_, lost_;
  mutable std::mutex mutex_;  // of the next four
  std::condition_variable changed_;
  State state_ = State::kOpening;
  std::string why_;
  bool ended_ = false;
  bool writing_ = false;  // the writer's
  std::atomic<bool> end_{false};
  std::thread writer_;
};

}  // namespace splitplane::tap
