// A table or a register array of a pipeline, for the control path. Keys and action data are numbers here. Their place
// and byte order in the pipeline are determined once. Use it only between two runs of the pipeline.
#pragma once

#include <rte_swx_ctl.h>
#include <rte_swx_pipeline.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"
#include "card/swx/spec_file.h"

namespace splitplane::nic {

// One number inside a key or an action's data.
struct SwxField {
  std::string name;
  unsigned offset = 0, bytes = 0;
  bool network_order = false;
};

// An action of a table, and the order in which the caller passes its arguments.
struct SwxAction {
  struct Argument {
    SwxField field;
    std::size_t from;  // index into the caller's values
  };
  std::uint64_t id = 0;
  std::vector<Argument> arguments;
};

class SwxTable {
 public:
  // `index` is the table's place in the file. The error says that the table cannot be filled while the pipeline lives.
  static Expected<SwxTable> of(rte_swx_pipeline* pipeline, const SpecFile& spec, std::size_t index);

  // The caller passes values in the order of `values`. Values without an argument in the action are ignored. It is an
  // error if the table has no such action, or if an argument is not among the values.
  [[nodiscard]] Expected<SwxAction> action(std::string_view name, std::span<const std::string_view> values) const;

  // Adds an entry, or replaces the one with the same key. Returns false if the table is full.
  [[nodiscard]] bool set(std::span<const std::uint64_t> key, const SwxAction& action,
                         std::span<const std::uint64_t> values);
  void remove(std::span<const std::uint64_t> key);
  void set_default(const SwxAction& action, std::span<const std::uint64_t> values);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::uint32_t size() const { return size_; }

 private:
  std::string path_, name_;
  const SpecTable* spec_ = nullptr;
  const SpecFile* file_ = nullptr;
  rte_swx_pipeline* pipeline_ = nullptr;
  std::size_t index_ = 0;
  std::uint32_t size_ = 0;
  std::vector<SwxField> key_;
  rte_swx_table_ops ops_{};
  std::vector<std::uint8_t> key_octets_, data_octets_;  // room for one entry

  [[nodiscard]] rte_swx_table_state& state() const;
  rte_swx_table_entry make_entry(std::span<const std::uint64_t> key);
  void write_data(const SwxAction& action, std::span<const std::uint64_t> values);
};

class SwxRegisters {
 public:
  SwxRegisters() = default;
  SwxRegisters(rte_swx_pipeline* pipeline, const SpecRegisters& spec)
      : pipeline_(pipeline), name_(spec.name), size_(spec.size) {}

  explicit operator bool() const { return pipeline_ != nullptr; }
  [[nodiscard]] std::uint32_t size() const { return size_; }
  // Returns 0 beyond the end, and if the program has no such registers.
  [[nodiscard]] std::uint64_t read(std::uint32_t index) const;
  void write(std::uint32_t index, std::uint64_t value);

 private:
  rte_swx_pipeline* pipeline_ = nullptr;
  std::string name_;
  std::uint32_t size_ = 0;
};

}  // namespace splitplane::nic
