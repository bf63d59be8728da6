// A table of a compiled program, for the control path. It allocates nothing after it was made.
#pragma once

#include "card/aot/row_layout.h"
#include "card/compiled/memory.h"
#include "card/compiled/rows.h"
#include "card/pipeline/pipeline.h"

namespace splitplane::nic {

class CompiledTable final : public PipelineTable {
 public:
  // `index` is the table's place in the file, which must outlive it. The error says that there is no memory.
  static Expected<CompiledTable> of(const SpecFile& spec, std::size_t index, int numa_node);

  [[nodiscard]] bool set(std::span<const std::uint64_t> key, const TableAction& action,
                         std::span<const std::uint64_t> values) override;
  void remove(std::span<const std::uint64_t> key) override;
  void set_default(const TableAction& action, std::span<const std::uint64_t> values) override;
  // What the packet path reads. It stays where it is.
  [[nodiscard]] compiled::Rows rows() const { return {memory_.get(), layout_.rows - 1}; }

 private:
  CompiledTable(const SpecFile& spec, std::size_t index);
  [[nodiscard]] std::uint64_t action_id(const SpecTableAction& action) const override;
  [[nodiscard]] std::vector<TableField> arguments(const SpecAction& action) const override;
  [[nodiscard]] std::uint8_t* row(std::uint64_t index) const { return memory_.get() + index * layout_.bytes; }
  [[nodiscard]] bool is_free(std::uint64_t index) const { return row(index)[layout_.action_at] == 0; }
  // Index of the row that has the key, or of the free one where it would stand.
  [[nodiscard]] std::uint64_t find(std::span<const std::uint64_t> key) const;
  [[nodiscard]] std::uint64_t home_of(std::uint64_t index) const;
  void write(std::uint64_t index, const TableAction& action, std::span<const std::uint64_t> values);
  void write_first_default();

  RowLayout layout_;
  Memory memory_;
  std::uint32_t used_ = 0;
};

}  // namespace splitplane::nic
