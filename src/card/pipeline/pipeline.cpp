#include "card/pipeline/pipeline.h"

#include <algorithm>
#include <cstring>

namespace splitplane::nic {

void store(const TableField& field, std::uint8_t* base, std::uint64_t value) {
  const std::uint64_t octets = field.network_order ? __builtin_bswap64(value << (64 - 8 * field.bytes)) : value;
  std::memcpy(base + field.offset, &octets, field.bytes);
}

Expected<TableAction> PipelineTable::action(std::string_view name, std::span<const std::string_view> values) const {
  const auto of_table = std::ranges::find_if(spec_->actions, [&](const auto& a) { return is_called(a.name, name); });
  if (of_table == spec_->actions.end()) {
    return fail("{}:{}: table {} has no action {}; allowed: the .spec of the program that is configured", file_->path,
                spec_->line, spec_->name, name);
  }
  TableAction action{.id = action_id(*of_table), .arguments = {}};
  const SpecAction& spec = *file_->find_action(of_table->name);
  for (TableField& field : arguments(spec)) {
    const auto at = std::ranges::find(values, std::string_view(field.name));
    if (at == values.end()) {
      return fail("{}:{}: action {} has the argument {}, which nothing sets; allowed: {}", file_->path, spec.line, name,
                  field.name, fmt::join(values, ", "));
    }
    action.arguments.push_back({std::move(field), static_cast<std::size_t>(at - values.begin())});
  }
  return action;
}

std::uint64_t PipelineRegisters::read(std::uint32_t index) const {
  return pipeline_ != nullptr ? pipeline_->read_register(array_, index) : 0;
}

void PipelineRegisters::write(std::uint32_t index, std::uint64_t value) {
  if (pipeline_ != nullptr) pipeline_->write_register(array_, index, value);
}

PipelineRegisters Pipeline::registers(std::string_view name) {
  for (std::size_t i = 0; i < spec_.registers.size(); ++i) {
    if (is_called(spec_.registers[i].name, name)) return {this, i, spec_.registers[i].size};
  }
  return {};
}

}  // namespace splitplane::nic
