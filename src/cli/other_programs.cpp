#include "cli/other_programs.h"

#include <fmt/core.h>

#include <array>

namespace splitplane::app {
namespace {

struct Family {
  std::string_view name, program;
};
// Families that each program serves, as `stats` and `power`, need no row.
constexpr std::array<Family, 8> kFamilies{{{"bearer", "run"},
                                           {"session", "run"},
                                           {"place", "run"},
                                           {"peer", "run"},
                                           {"tap", "run"},
                                           {"air", "ue"},
                                           {"card", "card"},
                                           {"baas", "run"}}};

}  // namespace

void name_other_programs(MethodRegistry& methods, std::string_view own) {
  for (const Family& family : kFamilies) {
    if (family.program != own)
      methods.serve_elsewhere(std::string(family.name), fmt::format("with `splitplane {}`", family.program));
  }
}

}  // namespace splitplane::app
