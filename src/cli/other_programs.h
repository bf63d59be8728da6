// Which program serves which family of control methods: what a client is told that asks the wrong program.
#pragma once

#include <string_view>

#include "control/registry.h"

namespace splitplane::app {

// `own` is the subcommand whose methods these are; the registry hears of the families of all others.
void name_other_programs(MethodRegistry& methods, std::string_view own);

}  // namespace splitplane::app
