// Whether a GPU of this machine could drive a card: `gpu info` shows each condition, `gpu run --nic --gpu` refuses with
// the first that is missing.
#pragma once

#include <vector>

#include "bypass/result_json.h"
#include "gpu/nic/card_for_gpu.h"

namespace splitplane::app {

// Display controllers of NVIDIA on the bus.
[[nodiscard]] std::vector<gpu::PciDevice> find_gpus();

// `device`: what the CUDA program says of the GPU that it uses, which may be another one, or why it says nothing.
[[nodiscard]] std::vector<gpu::StartUpNote> check_gpu_for_card(const gpu::PciDevice& gpu,
                                                               const Expected<bypass::Json>& device,
                                                               const bypass::Scenario& scenario);

// The exact condition that stands in the way of rings in GPU memory and a card; one sentence.
[[nodiscard]] std::string why_no_card_on_gpu(const gpu::PciDevice& card, const bypass::Scenario& scenario);

}  // namespace splitplane::app
