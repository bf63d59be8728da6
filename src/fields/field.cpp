#include "fields/field.h"

#include <fmt/format.h>

namespace splitplane::fields {
namespace {

// A TEID's range, and what is as wide, says nothing to a person.
constexpr std::uint64_t kWide = 0xffffffff;

}  // namespace

std::vector<const Field*> Rows::list() const {
  std::vector<const Field*> rows;
  for (const Field& field : all) {
    if ((field.notes.in & in) != 0) rows.push_back(&field);
  }
  return rows;
}

std::vector<std::string_view> Rows::names() const {
  std::vector<std::string_view> names;
  for (const Field* field : list()) names.push_back(field->name);
  return names;
}

std::string number_list(std::span<const std::uint64_t> numbers, std::string_view last) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i != 0) text += i + 1 == numbers.size() ? fmt::format(" {} ", last) : ", ";
    text += fmt::format("{}", numbers[i]);
  }
  return text;
}

std::string limits(const Field& field, std::string_view quote) {
  switch (field.kind) {
    case Kind::kInteger:
      if (!field.text.empty()) return fmt::format("{} from {} to {}", field.text, field.min, field.max);
      if (!field.numbers.empty()) return number_list(field.numbers, "or");
      return field.max >= kWide ? "" : fmt::format("{} to {}", field.min, field.max);
    case Kind::kNumber:
      return fmt::format("{} to {}", field.least, field.most);
    case Kind::kWord: {
      std::string text;
      for (const auto word : field.words) text += fmt::format("{}{}{}{}", text.empty() ? "" : ", ", quote, word, quote);
      return text;
    }
    default:
      return {};
  }
}

std::string remarks(const Field& field) {
  const Notes& notes = field.notes;
  std::string text;
  if (!notes.clause.empty()) text += fmt::format(" ({})", notes.clause);
  if (!field.condition.key.empty()) text += fmt::format("; with {} {}", field.condition.key, field.condition.values);
  if (!notes.special.empty()) text += fmt::format("; {}", notes.special);
  return text;
}

std::string sentence(const Field& field, std::string_view quote) {
  std::string text(field.notes.help);
  if (const std::string may_be = limits(field, quote); !may_be.empty())
    text += fmt::format("{} {}", field.kind == Kind::kWord ? ":" : ",", may_be);
  return text + remarks(field);
}

}  // namespace splitplane::fields
