// Runs as JSON, for files, for the CUDA program at the other end of a pipe, and for plots. Also as table rows.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "bypass/scenario.h"

namespace splitplane::bypass {

using Json = nlohmann::ordered_json;

[[nodiscard]] Json to_json(const Scenario& scenario);
// Reads the output of to_json(). The error is one sentence.
[[nodiscard]] Expected<Scenario> scenario_from(const Json& json);
[[nodiscard]] Json to_json(const Result& result);
[[nodiscard]] Json to_json(const Live& live);
[[nodiscard]] Live live_from(const Json& json);

// CPU, cores, kernel, compiler, and the device that processed the packets. Every figure is published with it.
[[nodiscard]] Json machine(const std::string& gpu);

// Of rows that to_json(Result) wrote: a header and a line each.
[[nodiscard]] std::string table_head();
[[nodiscard]] std::string table_row(const Json& row);

}  // namespace splitplane::bypass
