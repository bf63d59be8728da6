// What `splitplane gpu run` and `bench` do, once the command line is understood.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bypass/wire_run.h"
#include "cli/command/output.h"

namespace splitplane::app {

struct GpuBenchOptions {
  bypass::Scenario base;
  std::vector<std::uint32_t> rings{1, 2, 4, 8}, sizes;  // none: the smallest and 1500
  std::vector<std::string> modes{"bypass"}, functions{"echo"};
  std::vector<double> mpps{0};
  bool matrix = false;
  bool cpu_only = false;  // leave a GPU alone
  double scale = 1;
  unsigned repeats = 0;       // none said: 5 of the matrix, 1 of chosen runs
  double within_seconds = 0;  // no run begins after this time; 0: no limit
  bool resume = false;        // rows of an earlier run with the same --json stay ...
  bool retry = false;         // ... but those of runs that failed
  std::string json;
};

struct GpuRunOptions {
  bypass::Scenario scenario;
  std::optional<std::uint32_t> size;  // none: the smallest that the function takes
  std::string function = "echo", json;
  std::string pcap_in, pcap_out, port;  // instead of the traffic peer
  std::optional<std::string> nic;       // PCI address: instead of the soft NIC
  bool gpu = false;                     // the engines are kernels
  std::string gpu_mode = "gpu-e2";
  bool until_stopped = true;
  [[nodiscard]] bool on_wire() const { return !pcap_in.empty() || !pcap_out.empty() || !port.empty() || nic; }
};

// Both return the process's exit code; 2 for settings that cannot be, with one line on `output.err`.
[[nodiscard]] int gpu_bench(const GpuBenchOptions& options, CliOutput& output);
[[nodiscard]] int gpu_run(const GpuRunOptions& options, CliOutput& output);
// `open_cards`: opens each 82599 that it finds, as root.
[[nodiscard]] int gpu_info(bool open_cards, CliOutput& output);
// gpu_run's ways when there is a capture or a port, and a card; the scenario is checked.
[[nodiscard]] int gpu_run_on_wire(const GpuRunOptions& options, const bypass::Scenario& scenario, CliOutput& output);
[[nodiscard]] int gpu_run_on_card(const GpuRunOptions& options, const bypass::Scenario& scenario, CliOutput& output);
// With the engines on a GPU; the scenario is checked.
[[nodiscard]] int gpu_run_on_gpu(const GpuRunOptions& options, const bypass::Scenario& scenario, CliOutput& output);
// Says why a run ended; returns `code`.
int end_gpu_run(int code, CliOutput& output, const std::string& sentence);
// What a run with the soft NIC says first, and what those without own traffic show each second and at the end.
[[nodiscard]] std::string soft_nic_line(const bypass::Scenario& scenario, const std::string& traffic);
[[nodiscard]] std::string own_traffic(const bypass::Scenario& scenario);
void show_live(const bypass::Live& now, const bypass::Live& before, std::ostream& out);
[[nodiscard]] std::string wire_line(const bypass::Live& now);
[[nodiscard]] std::string wire_summary(const bypass::WireRunResult& result);

}  // namespace splitplane::app
