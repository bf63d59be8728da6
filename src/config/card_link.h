// The section `cards` of a `splitplane run` file: its keys as plain data (part of config.h's Config), reader and
// checks.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace splitplane::app {

class YamlValue;
struct Config;
struct Finding;

// An entry of the section `cards` of a `splitplane run` file: a card in front of some of its ports.
struct CardLinkConfig {
  std::string name;
  std::string control;           // control socket of its `splitplane card`
  std::vector<std::string> vfs;  // port names here, in the order of the card's
  std::string n3, air, copies;   // of `vfs`; copies may be empty
  std::optional<unsigned> numa;  // absent: not known
};

// Throws Refusal.
[[nodiscard]] std::vector<CardLinkConfig> read_cards(const YamlValue& value);
// Checks that VFs and ports fit, and that a card can serve the bearers that name it.
[[nodiscard]] std::optional<Finding> check_cards(const Config& config);

}  // namespace splitplane::app
