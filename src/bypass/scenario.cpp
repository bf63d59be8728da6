#include "bypass/scenario.h"

#include <algorithm>

#include "bypass/bench_wire.h"
#include "gpu/rings/ring_memory.h"

namespace splitplane::bypass {
namespace {

constexpr std::size_t kMaxFindings = 8;

std::string with_hyphens(std::string_view name) {
  std::string word(name);
  std::ranges::replace(word, '_', '-');
  return word;
}

}  // namespace

std::string word_of(Mode mode) {
  return with_hyphens(name_of(mode));
}
std::string word_of(FunctionKind function) {
  return with_hyphens(name_of(function));
}

std::uint32_t flows_of(const Scenario& s) {
  return s.rings > kRssRings ? std::min(s.flows, kFlowFilters) : s.flows;
}

void note(std::vector<std::string>& findings, std::string sentence) {
  if (findings.size() >= kMaxFindings || std::ranges::find(findings, sentence) != findings.end()) return;
  findings.push_back(std::move(sentence));
}

Expected<void> check(const Scenario& s) {
  if (auto good = check_driver(s); !good) return good;
  if (const double most = wire_packets_per_second(s.frame_bytes); s.packets_per_second > most) {
    return fail("rate is {:.3f} Mpps; allowed is at most {:.3f} Mpps, what 10 Gbit/s carry of frames of {} octets",
                s.packets_per_second * 1e-6, most * 1e-6, s.frame_bytes);
  }
  return BenchWire::check(s);
}

Expected<void> check_driver(const Scenario& s) {
  if (auto good = gpu::check(s.ring, s.rings); !good) return good;
  if (!(s.packets_per_second >= 0)) return fail("rate is {} Mpps; allowed is 0 or more", s.packets_per_second * 1e-6);
  if (s.mode == Mode::gpu_e4 && (s.packets_per_second > 0 || s.function != FunctionKind::echo)) {
    return fail("mode gpu-e4 has no clock and no other judge: allowed are a window, not a rate, and the function echo");
  }
  if (!s.drop_en && (s.mode == Mode::gpu_e1 || s.mode == Mode::gpu_e3 || s.mode == Mode::gpu_e4)) {
    return fail("mode {} has no packet buffer: drop-en off is for the modes with the NIC model", word_of(s.mode));
  }
  if (!s.rss_ports && s.mode == Mode::gpu_e4) {
    return fail("mode gpu-e4 has no RSS, and rss addresses would change nothing; allowed is ports");
  }
  if (s.ring.report_every != 1 && !has_engines(s.mode)) {
    return fail("mode {} asks for DD in each descriptor: report_every is {}; allowed is 1", word_of(s.mode),
                s.ring.report_every);
  }
  if (s.seconds <= 0 || s.seconds > 3600) return fail("seconds is {}; allowed is above 0, up to 3600", s.seconds);
  if (s.window < 1 || s.window > 65536) return fail("window is {}; allowed is 1 to 65536", s.window);
  if (s.restore_order &&
      (s.mode != Mode::bypass || (s.function != FunctionKind::echo && s.function != FunctionKind::macswap))) {
    return fail("order can be restored in the mode bypass with echo and macswap, which leave the number where it was");
  }
  if (s.mode == Mode::staging && (s.staging_batch < 1 || s.staging_batch >= s.ring.ring_size)) {
    return fail("batch is {}; allowed is 1 to {}, one less than the transmit ring", s.staging_batch,
                s.ring.ring_size - 1);
  }
  return {};
}

}  // namespace splitplane::bypass
