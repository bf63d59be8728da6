// The pipeline's ports as port types of SWX, which knows neither bursts nor the length of a frame.
#pragma once

#include <rte_swx_port.h>

#include "card/pipeline/io.h"

namespace splitplane::nic {

// Operations of the types, to be registered. The input's argument is a PipelineIo, an output's is its PipelineOutput.
[[nodiscard]] rte_swx_port_in_ops input_ops();
[[nodiscard]] rte_swx_port_out_ops output_ops();

}  // namespace splitplane::nic
