// For full_bench: whether a gNB worker keeps the slots of an air interface.
// - In real time: loops over slots with work and loops without any take turns on one core. The blocks of a slot are due
//   at its end. A slot that the loop without work misses was the machine's fault, so late blocks are judged against it.
// - In stepped time: a slot begins when the one before is done. The largest time of a slot says which load a slot of
//   0.5 or 0.125 ms holds.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>

#include "full_slots.h"

namespace splitplane::bench {

// `seconds` of slots with work, and as many without.
[[nodiscard]] nlohmann::json real_slots(double seconds, rte_mempool* pool,
                                        const std::shared_ptr<datapath::BearerKeys>& keys);

// Each load for `slots` slots.
[[nodiscard]] nlohmann::json stepped_slots(unsigned slots, rte_mempool* pool,
                                           const std::shared_ptr<datapath::BearerKeys>& keys);

}  // namespace splitplane::bench
