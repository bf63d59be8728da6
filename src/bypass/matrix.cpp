#include "bypass/matrix.h"

#include <algorithm>
#include <array>
#include <map>

namespace splitplane::bypass {
namespace {

constexpr std::array kRings{1U, 2U, 4U, 8U, 16U, 32U};
constexpr std::array kSizes{64U, 128U, 256U, 512U, 1024U, 1500U};
constexpr std::array kPaperRings{1U, 2U, 4U, 8U};

// The paper's loads in Gbit/s of frames with their CRC.
double packets_per_second(double gbps, std::uint32_t bytes) {
  return gbps * 1e9 / 8 / bytes;
}

class Matrix {
 public:
  Matrix(const MatrixOptions& options, const Runner& runner, const MatrixEvents& events)
      : options_(options), runner_(runner), events_(events) {}

  Json run() {
    throughput();
    paper();
    load();
    functions();
    window();
    doorbells();
    order();
    return std::move(all_);
  }

 private:
  [[nodiscard]] Scenario base(Mode mode, std::uint32_t rings, std::uint32_t bytes, double seconds) const {
    Scenario s{.mode = mode, .rings = rings, .frame_bytes = bytes};
    s.seconds = seconds * options_.scale * (options_.modes.size() > 3 ? 0.75 : 1);  // a GPU has four modes more
    s.warm_up_seconds = std::min(0.1, s.seconds / 4);
    s.bin_seconds = 0;
    s.window = std::min(1024U, 128 * rings);
    return s;
  }
  void add(const Scenario& s) { planned_.push_back(s); }
  // Runs what add() collected.
  void section(const std::string& name) {
    events_.section(name, planned_.size());
    Json& rows = all_[name] = Json::array();
    for (const Scenario& s : planned_) {
      if (events_.stop()) break;
      auto made = runner_(s);
      Json row = made ? *std::move(made) : to_json(s);
      if (!made) row["error"] = made.error().message;
      if (made && name == "throughput") found_[{s.mode, s.rings, s.frame_bytes}] = row["mpps"].get<double>() * 1e6;
      events_.row(row);
      rows.push_back(std::move(row));
    }
    planned_.clear();
  }

  // Closed loop, as much as goes without loss.
  void throughput() {
    for (const Mode mode : options_.modes) {
      for (const std::uint32_t rings : kRings) {
        for (const std::uint32_t bytes : kSizes) add(base(mode, rings, bytes, 0.5));
      }
    }
    section("throughput");
  }

  // Latency over time, rings by size, and the distribution, at the paper's offered loads.
  void paper() {
    for (const Mode mode : with_a_clock(options_.modes)) {
      for (const std::uint32_t bytes : {300U, 1000U}) {
        Scenario s = base(mode, 8, bytes, 3);
        s.packets_per_second = packets_per_second(9.99, bytes);
        s.bin_seconds = s.seconds / 300;
        add(s);
      }
    }
    section("fig5");
    for (int repeat = 0; repeat < 3; ++repeat) {
      for (const auto& [rings, bytes] : {std::pair{1U, 1500U}, {1U, 300U}, {2U, 300U}, {4U, 300U}, {8U, 300U}}) {
        for (const Mode mode : with_a_clock(bypasses())) {
          Scenario s = base(mode, rings, bytes, 1.5);
          s.packets_per_second = packets_per_second(9.99, bytes);
          add(s);
        }
      }
    }
    section("tab2");
    for (const Mode mode : with_a_clock(bypasses())) {
      for (const std::uint32_t rings : kPaperRings) {
        Scenario s = base(mode, rings, 1000, 2);
        s.packets_per_second = packets_per_second(7.4, 1000);
        add(s);
      }
    }
    section("fig7");
  }

  // Open loop, from little to more than was found to go.
  void load() {
    for (const Mode mode : with_a_clock(options_.modes)) {
      for (const std::uint32_t bytes : {64U, 1024U}) {
        for (const double part : {0.1, 0.25, 0.5, 0.75, 0.9, 1.0, 1.2}) {
          Scenario s = base(mode, 4, bytes, 0.8);
          const auto most = found_.find({mode, 4, bytes});
          if (most == found_.end() || most->second <= 0) continue;
          s.packets_per_second = part * most->second;
          add(s);
        }
      }
    }
    section("load");
  }

  void functions() {
    for (const Mode mode : with_a_clock(options_.modes)) {
      for (std::size_t f = 0; f < kFunctionKindCount; ++f) {
        for (const std::uint32_t bytes : {128U, 512U, 1500U}) {
          Scenario s = base(mode, 4, bytes, 0.5);
          s.function = static_cast<FunctionKind>(f);
          add(s);
        }
      }
    }
    section("functions");
  }

  // Closed loop: from one packet under way, which is the round trip, to many.
  void window() {
    for (const Mode mode : with_a_clock(options_.modes)) {
      for (const std::uint32_t window : {1U, 4U, 16U, 64U, 256U}) {
        Scenario s = base(mode, 1, 64, 0.5);
        s.window = window;
        add(s);
      }
    }
    section("window");
  }

  // The paper writes the tail for every 8th packet.
  void doorbells() {
    for (const Mode mode : bypasses()) {
      for (const std::uint32_t every : {1U, 8U, 32U}) {
        Scenario s = base(mode, 4, 64, 0.5);
        s.ring.doorbell_every = every;
        add(s);
      }
    }
    section("doorbells");
  }

  // What it costs to put the wire's order right again, on CPU threads.
  void order() {
    for (const std::uint32_t rings : {4U, 8U}) {
      for (const bool restore : {false, true}) {
        Scenario s = base(Mode::bypass, rings, 256, 0.5);
        s.restore_order = restore;
        add(s);
      }
    }
    section("order");
  }

  // The NIC that is a kernel sends as fast as it can, measures no latency and judges echo only.
  [[nodiscard]] static std::vector<Mode> with_a_clock(std::vector<Mode> modes) {
    std::erase(modes, Mode::gpu_e4);
    return modes;
  }
  [[nodiscard]] std::vector<Mode> bypasses() const {
    std::vector<Mode> found = options_.modes;
    std::erase_if(found, [](Mode mode) { return !has_engines(mode); });
    return found;
  }

  const MatrixOptions& options_;
  const Runner& runner_;
  const MatrixEvents& events_;
  std::vector<Scenario> planned_;
  std::map<std::tuple<Mode, std::uint32_t, std::uint32_t>, double> found_;
  Json all_ = Json::object();
};

}  // namespace

Json run_matrix(const MatrixOptions& options, const Runner& runner, const MatrixEvents& events) {
  return Matrix(options, runner, events).run();
}

}  // namespace splitplane::bypass
