#include "card/aot/row_layout.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace splitplane::nic {
namespace {

constexpr unsigned kCacheLine = 64, kMaxDirectBits = 16;

unsigned bits_of(const SpecFile& spec, const std::string& field) {
  const std::size_t dot = field.rfind('.');
  std::string type = spec.metadata;
  if (field.starts_with("h.")) {
    const std::string header = field.substr(2, dot - 2);
    const auto at = std::ranges::find(spec.headers, header, &SpecHeader::name);
    if (at == spec.headers.end()) return 0;
    type = at->type;
  }
  const SpecStruct* const in = spec.find_struct(type);
  if (in == nullptr || dot == std::string::npos) return 0;
  const auto at = std::ranges::find(in->fields, field.substr(dot + 1), &SpecField::name);
  return at == in->fields.end() ? 0 : at->bits;
}

FieldPlace sized(unsigned bits) {
  return {.offset = 0, .bytes = bits / 8, .width = std::bit_ceil(bits / 8)};
}

// Behind `at`, the widest first, so that no place is left between them. Returns the end.
unsigned place(std::vector<FieldPlace>& fields, unsigned at) {
  std::vector<std::size_t> order(fields.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return fields[a].width > fields[b].width; });
  for (const std::size_t i : order) {
    at = (at + fields[i].width - 1) / fields[i].width * fields[i].width;
    fields[i].offset = at;
    at += fields[i].width;
  }
  return at;
}

}  // namespace

RowLayout row_layout(const SpecFile& spec, const SpecTable& table) {
  RowLayout layout;
  unsigned key_bits = 0;
  for (const SpecKey& key : table.keys) {
    const unsigned bits = bits_of(spec, key.field);
    key_bits += bits;
    layout.key.push_back(sized(bits));
  }
  unsigned begin = 0;
  if (key_bits > kMaxDirectBits) {
    layout.lookup = RowLayout::Lookup::kHash;
    layout.rows = std::bit_ceil(std::uint64_t{table.size} * 2);
    begin = place(layout.key, 0);
  } else if (key_bits != 0) {
    layout.lookup = RowLayout::Lookup::kDirect;
    layout.rows = std::uint64_t{1} << key_bits;
  }
  unsigned end = begin;
  for (const SpecTableAction& action : table.actions) {
    std::vector<FieldPlace> arguments;
    const std::string& type = spec.find_action(action.name)->arguments;
    if (!type.empty()) {
      for (const SpecField& field : spec.find_struct(type)->fields) arguments.push_back(sized(field.bits));
    }
    end = std::max(end, place(arguments, begin));
    layout.arguments.push_back(std::move(arguments));
  }
  layout.action_at = end++;
  layout.bytes =
      end <= kCacheLine ? std::max(std::bit_ceil(end), 8U) : (end + kCacheLine - 1) / kCacheLine * kCacheLine;
  return layout;
}

}  // namespace splitplane::nic
