// A running P4 program: it builds DPDK's SWX pipeline from a .spec through the public API (no compiler, no private
// header). One pipeline belongs to one thread.
#pragma once

#include <memory>
#include <string_view>

#include "card/swx/swx_ports.h"
#include "card/swx/swx_table.h"

namespace splitplane::nic {

class SwxPipeline {
 public:
  // Builds the pipeline. Its ports are those of `io`, which must outlive it; SWX's own drop port comes after them. The
  // error gives file, line and what is wrong; a failed call leaves nothing behind.
  static Expected<std::unique_ptr<SwxPipeline>> build(SpecFile spec, PipelineIo& io, int numa_node);
  ~SwxPipeline();
  SwxPipeline(const SwxPipeline&) = delete;
  SwxPipeline& operator=(const SwxPipeline&) = delete;

  // Runs until every frame that was given to `io` was sent to a port or dropped.
  void drain();
  // Frames that the program dropped.
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

  [[nodiscard]] SwxTable* table(std::string_view name);
  // Empty registers if the program has none with that name.
  [[nodiscard]] SwxRegisters registers(std::string_view name) const;
  // Frames that are mirrored to `session` go to output `port`; with `copy` as copies and not as references.
  void set_mirror(std::uint32_t session, std::uint32_t port, bool copy);
  [[nodiscard]] const SpecFile& spec() const { return spec_; }

 private:
  SwxPipeline(SpecFile spec, PipelineIo& io, rte_swx_pipeline* pipeline)
      : spec_(std::move(spec)), io_(io), pipeline_(pipeline) {}
  Expected<void> configure();
  Expected<void> configure_types();
  Expected<void> configure_actions();
  Expected<void> configure_table(const SpecTable& table);
  Expected<void> configure_ports();
  void read_dropped();

  SpecFile spec_;
  PipelineIo& io_;
  rte_swx_pipeline* pipeline_;
  std::vector<SwxTable> tables_;
  std::uint64_t dropped_ = 0;
};

}  // namespace splitplane::nic
