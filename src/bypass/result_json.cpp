#include "bypass/result_json.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <fstream>
#include <thread>

namespace splitplane::bypass {
namespace {

constexpr std::array kQuantiles{0.0, 1.0, 5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99};

double us(double ns) {
  return std::round(ns) / 1e3;
}

template <class Outcome, std::size_t N>
bool named(const Json& json, const char* key, const std::array<std::string_view, N>& names, Outcome& out) {
  std::string word = json.at(key).get<std::string>();
  std::replace(word.begin(), word.end(), '-', '_');
  const auto found = std::find(names.begin(), names.end(), word);
  if (found == names.end()) return false;
  out = static_cast<Outcome>(found - names.begin());
  return true;
}

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

}  // namespace

Json to_json(const Scenario& s) {
  return {{"mode", word_of(s.mode)},
          {"function", word_of(s.function)},
          {"rings", s.rings},
          {"size", s.frame_bytes},
          {"flows", flows_of(s)},
          {"offered_mpps", s.packets_per_second * 1e-6},
          {"window", s.packets_per_second > 0 ? 0 : s.window},
          {"packets", s.packets},
          {"seconds", s.seconds},
          {"warm_up_seconds", s.warm_up_seconds},
          {"bin_seconds", s.bin_seconds},
          {"ring_size", s.ring.ring_size},
          {"slots", s.ring.slots},
          {"doorbell_every", s.ring.doorbell_every},
          {"report_every", s.ring.report_every},
          {"doorbell_within_ns", s.ring.doorbell_within_ns},
          {"credit", s.ring.credit},
          {"early_within_ns", s.ring.early_within_ns},
          {"batch", s.staging_batch},
          {"thread_per_engine", s.thread_per_engine},
          {"restore_order", s.restore_order},
          {"rss_ports", s.rss_ports},
          {"drop_en", s.drop_en},
          {"seed", s.seed}};
}

Expected<Scenario> scenario_from(const Json& json) {
  try {
    Scenario s;
    if (!named(json, "mode", kModeNames, s.mode)) return fail("no such mode: {}", json.at("mode").dump());
    if (!named(json, "function", kFunctionKindNames, s.function)) {
      return fail("no such function: {}", json.at("function").dump());
    }
    json.at("rings").get_to(s.rings);
    json.at("size").get_to(s.frame_bytes);
    json.at("flows").get_to(s.flows);
    s.packets_per_second = json.at("offered_mpps").get<double>() * 1e6;
    s.window = std::max(1U, json.at("window").get<std::uint32_t>());
    json.at("packets").get_to(s.packets);
    json.at("seconds").get_to(s.seconds);
    json.at("warm_up_seconds").get_to(s.warm_up_seconds);
    json.at("bin_seconds").get_to(s.bin_seconds);
    json.at("ring_size").get_to(s.ring.ring_size);
    json.at("slots").get_to(s.ring.slots);
    json.at("doorbell_every").get_to(s.ring.doorbell_every);
    json.at("report_every").get_to(s.ring.report_every);
    json.at("doorbell_within_ns").get_to(s.ring.doorbell_within_ns);
    json.at("credit").get_to(s.ring.credit);
    json.at("early_within_ns").get_to(s.ring.early_within_ns);
    json.at("batch").get_to(s.staging_batch);
    json.at("thread_per_engine").get_to(s.thread_per_engine);
    json.at("restore_order").get_to(s.restore_order);
    json.at("rss_ports").get_to(s.rss_ports);
    json.at("drop_en").get_to(s.drop_en);
    json.at("seed").get_to(s.seed);
    return s;
  } catch (const Json::exception& error) {
    return fail("no scenario: {}", error.what());
  }
}

Json to_json(const Result& r) {
  Json json = to_json(r.scenario);
  json["measured_seconds"] = r.seconds;
  json["mpps"] = r.mpps();
  json["gbps"] = r.gbps();
  json["sent"] = r.sent;
  json["due"] = r.due;
  json["sent_of_due"] = r.due == 0 ? Json() : Json(static_cast<double>(r.sent) / static_cast<double>(r.due));
  json["valid"] = r.is_valid();
  json["received"] = r.received;
  json["lost"] = r.lost;
  json["loss"] = r.sent == 0 ? 0 : static_cast<double>(r.lost) / static_cast<double>(r.sent);
  json["reordered"] = r.received == 0 ? 0 : static_cast<double>(r.reordered) / static_cast<double>(r.received);
  json["reordered_in_flow"] = r.flow_disorder;
  json["corrupt"] = r.corrupt;
  json["duplicated"] = r.duplicated;
  json["lost_at_nic"] = r.lost_at_nic;
  json["dropped"] = r.dropped;
  json["missing"] = r.missing;
  json["sn_repeated"] = r.sn_repeated;
  json["sn_missing"] = r.sn_missing;
  if (r.scenario.restore_order) json["restored"] = {{"late", r.restored_late}, {"given_up", r.restored_without}};
  json["doorbells_per_packet"] =
      r.driver_packets == 0 ? 0 : static_cast<double>(r.doorbells) / static_cast<double>(r.driver_packets);
  json["host_cpu_seconds"] = r.host_cpu_seconds;
  json["nic_cpu_seconds"] = r.nic_cpu_seconds;
  json["had_cores"] = r.had_cores();
  json["driver_faults"] = r.driver_faults;
  json["slots_sound"] = r.slots_sound;
  json["findings"] = r.findings;
  json["sound"] = r.is_sound();
  json["latency_us"] = {{"mean", us(r.latency.mean())},
                        {"deviation", us(std::sqrt(r.latency.variance()))},
                        {"p50", us(static_cast<double>(r.latency.percentile(50)))},
                        {"p99", us(static_cast<double>(r.latency.percentile(99)))},
                        {"p99.9", us(static_cast<double>(r.latency.percentile(99.9)))},
                        {"max", us(static_cast<double>(r.latency.max()))}};
  Json& quantiles = json["quantiles_us"];
  for (const double q : kQuantiles) {
    quantiles.push_back({q, us(static_cast<double>(r.latency.percentile(q)))});
  }
  if (r.series.empty()) return json;
  Json& series = json["series_us"];  // of each bin: packets, mean, highest
  for (const auto& p : r.series) {
    const double mean = p.packets == 0 ? 0 : static_cast<double>(p.sum_ns) / static_cast<double>(p.packets);
    series.push_back({p.packets, us(mean), us(static_cast<double>(p.largest_ns))});
  }
  return json;
}

Json to_json(const Live& now) {
  return {{"seconds", now.seconds},         {"sent", now.sent},       {"received", now.received},
          {"lost_at_nic", now.lost_at_nic}, {"dropped", now.dropped}, {"doorbells", now.doorbells},
          {"warming_up", now.warming_up}};
}

Live live_from(const Json& json) {
  return {.seconds = json.value("seconds", 0.0),
          .sent = json.value("sent", std::uint64_t{0}),
          .received = json.value("received", std::uint64_t{0}),
          .lost_at_nic = json.value("lost_at_nic", std::uint64_t{0}),
          .dropped = json.value("dropped", std::uint64_t{0}),
          .doorbells = json.value("doorbells", std::uint64_t{0}),
          .warming_up = json.value("warming_up", false)};
}

Json machine(const std::string& gpu) {
  utsname name{};
  uname(&name);
  return {{"cpu", cpu_model()},
          {"cores", std::thread::hardware_concurrency()},
          {"kernel", name.release},
          {"compiler", __VERSION__},
          {"gpu", gpu}};
}

std::string table_head() {
  return fmt::format(
      "{:<12} {:<12} {:>5} {:>5} {:>8} {:>8} {:>7} {:>7} {:>8} {:>8} {:>8} {:>9} {:>7} {:>8} {:>6} {:>7}\n", "mode",
      "function", "rings", "size", "offered", "sent/due", "Mpps", "Gbit/s", "mean us", "p50 us", "p99 us", "max us",
      "loss %", "reord. %", "db/pkt", "cpu s");
}

std::string table_row(const Json& r) {
  const double offered = r["offered_mpps"].get<double>();
  const std::string load = offered > 0 ? fmt::format("{:.3f}", offered) : fmt::format("w {}", r["window"].get<int>());
  const Json& part = r["sent_of_due"];
  const std::string kept = part.is_number() ? fmt::format("{:.4f}", part.get<double>()) : "-";
  const std::string mark = !r["sound"].get<bool>()   ? "  NOT SOUND"
                           : !r["valid"].get<bool>() ? "  NOT VALID: the generator did not keep the rate"
                                                     : "";
  const Json& l = r["latency_us"];
  return fmt::format(
      "{:<12} {:<12} {:>5} {:>5} {:>8} {:>8} {:>7.3f} {:>7.2f} {:>8.1f} {:>8.1f} {:>8.1f} {:>9.1f} {:>7.2f} {:>8.2f} "
      "{:>6.3f} "
      "{:>7.2f}{}\n",
      r["mode"].get<std::string>(), r["function"].get<std::string>(), r["rings"].get<int>(), r["size"].get<int>(), load,
      kept, r["mpps"].get<double>(), r["gbps"].get<double>(), l["mean"].get<double>(), l["p50"].get<double>(),
      l["p99"].get<double>(), l["max"].get<double>(), r["loss"].get<double>() * 100, r["reordered"].get<double>() * 100,
      r["doorbells_per_packet"].get<double>(), r["host_cpu_seconds"].get<double>(), mark);
}

}  // namespace splitplane::bypass
