#include "bypass/matrix/matrix.h"

#include <algorithm>
#include <array>
#include <optional>

namespace splitplane::bypass {
namespace {

constexpr std::array kRings{1U, 2U, 4U, 8U, 16U, 32U};
constexpr std::array kSizes{64U, 128U, 256U, 512U, 1024U, 1500U};
constexpr std::array kPaperRings{1U, 2U, 4U, 8U};

// The paper's loads, in Gbit/s on the wire, with preamble and gap. (9.99 Gbit/s of frames alone would not fit a link of
// 10.)
double packets_per_second(double gbps, std::uint32_t bytes) {
  return wire_packets_per_second(bytes, gbps * 1e9);
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const std::size_t n = values.size();
  return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

class Matrix {
 public:
  Matrix(const MatrixOptions& options, RowLog& log, const Runner& runner, const MatrixEvents& events)
      : options_(options), log_(log), runner_(runner), events_(events) {}

  // The paper's rows come first, so that only others are missing if the time is short.
  Expected<Json> run() {
    constexpr void (Matrix::* kSections[])() = {&Matrix::tab2,      &Matrix::fig7,       &Matrix::fig5,
                                                &Matrix::window,    &Matrix::throughput, &Matrix::load,
                                                &Matrix::functions, &Matrix::doorbells,  &Matrix::order};
    for (const auto section : kSections) {
      (this->*section)();
      if (failed_) return tl::unexpected(*failed_);
    }
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
  // Runs the scenarios that add() collected.
  void section(const std::string& name) {
    auto rows = run_rows(name, planned_, options_.repeats, log_, runner_, events_);
    planned_.clear();
    if (!rows) {
      failed_ = rows.error();
      return;
    }
    all_[name] = *std::move(rows);
  }
  // Packets a second in the closed loop, as the median of the repeats; 0 if no run succeeded.
  [[nodiscard]] double found(Mode mode, std::uint32_t rings, std::uint32_t bytes) const {
    std::vector<double> all;
    for (const Json& row : all_.value("throughput", Json::array())) {
      const bool same = row["mode"] == word_of(mode) && row["rings"] == rings && row["size"] == bytes;
      if (same && !row.contains("error")) all.push_back(row["mpps"].get<double>() * 1e6);
    }
    return median(std::move(all));
  }

  // Closed loop: the highest rate without loss.
  void throughput() {
    for (const Mode mode : options_.modes) {
      for (const std::uint32_t rings : kRings) {
        for (const std::uint32_t bytes : kSizes) add(base(mode, rings, bytes, 0.3));
      }
    }
    section("throughput");
  }

  // Latency over time, at the paper's load.
  void fig5() {
    for (const Mode mode : with_a_clock(options_.modes)) {
      for (const std::uint32_t bytes : {300U, 1000U}) {
        Scenario s = base(mode, 8, bytes, 2);
        s.packets_per_second = packets_per_second(9.99, bytes);
        s.bin_seconds = s.seconds / 300;
        add(s);
      }
    }
    section("fig5");
  }

  // Rings by size, at the paper's load. Then with the NIC's packet buffer in front of the rings, as in the paper: the
  // 82599's model has one.
  void tab2() {
    for (const bool drop_en : {true, false}) {
      for (const auto& [rings, bytes] : {std::pair{1U, 1500U}, {1U, 300U}, {2U, 300U}, {4U, 300U}, {8U, 300U}}) {
        for (const Mode mode : with_a_clock(bypasses())) {
          if (!drop_en && mode != Mode::bypass && mode != Mode::gpu_e2) continue;
          Scenario s = base(mode, rings, bytes, 1);
          s.packets_per_second = packets_per_second(9.99, bytes);
          s.drop_en = drop_en;
          add(s);
        }
      }
      section(drop_en ? "tab2" : "tab2_drop_en_off");
    }
  }

  // The distribution of latencies by rings, at the paper's load.
  void fig7() {
    for (const Mode mode : with_a_clock(bypasses())) {
      for (const std::uint32_t rings : kPaperRings) {
        Scenario s = base(mode, rings, 1000, 1);
        s.packets_per_second = packets_per_second(7.4, 1000);
        add(s);
      }
    }
    section("fig7");
  }

  // Open loop: from a low rate to more than the closed loop reached, but at most the wire's rate.
  void load() {
    for (const Mode mode : with_a_clock(options_.modes)) {
      for (const std::uint32_t bytes : {64U, 1024U}) {
        const double most = found(mode, 4, bytes);
        if (most <= 0) continue;
        for (const double part : {0.1, 0.25, 0.5, 0.75, 0.9, 1.0, 1.2}) {
          Scenario s = base(mode, 4, bytes, 0.5);
          s.packets_per_second = std::min(part * most, wire_packets_per_second(bytes));
          add(s);
          if (part * most >= wire_packets_per_second(bytes)) break;
        }
      }
    }
    section("load");
  }

  void functions() {
    for (const Mode mode : with_a_clock(options_.modes)) {
      for (std::size_t f = 0; f < kFunctionKindCount; ++f) {
        for (const std::uint32_t bytes : {128U, 512U, 1500U}) {
          Scenario s = base(mode, 4, bytes, 0.3);
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
        Scenario s = base(mode, 1, 64, 0.3);
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
        Scenario s = base(mode, 4, 64, 0.3);
        s.ring.doorbell_every = every;
        add(s);
      }
    }
    section("doorbells");
  }

  // The cost of restoring the wire's order, on CPU threads.
  void order() {
    for (const std::uint32_t rings : {4U, 8U}) {
      for (const bool restore : {false, true}) {
        Scenario s = base(Mode::bypass, rings, 256, 0.3);
        s.restore_order = restore;
        add(s);
      }
    }
    section("order");
  }

  // The NIC that is a kernel sends as fast as it can. It measures no latency and supports echo only.
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
  RowLog& log_;
  const Runner& runner_;
  const MatrixEvents& events_;
  std::vector<Scenario> planned_;
  Json all_ = Json::object();
  std::optional<Error> failed_;
};

}  // namespace

Expected<Json> run_rows(const std::string& section, const std::vector<Scenario>& scenarios, unsigned repeats,
                        RowLog& log, const Runner& runner, const MatrixEvents& events) {
  events.section(section, scenarios.size() * repeats);
  Json rows = Json::array();
  for (unsigned repeat = 0; repeat < repeats; ++repeat) {
    for (const Scenario& s : scenarios) {
      auto row = log.find(section, repeat, s);
      if (!row) {
        if (events.stop()) return rows;
        auto made = runner(s);
        if (events.cut()) return rows;
        if (made) {
          row = *std::move(made);
        } else {
          row = to_json(s);
          (*row)["error"] = made.error().message;
        }
        if (auto added = log.add(section, repeat, *row); !added) return tl::unexpected(added.error());
      }
      events.row(*row);
      rows.push_back(*std::move(row));
    }
  }
  return rows;
}

Expected<Json> run_matrix(const MatrixOptions& options, RowLog& log, const Runner& runner, const MatrixEvents& events) {
  return Matrix(options, log, runner, events).run();
}

}  // namespace splitplane::bypass
