// Where packets of a burst wait for one another, so that memory has time: before each large table, and behind its
// action where that names the slot of registers. All packets of the burst do stage k before the first does stage k+1.
#pragma once

#include "card/aot/flow.h"

namespace splitplane::nic {

// What lives between instructions besides fields of metadata.
enum SpecialVariable : std::size_t { kValid, kEmitted, kHit, kRanAction, kSpecialCount };
// Variable i of a flow: first the special ones, then metadata's fields.
[[nodiscard]] constexpr std::size_t variable_of(std::size_t metadata_field) {
  return kSpecialCount + metadata_field;
}

// A packet waits before node `node`.
struct Wait {
  enum class Why : std::uint8_t {
    kRow,        // of the large table: the lookup is next
    kRegisters,  // of the slot that the table's action named
    kOthers,     // only packets that came round the table: registers are next, which belong to the packet's order
  };
  std::size_t node = 0;
  Why why = Why::kRow;
  unsigned stage = 0;                  // in which it goes on
  std::vector<std::size_t> variables;  // that it keeps
  std::size_t table = 0;               // kRow, kRegisters: the large table
  std::vector<std::size_t> groups;     // kRegisters: groups of registers to prefetch
};

// Register arrays of one size that the same field indexes in the same stages.
struct ArrayGroup {
  std::vector<std::size_t> arrays;
  std::uint64_t records = 0;  // a power of two
  unsigned record_bytes = 0;
  std::optional<std::size_t> by;  // the field of metadata that is every index
};

// Registers that are prefetched before node `node`; a later wait gives them time.
struct EarlyPrefetch {
  std::size_t node = 0;
  std::vector<std::size_t> groups;
};

struct Stages {
  unsigned count = 1;
  std::vector<Wait> waits;
  std::vector<EarlyPrefetch> prefetches;
  std::vector<ArrayGroup> groups;
  std::vector<std::size_t> group_of;  // array: its group
  std::vector<unsigned> offset_of;    // array: in a record of the group
  [[nodiscard]] const Wait* before(std::size_t node) const;
};

inline constexpr std::uint32_t kLargeTable = 4096;  // rows

// An array that is read or written, and not only counted up, is used in one stage only. Then the result is that of one
// packet after another. The error names the line of a use for which there is no such stage.
[[nodiscard]] Expected<Stages> make_stages(const Flow& flow);

}  // namespace splitplane::nic
