// What the decisions are made from: plain data that the owner of the bearers fills in once a period.
#pragma once

#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/types.h"
#include "placement/decision/host_only.h"
#include "placement/decision/place.h"

namespace splitplane::placement {

// Since any moment that stays the same: the owner reads the clock.
using Time = std::chrono::milliseconds;
inline constexpr Time kNever = Time::min();

// What an explicit list says of a bearer, in every mode.
enum class Pin : std::uint8_t { kNone, kHost, kCard };

struct BearerFacts {
  BearerId id{};  // 0: no bearer has this slot now
  Place place;    // that numbers its packets
  Place to;       // another one than `place`: a move there is running
  Pin pin = Pin::kNone;
  std::uint8_t pin_card = 0;         // kCard: which one
  ShardId shard{};                   // its worker is that of the shard
  HostOnly host_only{};              // not `none`: it stays on the host, and a pin to a card has no effect
  std::uint8_t unacked_percent = 0;  // of its AM window; 0 if the host does not keep its SDUs
  bool fixed = false;                // it lives where it is, on a card too, for the reason `host_only`
  Time moved = kNever;               // when it moved last, or a move of it failed
  // Totals of its life, of card and host together. A total that went back begins anew.
  std::uint64_t packets = 0, octets = 0;

  [[nodiscard]] bool lives() const { return id.value != 0; }
  [[nodiscard]] bool moving() const { return to != place; }
};

struct CardFacts {
  bool up = false;           // it answers, has its bearers, and packets pass: moves from and to it work
  std::size_t capacity = 0;  // bearers that it may serve
};

struct WorkerFacts {
  std::uint32_t cards = 0;  // bit n: it is behind card n, so its bearers may live there
};

struct ShardFacts {
  std::uint8_t worker = 0;
};

inline constexpr std::size_t kShards = 256;

struct Facts {
  Time now{};
  // A bearer keeps its slot for its life. Order has no meaning, and free slots may stand anywhere.
  std::vector<BearerFacts> bearers;
  std::vector<CardFacts> cards;  // kMaxCards at most
  std::vector<WorkerFacts> workers;
  std::array<ShardFacts, kShards> shards{};

  [[nodiscard]] Place host_of(const BearerFacts& bearer) const {
    return Place::worker(shards[bearer.shard.value].worker);
  }
};

}  // namespace splitplane::placement
