// A running tap: lanes from the workers that use its port, and the thread that writes their copies to a file. The owner
// attaches and detaches the lanes on the workers' own threads. A tap whose disk is full only empties them. Only the
// writer's thread accesses the disk, so a disk that hangs stops no other thread.
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
  std::uint64_t dropped = 0;             // not written, because no buffer was free or because the tap has stopped
  std::uint64_t skipped = 0;             // frames without what the view shows
};

class Tap {
 public:
  // Starts the writer, which opens the file. `secured`: for the view of PDCP. The error is one sentence.
  static Expected<std::unique_ptr<Tap>> start(const Settings& settings, const std::vector<Source>& sources,
                                              std::shared_ptr<const SecuredDrbs> secured = nullptr);
  ~Tap() { finish(); }
  Tap(const Tap&) = delete;
  Tap& operator=(const Tap&) = delete;

  enum class State : std::uint8_t { kOpening, kOn, kStopped };  // stopped: it writes no longer, and stopped() says why
  // Waits until the file is open or refused, at most `patience`, and returns the state.
  State wait_open(std::chrono::milliseconds patience);

  // Every lane must have been detached. The writer then empties them, writes the statistics and ends.
  void end() { end_.store(true, std::memory_order_release); }
  // Waits at most `patience`; returns true if the writer has ended.
  bool wait_end(std::chrono::milliseconds patience);
  void finish();  // end(), and waits without a limit

  [[nodiscard]] const Settings& settings() const { return settings_; }
  [[nodiscard]] datapath::TapLane& lane(std::size_t source) { return *lanes_[source]->lane; }
  [[nodiscard]] Numbers numbers() const;
  [[nodiscard]] State state() const;
  // Why it no longer writes; empty while it writes.
  [[nodiscard]] std::string stopped() const;

 private:
  struct Lane {
    Source source;
    std::unique_ptr<datapath::TapLane> lane;
    std::uint64_t seen = 0;  // that the writer saw
  };
  Tap(const Settings& settings, std::shared_ptr<const SecuredDrbs> secured)
      : settings_(settings), view_(settings.view, std::move(secured)) {}
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
  mutable std::mutex mutex_;  // protects the next four members
  std::condition_variable changed_;
  State state_ = State::kOpening;
  std::string why_;
  bool ended_ = false;
  bool writing_ = false;  // only the writer's thread uses it
  std::atomic<bool> end_{false};
  std::thread writer_;
};

}  // namespace splitplane::tap
