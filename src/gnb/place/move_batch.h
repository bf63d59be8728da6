// Bearers of one worker that move together between it and the card before it, and what is known of each on the way.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "card/link/link.h"
#include "card/link/mover.h"
#include "gnb/control/worker.h"
#include "ran/bearer_config.h"

namespace splitplane::gnb {

// Bounds of a move. Packets of the bearers wait meanwhile.
inline constexpr std::chrono::milliseconds kMoveLasts{500};      // then a move is given up
inline constexpr std::chrono::milliseconds kCardAnswers{250};    // that a card may take for one request
inline constexpr std::chrono::milliseconds kWorkerAnswers{250};  // that a worker may take for one command
inline constexpr std::chrono::microseconds kLookForFences{50};   // how often a worker is asked whether they came
inline constexpr std::size_t kMostMoving = 64;                   // bearers of one batch

struct MovingBearer {
  ran::BearerConfig config;  // as it is after the move
  nic::CardBearer entry;     // and its entry on the card
  std::string failed;        // why it stayed; empty: it moves, or has moved
  bool is_lost = false;      // it has left the card, and its worker did not hear of it
  bool misses = false;       // more PDUs without a copy than its window has room for: RLC has to begin anew
  std::uint32_t next_count = 0, next_rlc = 0;
  std::uint32_t lease_end = 0;
  std::uint64_t in_flight = 0;  // packets that waited here when the new owner began
  nic::CardNumbers numbers;     // the card's, when it stopped or before it began
};

struct MoveBatch {
  WorkerRuntime* worker = nullptr;
  CardLink* link = nullptr;
  bool leased = false;  // COUNTs need a lease
  std::vector<MovingBearer> bearers;
  std::uint64_t run = 0;                       // of the card
  std::chrono::steady_clock::duration held{};  // how long packets waited at most
  std::vector<std::function<void()>> owed;  // what the worker did not hear; it must, before anything else moves there

  [[nodiscard]] std::vector<BearerId> ids() const {
    std::vector<BearerId> all;
    for (const MovingBearer& one : bearers) all.push_back(one.config.id);
    return all;
  }
  void fail_all(const std::string& why) {
    for (MovingBearer& one : bearers) {
      if (one.failed.empty()) one.failed = why;
    }
  }
  [[nodiscard]] bool execute(const std::function<void()>& command) const {
    return worker->execute(command, kWorkerAnswers);
  }
  // Waits until this number of fences with the present token came to the worker. False: not all came in time.
  [[nodiscard]] bool await_fences(unsigned n3, unsigned copies) const;
};

// A random number that cannot be guessed; never 0.
[[nodiscard]] std::uint64_t random_token();

}  // namespace splitplane::gnb
