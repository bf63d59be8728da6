// What requests of the control protocol say about bearers, beside ran::BearerConfig, and what they get back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "fields/field.h"
#include "ran/session_config.h"

namespace splitplane::app {

// A request for more bearers is carried out in batches, so that no round of a worker grows long.
inline constexpr std::size_t kBearersPerBatch = 64;

struct AddedBearers {
  std::vector<ran::BearerConfig> bearers;
  std::size_t existed = 0;  // of them, there already
};

struct AddedSession {
  ran::SessionConfig session;
  bool existed = false;  // there already
};

// What bearer.rekey did.
struct Rekeyed {
  std::uint32_t key = 0;   // number of the keys that the bearer has now
  std::uint8_t epoch = 0;  // of the frames with these keys, in airhdr
  bool changed = false;    // false: it had them already
};

// One bearer of a session that session.rekey gave keys.
struct RekeyedBearer {
  BearerId id;
  ran::sdap::DrbId drb;
  Rekeyed now;
};

// The keys that change, with their new values. A key that may change is a row of ran::bearer_fields(kInChange).
struct BearerPatch {
  std::vector<std::pair<const fields::Field*, fields::Value>> changes;

  [[nodiscard]] ran::BearerConfig applied_to(ran::BearerConfig bearer) const {
    for (const auto& [field, value] : changes) field->set(&bearer, value);
    return bearer;
  }
};

}  // namespace splitplane::app
