// Bearers that live in one place in every mode: those that lists of the file name (`placement.pin`), and those that
// `ctl place` pins. What `ctl place` says of a bearer goes before the file until the bearer is released. The owner has
// its lock held in all calls but count(), and keeps what `ctl place` says in its journal.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/ip_address.h"
#include "base/types.h"

namespace splitplane::placement {

// An entry of `placement.pin`. It names bearers as `bearers` does, no matter who adds them.
struct PinList {
  std::string on;         // "host", or the name of a card
  IpAddress upf;          // of all of them
  Teid ul_teid{};         // of the first one
  std::size_t count = 1;  // uplink TEIDs go up by one
};

class Pins {
 public:
  struct Pin {
    std::string to;  // "host", or a card's name; empty: none, whatever the file says
    bool by_file = false;
  };
  // How a list names a bearer.
  struct Tunnel {
    IpAddress upf;
    Teid ul_teid{};
  };

  // No bearer is in two lists.
  explicit Pins(std::span<const PinList> lists);

  // A bearer is there from now on. `said`: what `ctl place` said of it before, as said() returned it.
  void enter(BearerId id, const Tunnel& tunnel, const std::optional<std::string>& said);
  // Of a bearer that is there: other lists may name it.
  void change(BearerId id, const Tunnel& tunnel);
  void forget(BearerId id) { take(id); }

  // What `ctl place` says of a bearer that is there.
  void pin(BearerId id, const std::string& to) { put(id, {.to = to}); }
  // False: it was not pinned.
  bool unpin(BearerId id, const Tunnel& tunnel);
  // Nothing: `ctl place` has said nothing of it, or nothing that counts. Empty: that it is not pinned.
  [[nodiscard]] std::optional<std::string> said(BearerId id) const;

  // nullptr: it is not pinned. Until the next call that is not const.
  [[nodiscard]] const Pin* of(BearerId id) const;
  // Bearers that are pinned. Any thread may ask.
  [[nodiscard]] std::size_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  using Key = std::pair<std::array<std::uint8_t, 17>, std::uint32_t>;  // UPF with its family, and uplink TEID
  struct List {
    Key last;
    std::string to;
  };
  static Key key_of(const IpAddress& upf, std::uint32_t ul_teid);
  [[nodiscard]] const std::string* in_file(const Tunnel& tunnel) const;  // nullptr: no list names it
  void put(BearerId id, Pin pin);
  void take(BearerId id);

  std::map<Key, List> lists_;                    // by the first bearer of each
  std::unordered_map<std::uint32_t, Pin> pins_;  // by identity
  std::atomic<std::size_t> count_{0};            // of pins_, those with a place
};

}  // namespace splitplane::placement
