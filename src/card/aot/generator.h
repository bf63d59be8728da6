// Writes a program of a .spec as C++: the `Program` that card/compiled/compiled_pipeline.h runs. Fields of metadata
// become local variables, jumps become gotos, and headers stay where they are in the frame until the program sends it.
#pragma once

#include "card/aot/stages.h"

namespace splitplane::nic {

struct GeneratorOptions {
  std::string id;        // of the program, as an identifier
  bool prefetch = true;  // false: to measure what prefetching brings
};

// The error is "<file>:<line>: what is wrong".
[[nodiscard]] Expected<std::string> generate(const SpecFile& spec, const GeneratorOptions& options);
// A file with the function `function`, which returns the programs with these ids.
[[nodiscard]] std::string generate_index(const std::string& function, const std::vector<std::string>& ids);
// "programs/gnb-mat.cpp" becomes "gnb_mat".
[[nodiscard]] std::string program_id(std::string_view path);

}  // namespace splitplane::nic
