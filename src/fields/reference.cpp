#include "fields/reference.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "fields/value_json.h"

namespace splitplane::fields {
namespace {

using Json = nlohmann::ordered_json;

// A limit without a fraction is written without one.
Json to_json(double limit) {
  const auto whole = static_cast<std::int64_t>(limit);
  return static_cast<double>(whole) == limit ? Json(whole) : Json(limit);
}

Json usual_json(const Value& usual) {
  const auto* number = std::get_if<double>(&usual);
  return number != nullptr ? to_json(*number) : json_of<Json>(usual);
}

Json properties(const Keys& keys);

Json form_of(const Field& field) {
  switch (field.form) {
    case Form::kName:
      return {{"type", "string"},
              {"pattern", fmt::format("^[A-Za-z0-9][A-Za-z0-9_.-]{{0,{}}}$", field.most_octets - 1)}};
    case Form::kSocket:
      return {{"$ref", "#/$defs/path"}};
    case Form::kDirectory:
      return {{"type", "string"}, {"pattern", "^/"}, {"maxLength", 200}};
    case Form::kFree:
      break;
  }
  if (field.most_octets == 0) return {{"type", "string"}};
  return {{"type", "string"}, {"minLength", 1}, {"maxLength", field.most_octets}};
}

Json list_of_texts(const Field& field) {
  Json list{{"type", "array"}, {"minItems", 1}, {"items", {{"type", "string"}}}};
  if (field.most_items != 0) list["maxItems"] = field.most_items;
  if (field.once_each) list["uniqueItems"] = true;
  return list;
}

Json object_of(const Keys& members) {
  return {{"type", "object"}, {"additionalProperties", false}, {"properties", properties(members)}};
}

Json type_of(const Key& key) {
  const Field& field = *key.field;
  switch (field.kind) {
    case Kind::kInteger:
      if (!field.numbers.empty()) return {{"enum", field.numbers}};
      if (field.multiple_of > 1)
        return {{"type", "integer"}, {"minimum", field.min}, {"maximum", field.max}, {"multipleOf", field.multiple_of}};
      return {{"type", "integer"}, {"minimum", field.min}, {"maximum", field.max}};
    case Kind::kNumber:
      return {{"type", "number"}, {"minimum", to_json(field.least)}, {"maximum", to_json(field.most)}};
    case Kind::kFlag:
      return {{"type", "boolean"}};
    case Kind::kWord:
      return {{"enum", field.words}};
    case Kind::kText:
      return form_of(field);
    case Kind::kTexts:
      return list_of_texts(field);
    case Kind::kIp:
      return {{"$ref", "#/$defs/ip"}};
    case Kind::kIpv4:
      return {{"$ref", "#/$defs/ipv4"}};
    case Kind::kIpv6:
      return {{"$ref", "#/$defs/ipv6"}};
    case Kind::kMac:
      return {{"$ref", "#/$defs/mac"}};
    case Kind::kByHand:
      return Json::parse(field.schema);
    case Kind::kGroup:
      break;
  }
  if (!field.one_flag) return object_of(key.members);
  return {{"oneOf", Json::array({Json{{"type", "boolean"}}, object_of(key.members)})}};
}

Json properties(const Keys& keys) {
  Json all = Json::object();
  for (const Key& key : keys) {
    Json form = type_of(key);
    const bool has_usual = !key.required && !std::holds_alternative<std::monostate>(key.usual);
    if (has_usual && key.field->kind != Kind::kGroup) form["default"] = usual_json(key.usual);
    if (key.field->one_flag) form["default"] = true;
    // The schema has the limits in members of their own.
    const std::string text = std::string(key.field->notes.help) + remarks(*key.field);
    if (!text.empty()) form["description"] = text + ".";
    all[std::string(key.field->name)] = std::move(form);
  }
  return all;
}

std::string usual_text(const Key& key) {
  if (key.required) return "needed";
  if (key.field->one_flag) return "true";
  if (key.field->kind == Kind::kGroup || std::holds_alternative<std::monostate>(key.usual)) return "";
  const Json json = usual_json(key.usual);
  return json.is_string() ? fmt::format("`{}`", json.get<std::string>()) : json.dump();
}

void add_lines(std::string& table, const Keys& keys, const std::string& path) {
  for (const Key& key : keys) {
    const Field& field = *key.field;
    const std::string usual = usual_text(key);
    std::string meaning = sentence(field, "`");
    if (!meaning.empty()) meaning += ".";
    if (!field.notes.more.empty()) meaning += fmt::format(" {}", field.notes.more);
    const auto cell = [](const std::string& text) { return text.empty() ? text : " " + text; };
    table += fmt::format("| `{}{}` |{} |{} |\n", path, field.name, cell(usual), cell(meaning));
    add_lines(table, key.members, fmt::format("{}{}.", path, field.name));
  }
}

}  // namespace

Keys detail::keys_of(const Rows& rows, void* fresh) {
  Keys keys;
  for (const Field* field : rows.list()) {
    Value usual = field->get(fresh);
    // What no row allows stands for a key that is absent.
    const auto* number = std::get_if<std::uint64_t>(&usual);
    if (usual == Value{IpAddress{}} || (number != nullptr && *number < field->min)) usual = {};
    Key key{field, rows.needs(*field), std::move(usual), {}};
    if (field->kind == Kind::kGroup) {
      field->set(fresh, true);
      key.members = keys_of(rows.of(*field), fresh);
    }
    keys.push_back(std::move(key));
  }
  return keys;
}

Keys operator+(Keys first, const Keys& second) {
  for (const Key& key : second) first.push_back(key);
  return first;
}

Json schema_of(const Section& section) {
  Json schema = Json::object();
  for (const Key& key : section.keys) {
    if (key.required) schema["required"].push_back(key.field->name);
  }
  schema["properties"] = properties(section.keys);
  return schema;
}

std::string table_of(const Section& section) {
  std::string table = "| key | default | meaning |\n|---|---|---|\n";
  Keys keys = section.keys;
  std::erase_if(keys, [&section](const Key& key) { return key.field->name == section.refused; });
  add_lines(table, keys, "");
  return table;
}

}  // namespace splitplane::fields
