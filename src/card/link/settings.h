// What a CardLink is made with, and what it gives to the journal and to workers.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/expected.h"
#include "base/types.h"
#include "card/protocol/bearer.h"
#include "returns/card_returns.h"

namespace splitplane::app {

// How far a card may number a bearer; the journal stores it before the card gets it.
struct CardNumbering {
  BearerId id;
  std::uint32_t lease_end = 0;
  std::uint32_t heard = 0;  // a receiver may not have seen the COUNTs from here on
  std::uint8_t epoch = 0;
};

// A worker's request for the right to return packets of a bearer to the card (returns/card_returns.h).
using datapath::CardRequest;
// What the link tells the bearer's worker.
struct CardNotice {
  enum class Kind : std::uint8_t {
    kGrant,      // the answer to a request
    kRevoke,     // another run of the card is about to get the bearer
    kSettleAll,  // the card has counted packets at the host for a long time: if none is there, it must be told
  };
  Kind kind = Kind::kGrant;
  datapath::CardGrant grant;  // kGrant: all of it; otherwise the bearer only
  [[nodiscard]] BearerId id() const { return grant.answers.id; }
};

struct CardLinkSettings {
  std::string name, control;
  unsigned vfs = 0;                    // number of VFs, as this host counts them
  unsigned punt_n3 = 0, punt_air = 0;  // the VFs where this host reads the card's punts, by side
  nic::CardMarks marks{};              // type of service of uplink packets, by QFI
  bool by_ue_address = false;          // how this host looks up bearers: the card must do the same
  bool punts_to_owner = false;  // the punt VFs are those of the one worker behind the card, which owns all bearers
  std::chrono::milliseconds retry{50};       // between attempts to connect to a card that is away
  std::chrono::milliseconds answer{1000};    // a card that takes longer counts as away
  std::chrono::milliseconds patience{250};   // how long callers wait for a card that has stopped answering
  std::chrono::milliseconds longest{2000};   // how long they wait for a card that is busy
  std::chrono::milliseconds show_each{500};  // how often the thread asks for the card's counters
  std::chrono::milliseconds cut_off_after{2000}, cut_off_each{10000};  // when a card that is cut off is logged
  // Writes leases where they survive this process, and waits until they are there. On an error the card must not get
  // them. Without a journal they do not survive.
  using Journal = std::function<Expected<void>(std::span<const CardNumbering>)>;
  Journal journal;
  // Tells the workers of the bearers; on the link's thread. A worker that does not listen asks again.
  using Notify = std::function<void(std::span<const CardNotice>)>;
  Notify notify;
  // A bearer whose worker keeps what the card sent, and sends it again.
  struct KeptWindow {
    std::uint32_t next = 0,
                  next_ack = 0;  // RLC numbers: after the last one that is kept, and the first not acknowledged
    std::uint32_t most = 0;      // that may wait for an acknowledgement
  };
  // The card is about to begin such a bearer anew, with this epoch: RLC is re-established at its worker, which sends
  // again what the UE has not acknowledged. Both are called on the link's thread. Error: a worker does not answer.
  using Begin = std::function<Expected<KeptWindow>(BearerId id, std::uint8_t epoch)>;
  Begin begin;
  // What the UE of such bearers has acknowledged, in the order of `ids`; nothing of one that is gone.
  using Windows = std::function<std::vector<std::optional<KeptWindow>>(std::span<const BearerId> ids)>;
  Windows windows;
  std::chrono::milliseconds settle_after{2000},
      settle_each{20};  // how long the card has counted in vain, and after that
};

}  // namespace splitplane::app
