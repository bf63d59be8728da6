// The wire of a bench: one peer's traffic warms everything up, another's is measured, so that nothing of the warm-up is
// in a figure. Between them, and at the end, no packets arrive. Of air frames it keeps each bearer's numbers, and it
// deciphers what pdcp_nea2 sends, before the peer judges the payload.
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

class BenchWire final : public nicmodel::Wire {
 public:
  static Expected<void> check(const Scenario& scenario);
  explicit BenchWire(const Scenario& scenario);

  [[nodiscard]] std::uint32_t arrive(nicmodel::WireFrame* frames, std::uint32_t max, std::uint64_t now_ns) override;
  [[nodiscard]] std::uint32_t leave(const nicmodel::WireFrame* frames, std::uint32_t n, std::uint64_t now_ns) override;

  // On the NIC's thread, or when it does not run: who sends and judges from now on, and whether anybody sends.
  void use_measured() { current_ = measured_.get(); }
  void pause(bool paused) { paused_ = paused; }

  // Of the peer that is in use; counters at any time, the others once the NIC's thread has stopped.
  [[nodiscard]] const nicmodel::TrafficPeer& warm_up() const { return *warm_up_; }
  [[nodiscard]] const nicmodel::TrafficPeer& measured() const { return *measured_; }
  // COUNTs of all air frames, the warm-up's too: the bearers go on from one to the other.
  [[nodiscard]] const CountBook& numbers() const { return numbers_; }
  // For more rings than RSS has: each flow to a ring, evenly. Else none.
  [[nodiscard]] static std::vector<gpu::FlowFilter> filters(const Scenario& scenario);

 private:
  struct AirFrame {
    std::uint32_t bearer = 0, count = 0;
  };
  // Of an air frame of a bearer of the bench, and its COUNT written down; all else is none.
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

// The keys of a bench with pdcp_nea2, one for each UE: octets 0 to 15, the UE's number added to the last four by XOR.
[[nodiscard]] std::vector<gpu::Aes128Key> bench_keys(const Scenario& scenario);

}  // namespace splitplane::bypass
