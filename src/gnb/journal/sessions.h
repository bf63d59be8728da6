// Sessions with several bearers, as the journal has them: one record for each bearer.
#pragma once

#include <vector>

#include "gnb/journal/record.h"

namespace splitplane::app {

// What the record of one bearer of the session says beside the bearer.
[[nodiscard]] JournalSession in_journal(const ran::SessionConfig& session, BearerId bearer);

// A session in the journal. `bearers` are in the order of `config.bearers`.
struct FoundSession {
  ran::SessionConfig config;
  std::vector<JournalBearer> bearers;
  // False: a record is missing, because the process ended while the session was added or released. A bearer that is
  // there may have used its numbers.
  bool is_whole = false;
};

// In order of their TEIDs.
[[nodiscard]] std::vector<FoundSession> sessions_in(const JournalBearers& bearers);

}  // namespace splitplane::app
