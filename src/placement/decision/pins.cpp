#include "placement/decision/pins.h"

#include <algorithm>
#include <iterator>

namespace splitplane::placement {

Pins::Key Pins::key_of(const IpAddress& upf, std::uint32_t ul_teid) {
  Key key{};
  key.first[0] = upf.is_v6() ? 1 : 0;
  key.second = ul_teid;
  std::ranges::copy(upf.octets(), key.first.begin() + 1);
  return key;
}

Pins::Pins(std::span<const PinList> lists) {
  for (const PinList& list : lists) {
    const std::uint32_t first = list.ul_teid.value, last = first + static_cast<std::uint32_t>(list.count - 1);
    lists_.insert_or_assign(key_of(list.upf, first), List{key_of(list.upf, last), list.on});
  }
}

const std::string* Pins::in_file(const Tunnel& tunnel) const {
  if (lists_.empty()) return nullptr;
  const Key key = key_of(tunnel.upf, tunnel.ul_teid.value);
  const auto behind = lists_.upper_bound(key);
  if (behind == lists_.begin()) return nullptr;
  const List& list = std::prev(behind)->second;
  return key <= list.last ? &list.to : nullptr;
}

void Pins::put(BearerId id, Pin pin) {
  take(id);
  if (!pin.to.empty()) count_.fetch_add(1, std::memory_order_relaxed);
  pins_.insert_or_assign(id.value, std::move(pin));
}

void Pins::take(BearerId id) {
  const auto gone = pins_.extract(id.value);
  if (gone && !gone.mapped().to.empty()) count_.fetch_sub(1, std::memory_order_relaxed);
}

void Pins::enter(BearerId id, const Tunnel& tunnel, const std::optional<std::string>& said) {
  const std::string* const to = in_file(tunnel);
  const bool counts = said && (!said->empty() || to != nullptr);  // else the file no longer says what was taken back
  if (counts) {
    put(id, {.to = *said});
  } else if (to != nullptr) {
    put(id, {.to = *to, .by_file = true});
  }
}

void Pins::change(BearerId id, const Tunnel& tunnel) {
  if (!said(id)) {
    take(id);
    enter(id, tunnel, std::nullopt);
  }
}

bool Pins::unpin(BearerId id, const Tunnel& tunnel) {
  if (of(id) == nullptr) return false;
  take(id);
  if (in_file(tunnel) != nullptr) put(id, {});
  return true;
}

std::optional<std::string> Pins::said(BearerId id) const {
  const auto at = pins_.find(id.value);
  return at == pins_.end() || at->second.by_file ? std::nullopt : std::optional(at->second.to);
}

const Pins::Pin* Pins::of(BearerId id) const {
  const auto at = pins_.find(id.value);
  return at == pins_.end() || at->second.to.empty() ? nullptr : &at->second;
}

}  // namespace splitplane::placement
