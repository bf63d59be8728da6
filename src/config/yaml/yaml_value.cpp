#include "config/yaml/yaml_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "base/text.h"

namespace splitplane::app {
namespace {

enum class Scalar { kNull, kBool, kInteger, kFloat, kText };

bool all_of_set(std::string_view text, std::string_view set) {
  return !text.empty() && text.find_first_not_of(set) == std::string_view::npos;
}

// The core schema of YAML 1.2 (10.3.2): what a plain scalar means.
Scalar plain_kind(std::string_view text) {
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") return Scalar::kNull;
  for (const std::string_view word : {"true", "True", "TRUE", "false", "False", "FALSE"}) {
    if (text == word) return Scalar::kBool;
  }
  if (text.starts_with("0x") && all_of_set(text.substr(2), "0123456789abcdefABCDEF")) return Scalar::kInteger;
  if (text.starts_with("0o") && all_of_set(text.substr(2), "01234567")) return Scalar::kInteger;
  const std::string_view digits = text.substr(text[0] == '-' || text[0] == '+' ? 1 : 0);
  if (all_of_set(digits, "0123456789")) return Scalar::kInteger;
  std::string lower(digits);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  if (lower == ".inf" || lower == ".nan") return Scalar::kFloat;
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool starts_as_number =
      !digits.empty() && (std::isdigit(static_cast<unsigned char>(digits[0])) || digits[0] == '.');
  return starts_as_number && error != std::errc::invalid_argument && end == digits.data() + digits.size()
             ? Scalar::kFloat
             : Scalar::kText;
}

Scalar kind_of(const YAML::Node& node) {
  if (node.IsNull()) return Scalar::kNull;
  return node.Tag() == "?" || node.Tag().empty() ? plain_kind(node.Scalar()) : Scalar::kText;  // "!": quoted
}

int line_of(const YAML::Node& node, int otherwise) {
  return node.Mark().is_null() ? otherwise : node.Mark().line + 1;
}

std::string join(const std::string& path, std::string_view key) {
  return path.empty() ? printable(key) : path + "." + printable(key);
}

}  // namespace

bool is_name(std::string_view text, std::size_t max_octets) {
  if (text.empty() || text.size() > max_octets || !std::isalnum(static_cast<unsigned char>(text[0]))) return false;
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '.' || c == '-'; });
}

std::string name_rule(std::size_t max_octets) {
  return fmt::format("1 to {} letters, digits, '_', '.' or '-', beginning with a letter or digit", max_octets);
}

YamlValue::YamlValue(YAML::Node node, std::string key, int line, Lines& lines)
    : node_(std::move(node)), key_(std::move(key)), line_(line), lines_(&lines) {
  lines.emplace(key_, line_);
}

void YamlValue::refuse(const std::string& wrong, const std::string& allowed) const {
  throw Refusal{line_, key_, wrong + "; allowed: " + allowed};
}

std::string YamlValue::what_it_is() const {
  if (node_.IsMap()) return "is a map";
  if (node_.IsSequence()) return "is a list";
  switch (kind_of(node_)) {
    case Scalar::kNull:
      return "is empty";
    case Scalar::kText:
      return fmt::format("is the text '{}'", printable(node_.Scalar()));
    default:
      return fmt::format("is {}", printable(node_.Scalar()));
  }
}

bool YamlValue::is_bool() const {
  return node_.IsScalar() && kind_of(node_) == Scalar::kBool;
}

bool YamlValue::is_word() const {
  return node_.IsScalar() && kind_of(node_) == Scalar::kText;
}

std::string YamlValue::text(const std::string& allowed) const {
  if (!node_.IsScalar() || kind_of(node_) != Scalar::kText) {
    const bool quoting_helps = node_.IsScalar() && !node_.IsNull();
    refuse(what_it_is() + (quoting_helps ? " (no text unless quoted)" : ""), allowed);
  }
  if (node_.Scalar().find('\0') != std::string::npos) refuse("holds a NUL character", allowed);
  return node_.Scalar();
}

bool YamlValue::boolean() const {
  if (!is_bool()) refuse(what_it_is(), "true or false");
  return std::tolower(static_cast<unsigned char>(node_.Scalar()[0])) == 't';
}

std::uint64_t YamlValue::integer(std::uint64_t min, std::uint64_t max) const {
  const std::string allowed = fmt::format("an integer from {} to {}", min, max);
  if (!node_.IsScalar() || kind_of(node_) != Scalar::kInteger) refuse(what_it_is(), allowed);
  std::string_view digits = node_.Scalar();
  int base = 10;
  if (digits.starts_with("0x") || digits.starts_with("0o")) {
    base = digits[1] == 'x' ? 16 : 8;
    digits.remove_prefix(2);
  } else if (digits[0] == '+') {
    digits.remove_prefix(1);
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error != std::errc{} || end != digits.data() + digits.size() || value < min || value > max) {
    refuse(what_it_is(), allowed);
  }
  return value;
}

double YamlValue::number(double min, double max) const {
  const std::string allowed = fmt::format("a number from {} to {}", min, max);
  const Scalar kind = node_.IsScalar() ? kind_of(node_) : Scalar::kText;
  if (kind != Scalar::kInteger && kind != Scalar::kFloat) refuse(what_it_is(), allowed);
  std::string_view digits = node_.Scalar();
  double value = 0;
  if (digits.starts_with("0x") || digits.starts_with("0o")) {
    value = static_cast<double>(integer(0, std::numeric_limits<std::uint64_t>::max()));
  } else {
    if (digits[0] == '+') digits.remove_prefix(1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const bool whole = error == std::errc{} && end == digits.data() + digits.size();  // not .inf, not .nan
    if (!whole) refuse(what_it_is(), allowed);
  }
  if (!(value >= min && value <= max)) refuse(what_it_is(), allowed);
  return value;
}

std::size_t YamlValue::one_of(Keys words) const {
  const std::string allowed = comma_list(words);
  const std::string got = text(allowed);
  const auto at = std::find(words.begin(), words.end(), got);
  if (at == words.end()) {
    const auto near = closest(got, words);
    refuse(fmt::format("'{}' is unknown{}", printable(got), near ? fmt::format(", did you mean '{}'?", *near) : ""),
           allowed);
  }
  return static_cast<std::size_t>(at - words.begin());
}

std::string YamlValue::name(std::size_t max_octets) const {
  const std::string allowed = name_rule(max_octets);
  std::string got = text(allowed);
  if (!is_name(got, max_octets)) refuse(fmt::format("'{}' is no name", printable(got)), allowed);
  return got;
}

IpAddress YamlValue::ip() const {
  const std::string allowed = "an address such as 10.0.0.1 or fd00::1";
  const std::string got = text(allowed);
  const auto address = IpAddress::parse(got);
  if (!address) refuse(fmt::format("'{}' is no IP address", printable(got)), allowed);
  return *address;
}

IpAddress YamlValue::ipv4() const {
  const std::string allowed = "an IPv4 address such as 10.0.0.1";
  const auto address = IpAddress::parse(text(allowed));
  if (!address || address->is_v6()) refuse(what_it_is(), allowed);
  return *address;
}

IpAddress YamlValue::ipv6() const {
  const std::string allowed = "an IPv6 address such as fd00::1";
  const auto address = IpAddress::parse(text(allowed));
  if (!address || !address->is_v6()) refuse(what_it_is(), allowed);
  return *address;
}

MacAddress YamlValue::mac() const {
  const std::string allowed = "a MAC address such as 02:00:00:00:00:01";
  const auto address = MacAddress::parse(text(allowed));
  if (!address) refuse(what_it_is(), allowed);
  return *address;
}

std::vector<YamlValue> YamlValue::list() const {
  if (!node_.IsSequence()) refuse(what_it_is(), "a list");
  std::vector<YamlValue> values;
  for (const auto& item : node_) {
    values.emplace_back(item, fmt::format("{}[{}]", key_, values.size()), line_of(item, line_), *lines_);
  }
  return values;
}

std::vector<std::pair<std::string, YamlValue>> YamlValue::entries(const std::string& allowed) const {
  if (!node_.IsMap()) refuse(what_it_is(), allowed);
  std::vector<std::pair<std::string, YamlValue>> found;
  std::map<std::string, int> seen;
  for (const auto& entry : node_) {
    const int line = line_of(entry.first, line_);
    if (!entry.first.IsScalar()) throw Refusal{line, key_, "has a key that is no text; allowed: " + allowed};
    const std::string key = entry.first.Scalar();
    const auto [at, fresh] = seen.emplace(key, line);
    if (!fresh) {
      throw Refusal{line, join(key_, key), fmt::format("appears twice; allowed: once (first on line {})", at->second)};
    }
    // A block value begins on the next line; the key's own line is where a reader looks first.
    const bool scalar = entry.second.IsScalar();
    found.emplace_back(key,
                       YamlValue(entry.second, join(key_, key), scalar ? line_of(entry.second, line) : line, *lines_));
  }
  return found;
}

YamlMap YamlValue::map() const {
  return {*this, entries("a map")};
}

YamlMap YamlValue::map(Keys keys) const {
  auto found = entries("a map with the keys " + comma_list(keys));
  for (const auto& [key, value] : found) {
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    const auto near = closest(key, keys);
    const std::string_view word = std::string_view(key).substr(0, key.find_first_of(": "));
    if (word.size() < key.size() && std::find(keys.begin(), keys.end(), word) != keys.end()) {
      const bool colon = key[word.size()] == ':';
      value.refuse(fmt::format("there is no {} '{}'", colon ? "blank behind the colon of" : "colon behind", word),
                   fmt::format("'{}: value'", word));
    }
    if (key.find('=') != std::string::npos)
      value.refuse("unknown key: within { } a text with commas needs quotes", comma_list(keys));
    value.refuse(near ? fmt::format("unknown key, did you mean '{}'?", *near) : "unknown key", comma_list(keys));
  }
  return {*this, std::move(found)};
}

std::vector<std::pair<std::string, YamlValue>> YamlValue::named() const {
  auto found = entries("a map of names");
  constexpr std::size_t kMaxNameOctets = 20;  // DPDK names rings and pools after them
  for (const auto& [key, value] : found) {
    if (is_name(key, kMaxNameOctets) && key.find('.') == std::string::npos) continue;
    value.refuse(fmt::format("'{}' is no name", printable(key)),
                 fmt::format("1 to {} letters, digits, '_' or '-', beginning with a letter or digit", kMaxNameOctets));
  }
  return found;
}

std::optional<YamlValue> YamlMap::find(std::string_view key) const {
  for (const auto& [name, value] : entries_) {
    if (name == key) return value;
  }
  return std::nullopt;
}

YamlValue YamlMap::required(std::string_view key) const {
  if (auto value = find(key)) return *std::move(value);
  throw Refusal{self_.line(), join(self_.key(), key), "is missing; allowed: this key must be there"};
}

void YamlMap::only(Keys keys, const std::string& reason) const {
  for (const auto& [key, value] : entries_) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) value.refuse(reason, comma_list(keys));
  }
}

void YamlMap::refuse_misspelt(Keys keys) const {
  for (const auto& [key, value] : entries_) {
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    if (const auto near = closest(key, keys))
      value.refuse(fmt::format("unknown key, did you mean '{}'?", *near), comma_list(keys));
  }
}

void YamlMap::read(std::string_view key, double& into, double min, double max) const {
  if (const auto value = find(key)) into = value->number(min, max);
}

void YamlMap::read(std::string_view key, bool& into) const {
  if (const auto value = find(key)) into = value->boolean();
}

void YamlMap::read(std::string_view key, MacAddress& into) const {
  if (const auto value = find(key)) into = value->mac();
}

}  // namespace splitplane::app
