// What the journal of bearers says of itself. The same names in `ctl stats` and the metrics.
#pragma once

#include <cstdint>
#include <string>

namespace splitplane::app {

// Field, unit, help.
// clang-format off
#define SPLITPLANE_JOURNAL_COUNTERS(X)                                        \
  X(commits, "", "times that the journal was written and the disk had it")    \
  X(failures, "", "times that the disk refused")                              \
  X(leases, "", "leases of COUNTs that were granted")                         \
  X(written, "bytes", "octets written")
// clang-format on

struct BearerJournalView {
  std::string path;
  std::string reason;      // why the disk refused last; empty: it did not
  std::size_t octets = 0;  // of the file
#define SPLITPLANE_JOURNAL_FIELD(field, unit, help) std::uint64_t field = 0;
  SPLITPLANE_JOURNAL_COUNTERS(SPLITPLANE_JOURNAL_FIELD)
#undef SPLITPLANE_JOURNAL_FIELD
};

}  // namespace splitplane::app
