#include "card/swx/swx_pipeline.h"

#include <rte_errno.h>

#include <algorithm>
#include <cstring>

#include "card/swx/spec_repair.h"
#include "card/swx/swx_ports.h"

namespace splitplane::nic {
namespace {

// Instructions between two checks whether all frames have left. A check costs little, but instructions that find only
// an empty input cost much. Values from 32 to 128 differ by less than the noise of a busy machine; 2,048 cost l2fwd
// five times as much.
constexpr std::uint32_t kRunInstructions = 64;
constexpr std::uint32_t kMirrorSlots = 4, kMirrorSessions = 128;  // powers of two; a session for each port

std::string reason(int result) {
  return rte_strerror(result < 0 ? -result : result);
}

tl::unexpected<Error> refused(const SpecFile& spec, unsigned line, std::string_view what, int result) {
  return fail("{}:{}: DPDK's pipeline refuses {} ({}); allowed: what p4c-dpdk makes for this release of DPDK",
              spec.path, line, what, reason(result));
}

std::vector<const char*> pointers(const std::vector<std::string>& texts) {
  std::vector<const char*> out;
  for (const std::string& text : texts) out.push_back(text.c_str());
  return out;
}

rte_swx_table_match_type match_type(SpecMatch match) {
  if (match == SpecMatch::kExact) return RTE_SWX_TABLE_MATCH_EXACT;
  return match == SpecMatch::kLpm ? RTE_SWX_TABLE_MATCH_LPM : RTE_SWX_TABLE_MATCH_WILDCARD;
}

}  // namespace

Expected<std::unique_ptr<SwxPipeline>> SwxPipeline::build(SpecFile spec, PipelineIo& io, int numa_node) {
  repair_constant_register_access(spec);
  rte_swx_pipeline* raw = nullptr;
  if (const int result = rte_swx_pipeline_config(&raw, nullptr, numa_node); result != 0) {
    return fail("{}: no memory for a pipeline ({})", spec.path, reason(result));
  }
  std::unique_ptr<SwxPipeline> pipeline(new SwxPipeline(std::move(spec), io, raw));
  if (auto done = pipeline->configure(); !done) return tl::unexpected(done.error());
  return pipeline;
}

SwxPipeline::~SwxPipeline() {
  rte_swx_pipeline_free(pipeline_);
}

Expected<void> SwxPipeline::configure() {
  if (auto done = configure_ports(); !done) return done;
  if (auto done = configure_types(); !done) return done;
  for (const SpecRegisters& registers : spec_.registers) {
    const int result =
        rte_swx_pipeline_regarray_config(pipeline_, registers.name.c_str(), registers.size, registers.initial);
    if (result != 0) return refused(spec_, 1, "regarray " + registers.name, result);
  }
  if (auto done = configure_actions(); !done) return done;
  for (const SpecTable& table : spec_.tables) {
    if (auto done = configure_table(table); !done) return done;
  }
  auto apply = pointers(spec_.apply);
  if (const int result =
          rte_swx_pipeline_instructions_config(pipeline_, apply.data(), static_cast<std::uint32_t>(apply.size()));
      result != 0) {
    return refused(spec_, spec_.apply_line, "an instruction of the apply block", result);
  }
  if (const int result = rte_swx_pipeline_build(pipeline_); result != 0) {
    return fail("{}: the pipeline cannot be built ({}); allowed: a program whose tables and registers fit the memory",
                spec_.path, reason(result));
  }
  for (std::size_t i = 0; i < spec_.tables.size(); ++i) {
    auto table = SwxTable::of(pipeline_, spec_, i);
    if (!table) return tl::unexpected(table.error());
    tables_.push_back(std::move(*table));
  }
  return {};
}

// The types are registered under the names below, for this pipeline only.
Expected<void> SwxPipeline::configure_ports() {
  auto input = input_ops();
  auto output = output_ops();
  int result = rte_swx_pipeline_port_in_type_register(pipeline_, "card", &input);
  result |= rte_swx_pipeline_port_out_type_register(pipeline_, "card", &output);
  result |= rte_swx_pipeline_port_in_config(pipeline_, 0, "card", &io_);
  for (PipelineOutput& out : io_.outputs) {
    result |= rte_swx_pipeline_port_out_config(pipeline_, out.number, "card", &out);
  }
  rte_swx_pipeline_mirroring_params mirroring{.n_slots = kMirrorSlots, .n_sessions = kMirrorSessions};
  result |= rte_swx_pipeline_mirroring_config(pipeline_, &mirroring);
  if (result != 0) return fail("{}: no memory for the pipeline's ports", spec_.path);
  return {};
}

Expected<void> SwxPipeline::configure_types() {
  for (const SpecStruct& type : spec_.structs) {
    std::vector<rte_swx_field_params> fields;
    for (const SpecField& field : type.fields) fields.push_back({field.name.c_str(), field.bits});
    const int result =
        rte_swx_pipeline_struct_type_register(pipeline_, type.name.c_str(), fields.data(),
                                              static_cast<std::uint32_t>(fields.size()), type.last_varies ? 1 : 0);
    if (result != 0) return refused(spec_, 1, "struct " + type.name, result);
  }
  for (const SpecHeader& header : spec_.headers) {
    const int result = rte_swx_pipeline_packet_header_register(pipeline_, header.name.c_str(), header.type.c_str());
    if (result != 0) return refused(spec_, 1, "header " + header.name, result);
  }
  if (const int result = rte_swx_pipeline_packet_metadata_register(pipeline_, spec_.metadata.c_str()); result != 0) {
    return refused(spec_, 1, "metadata " + spec_.metadata, result);
  }
  return {};
}

Expected<void> SwxPipeline::configure_actions() {
  for (const SpecAction& action : spec_.actions) {
    auto instructions = pointers(action.instructions);
    const char* const arguments = action.arguments.empty() ? nullptr : action.arguments.c_str();
    const int result = rte_swx_pipeline_action_config(pipeline_, action.name.c_str(), arguments, instructions.data(),
                                                      static_cast<std::uint32_t>(instructions.size()));
    if (result != 0) return refused(spec_, action.line, "an instruction of action " + action.name, result);
  }
  return {};
}

Expected<void> SwxPipeline::configure_table(const SpecTable& table) {
  std::vector<rte_swx_match_field_params> fields;
  for (const SpecKey& key : table.keys) fields.push_back({key.field.c_str(), match_type(key.match)});
  std::vector<const char*> names;
  std::vector<int> entries, by_default;
  for (const SpecTableAction& action : table.actions) {
    names.push_back(action.name.c_str());
    entries.push_back(action.entries ? 1 : 0);
    by_default.push_back(action.by_default ? 1 : 0);
  }
  rte_swx_pipeline_table_params params{};
  params.fields = fields.empty() ? nullptr : fields.data();
  params.n_fields = static_cast<std::uint32_t>(fields.size());
  params.action_names = names.data();
  params.action_is_for_table_entries = entries.data();
  params.action_is_for_default_entry = by_default.data();
  params.n_actions = static_cast<std::uint32_t>(names.size());
  params.default_action_name = table.default_action.c_str();
  params.default_action_args = table.default_arguments.empty() ? nullptr : table.default_arguments.c_str();
  params.default_action_is_const = table.default_is_const ? 1 : 0;
  params.hash_func_name = table.hash.empty() ? nullptr : table.hash.c_str();
  const int result =
      rte_swx_pipeline_table_config(pipeline_, table.name.c_str(), &params, nullptr, nullptr, table.size);
  if (result != 0) return refused(spec_, table.line, "table " + table.name, result);
  return {};
}

void SwxPipeline::read_dropped() {
  rte_swx_port_out_stats stats{};
  rte_swx_ctl_pipeline_port_out_stats_read(pipeline_, static_cast<std::uint32_t>(io_.outputs.size()), &stats);
  dropped_ = stats.n_pkts_drop;
}

// The loop ends because jumps go forwards only (spec_names.cpp): every frame leaves after a bounded number of
// instructions.
void SwxPipeline::drain() {
  const std::uint64_t handed = io_.handed;
  for (;;) {
    rte_swx_pipeline_run(pipeline_, kRunInstructions);
    if (io_.left != 0) continue;
    if (io_.sent + dropped_ == handed) return;
    read_dropped();
    if (io_.sent + dropped_ == handed) return;
  }
}

PipelineTable* SwxPipeline::table(std::string_view name) {
  const auto at = std::ranges::find_if(tables_, [&](const SwxTable& t) { return t.name() == name; });
  return at == tables_.end() ? nullptr : &*at;
}

std::uint64_t SwxPipeline::read_register(std::size_t array, std::uint32_t index) const {
  std::uint64_t value = 0;
  rte_swx_ctl_pipeline_regarray_read(pipeline_, spec_.registers[array].name.c_str(), index, &value);
  return value;
}

void SwxPipeline::write_register(std::size_t array, std::uint32_t index, std::uint64_t value) {
  rte_swx_ctl_pipeline_regarray_write(pipeline_, spec_.registers[array].name.c_str(), index, value);
}

void SwxPipeline::set_mirror(std::uint32_t session, std::uint32_t port, bool copy) {
  rte_swx_pipeline_mirroring_session_params params{.port_id = port, .fast_clone = copy ? 0 : 1, .truncation_length = 0};
  rte_swx_ctl_pipeline_mirroring_session_set(pipeline_, session, &params);
}

}  // namespace splitplane::nic
