#include "card/compiled/compiled_pipeline.h"

#include <algorithm>

namespace splitplane::nic {

Expected<void> CompiledPipeline::allocate(std::span<const RegisterGroup> groups, std::span<const RegisterPlace> places,
                                          int numa_node) {
  groups_ = groups;
  places_ = places;
  for (std::size_t i = 0; i < spec_.tables.size(); ++i) {
    auto table = CompiledTable::of(spec_, i, numa_node);
    if (!table) return tl::unexpected(table.error());
    tables_.push_back(std::move(*table));
  }
  for (const RegisterGroup& group : groups) {
    registers_.push_back(take_memory(group.records * group.record_bytes, numa_node));
    if (!registers_.back()) return fail("{}: no memory for the program's registers", spec_.path);
  }
  for (std::size_t i = 0; i < spec_.registers.size(); ++i) {
    const std::uint64_t initial = spec_.registers[i].initial;
    for (std::uint32_t r = 0; initial != 0 && r < groups_[places_[i].group].records; ++r) write_register(i, r, initial);
  }
  return {};
}

PipelineTable* CompiledPipeline::table(std::string_view name) {
  const auto at = std::ranges::find_if(tables_, [&](const CompiledTable& t) { return t.name() == name; });
  return at == tables_.end() ? nullptr : &*at;
}

// A session of another number is none, as in SWX.
void CompiledPipeline::set_mirror(std::uint32_t session, std::uint32_t port, bool copy) {
  if (session < kMirrorSessions && port < io_.outputs.size()) mirrors_[session] = {.port = port, .copy = copy};
}

// Null beyond the end.
std::uint8_t* CompiledPipeline::register_at(std::size_t array, std::uint32_t index) const {
  const RegisterPlace& place = places_[array];
  const RegisterGroup& group = groups_[place.group];
  if (index >= group.records) return nullptr;
  return registers_[place.group].get() + std::size_t{index} * group.record_bytes + place.offset;
}

std::uint64_t CompiledPipeline::read_register(std::size_t array, std::uint32_t index) const {
  const std::uint8_t* const at = register_at(array, index);
  return at != nullptr ? compiled::read_number(at) : 0;
}

void CompiledPipeline::write_register(std::size_t array, std::uint32_t index, std::uint64_t value) {
  if (std::uint8_t* const at = register_at(array, index)) compiled::write_number(at, value);
}

}  // namespace splitplane::nic
