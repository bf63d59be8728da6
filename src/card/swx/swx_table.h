// A table of SWX, filled through its own operations.
#pragma once

#include <rte_swx_ctl.h>
#include <rte_swx_pipeline.h>

#include "card/pipeline/pipeline.h"

namespace splitplane::nic {

class SwxTable final : public PipelineTable {
 public:
  // `index` is the table's place in the file. The error says that the table cannot be filled while the pipeline lives.
  static Expected<SwxTable> of(rte_swx_pipeline* pipeline, const SpecFile& spec, std::size_t index);

  [[nodiscard]] bool set(std::span<const std::uint64_t> key, const TableAction& action,
                         std::span<const std::uint64_t> values) override;
  void remove(std::span<const std::uint64_t> key) override;
  void set_default(const TableAction& action, std::span<const std::uint64_t> values) override;

 private:
  SwxTable(rte_swx_pipeline* pipeline, const SpecFile& spec, std::size_t index)
      : PipelineTable(spec, index), pipeline_(pipeline), index_(index) {}
  [[nodiscard]] std::uint64_t action_id(const SpecTableAction& action) const override;
  [[nodiscard]] std::vector<TableField> arguments(const SpecAction& action) const override;
  [[nodiscard]] rte_swx_table_state& state() const;
  rte_swx_table_entry make_entry(std::span<const std::uint64_t> key);
  void write_data(const TableAction& action, std::span<const std::uint64_t> values);

  rte_swx_pipeline* pipeline_;
  std::size_t index_;
  std::vector<TableField> key_;
  rte_swx_table_ops ops_{};
  std::vector<std::uint8_t> key_octets_, data_octets_;  // room for one entry
};

}  // namespace splitplane::nic
