// The programs that were compiled ahead of time into this one.
#pragma once

#include "card/pipeline/pipeline.h"

namespace splitplane::nic {

struct CompiledProgram {
  std::string_view source_hash, found_hash, program, defines;  // as in SpecFile; the defines with commas between them
  Expected<std::unique_ptr<Pipeline>> (*make)(const SpecFile& spec, PipelineIo& io, int numa_node);
};
using CompiledPrograms = std::span<const CompiledProgram* const>;

// Those of p4/generated. The build makes this function (cmake/programs.cmake).
[[nodiscard]] CompiledPrograms compiled_programs();

// The one that was made of the same text, or null: the file is foreign, or was changed.
[[nodiscard]] const CompiledProgram* find_compiled(CompiledPrograms programs, const SpecFile& spec);

}  // namespace splitplane::nic
