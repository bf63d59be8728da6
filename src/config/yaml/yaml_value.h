// Reads a YAML document value by value: each knows its key path and line, so that a refusal names the place, the fault
// and what is allowed. Sits between yaml-cpp and the readers of sections.
#pragma once

#include <yaml-cpp/yaml.h>

#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ip_address.h"

namespace splitplane::app {

// A name that the user gives: of a tap, say. The rule in words is for messages.
[[nodiscard]] bool is_name(std::string_view text, std::size_t max_octets);
[[nodiscard]] std::string name_rule(std::size_t max_octets);

// Thrown by the readers below and caught by Document::read(), never further: the first fault ends the reading.
struct Refusal {
  int line = 0;
  std::string key;
  std::string text;
};

using Lines = std::map<std::string, int>;  // key path -> line
using Keys = std::span<const std::string_view>;

class YamlMap;

class YamlValue {
 public:
  YamlValue(YAML::Node node, std::string key, int line, Lines& lines);

  [[nodiscard]] const std::string& key() const { return key_; }
  [[nodiscard]] int line() const { return line_; }
  [[noreturn]] void refuse(const std::string& wrong, const std::string& allowed) const;

  [[nodiscard]] bool is_map() const { return node_.IsMap(); }
  [[nodiscard]] bool is_bool() const;
  [[nodiscard]] bool is_list() const { return node_.IsSequence(); }
  [[nodiscard]] bool is_word() const;  // a scalar that is text
  [[nodiscard]] std::string text(const std::string& allowed) const;
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] std::uint64_t integer(std::uint64_t min, std::uint64_t max) const;
  [[nodiscard]] double number(double min, double max) const;     // an integer or a decimal fraction
  [[nodiscard]] std::size_t one_of(Keys words) const;            // index of the word
  [[nodiscard]] std::string name(std::size_t max_octets) const;  // a letter or digit, then letters, digits, _ . -
  [[nodiscard]] IpAddress ip() const;
  [[nodiscard]] IpAddress ipv4() const;
  [[nodiscard]] IpAddress ipv6() const;
  [[nodiscard]] MacAddress mac() const;
  [[nodiscard]] std::vector<YamlValue> list() const;
  [[nodiscard]] YamlMap map() const;                                           // of any keys
  [[nodiscard]] YamlMap map(Keys keys) const;                                  // refuses keys that are not in `keys`
  [[nodiscard]] std::vector<std::pair<std::string, YamlValue>> named() const;  // a map whose keys are names

 private:
  [[nodiscard]] std::string what_it_is() const;
  [[nodiscard]] std::vector<std::pair<std::string, YamlValue>> entries(const std::string& allowed) const;
  YAML::Node node_;
  std::string key_;
  int line_;
  Lines* lines_;
};

class YamlMap {
 public:
  YamlMap(YamlValue self, std::vector<std::pair<std::string, YamlValue>> entries)
      : self_(std::move(self)), entries_(std::move(entries)) {}

  [[nodiscard]] const YamlValue& self() const { return self_; }
  [[nodiscard]] std::optional<YamlValue> find(std::string_view key) const;
  [[nodiscard]] YamlValue required(std::string_view key) const;
  // Refuses entries outside `keys`, which `reason` says do not belong here.
  void only(Keys keys, const std::string& reason) const;
  // Refuses an entry that is none of `keys` but is spelt nearly as one.
  void refuse_misspelt(Keys keys) const;

  // Overwrites `into` if the key is present.
  template <std::unsigned_integral T>
  void read(std::string_view key, T& into, std::uint64_t min, std::uint64_t max = std::numeric_limits<T>::max()) const {
    if (const auto value = find(key)) into = static_cast<T>(value->integer(min, max));
  }
  void read(std::string_view key, double& into, double min, double max) const;
  void read(std::string_view key, bool& into) const;
  void read(std::string_view key, MacAddress& into) const;

 private:
  YamlValue self_;
  std::vector<std::pair<std::string, YamlValue>> entries_;
};

}  // namespace splitplane::app
