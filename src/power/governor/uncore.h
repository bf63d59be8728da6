// The frequency of a package's uncore (mesh, cache, memory controllers) on Intel's servers, held while packets are
// served. The hardware would otherwise choose it by a load that polling makes look high.
#pragma once

#include <utility>

#include "power/governor/backend.h"
#include "power/governor/loan.h"

namespace splitplane::governor {

class Uncore {
 public:
  // All dies of the package, between the limits of the hardware. Error: what is not there, not allowed or refused;
  // nothing is changed then.
  [[nodiscard]] static Expected<Uncore> hold(const GovernorSettings& settings, unsigned package, unsigned mhz);

 private:
  explicit Uncore(Loan loan) : loan_(std::move(loan)) {}
  Loan loan_;  // gives back at its end
};

}  // namespace splitplane::governor
