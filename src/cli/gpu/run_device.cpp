#include "cli/gpu/run_device.h"

#include <fmt/format.h>

#include "bypass/cuda_program.h"
#include "cli/command/run_end.h"
#include "cli/gpu/run_text.h"
#include "runtime/stop_flag.h"

namespace splitplane::app {

int gpu_run_on_gpu(const GpuRunOptions& o, const bypass::Scenario& s, CliOutput& output) {
  StopFlag& stop = StopFlag::instance();
  stop.catch_signals();
  auto program = bypass::CudaProgram::start(bypass::cuda_program_path());
  if (!program) return end_gpu_run(kExitFailed, output, program.error().message);
  output.out << fmt::format("{} ring{}, {}, {}; soft NIC, {} on {}\n", s.rings, s.rings == 1 ? "" : "s",
                            word_of(s.function), own_traffic(s), o.gpu_mode, (*program)->device().dump());
  output.out.flush();
  bypass::Live before;
  auto row = (*program)->run(s, [&](const bypass::Live& now) {
    if (now.warming_up || now.sent < before.sent) {
      before = now.warming_up ? bypass::Live{.seconds = now.seconds} : before;
    } else if (now.seconds - before.seconds >= 1) {
      show_live(now, before, output.out);
      before = now;
    }
    return !stop.requested();
  });
  if (!row) return end_gpu_run(kExitFailed, output, row.error().message);
  output.out << bypass::table_head() << bypass::table_row(*row);
  for (const bypass::Json& finding : (*row)["findings"])
    output.out << "watchdog: " << finding.get<std::string>() << '\n';
  const bool sound = (*row)["sound"].get<bool>();
  (*row)["machine"] = bypass::machine((*program)->device().dump());
  const bool written = o.json.empty() || write_result("--json", o.json, row->dump(1) + '\n');
  return written && sound ? kExitGood : kExitFailed;
}

}  // namespace splitplane::app
