// A P4 program in DPDK's interpreter: it builds an SWX pipeline from a .spec through the public API (no compiler, no
// private header).
#pragma once

#include "card/swx/swx_table.h"

namespace splitplane::nic {

class SwxPipeline final : public Pipeline {
 public:
  // Builds the pipeline; SWX's own drop port comes after those of `io`. The error gives file, line and what is wrong; a
  // failed call leaves nothing behind.
  static Expected<std::unique_ptr<SwxPipeline>> build(SpecFile spec, PipelineIo& io, int numa_node);
  ~SwxPipeline() override;

  void drain() override;
  [[nodiscard]] std::uint64_t dropped() const override { return dropped_; }
  [[nodiscard]] bool is_compiled() const override { return false; }
  [[nodiscard]] PipelineTable* table(std::string_view name) override;
  void set_mirror(std::uint32_t session, std::uint32_t port, bool copy) override;
  [[nodiscard]] std::uint64_t read_register(std::size_t array, std::uint32_t index) const override;
  void write_register(std::size_t array, std::uint32_t index, std::uint64_t value) override;

 private:
  SwxPipeline(SpecFile spec, PipelineIo& io, rte_swx_pipeline* pipeline)
      : Pipeline(std::move(spec), io), pipeline_(pipeline) {}
  Expected<void> configure();
  Expected<void> configure_types();
  Expected<void> configure_actions();
  Expected<void> configure_table(const SpecTable& table);
  Expected<void> configure_ports();
  void read_dropped();

  rte_swx_pipeline* pipeline_;
  std::vector<SwxTable> tables_;
  std::uint64_t dropped_ = 0;
};

}  // namespace splitplane::nic
