#include "ue/ue_bearers.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <random>
#include <span>

namespace splitplane::ue {
namespace {

constexpr std::size_t kFirstCapacity = 1024;

std::uint64_t random_seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

ran::Ipv4Key ipv4_key(const IpAddress& address) {
  ran::Ipv4Key key = 0;
  std::memcpy(&key, address.octets().data(), sizeof key);
  return key;
}

}  // namespace

template <class Key>
UeBearers::Table<Key>::Table(std::size_t capacity)
    : memory((ran::KeyTable<Key>::bytes_needed(capacity) + sizeof(Line) - 1) / sizeof(Line)),
      table(ran::KeyTable<Key>::create(std::as_writable_bytes(std::span(memory)), capacity, random_seed()).value()) {}

UeBearers::UeBearers() : capacity_(kFirstCapacity / 2) {
  grow();
}

// Makes tables of twice the size with the present bearers. It repeats if a table refuses a key, which was never seen at
// half load.
void UeBearers::grow() {
  for (bool complete = false; !complete;) {
    capacity_ *= 2;
    ids_ = std::make_unique<Table<ran::Ipv4Key>>(capacity_);
    ipv4_ = std::make_unique<Table<ran::Ipv4Key>>(capacity_);
    ipv6_ = std::make_unique<Table<ran::Ipv6Key>>(capacity_);
    shared_addresses_ = 0;
    complete = true;
    for (std::uint32_t slot = 0; slot < slots_.size() && complete; ++slot) {
      const std::uint32_t id = slots_[slot].config.id.value;
      if (id == 0) continue;
      complete = ids_->table.insert(id, slot) != ran::KeyInsert::full && index_addresses(slot);
    }
  }
}

// Returns false if a table refused a key.
bool UeBearers::index_addresses(std::uint32_t slot) {
  const ran::BearerConfig& config = slots_[slot].config;
  bool shared = false;
  if (config.ue_ipv4) {
    const auto key = ipv4_key(*config.ue_ipv4);
    if (ipv4_->table.find(key)) {
      shared = true;
    } else if (ipv4_->table.insert(key, slot) == ran::KeyInsert::full) {
      return false;
    }
  }
  if (config.ue_ipv6) {
    if (ipv6_->table.find(config.ue_ipv6->octets())) {
      shared = true;
    } else if (ipv6_->table.insert(config.ue_ipv6->octets(), slot) == ran::KeyInsert::full) {
      return false;
    }
  }
  shared_addresses_ += shared ? 1 : 0;
  return true;
}

void UeBearers::index(std::uint32_t slot) {
  if (ids_->table.size() == capacity_) return grow();
  if (ids_->table.insert(slots_[slot].config.id.value, slot) == ran::KeyInsert::full || !index_addresses(slot)) grow();
}

void UeBearers::unindex(std::uint32_t slot) {
  const ran::BearerConfig& config = slots_[slot].config;
  ids_->table.erase(config.id.value);
  if (config.ue_ipv4 && ipv4_->table.find(ipv4_key(*config.ue_ipv4)) == slot) {
    ipv4_->table.erase(ipv4_key(*config.ue_ipv4));
  }
  if (config.ue_ipv6 && ipv6_->table.find(config.ue_ipv6->octets()) == slot)
    ipv6_->table.erase(config.ue_ipv6->octets());
}

void UeBearers::establish(const ran::BearerConfig& config, const Numbers& numbers) {
  if (UeBearer* bearer = find(config.id); bearer != nullptr) {
    update(config);
    bearer->establish(config, numbers);
    return;
  }
  std::uint32_t slot = 0;
  if (free_.empty()) {
    slot = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    slot = free_.back();
    free_.pop_back();
    slots_[slot] = UeBearer{};
  }
  slots_[slot].establish(config, numbers);
  index(slot);
}

bool UeBearers::update(const ran::BearerConfig& config) {
  const auto slot = ids_->table.find(config.id.value);
  if (config.id.value == 0 || !slot) return false;
  const bool same_addresses =
      slots_[*slot].config.ue_ipv4 == config.ue_ipv4 && slots_[*slot].config.ue_ipv6 == config.ue_ipv6;
  if (same_addresses) {
    slots_[*slot].config = config;
    return true;
  }
  const std::uint32_t where = *slot;
  unindex(where);
  slots_[where].config = config;
  index(where);
  if (shared_addresses_ != 0) index_all_addresses();
  return true;
}

bool UeBearers::release(BearerId id) {
  const auto slot = ids_->table.find(id.value);
  if (id.value == 0 || !slot) return false;
  const std::uint32_t where = *slot;
  unindex(where);
  slots_[where] = UeBearer{};
  free_.push_back(where);
  if (shared_addresses_ != 0) index_all_addresses();
  return true;
}

// Enters all addresses anew, so that another bearer with the same address may take over the uplink.
void UeBearers::index_all_addresses() {
  shared_addresses_ = 0;
  ipv4_->table.clear();
  ipv6_->table.clear();
  for (std::uint32_t slot = 0; slot < slots_.size(); ++slot) {
    if (slots_[slot].config.id.value != 0 && !index_addresses(slot)) return grow();
  }
}

std::vector<UeBearer> UeBearers::after(BearerId after, std::size_t limit, Which which) const {
  std::vector<const UeBearer*> found;
  for_each([&](const UeBearer& bearer) {
    if (bearer.config.id <= after) return;
    if (which == Which::kAll || bearer.downlink.received != 0 || bearer.uplink.received != 0) found.push_back(&bearer);
  });
  const auto end = found.begin() + static_cast<std::ptrdiff_t>(std::min(limit, found.size()));
  std::partial_sort(found.begin(), end, found.end(),
                    [](const auto* a, const auto* b) { return a->config.id < b->config.id; });
  std::vector<UeBearer> page;
  std::transform(found.begin(), end, std::back_inserter(page), [](const auto* bearer) { return *bearer; });
  return page;
}

UeBearer* UeBearers::find(BearerId id) {
  return id.value == 0 ? nullptr : at(ids_->table.find(id.value));
}
UeBearer* UeBearers::find_source(ran::Ipv4Key source) {
  return at(ipv4_->table.find(source));
}
UeBearer* UeBearers::find_source(const ran::Ipv6Key& source) {
  return at(ipv6_->table.find(source));
}

}  // namespace splitplane::ue
