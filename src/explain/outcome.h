// What the pipeline did with one packet of `splitplane explain`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "explain/card.h"
#include "gnb/config/config.h"
#include "gnb/datapath/trace.h"
#include "placement/decision/host_only.h"

namespace splitplane::app {

using Octets = std::vector<std::uint8_t>;

// Where the bearer of a packet lives, and whether it may live on the card before its worker.
struct MayLive {
  std::string card;  // before its worker; empty: none
  placement::HostOnly why{};
  placement::Mode mode{};
  std::string pinned_to;  // by a list of the file: "host", or a card; empty: by none
};

struct Outcome {
  std::string worker, dispatcher;  // who worked on it; dispatcher: empty without one
  datapath::Trace trace;
  std::optional<datapath::DropReason> dropped;
  std::optional<Octets> punted;                 // the frame that went to the control thread
  bool rlc_control = false;                     // went to the consumer of copies
  std::optional<CardPassage> card;              // what a card did with the packet as it came
  std::optional<Octets> by_card;                // the frame as the card itself sent it, if it did
  bool returned = false;                        // an SDU that a card numbers: back to it, in to_n3
  std::size_t copies = 0;                       // references to it that the consumer of copies got
  std::vector<Octets> to_air, to_n3;            // frames, as they left: with what had waited for its order
  std::optional<std::size_t> own_in_air;        // the packet's own among to_air
  const ran::BearerConfig* bearer = nullptr;    // nullptr: none was found
  const ran::SessionConfig* session = nullptr;  // of that bearer; nullptr: the bearer is a session by itself
  std::optional<MayLive> may_live;              // of that bearer; absent without cards
  const N3Config* n3 = nullptr;                 // of that worker
};

}  // namespace splitplane::app
