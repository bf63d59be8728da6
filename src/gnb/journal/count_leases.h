// How far ahead the leases of COUNTs of the host's own bearers reach, and when they are renewed: a book for the control
// thread, without clock or disk. docs/operate/journal.md says why these lengths.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "base/types.h"
#include "ran/count_lease.h"

namespace splitplane::app {

// What a lease is meant to be: a receiver takes twice of it for a step forwards still (TS 38.323 5.2.2.1).
[[nodiscard]] constexpr std::uint32_t usual_lease(unsigned pdcp_sn_bits) {
  return pdcp_sn_bits == 12 ? 1024 : 65536;
}
// What a lease is at most. After a crash numbers go on at its end: with 12 bits a receiver always takes that for a step
// forwards; with 18 bits a bearer of more than about 650,000 packets a second would be stopped by a slow disk else.
[[nodiscard]] constexpr std::uint32_t longest_lease(unsigned pdcp_sn_bits) {
  return pdcp_sn_bits == 12 ? 1536 : 1U << 28;
}

// A lease whose numbers begin `ahead` of the last COUNT that a receiver may have seen: half of what is left of the step
// that it still takes for one forwards, and never none.
[[nodiscard]] std::uint32_t lease_after_restart(unsigned pdcp_sn_bits, std::uint32_t ahead);

class CountLeases {
 public:
  using Clock = std::chrono::steady_clock;
  struct Extension {
    std::uint32_t from = 0;  // the end before
    ran::CountLease lease;
    std::uint32_t heard = 0;  // COUNTs below it were given out
  };

  // A bearer whose next COUNT is `next`. The first packet already asks.
  ran::CountLease begin(BearerId id, unsigned pdcp_sn_bits, std::uint32_t next, std::uint32_t ahead);
  // A bearer that comes from a card, whose lease ends at `end`; COUNTs below it are on the disk as given out.
  ran::CountLease adopt(BearerId id, unsigned pdcp_sn_bits, std::uint32_t next, std::uint32_t end);
  // Its worker has come to the mark. `horizon`: a longer lease takes so long to come, as far as is known. Nothing: no
  // such bearer.
  [[nodiscard]] std::optional<Extension> asked(BearerId id, Clock::time_point now, std::chrono::milliseconds horizon);
  // A request that a bearer made when its next COUNT was `at`: true if that was before begin() or adopt().
  [[nodiscard]] bool is_earlier(BearerId id, std::uint32_t at) const;
  // COUNTs below the result may have reached a receiver; those from it on surely have not. `next` is the bearer's next
  // COUNT: a run that gave none tells nothing new.
  [[nodiscard]] std::uint32_t heard(BearerId id, std::uint32_t next) const;
  void forget(BearerId id) { books_.erase(id.value); }

  struct Book {
    unsigned pdcp_sn_bits = 18;
    ran::CountLease lease;
    std::optional<Clock::time_point> since;  // when it came to `at`
    std::uint32_t at = 0;
    std::uint32_t first = 0, heard = 0;  // as it began: its next COUNT, and what a receiver may have seen before
  };
  using Books = std::unordered_map<std::uint32_t, Book>;
  // Between the two no lease is given: what asked() is told is nothing.
  [[nodiscard]] Books::node_type put_aside(BearerId id) { return books_.extract(id.value); }
  void put_back(Books::node_type book) { books_.insert(std::move(book)); }

 private:
  Books books_;
};

}  // namespace splitplane::app
