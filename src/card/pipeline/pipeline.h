// A running P4 program, whichever way it runs: by DPDK's interpreter (card/swx) or compiled ahead of time
// (card/compiled). Virtual calls are made once for a burst, and on the control path. A pipeline belongs to one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"
#include "card/pipeline/io.h"
#include "card/spec/spec_file.h"

namespace splitplane::nic {

// One number inside a key or an action's data.
struct TableField {
  std::string name;
  unsigned offset = 0, bytes = 0;
  bool network_order = false;
};

// Writes the low octets of `value`.
void store(const TableField& field, std::uint8_t* base, std::uint64_t value);

// An action of a table, and the order in which the caller passes its arguments.
struct TableAction {
  struct Argument {
    TableField field;
    std::size_t from;  // index into the caller's values
  };
  std::uint64_t id = 0;
  std::vector<Argument> arguments;
};

// A table of a pipeline, for the control path. Keys and action data are numbers here; their place and byte order are
// determined once. Use it only between two runs of the pipeline.
class PipelineTable {
 public:
  virtual ~PipelineTable() = default;

  // The caller passes values in the order of `values`. Values without an argument in the action are ignored. It is an
  // error if the table has no such action, or if an argument is not among the values.
  [[nodiscard]] Expected<TableAction> action(std::string_view name, std::span<const std::string_view> values) const;

  // Adds an entry, or replaces the one with the same key. Returns false if the table is full.
  [[nodiscard]] virtual bool set(std::span<const std::uint64_t> key, const TableAction& action,
                                 std::span<const std::uint64_t> values) = 0;
  virtual void remove(std::span<const std::uint64_t> key) = 0;
  virtual void set_default(const TableAction& action, std::span<const std::uint64_t> values) = 0;

  [[nodiscard]] const std::string& name() const { return spec_->name; }
  [[nodiscard]] std::uint32_t size() const { return spec_->size; }

 protected:
  PipelineTable(const SpecFile& file, std::size_t index) : file_(&file), spec_(&file.tables[index]) {}
  // Number of the action in the table's own terms, and where its arguments stand in an entry's data.
  [[nodiscard]] virtual std::uint64_t action_id(const SpecTableAction& action) const = 0;
  [[nodiscard]] virtual std::vector<TableField> arguments(const SpecAction& action) const = 0;

  const SpecFile* file_;
  const SpecTable* spec_;
};

class Pipeline;

// A register array of a pipeline. Use it only between two runs.
class PipelineRegisters {
 public:
  PipelineRegisters() = default;
  PipelineRegisters(Pipeline* pipeline, std::size_t array, std::uint32_t size)
      : pipeline_(pipeline), array_(array), size_(size) {}

  explicit operator bool() const { return pipeline_ != nullptr; }
  [[nodiscard]] std::uint32_t size() const { return size_; }
  // Returns 0 beyond the end, and if the program has no such registers.
  [[nodiscard]] std::uint64_t read(std::uint32_t index) const;
  void write(std::uint32_t index, std::uint64_t value);

 private:
  Pipeline* pipeline_ = nullptr;
  std::size_t array_ = 0;
  std::uint32_t size_ = 0;
};

class Pipeline {
 public:
  virtual ~Pipeline() = default;
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  // Runs until every frame that was given to `io` was sent to a port or dropped.
  virtual void drain() = 0;
  // Frames that the program dropped.
  [[nodiscard]] virtual std::uint64_t dropped() const = 0;
  // True if the program was compiled ahead of time.
  [[nodiscard]] virtual bool is_compiled() const = 0;

  // Null if the program has no such table.
  [[nodiscard]] virtual PipelineTable* table(std::string_view name) = 0;
  // Empty registers if the program has none with that name.
  [[nodiscard]] PipelineRegisters registers(std::string_view name);
  // Frames that are mirrored to `session` go to output `port`; with `copy` as copies and not as references.
  virtual void set_mirror(std::uint32_t session, std::uint32_t port, bool copy) = 0;
  [[nodiscard]] const SpecFile& spec() const { return spec_; }

  // Of the register array at this place in the file.
  [[nodiscard]] virtual std::uint64_t read_register(std::size_t array, std::uint32_t index) const = 0;
  virtual void write_register(std::size_t array, std::uint32_t index, std::uint64_t value) = 0;

 protected:
  // Its ports are those of `io`, which must outlive it.
  Pipeline(SpecFile spec, PipelineIo& io) : spec_(std::move(spec)), io_(io) {}

  SpecFile spec_;
  PipelineIo& io_;
};

}  // namespace splitplane::nic
