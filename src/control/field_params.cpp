#include "control/field_params.h"

#include <algorithm>
#include <cstdlib>

#include "base/text.h"
#include "fields/value_json.h"

namespace splitplane::app {
namespace {

using fields::Field;
using fields::Kind;
using fields::Rows;
using fields::Value;

// A value that the key's row allows; nothing if the key is absent, or after a fault.
Value integer(Params& params, const Field& field) {
  const auto v = params.integer(field.name, field.min, field.max);
  if (!v) return {};
  if (field.numbers.empty() || std::ranges::count(field.numbers, *v) != 0) return *v;
  params.refuse(field.name, "allowed are " + fields::number_list(field.numbers, "and"));
  return {};
}

Value word(Params& params, const Field& field) {
  const auto v = params.text(field.name);
  if (!v) return {};
  if (std::ranges::count(field.words, *v) != 0) return *v;
  params.refuse(field.name, "allowed are " + comma_list(field.words));
  return {};
}

Value address(Params& params, const Field& field) {
  const auto v = params.address(field.name);
  if (!v) return {};
  if (field.kind == Kind::kIp || v->is_v6() == (field.kind == Kind::kIpv6)) return *v;
  params.refuse(field.name, field.kind == Kind::kIpv6 ? "allowed is an IPv6 address" : "allowed is an IPv4 address");
  return {};
}

template <class T>
Value value_or_nothing(const std::optional<T>& v) {
  return v ? Value{*v} : Value{};
}

Value read_value(Params& params, const Field& field) {
  switch (field.kind) {
    case Kind::kInteger:
      return integer(params, field);
    case Kind::kNumber:
      return value_or_nothing(params.number(field.name, field.least, field.most));
    case Kind::kFlag:
      return value_or_nothing(params.boolean(field.name));
    case Kind::kWord:
      return word(params, field);
    case Kind::kText:
      return value_or_nothing(params.text(field.name));
    case Kind::kByHand:
      return {};
    case Kind::kMac:
      return value_or_nothing(params.mac(field.name));
    case Kind::kIp:
    case Kind::kIpv4:
    case Kind::kIpv6:
      return address(params, field);
    case Kind::kTexts:  // no request has one yet
    case Kind::kGroup:  // read_group()
      break;
  }
  std::abort();
}

bool read_group(Params& params, const Rows& rows, const Field& field, void* into) {
  auto members = params.object(field.name);
  if (!members) return false;
  field.set(into, true);
  (void)detail::read_rows(*members, rows.of(field), into);
  if (const auto fault = members->fault()) params.refuse(field.name, *fault);
  const fields::Condition& c = field.condition;
  if (c.holds != nullptr && !c.holds(into)) {
    params.refuse(field.name, fmt::format("allowed with {} {}", c.key, c.values));
  }
  return true;
}

}  // namespace

std::vector<std::string_view> detail::read_rows(Params& params, const Rows& rows, void* into) {
  const auto list = rows.list();
  for (const Field* field : list) {
    if (rows.needs(*field)) params.require(field->name);
  }
  std::vector<std::string_view> given;
  for (const Field* field : list) {
    if (field->kind == Kind::kGroup) {
      if (read_group(params, rows, *field, into)) given.push_back(field->name);
      continue;
    }
    const Value value = read_value(params, *field);
    if (std::holds_alternative<std::monostate>(value)) continue;
    field->set(into, value);
    given.push_back(field->name);
  }
  return given;
}

void detail::write_rows(Json& json, const Rows& rows, const void* of, const void* common) {
  for (const Field* field : rows.list()) {
    const Value value = field->get(of);
    if (std::holds_alternative<std::monostate>(value)) continue;
    if (field->notes.brief && value == Value{false}) continue;
    if (field->kind == Kind::kGroup) {
      write_rows(json[std::string(field->name)] = Json::object(), rows.of(*field), of, common);
    } else if (common == nullptr || value != field->get(common)) {
      json[std::string(field->name)] = fields::json_of<Json>(value);
    }
  }
}

}  // namespace splitplane::app
