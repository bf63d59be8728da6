#include "guard/state/flow_table.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cassert>

namespace splitplane::guard {
namespace {

constexpr std::uint32_t kMostFlows = 1U << 26;

std::uint32_t flow_entries(const FlowTable::Settings& settings) {
  return std::bit_ceil(std::clamp<std::uint32_t>(settings.entries, 64, kMostFlows));
}

// As in source_table.cpp: a flow is whole before its tag is there.
void flow_before_tag() {
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

constexpr std::uint8_t kMostScale = 14;  // RFC 7323 2.3

bool is_ipv4(const std::array<std::uint8_t, 16>& address) {
  return std::all_of(address.begin() + 4, address.end(), [](std::uint8_t octet) { return octet == 0; });
}

}  // namespace

FourTuple tuple_of(const Flow& flow) {
  FourTuple tuple;
  tuple.client = flow.client;
  tuple.server = flow.server;
  tuple.client_port = flow.client_port;
  tuple.server_port = flow.server_port;
  tuple.vlan = flow.vlan;
  tuple.is_v6 = flow.is_v6;
  return tuple;
}

std::size_t FlowTable::memory_bytes(const Settings& settings) {
  return std::size_t{flow_entries(settings)} * (sizeof(Flow) + sizeof(std::uint16_t));
}

FlowTable::FlowTable(const Settings& settings, std::span<std::uint8_t> memory, std::uint64_t secret)
    : settings_(settings),
      hash_(secret),
      mask_(flow_entries(settings) / kSlots - 1),
      tags_(reinterpret_cast<Tags*>(memory.data())),
      flows_(reinterpret_cast<Flow*>(memory.data() + (std::size_t{mask_} + 1) * sizeof(Tags))) {
  assert(memory.size() >= memory_bytes(settings));
  assert(reinterpret_cast<std::uintptr_t>(memory.data()) % alignof(Flow) == 0);
  holds_[static_cast<std::size_t>(FlowState::kConnecting)] = settings.connecting_seconds;
  holds_[static_cast<std::size_t>(FlowState::kEstablished)] = settings.established_seconds;
  holds_[static_cast<std::size_t>(FlowState::kClosing)] = settings.closing_seconds;
  holds_[static_cast<std::size_t>(FlowState::kClosed)] = settings.closed_seconds;
  take_out_unsound();
}

bool FlowTable::is_sound(std::uint32_t bucket, unsigned slot) const {
  const Flow& flow = flows_[bucket * kSlots + slot];
  if (flow.state == FlowState::kFree || flow.state > FlowState::kClosed || flow.is_v6 > 1) return false;
  if (flow.is_v6 == 0 && (!is_ipv4(flow.client) || !is_ipv4(flow.server))) return false;
  if (flow.vlan > 4095) return false;
  if (flow.server_scale > kMostScale || flow.told_scale > kMostScale || flow.client_scale > kMostScale) return false;
  const FourTuple tuple = tuple_of(flow);
  const Hash hash = hash_of(tuple);
  if (tags_[bucket].tag[slot] != tag_of(hash)) return false;
  if (bucket != first(hash) && bucket != other(first(hash), tag_of(hash))) return false;
  return place_of(tuple, hash) == &flow;  // a flow that was on its way to its other bucket lies in both
}

void FlowTable::take_out_unsound() {
  std::uint64_t used = 0;
  for (std::uint32_t bucket = 0; bucket <= mask_; ++bucket) {
    for (unsigned slot = 0; slot < kSlots; ++slot) {
      if (tags_[bucket].tag[slot] == 0) continue;
      if (is_sound(bucket, slot))
        ++used;
      else
        free_slot(bucket, slot);
    }
  }
  used_.set(used);
}

void FlowTable::free_slot(std::uint32_t bucket, unsigned slot) {
  tags_[bucket].tag[slot] = 0;
  flow_before_tag();
  flows_[bucket * kSlots + slot].state = FlowState::kFree;
}

void FlowTable::let_go(Place place) {
  if (hear_gone_ != nullptr) hear_gone_(gone_with_, flows_[place.bucket * kSlots + place.slot]);
  free_slot(place.bucket, place.slot);
  used_.set(used_.get() - 1);
}

void FlowTable::remove(Flow* flow) {
  const auto number = static_cast<std::size_t>(flow - flows_);
  assert(number < (std::size_t{mask_} + 1) * kSlots);
  const Place place{static_cast<std::uint32_t>(number / kSlots), static_cast<unsigned>(number % kSlots)};
  if (tags_[place.bucket].tag[place.slot] != 0) let_go(place);
}

// The copy is whole before the original goes.
void FlowTable::move(Place from, Place to) {
  flows_[to.bucket * kSlots + to.slot] = flows_[from.bucket * kSlots + from.slot];
  flow_before_tag();
  tags_[to.bucket].tag[to.slot] = tags_[from.bucket].tag[from.slot];
  flow_before_tag();
  free_slot(from.bucket, from.slot);
}

FlowTable::Place FlowTable::free_in(std::uint32_t bucket) const {
  const unsigned free = match(bucket, 0);
  return free == 0 ? Place{} : Place{bucket, lowest(free)};
}

FlowTable::Place FlowTable::emptier(std::uint32_t one, std::uint32_t two) const {
  return free_in(std::popcount(match(two, 0)) > std::popcount(match(one, 0)) ? two : one);
}

// Of two full buckets: a flow whose time is over, else the one that has been in this state for the longest time.
FlowTable::Place FlowTable::over_or(FlowState state, std::uint32_t one, std::uint32_t two, std::uint32_t now) const {
  Place found;
  std::uint32_t found_age = 0;
  for (const std::uint32_t bucket : {one, two}) {
    for (unsigned slot = 0; slot < kSlots; ++slot) {
      const Flow& flow = flows_[bucket * kSlots + slot];
      if (is_over(flow, now)) return {bucket, slot};
      if (flow.state != state) continue;
      if (const std::uint32_t old = age(now, flow.seen); found.slot == kSlots || old > found_age) {
        found = {bucket, slot};
        found_age = old;
      }
    }
  }
  return found;
}

// Of two full buckets: moves a flow to its other bucket, where need be after another flow has made room there. So it
// reads the tags of 2 + 16 buckets, and of 128 at most once those are full, too: a refused flow costs little.
FlowTable::Place FlowTable::by_moving(std::uint32_t one, std::uint32_t two) {
  for (const std::uint32_t bucket : {one, two}) {
    for (unsigned slot = 0; slot < kSlots; ++slot) {
      const Place to = free_in(other(bucket, tags_[bucket].tag[slot]));
      if (to.slot == kSlots) continue;
      move({bucket, slot}, to);
      return {bucket, slot};
    }
  }
  if (used_.get() > (std::uint64_t{mask_} + 1) * kSlots / 32 * 31) return {};
  for (const std::uint32_t bucket : {one, two}) {
    for (unsigned slot = 0; slot < kSlots; ++slot) {
      const std::uint32_t next = other(bucket, tags_[bucket].tag[slot]);
      if (next == one || next == two) continue;
      for (unsigned far = 0; far < kSlots; ++far) {
        const Place to = free_in(other(next, tags_[next].tag[far]));
        if (to.slot == kSlots) continue;
        move({next, far}, to);
        move({bucket, slot}, {next, far});
        return {bucket, slot};
      }
    }
  }
  return {};
}

void FlowTable::make_room(Place place, std::uint32_t now) {
  if (is_over(flows_[place.bucket * kSlots + place.slot], now)) expired_.add(1);
  let_go(place);
}

Flow* FlowTable::insert(const FourTuple& tuple, Hash hash, std::uint32_t now) {
  if (Flow* const earlier = place_of(tuple, hash); earlier != nullptr) remove(earlier);
  const std::uint16_t tag = tag_of(hash);
  const std::uint32_t one = first(hash), two = other(one, tag);
  Place place = emptier(one, two);
  if (place.slot == kSlots) {
    place = over_or(FlowState::kClosed, one, two, now);
    if (place.slot != kSlots) {
      make_room(place, now);
    } else if (place = by_moving(one, two); place.slot == kSlots) {
      place = over_or(FlowState::kClosing, one, two, now);
      if (place.slot != kSlots) make_room(place, now);
    }
  }
  if (place.slot == kSlots) {
    refused_.add(1);
    return nullptr;
  }
  Flow& flow = flows_[place.bucket * kSlots + place.slot];
  flow = {};
  flow.client = tuple.client;
  flow.server = tuple.server;
  flow.client_port = tuple.client_port;
  flow.server_port = tuple.server_port;
  flow.vlan = tuple.vlan;
  flow.is_v6 = tuple.is_v6;
  flow.seen = now;
  flow.state = FlowState::kConnecting;
  flow_before_tag();
  tags_[place.bucket].tag[place.slot] = tag;
  used_.set(used_.get() + 1);
  inserted_.add(1);
  return &flow;
}

void FlowTable::sweep(std::uint32_t now, unsigned buckets) {
  for (; buckets != 0; --buckets) {
    const std::uint32_t bucket = swept_;
    swept_ = (swept_ + 1) & mask_;
    for (unsigned used = ~match(bucket, 0) & 0xff; used != 0; used &= used - 1) {
      const unsigned slot = lowest(used);
      if (!is_over(flows_[bucket * kSlots + slot], now)) continue;
      expired_.add(1);
      let_go({bucket, slot});
    }
  }
}

FlowTable::Counts FlowTable::counts() const {
  return {.entries = (std::uint64_t{mask_} + 1) * kSlots,
          .used = used_.get(),
          .inserted = inserted_.get(),
          .refused = refused_.get(),
          .expired = expired_.get()};
}

}  // namespace splitplane::guard
