#include "cli/gpu/run_text.h"

#include <fmt/format.h>

#include "base/text.h"

namespace splitplane::app {

void show_live(const bypass::Live& now, const bypass::Live& before, std::ostream& out) {
  const double seconds = now.seconds - before.seconds;
  const auto rate = [&](std::uint64_t a, std::uint64_t b) { return static_cast<double>(a - b) / seconds * 1e-6; };
  out << fmt::format("{:6.1f} s  sent {:7.3f} Mpps  back {:7.3f} Mpps  lost at the NIC {}  dropped {}  doorbells {}\n",
                     now.seconds, rate(now.sent, before.sent), rate(now.received, before.received), now.lost_at_nic,
                     now.dropped, now.doorbells);
  out.flush();
}

std::string own_traffic(const bypass::Scenario& s) {
  return s.packets_per_second > 0
             ? fmt::format("{} octets, {} Mpps offered", s.frame_bytes, s.packets_per_second * 1e-6)
             : fmt::format("{} octets, {} packets under way", s.frame_bytes, s.window);
}

std::string soft_nic_line(const bypass::Scenario& s, const std::string& traffic) {
  return fmt::format("{} ring{}, {}, {}; soft NIC, CPU threads, no GPU\n", s.rings, s.rings == 1 ? "" : "s",
                     word_of(s.function), traffic);
}

int end_gpu_run(int code, CliOutput& output, const std::string& sentence) {
  output.err << "splitplane gpu run: " << printable(sentence, 500) << '\n';
  return code;
}

std::string wire_line(const bypass::Live& now) {
  return fmt::format("{:6.1f} s  arrived {}  sent {}  lost at the NIC {}  dropped {}  doorbells {}{}\n", now.seconds,
                     now.sent, now.received, now.lost_at_nic, now.dropped, now.doorbells,
                     now.link_up ? "" : "  link down");
}

std::string wire_summary(const bypass::WireRunResult& r) {
  std::string text = fmt::format(
      "{} frames arrived in {:.2f} s, {} given to the driver, {} dropped by the function, {} sent, {} held\n"
      "{:.3f} doorbells per packet\n",
      r.arrived, r.seconds, r.delivered, r.dropped, r.sent, r.held,
      r.driver_packets == 0 ? 0 : static_cast<double>(r.doorbells) / static_cast<double>(r.driver_packets));
  for (const auto& [name, count] : r.lost_at_nic) text += fmt::format("lost at the NIC: {} {}\n", count, name);
  for (const auto& [name, count] : r.verdicts) text += fmt::format("dropped: {} {}\n", count, name);
  for (const std::string& sentence : r.notes) text += "note: " + sentence + '\n';
  for (const std::string& finding : r.findings) text += "watchdog: " + finding + '\n';
  if (!r.is_balanced()) text += "the books do not balance: the NIC's counts are not those of the engines\n";
  return text;
}

}  // namespace splitplane::app
