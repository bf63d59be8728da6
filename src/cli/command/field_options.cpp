#include "cli/command/field_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

namespace splitplane::app {
namespace {

using fields::Field;
using fields::Kind;

std::string option_name(const Field& field, const Field* group, std::string_view begin) {
  const auto word = [](const Field& f) { return f.notes.option.empty() ? f.name : f.notes.option; };
  std::string name(begin);
  if (group != nullptr) name += fmt::format("{}-", word(*group));
  name += word(field);
  std::ranges::replace(name, '_', '-');
  return name;
}

}  // namespace

FieldOptions::FieldOptions(CLI::App& command, const fields::Keys& keys, Defaults defaults) {
  for (const auto& key : keys) add(command, key, nullptr, defaults);
}

void FieldOptions::add(CLI::App& command, const fields::Key& key, const Field* group, Defaults defaults) {
  const Field& field = *key.field;
  if (field.notes.option == fields::kNoOption) return;
  if (field.kind == Kind::kGroup) {
    const bool may_be_absent = !field.one_flag;
    for (const auto& member : key.members) add(command, member, &field, may_be_absent ? Defaults::kHidden : defaults);
    return;
  }
  Slot& slot = slots_.emplace_back();
  slot.field = &field;
  slot.group = group;
  const bool is_usually_set = key.usual == fields::Value{true};
  slot.name = option_name(field, group, is_usually_set ? "--no-" : "--");
  const std::string help = fields::sentence(field);
  CLI::Option* option = nullptr;
  switch (field.kind) {
    case Kind::kInteger:
      if (const auto* usual = std::get_if<std::uint64_t>(&key.usual)) slot.integer = *usual;
      option = command.add_option(slot.name, slot.integer, help);
      break;
    case Kind::kNumber:
      if (const auto* usual = std::get_if<double>(&key.usual)) slot.number = *usual;
      option = command.add_option(slot.name, slot.number, help);
      break;
    case Kind::kFlag:
      // Both ways, because the usual value is not always the one that is in force.
      option = command.add_flag(
          fmt::format("{},!{}", option_name(field, group, "--"), option_name(field, group, "--no-")), slot.flag, help);
      break;
    default:
      if (const auto* usual = std::get_if<std::string>(&key.usual)) slot.text = *usual;
      option = command.add_option(slot.name, slot.text, help);
  }
  if (key.required) option->required();
  const bool has_usual = !std::holds_alternative<std::monostate>(key.usual);
  if (defaults == Defaults::kShown && has_usual && !key.required && field.kind != Kind::kFlag)
    option->capture_default_str();
  slot.option = option;
}

Json FieldOptions::value_of(const Slot& slot) {
  switch (slot.field->kind) {
    case Kind::kInteger:
      return slot.integer;
    case Kind::kNumber:
      return slot.number;
    case Kind::kFlag:
      return slot.flag;
    default:
      return slot.text;
  }
}

Json FieldOptions::given() const {
  Json params = Json::object();
  for (const Slot& slot : slots_) {
    if (slot.option->count() == 0) continue;
    Json& at = slot.group != nullptr ? params[std::string(slot.group->name)] : params;
    at[std::string(slot.field->name)] = value_of(slot);
  }
  return params;
}

std::string FieldOptions::names() const {
  std::string names;
  for (const Slot& slot : slots_) names += fmt::format("{}{}", names.empty() ? "" : ", ", slot.name);
  return names;
}

}  // namespace splitplane::app
