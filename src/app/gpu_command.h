// What `splitplane gpu run` and `bench` do, once the command line is understood.
#pragma once

#include <string>
#include <vector>

#include "app/cli.h"
#include "bypass/scenario.h"

namespace splitplane::app {

struct GpuBenchOptions {
  bypass::Scenario base;
  std::vector<std::uint32_t> rings{1, 2, 4, 8}, sizes{64, 1500};
  std::vector<std::string> modes{"bypass"}, functions{"echo"};
  std::vector<double> mpps{0};
  bool matrix = false;
  bool cpu_only = false;  // leave a GPU alone
  double scale = 1;
  std::string json;
};

struct GpuRunOptions {
  bypass::Scenario scenario;
  std::string function = "echo", json;
  std::string pcap_in, pcap_out, port;  // instead of the traffic peer
  bool until_stopped = true;
  [[nodiscard]] bool on_wire() const { return !pcap_in.empty() || !pcap_out.empty() || !port.empty(); }
};

// Both return the process's exit code; 2 for settings that cannot be, with one line on `output.err`.
[[nodiscard]] int gpu_bench(const GpuBenchOptions& options, CliOutput& output);
[[nodiscard]] int gpu_run(const GpuRunOptions& options, CliOutput& output);
// `open_cards`: opens each 82599 that it finds, as root.
[[nodiscard]] int gpu_info(bool open_cards, CliOutput& output);
// gpu_run's way when there is a capture or a port; the scenario is checked.
[[nodiscard]] int gpu_run_on_wire(const GpuRunOptions& options, const bypass::Scenario& scenario, CliOutput& output);

}  // namespace splitplane::app
