// Makes a worker's tables of keys that are not of our choosing, in DPDK's memory: room is taken once, and a full table
// refuses the bearer.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "gnb/datapath/bearer_lookup.h"
#include "runtime/resources.h"

namespace splitplane::app {

// Room for `teids` TEIDs and, with lookup ue_address, for `addresses` of each family. `memory` holds the tables and
// must outlive `keys`. Error: one sentence that names the worker.
[[nodiscard]] Expected<void> make_key_tables(datapath::ForeignKeys& keys, std::vector<DpdkArray<std::byte>>& memory,
                                             Config::Lookup lookup, std::size_t teids, std::size_t addresses,
                                             const std::string& worker);

// Octets of memory that these tables take.
[[nodiscard]] std::size_t key_tables_bytes(Config::Lookup lookup, std::size_t teids, std::size_t addresses);

}  // namespace splitplane::app
