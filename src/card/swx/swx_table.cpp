#include "card/swx/swx_table.h"

#include <algorithm>
#include <cstring>

namespace splitplane::nic {
namespace {

void store(const SwxField& field, std::uint8_t* base, std::uint64_t value) {
  const std::uint64_t octets = field.network_order ? __builtin_bswap64(value << (64 - 8 * field.bytes)) : value;
  std::memcpy(base + field.offset, &octets, field.bytes);
}

// The pipeline numbers actions in the order in which they were configured: that of the file.
std::size_t action_id(const SpecFile& spec, std::string_view name) {
  const auto at = std::ranges::find(spec.actions, name, &SpecAction::name);
  return static_cast<std::size_t>(at - spec.actions.begin());
}

unsigned octets_of(const SpecFile& spec, const SpecAction& action) {
  unsigned octets = 0;
  if (!action.arguments.empty()) {
    for (const SpecField& field : spec.find_struct(action.arguments)->fields) octets += field.bits / 8;
  }
  return octets;
}

}  // namespace

Expected<SwxTable> SwxTable::of(rte_swx_pipeline* pipeline, const SpecFile& spec, std::size_t index) {
  const SpecTable& from = spec.tables[index];
  SwxTable table;
  table.path_ = spec.path;
  table.name_ = from.name;
  table.spec_ = &from;
  table.file_ = &spec;
  table.pipeline_ = pipeline;
  table.index_ = index;
  table.size_ = from.size;

  unsigned first = UINT32_MAX, last = 0;
  for (std::size_t i = 0; i < from.keys.size(); ++i) {
    rte_swx_ctl_table_match_field_info info{};
    rte_swx_ctl_table_match_field_info_get(pipeline, static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(i),
                                           &info);
    table.key_.push_back({from.keys[i].field, info.offset / 8, info.n_bits / 8, info.is_header != 0});
    first = std::min(first, info.offset / 8);
    last = std::max(last, (info.offset + info.n_bits) / 8);
  }
  unsigned octets = 0;
  for (SwxField& field : table.key_) {
    field.offset -= first;
    octets += field.bytes;
  }
  if (!from.keys.empty()) {
    const bool exact = std::ranges::all_of(from.keys, [](const SpecKey& k) { return k.match == SpecMatch::kExact; });
    int is_stub = 0;
    rte_swx_ctl_table_ops_get(pipeline, static_cast<std::uint32_t>(index), &table.ops_, &is_stub);
    if (!exact || octets != last - first || table.ops_.add == nullptr || table.ops_.del == nullptr) {
      return fail(
          "{}:{}: the key of table {} is not exact and in one piece; allowed: exact keys whose fields lie side "
          "by side",
          spec.path, from.line, from.name);
    }
  }
  table.key_octets_.resize(octets);
  unsigned data = 0;
  for (const SpecTableAction& action : from.actions)
    data = std::max(data, octets_of(spec, *spec.find_action(action.name)));
  table.data_octets_.resize(data);
  return table;
}

Expected<SwxAction> SwxTable::action(std::string_view name, std::span<const std::string_view> values) const {
  const auto of_table = std::ranges::find_if(spec_->actions, [&](const auto& a) { return is_called(a.name, name); });
  if (of_table == spec_->actions.end()) {
    return fail("{}:{}: table {} has no action {}; allowed: the .spec of the program that is configured", path_,
                spec_->line, name_, name);
  }
  SwxAction action{.id = action_id(*file_, of_table->name), .arguments = {}};
  const SpecAction& spec = *file_->find_action(of_table->name);
  unsigned offset = 0;
  for (std::uint32_t i = 0; !spec.arguments.empty() && i < file_->find_struct(spec.arguments)->fields.size(); ++i) {
    rte_swx_ctl_action_arg_info info{};
    rte_swx_ctl_action_arg_info_get(pipeline_, static_cast<std::uint32_t>(action.id), i, &info);
    const auto at = std::ranges::find(values, std::string_view(info.name));
    if (at == values.end()) {
      return fail("{}:{}: action {} has the argument {}, which nothing sets; allowed: {}", path_, spec.line, name,
                  info.name, fmt::join(values, ", "));
    }
    action.arguments.push_back({{info.name, offset, info.n_bits / 8, info.is_network_byte_order != 0},
                                static_cast<std::size_t>(at - values.begin())});
    offset += info.n_bits / 8;
  }
  return action;
}

rte_swx_table_state& SwxTable::state() const {
  rte_swx_table_state* all = nullptr;
  rte_swx_pipeline_table_state_get(pipeline_, &all);
  return all[index_];
}

rte_swx_table_entry SwxTable::make_entry(std::span<const std::uint64_t> key) {
  for (std::size_t i = 0; i < key_.size(); ++i) store(key_[i], key_octets_.data(), key[i]);
  rte_swx_table_entry entry{};
  entry.key = key_octets_.data();
  return entry;
}

void SwxTable::write_data(const SwxAction& action, std::span<const std::uint64_t> values) {
  std::ranges::fill(data_octets_, std::uint8_t{0});
  for (const auto& argument : action.arguments) store(argument.field, data_octets_.data(), values[argument.from]);
}

bool SwxTable::set(std::span<const std::uint64_t> key, const SwxAction& action, std::span<const std::uint64_t> values) {
  rte_swx_table_entry entry = make_entry(key);
  write_data(action, values);
  entry.action_id = action.id;
  entry.action_data = data_octets_.data();
  return ops_.add(state().obj, &entry) == 0;
}

void SwxTable::remove(std::span<const std::uint64_t> key) {
  rte_swx_table_entry entry = make_entry(key);
  ops_.del(state().obj, &entry);
}

void SwxTable::set_default(const SwxAction& action, std::span<const std::uint64_t> values) {
  write_data(action, values);
  rte_swx_table_state& at = state();
  at.default_action_id = action.id;
  if (!data_octets_.empty()) std::memcpy(at.default_action_data, data_octets_.data(), data_octets_.size());
}

std::uint64_t SwxRegisters::read(std::uint32_t index) const {
  std::uint64_t value = 0;
  if (pipeline_ != nullptr) rte_swx_ctl_pipeline_regarray_read(pipeline_, name_.c_str(), index, &value);
  return value;
}

void SwxRegisters::write(std::uint32_t index, std::uint64_t value) {
  if (pipeline_ != nullptr) rte_swx_ctl_pipeline_regarray_write(pipeline_, name_.c_str(), index, value);
}

}  // namespace splitplane::nic
