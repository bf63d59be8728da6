// The drivers of a run that needs no GPU, each on threads of this process. They are the ring engines (one thread for
// all rings, or two for each ring, as a device has warps) and the plain driver with or without staging.
#pragma once

#include <memory>

#include "bypass/driver.h"
#include "crypto/device/aes128.h"
#include "gpu/rings/gnb_headers.h"

namespace splitplane::bypass {

// Bearer lines and keys for gnb_headers and pdcp_nea2: one table for all rings, a power of two long.
class GnbBearers {
 public:
  explicit GnbBearers(const Scenario& scenario);
  [[nodiscard]] std::vector<gpu::GnbBearer>& lines() { return bearers_; }
  [[nodiscard]] std::uint32_t capacity() const { return static_cast<std::uint32_t>(bearers_.size()); }
  [[nodiscard]] const std::vector<gpu::Aes128Key>& keys() const { return keys_; }

 private:
  std::vector<gpu::GnbBearer> bearers_;
  std::vector<gpu::Aes128Key> keys_;
};
// The function over a table of `capacity` lines, a power of two.
[[nodiscard]] gpu::GnbHeaders gnb_headers(gpu::GnbBearer* bearers, std::uint32_t capacity);

// `nic` and `bearers` must live as long as the driver.
[[nodiscard]] std::unique_ptr<Driver> make_cpu_driver(const Scenario& scenario, DrivenNic& nic, GnbBearers& bearers);

}  // namespace splitplane::bypass
