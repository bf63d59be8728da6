#include "guard/rules/servers.h"

#include <algorithm>

#include "wire/bytes.h"

namespace splitplane::guard {

namespace {

std::uint64_t upper_bits(unsigned bits) {
  return bits == 0 ? 0 : ~std::uint64_t{0} << (64 - std::min(bits, 64U));
}

Expected<void> check(const ServerRule& rule) {
  const unsigned most = rule.address.is_v6() ? 128 : 32;
  if (rule.name.empty()) return fail("a protected server needs a name");
  if (rule.prefix > most)
    return fail("the prefix of server '{}' has {} bits, which is more than {}", rule.name, rule.prefix, most);
  if (rule.first_port > rule.last_port) return fail("the ports of server '{}' end below their begin", rule.name);
  if (rule.window_scale && *rule.window_scale > 14)
    return fail("the window scale of server '{}' is above 14", rule.name);
  return {};
}

// The better line first: a longer prefix, then fewer ports, then the older rule.
template <class Line>
void sort_by_fit(std::vector<Line>& lines) {
  std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) {
    if (a.mask != b.mask) return a.mask > b.mask;
    return a.last_port - a.first_port < b.last_port - b.first_port;
  });
}

}  // namespace

Expected<std::uint16_t> ServerList::put(const ServerRule& rule) {
  if (auto good = check(rule); !good) return tl::unexpected(good.error());
  std::uint16_t index = find(rule.name);
  if (index == kNone) {
    const auto free = std::find(servers_.begin(), servers_.end(), std::nullopt);
    if (free == servers_.end()) {
      return fail(
          "the guard protects {} servers already, which is the most; a rule with a prefix or several ports "
          "covers more than one server",
          kMaxServers);
    }
    index = static_cast<std::uint16_t>(free - servers_.begin());
    free->emplace();
    free->value().arming = Arming(rule.arming);
    free->value().unproven.set(unproven_per_second_);
    used_.push_back(index);
  }
  ProtectedServer& server = *servers_[index];
  server.rule = rule;
  server.mode = rule.mode;
  server.arming.set(rule.arming);
  server.learns_mss = !rule.mss.has_value();
  server.learns_scale = !rule.window_scale.has_value();
  if (rule.mss) server.mss = *rule.mss;
  if (rule.window_scale) server.scale = *rule.window_scale;
  server.decide();
  make_lines();
  return index;
}

bool ServerList::remove(std::string_view name) {
  const std::uint16_t index = find(name);
  if (index == kNone) return false;
  servers_[index].reset();
  std::erase(used_, index);
  make_lines();
  return true;
}

std::uint16_t ServerList::find(std::string_view name) const {
  for (const std::uint16_t index : used_) {
    if (servers_[index]->rule.name == name) return index;
  }
  return kNone;
}

void ServerList::make_lines() {
  v4_.clear();
  v6_.clear();
  for (const std::uint16_t index : used_) {
    const ServerRule& rule = servers_[index]->rule;
    const std::uint8_t* const octets = rule.address.octets().data();
    if (rule.address.is_v6()) {
      const std::array<std::uint64_t, 2> mask{upper_bits(rule.prefix),
                                              upper_bits(std::max(rule.prefix, std::uint8_t{64}) - 64U)};
      v6_.push_back({{wire::load_be64(octets) & mask[0], wire::load_be64(octets + 8) & mask[1]},
                     mask,
                     rule.first_port,
                     rule.last_port,
                     index});
    } else {
      const auto mask = static_cast<std::uint32_t>(upper_bits(rule.prefix) >> 32);
      v4_.push_back({wire::load_be32(octets) & mask, mask, rule.first_port, rule.last_port, index});
    }
  }
  sort_by_fit(v4_);
  sort_by_fit(v6_);
}

std::uint16_t ServerList::match_address(bool is_v6, const std::uint8_t* address) const {
  std::uint16_t found = kNone;
  const auto take = [&](const auto& lines) {
    for (const auto& line : lines) {
      if (!line.fits(address)) continue;
      if (servers_[line.index]->acts) return line.index;
      if (found == kNone) found = line.index;
    }
    return found;
  };
  return is_v6 ? take(v6_) : take(v4_);
}

}  // namespace splitplane::guard
