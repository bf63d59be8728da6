#include "cli/other_programs.h"

#include <fmt/core.h>

#include <array>

namespace splitplane::app {
namespace {

struct Family {
  std::string_view name, program, other = {};
};
// Families that each program serves, as `stats` and `power`, need no row.
constexpr std::array<Family, 10> kFamilies{{{"bearer", "run"},
                                            {"session", "run"},
                                            {"place", "run"},
                                            {"peer", "run"},
                                            {"phy", "run"},
                                            {"tap", "run"},
                                            {"air", "ue", "phy"},
                                            {"card", "card"},
                                            {"guard", "guard"},
                                            {"baas", "run"}}};

}  // namespace

void name_other_programs(MethodRegistry& methods, std::string_view own) {
  for (const Family& family : kFamilies) {
    if (family.program == own || family.other == own) continue;
    const std::string also = family.other.empty() ? "" : fmt::format(" or `splitplane {}`", family.other);
    methods.serve_elsewhere(std::string(family.name), fmt::format("with `splitplane {}`{}", family.program, also));
  }
}

}  // namespace splitplane::app
