// The state of one worker of the guard: tables, keys, servers, limits, the burst's time, and what it counts. Auth and
// Proxy decide by it. Only the worker's thread touches it; statistics alone may be read elsewhere.
#pragma once

#include <cstdint>
#include <span>

#include "engine/checksum_mode.h"
#include "guard/cookie/cookie_jar.h"
#include "guard/guard_time.h"
#include "guard/rules/servers.h"
#include "guard/rules/token_bucket.h"
#include "guard/segment/segment.h"
#include "guard/state/flow_table.h"
#include "guard/state/source_table.h"
#include "guard/stats.h"
#include "guard/verdict.h"

namespace splitplane::guard {

struct GuardSettings {
  SourceTable::Settings sources;
  FlowTable::Settings flows;
  std::uint32_t key_seconds = 64;                 // a key is the newer one for so long, then the older one
  std::uint32_t replies_per_second = 20'000'000;  // SYN-ACKs of one worker
  std::uint32_t unproven_per_second = 10'000;     // of each server: segments of unknown sources that are no SYN
  // Who verifies the checksums of SYNs and proofs of the client side.
  datapath::ChecksumMode checksums = datapath::ChecksumMode::software;
};

// Where a worker's tables and keys lie: in a state file, or in memory that ends with the program.
struct GuardMemory {
  std::span<std::uint8_t> sources, flows;  // as memory_bytes() of the tables
  CookieJar::Keys* keys = nullptr;         // taken at the start, and written at each rotation
  std::uint64_t secret = 0;                // of the tables' hashes
};

class WorkerGuard {
 public:
  WorkerGuard(const GuardSettings& with, const GuardMemory& memory)
      : settings(with),
        sources(with.sources, memory.sources, memory.secret),
        flows(with.flows, memory.flows, memory.secret),
        jar(*memory.keys),
        servers(with.unproven_per_second),
        replies(with.replies_per_second),
        keys_(memory.keys) {}
  WorkerGuard(const WorkerGuard&) = delete;
  WorkerGuard& operator=(const WorkerGuard&) = delete;

  // A new key in the place of the older one.
  void rotate_keys() {
    jar.rotate();
    *keys_ = jar.keys();
    stats.key_rotations.add(1);
  }

  [[nodiscard]] ProtectedServer& server(const Segment& s) { return servers.at(s.server); }
  [[nodiscard]] ServerLine& line(const Segment& s) { return stats.servers[s.server]; }

  // As ServerList's; the numbers of a new rule begin at 0.
  Expected<std::uint16_t> put_server(const ServerRule& rule);
  bool remove_server(std::string_view name) { return servers.remove(name); }

  // The source proves itself. False: the allow-list has no room. Counts it as new where it was unknown.
  bool prove(const Segment& s, Proof proof) {
    const bool is_new = sources.find(s.source, time.seconds) == Proof::kNone;
    if (!sources.put(s.source, proof, time.seconds)) return false;
    if (is_new) {
      ++server(s).new_sources;
      line(s).new_sources.add(1);
    }
    return true;
  }

  const GuardSettings settings;
  SourceTable sources;
  FlowTable flows;
  CookieJar jar;
  ServerList servers;
  TokenBucket replies;
  GuardTime time;  // of the burst
  GuardStats stats;

 private:
  CookieJar::Keys* keys_;
};

// The function (guard_function.h) calls:
//   Auth:  Verdict from_client(Segment&)
//   Proxy: Verdict from_client(Segment&, Flow*, Outbox&): to a server that acts in mode proxy, or of a flow in the
//   table
//          Verdict from_server(Segment&, Flow&, Outbox&), icmp_error(Segment&, Side from, Flow&)
//          void serve(Outbox&), std::uint64_t next_work(std::uint64_t ticks): SYNs that are sent again by time

}  // namespace splitplane::guard
