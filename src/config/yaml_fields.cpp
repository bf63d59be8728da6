#include "config/yaml_fields.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/yaml/path_value.h"

namespace splitplane::app {
namespace {

using fields::Field;
using fields::Kind;
using fields::Rows;
using fields::Value;

Value integer(const YamlValue& value, const Field& field) {
  const std::uint64_t v = value.integer(field.min, field.max);
  if (!field.numbers.empty() && std::ranges::count(field.numbers, v) == 0)
    value.refuse(fmt::format("is {}", v),
                 field.text.empty() ? fmt::format("{}", fmt::join(field.numbers, ", ")) : std::string(field.text));
  return v;
}

IpAddress unicast(const YamlValue& value, IpAddress address) {
  const auto& o = address.octets();
  const bool multicast = address.is_v6() ? o[0] == 0xff : o[0] >= 224;
  if (multicast || address == IpAddress::v4({}) || address == IpAddress::v6({})) {
    value.refuse(fmt::format("{} is no unicast address", address.to_string()), "the address of one host");
  }
  return address;
}

std::string text(const YamlValue& value, const Field& field) {
  switch (field.form) {
    case fields::Form::kName:
      return value.name(field.most_octets);
    case fields::Form::kSocket:
      return read_path(value);
    case fields::Form::kDirectory:
      return read_directory(value);
    default:
      return value.text(std::string(field.text));
  }
}

std::vector<std::string> texts(const YamlValue& value, const Field& field) {
  std::vector<std::string> all;
  for (const auto& item : value.list()) all.push_back(item.text(std::string(field.text)));
  if (all.empty()) value.refuse("is empty", std::string(field.if_empty));
  return all;
}

Value read_value(const YamlValue& value, const Field& field) {
  switch (field.kind) {
    case Kind::kInteger:
      return integer(value, field);
    case Kind::kNumber:
      return value.number(field.least, field.most);
    case Kind::kFlag:
      return value.boolean();
    case Kind::kWord:
      return std::string(field.words[value.one_of(field.words)]);
    case Kind::kIp:
      return value.ip();
    case Kind::kIpv4:
      return field.unicast ? unicast(value, value.ipv4()) : value.ipv4();
    case Kind::kIpv6:
      return field.unicast ? unicast(value, value.ipv6()) : value.ipv6();
    case Kind::kMac:
      return value.mac();
    case Kind::kTexts:
      return texts(value, field);
    default:
      return text(value, field);
  }
}

void read_group(const YamlValue& value, const Rows& rows, const Field& field, void* into) {
  const Rows members = rows.of(field);
  if (field.one_flag && !value.is_map()) {
    const bool all = value.boolean();
    for (const Field* member : members.list()) member->set(into, all);
    return;
  }
  const YamlMap map = value.map(members.names());
  field.set(into, true);
  detail::read_rows(map, members, into);
  const fields::Condition& c = field.condition;
  if (c.holds != nullptr && !c.holds(into)) {
    value.refuse(std::string(c.wrong), fmt::format("with {}: {}", c.key, c.values));
  }
}

}  // namespace

void detail::read_rows(const YamlMap& map, const Rows& rows, void* into) {
  for (const Field* field : rows.list()) {
    const auto value = rows.needs(*field) ? map.required(field->name) : map.find(field->name);
    if (!value || field->kind == Kind::kByHand) continue;
    if (field->kind == Kind::kGroup) {
      read_group(*value, rows, *field, into);
    } else {
      field->set(into, read_value(*value, *field));
    }
  }
}

}  // namespace splitplane::app
