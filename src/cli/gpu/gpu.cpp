#include "cli/gpu/gpu.h"

#include <memory>

#include "cli/gpu/bench.h"
#include "cli/gpu/info.h"
#include "cli/gpu/run.h"

namespace splitplane::app {
namespace {

template <class Kind>
std::vector<std::string> words(std::size_t count) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(bypass::word_of(static_cast<Kind>(i)));
  return all;
}
std::vector<std::string> modes() {
  return words<bypass::Mode>(bypass::kModeCount);
}
std::vector<std::string> functions() {
  return words<bypass::FunctionKind>(bypass::kFunctionKindCount);
}

const CLI::Range kPackets(std::uint64_t{1}, std::uint64_t{1} << 62);
const CLI::Range kSeed(std::uint64_t{0}, std::uint64_t{1} << 62);
const CLI::Range kNanoseconds(std::uint64_t{0}, std::uint64_t{1'000'000'000});
const CLI::Range kMpps(0.0, 1000.0);

void add_ring_settings(CLI::App& command, bypass::Scenario& s) {
  command.add_option("--ring-size", s.ring.ring_size, "Descriptors in each direction, a power of 2")
      ->capture_default_str();
  command.add_option("--slots", s.ring.slots, "Packet slots of a ring")->capture_default_str();
  command.add_option("--doorbell-every", s.ring.doorbell_every, "Packets per write of a tail register (the paper: 8)")
      ->capture_default_str();
  command.add_option("--doorbell-within", s.ring.doorbell_within_ns, "And no later than this, in ns")
      ->check(kNanoseconds)
      ->capture_default_str();
  command
      .add_option("--report-every", s.ring.report_every,
                  "Frames sent per descriptor that the NIC marks done, and the last of a step; ring engines only")
      ->capture_default_str();
  command.add_option("--credit", s.ring.credit, "Packets between receiver and sender at most; 0: all spare slots")
      ->capture_default_str();
  command
      .add_option("--early-within", s.ring.early_within_ns,
                  "How long octets may come after their descriptor, in ns; 0: not checked")
      ->check(kNanoseconds)
      ->capture_default_str();
  command.add_flag("--threads", s.thread_per_engine, "Two threads for each ring, as a GPU has warps, not one for all");
  command.add_flag("--restore-order", s.restore_order, "One sender for all rings, in the order in which packets came");
  command
      .add_option_function<std::string>(
          "--rss", [&s](const std::string& by) { s.rss_ports = by == "ports"; },
          "What the NIC spreads by: addresses and ports, or addresses only, which keeps a tunnel's order; ports. Not "
          "with gpu-e4")
      ->check(CLI::IsMember({"ports", "addresses"}));
  command
      .add_option_function<std::string>(
          "--drop-en", [&s](const std::string& word) { s.drop_en = word == "on"; },
          "off: frames for a ring without descriptors wait in the NIC's packet buffer and hold up all others; on. Not "
          "with gpu-e1, gpu-e3 and gpu-e4")
      ->check(CLI::IsMember({"on", "off"}));
  command.add_option("--flows", s.flows, "Flows, spread over the rings")->capture_default_str();
  command.add_option("--window", s.window, "Packets under way, where no rate is given")->capture_default_str();
  command.add_option("--seed", s.seed, "Of the traffic")->check(kSeed)->capture_default_str();
}

void add_bench(CLI::App& gpu, std::function<int(CliOutput&)>& action) {
  const auto o = std::make_shared<GpuBenchOptions>();
  CLI::App* command = gpu.add_subcommand("bench", "Measures host bypass and what it is compared with");
  CLI::Option* matrix =
      command->add_flag("--matrix", o->matrix, "All figures of docs/design/gpu.md, in about 12 minutes");
  command->add_option("--rings", o->rings, "One or more, with commas")->delimiter(',')->excludes(matrix);
  command
      ->add_option("--size", o->sizes,
                   "Of frames with their CRC, one or more; else the smallest of the function and 1500")
      ->delimiter(',')
      ->excludes(matrix);
  command->add_option("--mode", o->modes, "One or more")
      ->delimiter(',')
      ->check(CLI::IsMember(modes()))
      ->excludes(matrix);
  command->add_option("--function", o->functions, "One or more")
      ->delimiter(',')
      ->check(CLI::IsMember(functions()))
      ->excludes(matrix);
  command->add_option("--rate", o->mpps, "Million packets a second offered; 0: a window, no loss")
      ->delimiter(',')
      ->check(kMpps)
      ->excludes(matrix);
  command->add_option("--duration", o->base.seconds, "Seconds measured in each run")
      ->capture_default_str()
      ->excludes(matrix);
  command->add_option("--packets", o->base.packets, "Instead of a time: packets in each run")
      ->check(kPackets)
      ->excludes(matrix);
  command->add_option("--batch", o->base.staging_batch, "Packets per copy of the mode staging")->capture_default_str();
  command->add_option("--scale", o->scale, "Of the time of each run of the matrix")
      ->check(CLI::Range(0.01, 100.0))
      ->needs(matrix);
  command->add_option("--repeats", o->repeats, "Of each run, interleaved; else 5 of the matrix, 1 of chosen runs")
      ->check(CLI::Range(1, 100));
  CLI::Option* within = command->add_option("--within", o->within_seconds, "No run begins after this many seconds")
                            ->check(CLI::Range(1.0, 86400.0));
  command->add_flag("--cpu", o->cpu_only, "CPU threads only, also where there is a GPU");
  CLI::Option* json = command->add_option("--json", o->json,
                                          "Writes all results to this file, and each row when it comes to FILE.rows");
  CLI::Option* resume = command->add_flag("--resume", o->resume, "Goes on with FILE.rows of a run that was cut off");
  resume->needs(json), within->needs(json);
  command->add_flag("--retry", o->retry, "Makes runs again that failed; else their rows stay as they are")
      ->needs(resume);
  add_ring_settings(*command, o->base);
  command->footer(
      "Without a GPU everything runs on CPU threads against the soft NIC, and the results say so.\n"
      "Example:\n  splitplane gpu bench --rings 1,4 --size 64,1500 --mode bypass,plain\n"
      "  splitplane gpu bench --matrix --json out/gpu.json");
  command->callback([o, &action] { action = [o](CliOutput& output) { return gpu_bench(*o, output); }; });
}

void add_run(CLI::App& gpu, std::function<int(CliOutput&)>& action) {
  const auto o = std::make_shared<GpuRunOptions>();
  CLI::App* command = gpu.add_subcommand("run", "Runs the ring driver on CPU threads against the soft NIC, or a card");
  command->add_option("--rings", o->scenario.rings, "Ring pairs of the NIC")->capture_default_str();
  command->add_option("--size", o->size, "Of frames with their CRC; else the smallest that the function takes");
  command->add_option("--function", o->function, "What is done to each packet")
      ->check(CLI::IsMember(functions()))
      ->capture_default_str();
  command
      ->add_option_function<double>(
          "--rate", [o](double mpps) { o->scenario.packets_per_second = mpps * 1e6; },
          "Million packets a second offered, instead of a window")
      ->check(kMpps);
  command->add_option_function<double>(
      "--duration",
      [o](double seconds) {
        o->scenario.seconds = seconds;
        o->until_stopped = false;
      },
      "Seconds until it ends by itself");
  command->add_option("--packets", o->scenario.packets, "Ends after this many")->check(kPackets);
  CLI::Option* in = command->add_option("--pcap-in", o->pcap_in, "Replays this capture instead of own traffic");
  CLI::Option* out =
      command->add_option("--pcap-out", o->pcap_out, "Records what leaves the NIC to this file")->needs(in);
  command->add_option("--port", o->port, "Own traffic's place is taken by a DPDK port: net_tap0,iface=sp0 or 3b:00.0")
      ->excludes(in)
      ->excludes(out);
  command->add_option("--json", o->json, "Writes the results to this file")->excludes(in)->excludes(out);
  add_ring_settings(*command, o->scenario);
  CLI::Option* nic = command->add_option("--nic", o->nic,
                                         "A real 82599 or X520 by its PCI address, 0000:03:00.0, and frames from its "
                                         "link; as root; not tried on hardware");
  CLI::Option* on_gpu = command->add_flag("--gpu", o->gpu,
                                          "The engines are kernels on a GPU, with the soft NIC on the CPU; not run on "
                                          "a GPU so far. With --nic it says what "
                                          "this machine lacks for it");
  command
      ->add_option(
          "--gpu-mode", o->gpu_mode,
          "gpu-e2: rings in host memory, the NIC model; gpu-e3: rings in GPU memory, its processors as the NIC's DMA")
      ->check(CLI::IsMember({"gpu-e2", "gpu-e3"}))
      ->capture_default_str()
      ->needs(on_gpu);
  for (const char* cpu : {"--pcap-in", "--pcap-out", "--port", "--threads", "--restore-order"}) {
    on_gpu->excludes(command->get_option(cpu));
  }
  for (const char* own : {"--pcap-in", "--pcap-out", "--port", "--json", "--size", "--rate", "--packets", "--flows",
                          "--window", "--seed", "--restore-order"}) {
    nic->excludes(command->get_option(own));
  }
  command->footer(
      "Example:\n  splitplane gpu run --rings 4 --function gnb-headers --size 512 --duration 10\n"
      "  splitplane gpu run --function macswap --pcap-in in.pcap --pcap-out out.pcap\n"
      "  splitplane gpu run --gpu --rings 4 --function gnb-headers --duration 10\n"
      "  splitplane gpu run --nic 0000:03:00.0 --rings 4 --function macswap");
  command->callback([o, &action] { action = [o](CliOutput& output) { return gpu_run(*o, output); }; });
}

}  // namespace

void add_gpu(CLI::App& app, std::function<int(CliOutput&)>& action) {
  CLI::App* gpu = app.add_subcommand("gpu", "Host bypass: a NIC driver that runs on the GPU, or on CPU threads");
  gpu->require_subcommand(1);
  gpu->footer("Example:\n  splitplane gpu info");
  CLI::App* info = gpu->add_subcommand("info", "What is here for host bypass: GPU, NICs, and what stands in the way");
  const auto json = std::make_shared<bool>(false);
  info->add_flag("--json", *json, "JSON for machines");
  const auto open_cards = std::make_shared<bool>(false);
  info->add_flag("--open", *open_cards, "Opens each 82599 whose kernel driver is off: registers, memory (root)");
  info->footer("Example:\n  splitplane gpu info --open");
  info->callback([json, open_cards, &action] {
    action = [json, open_cards](CliOutput& output) {
      output.json = *json;
      return gpu_info(*open_cards, output);
    };
  });
  add_run(*gpu, action);
  add_bench(*gpu, action);
}

}  // namespace splitplane::app
