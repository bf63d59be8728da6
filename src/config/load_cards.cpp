// The section `cards` of a configuration: the cards in front of this host's ports.
#include <array>

#include "config/load.h"

namespace splitplane::app {
namespace {

constexpr std::array<std::string_view, 6> kCardsKeys{"control", "vfs", "n3", "air", "copies", "numa"};

CardLinkConfig read_card_link(const std::string& name, const YamlValue& value) {
  const YamlMap map = value.map(kCardsKeys);
  const auto port = [](const YamlValue& v) { return v.text("the name of a port"); };
  CardLinkConfig card;
  card.name = name;
  card.control = read_path(map.required("control"));
  const YamlValue vfs = map.required("vfs");
  for (const auto& item : vfs.list()) card.vfs.push_back(port(item));
  if (card.vfs.empty()) vfs.refuse("is empty", "the ports whose queues are the card's VFs, in its order");
  card.n3 = port(map.required("n3"));
  card.air = port(map.required("air"));
  if (const auto v = map.find("copies")) card.copies = port(*v);
  if (const auto v = map.find("numa")) card.numa = static_cast<unsigned>(v->integer(0, kMaxNumaNode));
  return card;
}

}  // namespace

std::vector<CardLinkConfig> read_cards(const YamlValue& value) {
  std::vector<CardLinkConfig> cards;
  for (const auto& [name, entry] : value.named()) cards.push_back(read_card_link(name, entry));
  return cards;
}

}  // namespace splitplane::app
