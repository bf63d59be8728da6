// One run, from its memory to its figures.
#pragma once

#include "bypass/driver.h"

namespace splitplane::bypass {

// Runs one of the modes without a GPU on CPU threads of this process.
[[nodiscard]] Expected<Result> run_on_cpu(const Scenario& scenario, const Observer& observer = {});
// Runs this driver, from opening the NIC to its figures.
[[nodiscard]] Expected<Result> run_with(const Scenario& scenario, BenchWire& wire, Bed& bed, Driver& driver,
                                        const Observer& observer);

}  // namespace splitplane::bypass
