// Writes a histogram as an `.hlog` file: HdrHistogram's log format 1.3 with histograms in the V2 compressed encoding,
// which the standard decoders read (HdrHistogram, its PyPI package hdrhistogram, HistogramLogAnalyzer).
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/expected.h"
#include "base/histogram.h"

namespace splitplane::traffic {

// The V2 encoding before compression: a header of 40 octets, then the counts as ZigZag LEB128 numbers.
[[nodiscard]] std::vector<std::uint8_t> encode_hdr(const Histogram& histogram);
// The log's form of a histogram: compressed and in base64.
[[nodiscard]] Expected<std::string> encode_hdr_text(const Histogram& histogram);

// One log with one interval. `begin` is wall-clock time. Values are in ns, the column Interval_Max is in ms.
[[nodiscard]] Expected<std::string> hdr_log(const Histogram& histogram, std::chrono::system_clock::time_point begin,
                                            std::chrono::duration<double> length);

}  // namespace splitplane::traffic
