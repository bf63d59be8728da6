// TCP segments and connections of a guard in words.
#pragma once

#include <string>
#include <vector>

#include "guard/segment/segment.h"
#include "guard/state/flow_table.h"
#include "wire/bytes.h"

namespace splitplane::app {

// "MSS 1460", "SACK permitted", "timestamps 1 and 2"; of a SYN or of a later segment.
[[nodiscard]] std::vector<std::string> options_of(wire::Octets segment, const wire::tcp::Header& header);

// "TCP SYN ACK from 10.70.0.2:80 to 192.0.2.7:4000: sequence 1, acknowledgment 2, window 0; MSS 1460".
[[nodiscard]] std::string segment_words(const guard::Segment& segment, guard::Side from,
                                        const std::vector<std::string>& options);

[[nodiscard]] std::string flow_words(const guard::Flow& flow);

}  // namespace splitplane::app
