// Where the numbers of a table's entry stand in memory. Generator and packet path use the same function, so a compiled
// program carries no copy of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "card/spec/spec_file.h"

namespace splitplane::nic {

// A number in host byte order; it is read with `width` octets (1, 2, 4, 8), of which the first `bytes` are written.
struct FieldPlace {
  unsigned offset = 0, bytes = 0, width = 0;
};

struct RowLayout {
  enum class Lookup : std::uint8_t {
    kNone,    // no key: only the default action
    kDirect,  // a row for each key, which has 16 bits at most
    kHash,    // open addressing; at most half of the rows are in use
  };
  Lookup lookup = Lookup::kNone;
  std::vector<FieldPlace> key;                     // kHash: in the row; otherwise only `bytes` counts
  std::vector<std::vector<FieldPlace>> arguments;  // of each action, in the order of the file
  unsigned action_at = 0;  // one octet: 0 in a free row, else the action's place in the table plus 1
  unsigned bytes = 0;      // of a row: a power of two up to a cache line, so that no row lies in two lines
  std::uint64_t rows = 1;  // a power of two; the row of the default action stands behind them
};

[[nodiscard]] RowLayout row_layout(const SpecFile& spec, const SpecTable& table);

}  // namespace splitplane::nic
