// The drivers of a run that needs no GPU, each on threads of this process: the ring engines (one thread for all rings,
// or two for each as a device has warps) and the plain driver with or without staging.
#pragma once

#include <memory>

#include "bypass/driver.h"
#include "gpu/gnb_headers.h"

namespace splitplane::bypass {

// Bearer lines for gnb_headers and pdcp_nea2: those of all flows for each ring, whichever ring RSS gives a flow.
class GnbBearers {
 public:
  explicit GnbBearers(const Scenario& scenario);
  [[nodiscard]] gpu::GnbBearer* of(std::uint32_t ring) { return &bearers_[std::size_t{ring} * capacity_]; }
  [[nodiscard]] std::uint32_t capacity() const { return capacity_; }
  [[nodiscard]] const std::vector<gpu::GnbBearer>& all() const { return bearers_; }

 private:
  std::uint32_t capacity_;
  std::vector<gpu::GnbBearer> bearers_;
};
// The function over a table of `capacity` lines, a power of two.
[[nodiscard]] gpu::GnbHeaders gnb_headers(gpu::GnbBearer* bearers, std::uint32_t capacity);

// `nic` and `bearers` must live as long as the driver.
[[nodiscard]] std::unique_ptr<Driver> make_cpu_driver(const Scenario& scenario, DrivenNic& nic, GnbBearers& bearers);

}  // namespace splitplane::bypass
