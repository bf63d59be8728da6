#include "traffic/control/report.h"

#include <fmt/format.h>

namespace splitplane::app {
namespace {

constexpr std::size_t kFlowsListed = 16;

Json percentiles(const Histogram& h) {
  return {{"count", h.total()},          {"min", h.min()},          {"mean", h.mean()},
          {"p50", h.percentile(50)},     {"p90", h.percentile(90)}, {"p99", h.percentile(99)},
          {"p99_9", h.percentile(99.9)}, {"max", h.max()},          {"clamped", h.clamped()}};
}

double per_second(std::uint64_t n, std::uint64_t ns) {
  return ns == 0 ? 0 : static_cast<double>(n) * 1e9 / static_cast<double>(ns);
}

std::string micros(const Json& ns) {
  return fmt::format("p50 {:.1f}, p90 {:.1f}, p99 {:.1f}, p99.9 {:.1f}, max {:.1f} us",
                     ns.at("p50").get<double>() / 1e3, ns.at("p90").get<double>() / 1e3,
                     ns.at("p99").get<double>() / 1e3, ns.at("p99_9").get<double>() / 1e3,
                     ns.at("max").get<double>() / 1e3);
}

std::uint64_t count(const Json& at, const char* key) {
  return at.at(key).get<std::uint64_t>();
}

Json named(const std::array<std::uint64_t, traffic::kPercents.size()>& values) {
  return {{"p50", values[0]}, {"p90", values[1]}, {"p99", values[2]}, {"p99_9", values[3]}, {"max", values[4]}};
}

Json to_json(const traffic::RateResult& r) {
  return {{"asked", r.asked}, {"measured", r.measured}, {"error_percent", r.error_percent()}, {"sent", r.sent},
          {"late", r.late},   {"lost", r.lost},         {"latency_ns", named(r.latency_ns)}};
}

}  // namespace

Json to_json(const GeneratorView& gen) {
  const auto& s = gen.stats;
  const std::uint64_t took = gen.last_sent_ns > gen.started_ns ? gen.last_sent_ns - gen.started_ns : 0;
  return {{"direction", gen.replay     ? "replay"
                        : gen.downlink ? "downlink"
                                       : "uplink"},
          {"flows", gen.flows},
          {"rate_asked", gen.rate},
          {"rate", per_second(s.sent.get() > 0 ? s.sent.get() - 1 : 0, took)},
          {"seconds", static_cast<double>(took) / 1e9},
          {"sent", s.sent.get()},
          {"bytes", s.bytes.get()},
          {"late", s.late.get()},
          {"unsent", s.unsent.get()},
          {"refused", s.refused.get()},
          {"refusals", s.refusals.get()},
          {"no_buffer", s.no_buffer.get()},
          {"lateness_ns", percentiles(gen.lateness)}};
}

Json to_json(const traffic::Sink& sink, const traffic::PacketMaker* sent) {
  const auto& s = sink.stats();
  std::uint64_t frames = 0;
  Json seen = Json::object();
  for (std::size_t i = 0; i < traffic::kSeenCount; ++i) {
    frames += s.seen[i].get();
    seen[std::string(traffic::kSeenNames[i])] = s.seen[i].get();
  }
  const traffic::FlowChecker& checker = sink.checker();
  std::uint32_t flows_seen = 0, flows_hit = 0;
  std::uint64_t lost_in_all = 0;
  Json hit = Json::array();
  for (std::uint32_t flow = 0; flow < checker.flows(); ++flow) {
    const traffic::FlowCounts c = checker.counts(flow);
    const std::uint64_t lost = sent != nullptr ? c.lost_of(sent->sent(flow)) : c.lost();
    flows_seen += c.next != 0 ? 1U : 0U;
    lost_in_all += lost;
    if (lost + c.duplicates + c.reordered + c.too_old == 0) continue;
    if (flows_hit++ >= kFlowsListed) continue;
    hit.push_back({{"flow", flow},
                   {"lost", lost},
                   {"duplicates", c.duplicates},
                   {"reordered", c.reordered},
                   {"too_old", c.too_old}});
  }
  const traffic::FlowCounts total = checker.total();
  const std::uint64_t took = sink.last_ns() - sink.first_ns();
  return {{"frames", frames},
          {"bytes", s.bytes.get()},
          {"seen", seen},
          {"on_air", s.on_air.get()},
          {"flows_seen", flows_seen},
          {"unique", total.unique},
          {"lost", lost_in_all},
          {"lost_counts_ends", sent != nullptr},
          {"duplicates", total.duplicates},
          {"reordered", total.reordered},
          {"too_old", total.too_old},
          {"longest_reach", checker.longest_reach()},
          {"flows_hit", flows_hit},
          {"flows", hit},
          {"from_future", s.from_future.get()},
          {"seconds", static_cast<double>(took) / 1e9},
          {"rate", per_second(sink.stamped() > 0 ? sink.stamped() - 1 : 0, took)},
          {"latency_ns", percentiles(sink.latency())}};
}

Json to_json(const traffic::SelfTestResult& r) {
  const auto& e = r.exact;
  return {{"exact",
           {{"good", e.good()},
            {"sent", e.sent},
            {"device",
             {{"lost", e.device.lost + e.device.overflowed},
              {"duplicated", e.device.duplicated},
              {"reordered", e.device.reordered}}},
            {"sink",
             {{"lost", e.sink.lost_of(e.sent)},
              {"duplicates", e.sink.duplicates},
              {"reordered", e.sink.reordered},
              {"too_old", e.sink.too_old}}},
            {"latency_ns", {{"device", named(e.latency.truth_ns)}, {"sink", named(e.latency.sink_ns)}}},
            {"latency_error", e.latency.worst()}}},
          {"ceiling", {{"pair_mpps", r.ceiling.pair_mpps}, {"generator_mpps", r.ceiling.generator_mpps}}},
          {"rate", to_json(r.rate)},
          {"capacity", to_json(r.capacity)}};
}

std::string describe_generator(const Json& gen) {
  const double asked = gen.at("rate_asked").get<double>();
  std::string text =
      fmt::format("gen: {} packets of {} flows in {:.3f} s: {:.4f} Mpps", count(gen, "sent"), count(gen, "flows"),
                  gen.at("seconds").get<double>(), gen.at("rate").get<double>() / 1e6);
  if (asked > 0) text += fmt::format(" ({:.4f} asked for)", asked / 1e6);
  text += fmt::format("\ngen: {} late, {} not sent before the end, {} refused by the port, {} attempts refused\n",
                      count(gen, "late"), count(gen, "unsent"), count(gen, "refused"), count(gen, "refusals"));
  return text + fmt::format("gen: behind schedule: {}\n", micros(gen.at("lateness_ns")));
}

std::string describe_sink(const Json& sink) {
  const Json& seen = sink.at("seen");
  const std::uint64_t ours = count(seen, "stamped");
  std::string others;
  for (const auto& [name, n] : seen.items()) {
    if (name != "stamped" && n.get<std::uint64_t>() != 0) {
      others += fmt::format("{}{} {}", others.empty() ? "; apart: " : ", ", name, n.get<std::uint64_t>());
    }
  }
  std::string text =
      fmt::format("sink: {} packets of {} flows in {:.3f} s: {:.4f} Mpps{}\n", ours, count(sink, "flows_seen"),
                  sink.at("seconds").get<double>(), sink.at("rate").get<double>() / 1e6, others);
  text += fmt::format("sink: {} lost, {} duplicated, {} reordered, {} too old to tell, in {} flows\n",
                      count(sink, "lost"), count(sink, "duplicates"), count(sink, "reordered"), count(sink, "too_old"),
                      count(sink, "flows_hit"));
  return text + fmt::format("sink: latency from the intended send time: {}\n", micros(sink.at("latency_ns")));
}

std::string describe_self_test(const Json& result) {
  const Json& exact = result.at("exact");
  const Json& device = exact.at("device");
  const Json& sink = exact.at("sink");
  std::string text = fmt::format(
      "virtual time, {} packets through a synthetic device: {}\n"
      "  lost {} of {}, duplicated {} of {}, reordered {} of {} found; percentiles off by {:.2f} of what is allowed\n",
      count(exact, "sent"), exact.at("good").get<bool>() ? "exact" : "NOT EXACT", count(sink, "lost"),
      count(device, "lost"), count(sink, "duplicates"), count(device, "duplicated"), count(sink, "reordered"),
      count(device, "reordered"), exact.at("latency_error").get<double>());
  text += fmt::format("ceiling over memory ports: pair {:.2f} Mpps on one core, generator alone {:.2f} Mpps\n",
                      result.at("ceiling").at("pair_mpps").get<double>(),
                      result.at("ceiling").at("generator_mpps").get<double>());
  const Json& rate = result.at("rate");
  text += fmt::format("rate: {:.4f} Mpps asked, {:.4f} measured ({:+.3f} %), {} of {} late, {} lost\n",
                      rate.at("asked").get<double>() / 1e6, rate.at("measured").get<double>() / 1e6,
                      rate.at("error_percent").get<double>(), count(rate, "late"), count(rate, "sent"),
                      count(rate, "lost"));
  text += fmt::format("latency of the pair itself: {}\n", micros(rate.at("latency_ns")));
  const Json& capacity = result.at("capacity");
  return text + fmt::format("a device of {:.4f} Mpps offered twice that: {:.4f} Mpps came out ({:+.3f} %)\n",
                            capacity.at("asked").get<double>() / 1e6, capacity.at("measured").get<double>() / 1e6,
                            capacity.at("error_percent").get<double>());
}

}  // namespace splitplane::app
