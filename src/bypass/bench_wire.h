// The wire of a bench. One peer's traffic warms everything up, and another's is measured, so no figure contains the
// warm-up. Between them, and at the end, no packets arrive. It records the numbers of each bearer's air frames. It
// deciphers what pdcp_nea2 sends before the peer checks the payload.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "bypass/count_book.h"
#include "bypass/scenario.h"
#include "crypto/device/nea2.h"
#include "nicmodel/traffic_peer.h"

namespace splitplane::bypass {

// The smallest frame with room for what the function needs.
[[nodiscard]] std::uint32_t smallest_frame(const Scenario& scenario);

class BenchWire final : public nicmodel::Wire {
 public:
  static Expected<void> check(const Scenario& scenario);
  explicit BenchWire(const Scenario& scenario);

  [[nodiscard]] std::uint32_t arrive(nicmodel::WireFrame* frames, std::uint32_t max, std::uint64_t now_ns) override;
  [[nodiscard]] std::uint32_t leave(const nicmodel::WireFrame* frames, std::uint32_t n, std::uint64_t now_ns) override;

  // On the NIC's thread, or when it does not run: selects the peer that sends and checks from now on, and whether it
  // sends.
  void use_measured() { current_ = measured_.get(); }
  void pause(bool paused) { paused_ = paused; }

  // Of the peer that is in use. Counters may be read at any time, the others once the NIC's thread has stopped.
  [[nodiscard]] const nicmodel::TrafficPeer& warm_up() const { return *warm_up_; }
  [[nodiscard]] const nicmodel::TrafficPeer& measured() const { return *measured_; }
  // COUNTs of all air frames, with those of the warm-up, because the bearers continue from one to the other.
  [[nodiscard]] const CountBook& numbers() const { return numbers_; }
  // For more rings than RSS has: assigns each flow to a ring, evenly. Otherwise it has no filters.
  [[nodiscard]] static std::vector<gpu::FlowFilter> filters(const Scenario& scenario);

 private:
  struct AirFrame {
    std::uint32_t bearer = 0, count = 0;
  };
  // Reads an air frame of a bearer of the bench and records its COUNT; nothing for other frames.
  [[nodiscard]] std::optional<AirFrame> take_number(const nicmodel::WireFrame& frame);
  void decipher(const nicmodel::WireFrame& frame, const AirFrame& air, std::vector<std::uint8_t>& plain) const;

  bool numbered_, ciphered_;
  bool paused_ = false;
  std::unique_ptr<nicmodel::TrafficPeer> warm_up_, measured_;
  nicmodel::TrafficPeer* current_;
  std::vector<gpu::Aes128Key> keys_;
  CountBook numbers_;
  std::vector<std::vector<std::uint8_t>> plain_;
};

// The keys of a bench with pdcp_nea2, one for each UE: octets 0 to 15, with the UE's number added to the last four by
// XOR.
[[nodiscard]] std::vector<gpu::Aes128Key> bench_keys(const Scenario& scenario);

}  // namespace splitplane::bypass
