// Which sources have proven that they receive what is sent to them: the allow-list of one worker, of fixed size. A
// source is an IPv4 address, or the upper 64 bits of an IPv6 address. Buckets of four entries, one cache line each, two
// buckets a source. A full table never gives up a source that a server has vouched for before its time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "guard/cookie/four_tuple.h"

namespace splitplane::guard {

enum class Proof : std::uint8_t {
  kNone,
  kCookie,   // it returned a cookie
  kVouched,  // a server sent it a segment of an established connection
};

class SourceTable {
 public:
  struct Settings {
    std::uint32_t entries = 1 << 18;       // rounded up to a power of two, at least 64
    std::uint16_t cookie_seconds = 120;    // how long a proof holds without traffic
    std::uint16_t vouched_seconds = 3600;
    std::uint16_t syn_per_second = 50;     // SYNs of a proven source that pass; bursts of the same size
    std::uint16_t flows_each = 4096;       // proxied connections of one source
  };
  struct Counts {
    std::uint64_t entries = 0, live = 0;              // live: looked at by sweep(), so some seconds old
    std::uint64_t inserted = 0, evicted = 0, refused = 0;  // evicted: before their time; refused: no room for a new one
  };
  // One word a source: what hot functions take.
  using Key = std::uint64_t;
  [[nodiscard]] static Key key_of(const FourTuple& tuple);

  [[nodiscard]] static std::size_t memory_bytes(const Settings& settings);
  // `memory` has memory_bytes() octets on a cache line: zeroed for an empty table, or what an earlier table left there
  // under the same settings and secret (state_file.h).
  SourceTable(const Settings& settings, std::span<std::uint8_t> memory, std::uint64_t secret);

  void prefetch(Key key) const;
  // kNone: unknown, or its time is over. `now` in seconds, from any beginning, the same for all calls.
  [[nodiscard]] Proof find(Key key, std::uint32_t now) const;
  // find(), and a proof of the same strength begins anew. One cache line is written at most once a second a source.
  Proof touch(Key key, std::uint32_t now);
  // False: the table has no room for a source of this proof.
  bool put(Key key, Proof proof, std::uint32_t now);
  // One SYN of a proven source: false if it has none left this second, or is not proven.
  [[nodiscard]] bool take_syn(Key key, std::uint32_t now);
  // Proxied connections of a source: false if it is at its limit or unknown. give_flow() takes one back.
  [[nodiscard]] bool take_flow(Key key, std::uint32_t now);
  void give_flow(Key key);
  bool remove(Key key);
  void clear();
  // Looks at `buckets` more buckets; counts the live ones.
  void sweep(std::uint32_t now, unsigned buckets);
  [[nodiscard]] Counts counts() const;
};

}  // namespace splitplane::guard
