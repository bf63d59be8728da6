#include "cli/gpu/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/plain_file.h"
#include "bypass/bench_wire.h"
#include "bypass/result_json.h"
#include "bypass/run.h"
#include "cli/command/run_end.h"
#include "cli/gpu/run_card.h"
#include "cli/gpu/run_device.h"
#include "cli/gpu/run_text.h"
#include "cli/gpu/run_wire.h"
#include "runtime/stop_flag.h"

namespace splitplane::app {
namespace {

constexpr double kLineEvery = 1.0;  // seconds

std::string summary(const bypass::Result& r) {
  std::string text = fmt::format(
      "{} packets in {:.2f} s: {:.3f} Mpps, {:.2f} Gbit/s; {} lost of {}\n"
      "latency p50 {:.1f} us, p99 {:.1f}, p99.9 {:.1f}, highest {:.1f}\n"
      "order: {:.2f} % of the wire reordered, {} within a flow; {} corrupt, {} twice\n"
      "{:.3f} doorbells per packet; driver {:.2f} s of CPU, NIC model {:.2f} s\n",
      r.measured, r.seconds, r.mpps(), r.gbps(), r.lost, r.sent, static_cast<double>(r.latency.percentile(50)) / 1e3,
      static_cast<double>(r.latency.percentile(99)) / 1e3, static_cast<double>(r.latency.percentile(99.9)) / 1e3,
      static_cast<double>(r.latency.max()) / 1e3,
      r.received == 0 ? 0 : 100.0 * static_cast<double>(r.reordered) / static_cast<double>(r.received), r.flow_disorder,
      r.corrupt, r.duplicated,
      r.driver_packets == 0 ? 0 : static_cast<double>(r.doorbells) / static_cast<double>(r.driver_packets),
      r.host_cpu_seconds, r.nic_cpu_seconds);
  if (!r.kept_rate()) {
    text +=
        fmt::format("the generator sent {:.1f} % of what was due: these figures are not those of the offered load\n",
                    100 * static_cast<double>(r.sent) / static_cast<double>(r.due));
  }
  if (!r.had_cores()) {
    text += fmt::format(
        "the NIC's thread polls and only yields, and had {:.0f} % of a core: with more cores these figures would "
        "differ\n",
        100 * r.nic_cpu_seconds / r.seconds);
  }
  if (is_gnb(r.scenario.function)) {
    text += fmt::format("numbers of bearers: {} given twice, {} left out\n", r.sn_repeated, r.sn_missing);
  }
  if (r.scenario.restore_order) {
    text +=
        fmt::format("order restored: {} came too late, {} were not waited for\n", r.restored_late, r.restored_without);
  }
  for (const std::string& finding : r.findings) text += "watchdog: " + finding + '\n';
  return text;
}

}  // namespace

int gpu_run(const GpuRunOptions& o, CliOutput& output) {
  bypass::Scenario s = o.scenario;
  for (std::size_t i = 0; i < bypass::kFunctionKindCount; ++i) {
    const auto kind = static_cast<bypass::FunctionKind>(i);
    if (bypass::word_of(kind) == o.function) s.function = kind;
  }
  for (std::size_t i = 0; o.gpu && i < bypass::kModeCount; ++i) {
    const auto mode = static_cast<bypass::Mode>(i);
    if (bypass::word_of(mode) == o.gpu_mode) s.mode = mode;
  }
  if (o.until_stopped) s.seconds = 3600;
  s.bin_seconds = s.seconds / 300;
  s.frame_bytes = o.size.value_or(smallest_frame(s));
  auto good = o.on_wire() ? check_driver(s) : check(s);
  if (good && s.restore_order && o.on_wire()) {
    good = fail("--restore-order needs own traffic: frames of others have no number to go by");
  }
  if (good && o.on_wire() && s.rings > bypass::kRssRings) {
    good = fail("--rings {}: more than RSS has, and flows of others have no filters; allowed: 1 to {}", s.rings,
                bypass::kRssRings);
  }
  if (std::error_code error; good && std::filesystem::equivalent(o.pcap_in, o.pcap_out, error) && !error) {
    good = fail("--pcap-out {}: that is --pcap-in, which would be written over while it is read", o.pcap_out);
  }
  if (const auto bad = refuse_result_path(o.json); good && bad) good = fail("--json: {}", *bad);
  if (!good) return end_gpu_run(kExitBadUsage, output, good.error().message);
  if (o.nic) return gpu_run_on_card(o, s, output);
  if (o.gpu) return gpu_run_on_gpu(o, s, output);
  StopFlag& stop = StopFlag::instance();
  stop.catch_signals();
  if (o.on_wire()) return gpu_run_on_wire(o, s, output);
  output.out << soft_nic_line(s, own_traffic(s));
  output.out.flush();
  bypass::Live before;
  const auto made = bypass::run_on_cpu(s, [&](const bypass::Live& now) {
    if (now.warming_up || now.sent < before.sent) {
      before = now.warming_up ? bypass::Live{.seconds = now.seconds} : before;
    } else if (now.seconds - before.seconds >= kLineEvery) {
      show_live(now, before, output.out);
      before = now;
    }
    return !stop.requested();
  });
  if (!made) return end_gpu_run(kExitFailed, output, made.error().message);
  output.out << summary(*made);
  bool written = true;
  if (!o.json.empty()) {
    bypass::Json json = to_json(*made);
    json["machine"] = bypass::machine("no GPU: CPU threads");
    written = write_result("--json", o.json, json.dump(1) + '\n');
  }
  return written && made->is_sound() ? kExitGood : kExitFailed;
}

}  // namespace splitplane::app
