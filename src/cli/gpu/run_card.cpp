#include "cli/gpu/run_card.h"

#include <fmt/format.h>

#include "bypass/card_run.h"
#include "cli/gpu/card_check.h"
#include "cli/gpu/run_text.h"
#include "gpu/nic/host_memory.h"
#include "gpu/nic/start_up_check.h"
#include "runtime/instance_lock.h"
#include "runtime/stop_flag.h"

namespace splitplane::app {
namespace {

// The first refusal; empty if there is none. Prints warnings on its way.
std::string refusal_in(const std::vector<gpu::StartUpNote>& notes, CliOutput& output) {
  for (const gpu::StartUpNote& note : notes) {
    if (note.gravity == gpu::Gravity::kRefusal) return note.sentence;
  }
  for (const gpu::StartUpNote& note : notes) {
    if (note.gravity == gpu::Gravity::kWarning) output.out << "warning: " << note.sentence << '\n';
  }
  return {};
}

// A card that did not stop may write where its memory was once this process has ended; one that was not brought up,
// where the program before this one told it to.
void silence(const gpu::PciDevice& card, CliOutput& output) {
  if (auto off = card.disable_bus_master(); !off) {
    output.err << fmt::format("splitplane gpu run: {}; reset the card: echo 1 > {}/reset\n", off.error().message,
                              card.path().string());
    return;
  }
  output.out << fmt::format("{}: bus mastering was switched off; reset it before it is used again: echo 1 > {}/reset\n",
                            card.address(), card.path().string());
}

}  // namespace

int gpu_run_on_card(const GpuRunOptions& o, const bypass::Scenario& scenario, CliOutput& output) {
  const auto card = gpu::PciDevice::find(*o.nic);
  if (!card) return end_gpu_run(kExitBadUsage, output, "--nic: " + card.error().message);
  if (o.gpu) return end_gpu_run(kExitBadUsage, output, "--gpu with --nic: " + why_no_card_on_gpu(*card, scenario));
  const bool physical = gpu::addresses_of(*card) == gpu::BusAddresses::kPhysical;
  if (const auto bad = refusal_in(gpu::check_nic(*card, gpu::addresses_of(*card)), output); !bad.empty()) {
    return end_gpu_run(kExitBadUsage, output, "--nic: " + bad);
  }
  const auto lock = InstanceLock::acquire("splitplane-gpu-" + card->address());
  if (!lock) return end_gpu_run(kExitFailed, output, lock.error().message);
  StopFlag& stop = StopFlag::instance();
  stop.catch_signals();
  const bool sfp_plus = gpu::has_sfp_slot(*card);
  auto bar = gpu::open_bar(*card);
  if (!bar) return end_gpu_run(kExitFailed, output, bar.error().message);
  gpu::HostMemory memory(gpu::memory_for(*card, **bar));
  if (physical) {
    output.out << "warning: without VFIO the card writes on if this process is killed\n";
  }
  output.out << fmt::format("{} ring{}, {}, frames of others; {}, CPU threads, no GPU; not tried on hardware\n",
                            scenario.rings, scenario.rings == 1 ? "" : "s", word_of(scenario.function),
                            card->address());
  output.out.flush();
  bypass::Live before;
  const auto made =
      bypass::run_on_card(scenario, **bar, memory,
                          [&](const bypass::Live& now) {
                            if (now.link_up != before.link_up || now.seconds - before.seconds >= 1) {
                              output.out << wire_line(now);
                              output.out.flush();
                              before = now;
                            }
                            return !stop.requested() && (o.until_stopped || now.seconds < scenario.seconds);
                          },
                          {.sfp_plus = sfp_plus});
  if (made) output.out << wire_summary(*made);
  for (const std::string& note : memory.notes()) output.out << "note: " << note << '\n';
  if (memory.is_kept() || !made) silence(*card, output);
  if (!made) return end_gpu_run(kExitFailed, output, made.error().message);
  return made->is_sound() ? kExitGood : kExitFailed;
}

}  // namespace splitplane::app
