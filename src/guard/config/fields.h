// The keys of the section `guard`, one row each. Those of a server are also members of guard.add, and some of
// guard.set.
#pragma once

#include <vector>

#include "fields/reference.h"
#include "guard/config/config.h"

namespace splitplane::app {

// Where a key of a server stands.
enum GuardPlaces : unsigned {
  kWholeServer = 1,   // in a file, and in guard.add
  kServerChange = 2,  // in guard.set
};

[[nodiscard]] fields::Fields<GuardConfig> guard_file_fields();  // of the top level
[[nodiscard]] fields::Fields<GuardConfig> guard_fields();       // beside those of a worker and of the limits
[[nodiscard]] fields::Fields<GuardWorkerConfig> guard_worker_fields();
[[nodiscard]] fields::Fields<GuardLimits> guard_limit_fields();
[[nodiscard]] fields::Fields<guard::ServerRule> guard_server_fields();
[[nodiscard]] fields::Fields<guard::SourceTable::Settings> guard_source_fields();
[[nodiscard]] fields::Fields<guard::FlowTable::Settings> guard_flow_fields();

// For config/schema.json and docs/reference/configuration.md.
[[nodiscard]] std::vector<fields::Section> guard_sections();

}  // namespace splitplane::app
