// The keys of a bearer, one row each. What the file, the control protocol, `splitplane ctl`, config/schema.json and
// docs/reference/configuration.md know of a bearer's keys comes from here.
#pragma once

#include "fields/field.h"
#include "ran/bearer_config.h"

namespace splitplane::ran {

// Where a bearer's key stands.
enum BearerKeys : unsigned {
  kInFile = 1,       // the section `bearers`
  kInRequest = 2,    // bearer.add, what the protocol shows, `ctl bearer add`
  kInChange = 4,     // bearer.modify, `ctl bearer modify`
  kAtGenerator = 8,  // the bearers of `gen`: what both ends of a bearer must know
  kOfSession = 16,   // a session with several bearers: what belongs to its tunnel
  kOfDrb = 32,       // each bearer of such a session
};

[[nodiscard]] fields::Fields<BearerConfig> bearer_fields(BearerKeys in);

}  // namespace splitplane::ran
