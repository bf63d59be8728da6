// Transport blocks that cross the air, in a pcapng file as Wireshark's framing `mac-nr`. The slot thread copies each
// block into a ring. The capture's own thread writes the file, so a disk that hangs stops no slot.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <thread>

#include "base/counter.h"
#include "base/expected.h"
#include "phy/capture/octet_ring.h"
#include "phy/emulator/terminals.h"
#include "tap/file.h"
#include "wire/bytes.h"

namespace splitplane::phy {

// clang-format off
#define SPLITPLANE_MAC_CAPTURE_COUNTERS(X)                                             \
  X(blocks, "blocks in the file or files")                                             \
  X(bytes, "octets on disk")                                                           \
  X(too_long, "blocks not written because no UDP datagram has so many octets")         \
  X(no_room, "blocks not written because as many as fit wait for the disk")            \
  X(stopped, "blocks not written because the file is full or cannot be written")
// clang-format on
#define SPLITPLANE_MAC_CAPTURE_MEMBER(field, text) Counter field;

struct MacCaptureCounters {
  SPLITPLANE_MAC_CAPTURE_COUNTERS(SPLITPLANE_MAC_CAPTURE_MEMBER)
};

class MacCapture final : public AirObserver {
 public:
  struct Settings {
    std::string file;
    tap::File::Limits limits;
    bool lost = false;                              // also blocks that were not decoded
    std::size_t ring_bytes = std::size_t{8} << 20;  // of blocks that wait for the disk
  };

  // Opens the file and starts the writer. The error is one sentence that names the file.
  [[nodiscard]] static Expected<std::unique_ptr<MacCapture>> start(const Settings& settings);
  ~MacCapture() override { finish(); }
  MacCapture(const MacCapture&) = delete;
  MacCapture& operator=(const MacCapture&) = delete;

  // On the slot thread. It does not wait.
  void crossed(const Grant& grant, wire::Octets block, bool decoded) override;
  // No crossed() any more: writes what waits, and the statistics, and closes the file.
  void finish();

  [[nodiscard]] const MacCaptureCounters& counters() const { return counters_; }

 private:
  MacCapture(const Settings& settings, tap::File file)
      : settings_(settings), file_(std::move(file)), ring_(settings.ring_bytes) {}
  void run();
  void write_all();
  void write(wire::Octets record);
  void count_written();
  void stop_writing(const Error& why);

  Settings settings_;
  tap::File file_;
  OctetRing ring_;
  MacCaptureCounters counters_;
  bool writing_ = true;             // used by the writer only, as the next one
  std::deque<std::uint64_t> ends_;  // of collected blocks: octets on disk when each is written
  std::atomic<bool> end_{false};
  std::thread writer_;
};

}  // namespace splitplane::phy
