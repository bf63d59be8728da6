// Moves bearers between workers and the cards before them, as it is told (docs/design/placement.md): who
// may move, in which batches, and what the other parts of the control side are told. move_to_card.h and move_to_host.h
// make the moves themselves. A move loses, doubles and reorders no packet of a bearer, and its numbers go on. A move
// that fails leaves the bearer where it was.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gnb/control/parts.h"
#include "gnb/place/move_batch.h"
#include "placement/decision/host_only.h"

namespace splitplane::gnb {

struct MoveResult {
  enum class What : std::uint8_t { kMoved, kThere, kRefused, kFailed };
  BearerId id;
  What what = What::kMoved;
  std::string why;              // kRefused, kFailed
  std::uint64_t in_flight = 0;  // kMoved: packets that waited when the new owner began
  std::uint64_t held_us = 0;    // and for how long at most
};

class Moves {
 public:
  explicit Moves(Parts& parts) : parts_(parts) {}

  // Moves bearers to that card, or to the host if `card` is empty. A result for each, in the order of `ids`. It takes
  // the turn of a change for each batch.
  std::vector<MoveResult> move(std::span<const BearerId> ids, const std::string& card);
  // Why a bearer may not move to that card and from it; `none`: it may.
  [[nodiscard]] placement::HostOnly host_only(const Locked& locked, const ran::BearerConfig& config,
                                              const std::string& card) const;

  // Tells workers that answer again what they did not hear. For one who calls now and then.
  void catch_up();

  struct Counters {
    std::uint64_t to_card = 0, to_host = 0, failed = 0, refused = 0;
    std::uint64_t with_packets = 0, packets = 0;  // moves while which packets waited, and how many did
    std::uint64_t longest_us = 0;                 // that packets waited
  };
  [[nodiscard]] Counters counters() const;

 private:
  [[nodiscard]] std::optional<MoveResult> look_at(const Locked& locked, BearerId id, const std::string& card,
                                                  MovingBearer& moving, WorkerRuntime*& worker) const;
  [[nodiscard]] Change run(Change&& change, MoveBatch& batch, bool to_card);
  void finish(const Locked& locked, MoveBatch& batch, bool to_card);
  void note(const MoveResult& result, bool to_card);

  void settle();

  Parts& parts_;
  // What workers did not hear of moves that were given up. Who has the turn of a change touches it.
  std::map<WorkerRuntime*, std::vector<std::function<void()>>> owed_;
  std::atomic<bool> has_owed_{false};
  mutable std::mutex counters_mutex_;
  Counters counters_;
};

}  // namespace splitplane::gnb
