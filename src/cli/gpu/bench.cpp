#include "cli/gpu/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "base/fingerprint.h"
#include "base/plain_file.h"
#include "base/text.h"
#include "base/version.h"
#include "bypass/bench_wire.h"
#include "bypass/cuda_program.h"
#include "bypass/matrix/matrix.h"
#include "bypass/run.h"
#include "cli/command/run_end.h"
#include "runtime/stop_flag.h"

namespace splitplane::app {
namespace {

using bypass::Json;
using bypass::Mode;
using bypass::RowLog;
using bypass::Scenario;

int refused(CliOutput& output, const std::string& sentence) {
  output.err << "splitplane gpu bench: " << printable(sentence, 500) << '\n';
  return kExitBadUsage;
}

// The command line has checked that there is one of this name.
template <class Kind>
Kind named(const std::string& word, std::size_t count) {
  std::size_t i = 0;
  while (i + 1 < count && bypass::word_of(static_cast<Kind>(i)) != word) ++i;
  return static_cast<Kind>(i);
}

// Where scenarios run: on CPU threads of this process, or in the CUDA program.
class Runners {
 public:
  explicit Runners(bool cpu_only) {
    if (cpu_only) {
      without_ = "no GPU: CPU threads (--cpu)";
      return;
    }
    auto made = bypass::CudaProgram::start(bypass::cuda_program_path());
    if (made) {
      cuda_ = std::move(*made);
    } else {
      without_ = made.error().message + ": CPU threads";
    }
  }
  [[nodiscard]] bool has_gpu() const { return cuda_ != nullptr; }
  [[nodiscard]] const std::string& without() const { return without_; }
  // The build of the program behind the modes of a GPU; null: there is none.
  [[nodiscard]] Expected<Json> cuda_build() const {
    if (!cuda_) return Json();
    const auto made = fingerprint_of(bypass::cuda_program_path());
    return made ? Expected<Json>(*made) : tl::unexpected(made.error());
  }
  // Without its place on the bus, which is another one on the next machine of the same kind.
  [[nodiscard]] std::string gpu() const {
    if (!cuda_) return without_;
    Json device = cuda_->device();
    device.erase("pci");
    return device.dump();
  }
  [[nodiscard]] Expected<Json> run(const Scenario& s) {
    if (needs_gpu(s.mode)) return cuda_ ? cuda_->run(s) : Expected<Json>(fail("{}", without_));
    const auto made = bypass::run_on_cpu(s, [](const bypass::Live&) { return !StopFlag::instance().requested(); });
    if (!made) return tl::unexpected(made.error());
    return to_json(*made);
  }

 private:
  std::unique_ptr<bypass::CudaProgram> cuda_;
  std::string without_;
};

std::vector<Scenario> chosen(const GpuBenchOptions& o) {
  std::vector<Scenario> all;
  for (const std::string& mode : o.modes) {
    for (const std::string& function : o.functions) {
      const auto kind = named<bypass::FunctionKind>(function, bypass::kFunctionKindCount);
      const auto sizes = o.sizes.empty() ? std::vector{smallest_frame(Scenario{.function = kind}), 1500U} : o.sizes;
      for (const std::uint32_t rings : o.rings) {
        for (const std::uint32_t size : sizes) {
          for (const double mpps : o.mpps) {
            Scenario s = o.base;
            s.mode = named<Mode>(mode, bypass::kModeCount);
            s.function = kind;
            s.rings = rings;
            s.frame_bytes = size;
            s.packets_per_second = mpps * 1e6;
            if (s.packets != 0) s.seconds = 3600;
            all.push_back(s);
          }
        }
      }
    }
  }
  return all;
}

}  // namespace

int gpu_bench(const GpuBenchOptions& o, CliOutput& output) {
  const std::vector<Scenario> scenarios = o.matrix ? std::vector<Scenario>{} : chosen(o);
  for (const Scenario& s : scenarios) {
    if (auto good = bypass::check(s); !good) return refused(output, good.error().message);
  }
  if (const auto bad = refuse_result_path(o.json)) return refused(output, "--json: " + *bad);

  StopFlag& stop = StopFlag::instance();
  stop.catch_signals();
  Runners runners(o.cpu_only);
  const bool wants_gpu =
      std::any_of(scenarios.begin(), scenarios.end(), [](const auto& s) { return needs_gpu(s.mode); });
  if (wants_gpu && !runners.has_gpu()) {
    output.err << "splitplane gpu bench: " << runners.without() << " cannot run this mode\n";
    return kExitFailed;
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [begin] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  const unsigned repeats = o.repeats != 0 ? o.repeats : o.matrix ? bypass::kRepeats : 1;
  // Which builds, not which version: rows of two builds must not be compared as repeats of one run.
  const auto build = fingerprint_of("/proc/self/exe");
  if (!build) return refused(output, build.error().message);
  const auto cuda_build = runners.cuda_build();
  if (!cuda_build) return refused(output, cuda_build.error().message);
  Json all{{"machine", bypass::machine(runners.gpu())},
           {"plan",
            {{"program", fmt::format("{} (build {})", kVersion, *build)},
             {"cuda_program", *cuda_build},
             {"matrix", o.matrix},
             {"scale", o.scale},
             {"repeats", repeats}}}};
  RowLog log;
  if (!o.json.empty()) {
    auto opened = RowLog::open(o.json + ".rows", all, o.resume, o.retry);
    if (!opened) return refused(output, opened.error().message);
    log = *std::move(opened);
  }
  output.out << fmt::format("{}, {} cores, kernel {}; {}\n", all["machine"]["cpu"].get<std::string>(),
                            all["machine"]["cores"].get<unsigned>(), all["machine"]["kernel"].get<std::string>(),
                            runners.gpu());
  if (log.found() != 0) output.out << fmt::format("{} rows are there already\n", log.found());
  if (log.found_failed() != 0) {
    output.out << fmt::format("{} of them are of runs that failed: --retry makes those again\n", log.found_failed());
  }
  bool sound = true;
  std::size_t done = 0, failed = 0, without_cores = 0, not_valid = 0;
  const auto show = [&](const Json& row) {
    if (row.contains("error")) {
      output.out << fmt::format("{:<12} {}\n", row["mode"].get<std::string>(), row["error"].get<std::string>());
      ++failed;
    } else {
      output.out << bypass::table_row(row);
      ++done;
      not_valid += row["valid"].get<bool>() ? 0 : 1;
      without_cores += row["had_cores"].get<bool>() ? 0 : 1;
      for (const Json& finding : row["findings"]) output.out << "  " << finding.get<std::string>() << '\n';
      sound = sound && row["sound"].get<bool>();
    }
    output.out.flush();
  };
  bool interrupted = false;  // a run did not begin, or was cut off
  const auto interrupts = [&](bool does) {
    interrupted = interrupted || does;
    return does;
  };
  const auto out_of_time = [&] { return o.within_seconds > 0 && seconds() >= o.within_seconds; };
  const bypass::Runner runner = [&](const Scenario& s) { return runners.run(s); };
  const bypass::MatrixEvents events{.section =
                                        [&](const std::string& name, std::size_t runs) {
                                          output.out
                                              << fmt::format("\n{}: {} runs\n{}", name, runs, bypass::table_head());
                                        },
                                    .row = show,
                                    .stop = [&] { return interrupts(stop.requested() || out_of_time()); },
                                    .cut = [&] { return interrupts(stop.requested()); }};
  Expected<Json> made = Json();
  if (o.matrix) {
    bypass::MatrixOptions options{.scale = o.scale, .repeats = repeats};
    if (runners.has_gpu()) {
      options.modes.insert(options.modes.begin(),
                           {Mode::gpu_e3, Mode::gpu_e1, Mode::gpu_e2, Mode::gpu_e4, Mode::gpu_staging});
    }
    made = bypass::run_matrix(options, log, runner, events);
  } else {
    made = bypass::run_rows("rows", scenarios, repeats, log, runner, events);
  }
  if (!made) {
    output.err << "splitplane gpu bench: " << printable(made.error().message, 500) << '\n';
    return kExitFailed;
  }
  all[o.matrix ? "matrix" : "rows"] = *std::move(made);
  all["seconds"] = seconds();
  all["interrupted"] = interrupted;
  output.out << fmt::format(
      "\n{:.0f} s{}; window w: packets under way, offered: Mpps; reord.: of the wire as a whole\n", seconds(),
      interrupted ? ", interrupted" : "");
  if (not_valid != 0) {
    output.out << fmt::format(
        "{} of {} rows do not count: something is wrong with their packets, or less than {} % of what was due was "
        "sent\n",
        not_valid, done, 100 * bypass::kKeptRate);
  }
  if (without_cores != 0) {
    output.out << fmt::format(
        "in {} of {} runs the NIC's thread, which polls and only yields, had less than 90 % of a core: with more free\n"
        "cores their figures would differ\n",
        without_cores, done);
  }
  if (interrupted && !o.json.empty()) output.out << "its rows are kept: --resume with the same flags goes on\n";
  const bool written = o.json.empty() || write_result("--json", o.json, all.dump(1) + '\n');
  std::error_code gone;  // a whole run is in the file: nothing is left to go on with
  if (written && failed == 0 && !interrupted && !o.json.empty()) std::filesystem::remove(o.json + ".rows", gone);
  return written && sound && failed == 0 && !interrupted ? kExitGood : kExitFailed;
}

}  // namespace splitplane::app
