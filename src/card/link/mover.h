// The requests to a card that move bearers between it and their workers (docs/design/placement.md). They go over a
// connection of their own, because a move waits for fences between them. CardLink knows what the card shall have.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/expected.h"
#include "card/protocol/bearer.h"
#include "card/protocol/methods.h"
#include "card/protocol/request.h"
#include "control/client.h"

namespace splitplane::app {

class CardMover {
 public:
  // `control`: the card's socket. Each request waits for its answer for `patience`.
  CardMover(std::string control, std::chrono::milliseconds patience)
      : control_(std::move(control)), patience_(patience) {}

  // An error says what the card answered, or that it does not. Then its state is not known.
  Expected<void> install(std::span<const nic::CardBearer> bearers);
  Expected<void> begin(std::span<const nic::CardBeginning> bearers);
  Expected<void> set_leases(std::span<const nic::CardLease> leases);
  [[nodiscard]] Expected<std::vector<CardNumbersRow>> numbers(std::span<const BearerId> ids);
  struct Fenced {
    unsigned n3 = 0, copies = 0;  // fences that are on their way
    std::vector<CardNumbersRow> rows;
  };
  [[nodiscard]] Expected<Fenced> fence(std::span<const BearerId> ids, std::uint64_t token);

 private:
  [[nodiscard]] Expected<Json> call(const std::string& method, const Json& params);

  std::string control_;
  std::chrono::milliseconds patience_;
  std::optional<ControlClient> client_;
};

}  // namespace splitplane::app
