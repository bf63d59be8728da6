#include "card/compiled/programs.h"

#include <algorithm>

namespace splitplane::nic {

const CompiledProgram* find_compiled(CompiledPrograms programs, const SpecFile& spec) {
  const std::string defines = fmt::format("{}", fmt::join(spec.defines, ","));
  const auto at = std::ranges::find_if(programs, [&](const CompiledProgram* p) {
    return p->source_hash == spec.source_hash && p->found_hash == spec.found_hash && p->program == spec.program &&
           p->defines == defines;
  });
  return at == programs.end() ? nullptr : *at;
}

}  // namespace splitplane::nic
