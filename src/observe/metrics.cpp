#include "observe/metrics.h"

#include <cmath>
#include <concepts>
#include <functional>
#include <iterator>
#include <span>

#include "base/version.h"

namespace splitplane::app {
namespace {

using Type = MetricInfo::Type;
using Values = std::vector<std::string>;  // of the labels, in their order

// The value of a sample: a whole number, or one with a fraction.
class Sample {
 public:
  template <std::unsigned_integral T>
  Sample(T value) : whole_(value) {}
  Sample(double value) : fraction_(value), has_fraction_(true) {}

  void append_to(std::string& out) const {
    const auto end = std::back_inserter(out);
    if (!has_fraction_) {
      fmt::format_to(end, "{}", whole_);
    } else if (std::isnan(fraction_)) {
      out += "NaN";
    } else {
      fmt::format_to(end, "{:.9g}", fraction_);
    }
  }

 private:
  std::uint64_t whole_ = 0;
  double fraction_ = 0;
  bool has_fraction_ = false;
};
using Emit = std::function<void(const Values&, const Sample&)>;

struct Family {
  MetricInfo info;
  std::function<void(const Scrape&, const Emit&)> samples;
  bool of_bearers = false;
};

template <class Owner>
MetricInfo counter(std::string_view scope, const CounterRow<Owner>& row, std::vector<std::string_view> labels) {
  return {metric_name(scope, row.name, row.unit), Type::kCounter, std::string(row.unit), std::string(row.help),
          std::move(labels)};
}

void add_instance(std::vector<Family>& list) {
  list.push_back(
      {{"splitplane_build", Type::kInfo, "", "version and file prefix of the instance", {"version", "file_prefix"}},
       [](const Scrape& s, const Emit& emit) { emit({kVersion, s.all.file_prefix}, 1); }});
  list.push_back({{"splitplane_bearers", Type::kGauge, "", "bearers there are", {}},
                  [](const Scrape& s, const Emit& emit) { emit({}, s.all.bearers); }});
  list.push_back({{"splitplane_tsc_hertz", Type::kGauge, "hertz", "cycles of the time stamp counter in a second", {}},
                  [](const Scrape& s, const Emit& emit) { emit({}, s.all.tsc_hz); }});
  list.push_back(
      {{"splitplane_log_dropped_lines", Type::kCounter, "lines", "of the log, which was read too slowly", {}},
       [](const Scrape& s, const Emit& emit) { emit({}, s.all.log.dropped); }});
  list.push_back({{"splitplane_log_folded_lines", Type::kCounter, "lines", "of the log, like others and summed up", {}},
                  [](const Scrape& s, const Emit& emit) { emit({}, s.all.log.folded); }});
}

void add_workers(std::vector<Family>& list) {
  list.push_back({{"splitplane_worker_received_packets",
                   Type::kCounter,
                   "packets",
                   "received from the queues of a port, or from another worker",
                   {"worker"}},
                  [](const Scrape& s, const Emit& emit) {
                    for (const auto& w : s.all.workers) emit({w.name}, w.counters.received);
                  }});
  list.push_back({{"splitplane_worker_silent_seconds",
                   Type::kGauge,
                   "seconds",
                   "since its last round, of a worker that makes none; 0: it makes rounds",
                   {"worker"}},
                  [](const Scrape& s, const Emit& emit) {
                    for (const auto& w : s.all.workers) emit({w.name}, w.silent_s);
                  }});
  list.push_back({{"splitplane_worker_parked",
                   Type::kGauge,
                   "",
                   "1: another worker's core makes its rounds, and its own sleeps; 0: its own does",
                   {"worker"}},
                  [](const Scrape& s, const Emit& emit) {
                    for (const auto& w : s.all.workers) emit({w.name}, std::uint64_t{!w.host.empty()});
                  }});
  list.push_back({{"splitplane_worker_policy", Type::kInfo, "", "power policy in force", {"worker", "kind"}},
                  [](const Scrape& s, const Emit& emit) {
                    for (const auto& w : s.all.workers)
                      emit({w.name, std::string(power::kKindNames[static_cast<std::size_t>(w.policy)])}, 1);
                  }});
  for (const auto& row : kWorkerCounters) {
    list.push_back({counter("worker_", row, {"worker"}), [&row](const Scrape& s, const Emit& emit) {
                      for (const auto& w : s.all.workers) emit({w.name}, w.counters.*row.field);
                    }});
  }
  list.push_back({{"splitplane_worker_held_packets",
                   Type::kGauge,
                   "packets",
                   "waiting on the rings from a dispatching worker, or for those before them",
                   {"worker"}},
                  [](const Scrape& s, const Emit& emit) {
                    for (const auto& w : s.all.workers) emit({w.name}, w.held());
                  }});
  list.push_back(
      {{"splitplane_worker_dropped_packets", Type::kCounter, "packets", "dropped, by reason", {"worker", "reason"}},
       [](const Scrape& s, const Emit& emit) {
         for (const auto& w : s.all.workers) {
           for (std::size_t i = 0; i < datapath::kDropReasonCount; ++i)
             emit({w.name, std::string(datapath::kDropReasonNames[i])}, w.counters.drops[i]);
         }
       }});
  for (const auto& row : kStageCounters) {
    list.push_back({counter("stage_", row, {"worker", "stage"}), [&row](const Scrape& s, const Emit& emit) {
                      for (const auto& w : s.all.workers) {
                        for (std::size_t i = 0; i < datapath::kStageCount; ++i)
                          emit({w.name, std::string(datapath::kStageNames[i])}, w.counters.stages[i].*row.field);
                      }
                    }});
  }
}

void add_ports(std::vector<Family>& list) {
  list.push_back({{"splitplane_port_link_up",
                   Type::kGauge,
                   "",
                   "1: the interface, or the other end, is there and up; 0: it is not; only where it can be asked",
                   {"port"}},
                  [](const Scrape& s, const Emit& emit) {
                    for (const auto& p : s.all.ports) {
                      if (p.link_up) emit({p.name}, std::uint64_t{*p.link_up});
                    }
                  }});
  list.push_back({{"splitplane_port_mtu_bytes",
                   Type::kGauge,
                   "bytes",
                   "the longest IP packet that the port takes now: its mtu, or its interface's if that is smaller",
                   {"port"}},
                  [](const Scrape& s, const Emit& emit) {
                    for (const auto& p : s.all.ports) {
                      if (p.mtu != 0) emit({p.name}, p.mtu);
                    }
                  }});
  for (const auto& row : kPortCounters) {
    list.push_back({counter("port_", row, {"port"}), [&row](const Scrape& s, const Emit& emit) {
                      for (const auto& p : s.all.ports) emit({p.name}, p.driver.*row.field);
                    }});
  }
}

void add_gtpu(std::vector<Family>& list) {
  for (std::size_t i = 0; i < kGtpuCounterCount; ++i) {
    const auto which = static_cast<GtpuCounter>(i);
    list.push_back(
        {{fmt::format("splitplane_gtpu_{}", name_of(which)), Type::kCounter, "", std::string(text_of(which)), {"port"}},
         [i](const Scrape& s, const Emit& emit) {
           for (const auto& n3 : s.all.n3) emit({n3.name}, n3.gtpu[i]);
         }});
  }
}

void add_neighbors(std::vector<Family>& list) {
  for (std::size_t i = 0; i < kNeighborCounterCount; ++i) {
    const auto which = static_cast<NeighborCounter>(i);
    list.push_back(
        {{fmt::format("splitplane_{}", name_of(which)), Type::kCounter, "", std::string(text_of(which)), {"port"}},
         [i](const Scrape& s, const Emit& emit) {
           for (const auto& n3 : s.all.n3) emit({n3.name}, n3.neighbor[i]);
         }});
  }
}

// The path to each UPF that has bearers.
void add_paths(std::vector<Family>& list) {
  using Path = PathObservation;
  struct Row {
    const char *name, *unit, *help;
    Type type;
    std::uint64_t (*value)(const Path&);
  };
  static constexpr std::array<Row, 7> kRows{
      {{"resolved", "", "1: the MAC address of the UPF or of its gateway is known; 0: ARP or ND is not answered",
        Type::kGauge, [](const Path& p) -> std::uint64_t { return p.resolved ? 1 : 0; }},
       {"up", "", "1: the UPF answered the last Echo Request; 0: it did not, or there was none", Type::kGauge,
        [](const Path& p) -> std::uint64_t { return p.state == datapath::PathState::up ? 1 : 0; }},
       {"restarts", "", "other restart counters in an Echo Response", Type::kCounter,
        [](const Path& p) { return p.path.restarts; }},
       {"times_down", "", "times that the path went down", Type::kCounter, [](const Path& p) { return p.path.downs; }},
       {"echo_sent", "", "Echo Requests sent, repetitions too", Type::kCounter,
        [](const Path& p) { return p.path.sent; }},
       {"echo_answered", "", "Echo Requests answered", Type::kCounter, [](const Path& p) { return p.path.answered; }},
       {"echo_lost", "", "Echo Requests given up after all repetitions", Type::kCounter,
        [](const Path& p) { return p.path.lost; }}}};
  for (const Row& row : kRows) {
    list.push_back({{fmt::format("splitplane_upf_{}", row.name), row.type, row.unit, row.help, {"port", "upf"}},
                    [&row](const Scrape& s, const Emit& emit) {
                      for (const auto& n3 : s.all.n3) {
                        for (const Path& path : n3.paths) emit({n3.name, path.upf.to_string()}, row.value(path));
                      }
                    }});
  }
  list.push_back({{"splitplane_upf_rtt_microseconds",
                   Type::kGauge,
                   "microseconds",
                   "round trip of the last Echo Request that was answered at its first sending",
                   {"port", "upf"}},
                  [](const Scrape& s, const Emit& emit) {
                    for (const auto& n3 : s.all.n3) {
                      for (const Path& path : n3.paths) {
                        if (!path.path.rtt) continue;
                        emit({n3.name, path.upf.to_string()}, static_cast<std::uint64_t>(path.path.rtt->count()));
                      }
                    }
                  }});
}

template <std::size_t N>
Family card_reasons(const char* name, const char* help, std::array<std::uint64_t, N> nic::CardCounters::* counts,
                    const std::array<std::string_view, N>& names) {
  return {{name, Type::kCounter, "packets", help, {"card", "reason"}},
          [counts, &names](const Scrape& s, const Emit& emit) {
            for (const auto& card : s.all.cards) {
              for (std::size_t i = 1; i < N; ++i) emit({card.name, std::string(names[i])}, (card.counters.*counts)[i]);
            }
          }};
}

void add_cards(std::vector<Family>& list) {
  using Port = nic::CardPortCounters;
  struct Row {
    const char *name, *help;
    std::uint64_t Port::* field;
  };
  static constexpr std::array<Row, 4> kRows{
      {{"in", "received by a card from this port", &Port::in},
       {"out", "sent by a card's program to this port, clones apart", &Port::out},
       {"clone", "clones of packets, sent to this port", &Port::clones},
       {"tx_full", "lost because the transmit queue of this port stayed full", &Port::tx_full}}};
  for (const auto& row : kRows) {
    list.push_back(
        {{fmt::format("splitplane_card_{}_packets", row.name), Type::kCounter, "packets", row.help, {"card", "port"}},
         [&row](const Scrape& s, const Emit& emit) {
           for (const auto& card : s.all.cards) {
             for (std::size_t i = 0; i < card.ports.size(); ++i) {
               if (!card.ports[i].empty()) emit({card.name, card.ports[i]}, card.counters.ports[i].*row.field);
             }
           }
         }});
  }
  list.push_back(card_reasons("splitplane_card_punted_packets", "given to the host, by reason",
                              &nic::CardCounters::punts, nic::kPuntReasonNames));
  list.push_back(card_reasons("splitplane_card_dropped_packets", "dropped by a card's program, by reason",
                              &nic::CardCounters::drops, nic::kCardDropNames));
}

// The host's end of a card.
void add_card_links(std::vector<Family>& list) {
  const auto add = [&](MetricInfo info, auto value) {
    list.push_back({std::move(info), [value](const Scrape& s, const Emit& emit) {
                      for (const auto& link : s.all.card_links) emit({link.name}, value(link));
                    }});
  };
  add({"splitplane_card_link_up", Type::kGauge, "", "1: the card answers, and its VFs are connected; 0: not", {"card"}},
      [](const CardLinkView& v) { return std::uint64_t{v.up}; });
  add({"splitplane_card_link_cut_off",
       Type::kGauge,
       "",
       "1: the card answers, and its VFs have no other end",
       {"card"}},
      [](const CardLinkView& v) { return std::uint64_t{v.cut_off}; });
  add({"splitplane_card_link_bearers", Type::kGauge, "", "that the card shall have, the host's included", {"card"}},
      [](const CardLinkView& v) { return std::uint64_t{v.bearers}; });
  add({"splitplane_card_link_waiting", Type::kGauge, "", "of them, not installed now, and not absent", {"card"}},
      [](const CardLinkView& v) { return std::uint64_t{v.waiting}; });
  add({"splitplane_card_link_absent",
       Type::kGauge,
       "",
       "of them, the host's that have no entry, because the card was full when it was last asked",
       {"card"}},
      [](const CardLinkView& v) { return std::uint64_t{v.absent}; });
  for (const auto& row : kCardLinkCounters)
    add(counter("card_link_", row, {"card"}), [&row](const CardLinkView& v) { return v.*row.field; });
}

// Absent: no card is before the workers.
void add_placement(std::vector<Family>& list) {
  const auto add = [&](MetricInfo info, auto value) {
    list.push_back({std::move(info), [value](const Scrape& s, const Emit& emit) {
                      if (s.all.placement) emit({}, value(*s.all.placement));
                    }});
  };
  add({"splitplane_placement_bearers_movable", Type::kGauge, "", "that a card may serve, wherever they live", {}},
      [](const placement::View& v) { return v.movable; });
  add({"splitplane_placement_bearers_on_cards", Type::kGauge, "", "that live on cards", {}},
      [](const placement::View& v) { return v.on_cards; });
  for (const auto& row : kPlacementCounters)
    add(counter("placement_", row, {}), [&row](const placement::View& v) { return v.*row.field; });
}

// Of `splitplane baas`.
void add_buffering(std::vector<Family>& list) {
  list.push_back({{"splitplane_baas_held_packets",
                   Type::kGauge,
                   "packets",
                   "SDUs in the windows of the buffering service",
                   {"worker"}},
                  [](const Scrape& s, const Emit& emit) {
                    for (const auto& b : s.all.buffering) emit({b.name}, b.held);
                  }});
  for (const auto& row : kBufferingCounters) {
    list.push_back({counter("baas_", row, {"worker"}), [&row](const Scrape& s, const Emit& emit) {
                      for (const auto& b : s.all.buffering) emit({b.name}, b.counters.*row.field);
                    }});
  }
}

// Of workers in full mode.
void add_phys(std::vector<Family>& list) {
  list.push_back(
      {{"splitplane_phy_up", Type::kGauge, "", "1: the PHY of the worker counts slots; 0: it does not", {"worker"}},
       [](const Scrape& s, const Emit& emit) {
         for (const auto& p : s.all.phys) emit({p.worker}, std::uint64_t{p.runs});
       }});
  for (const auto& row : kPhyCounters) {
    list.push_back({counter("phy_", row, {"worker"}), [&row](const Scrape& s, const Emit& emit) {
                      for (const auto& p : s.all.phys) emit({p.worker}, p.*row.field);
                    }});
  }
}

// Absent: the configuration says journal: none.
void add_journal(std::vector<Family>& list) {
  const auto add = [&](MetricInfo info, auto value) {
    list.push_back({std::move(info), [value](const Scrape& s, const Emit& emit) {
                      if (s.all.journal) emit({}, value(*s.all.journal));
                    }});
  };
  add({"splitplane_journal_up", Type::kGauge, "", "1: the disk takes the journal of bearers; 0: it refuses", {}},
      [](const BearerJournalView& v) { return std::uint64_t{v.reason.empty()}; });
  add({"splitplane_journal_size_bytes", Type::kGauge, "bytes", "octets of the file", {}},
      [](const BearerJournalView& v) { return std::uint64_t{v.octets}; });
  for (const auto& row : kJournalCounters)
    add(counter("journal_", row, {}), [&row](const BearerJournalView& v) { return v.*row.field; });
}

// Absent: the configuration has no section power, or what it asks for measures or models nothing. What was not read now
// has no sample; what a profile does not know is NaN.
void add_power(std::vector<Family>& list) {
  struct Row {
    const char *name, *unit, *help;
    Type type;
    double Measured::* field;
  };
  static constexpr std::array<Row, 3> kRows{
      {{"splitplane_power_watts", "watts", "measured: mean of the last 20 s", Type::kGauge, &Measured::mean_watts},
       {"splitplane_power_joules", "joules", "measured, since the start", Type::kCounter, &Measured::joules},
       {"splitplane_power_packet_joules", "joules",
        "measured: of one packet that the workers received from ports, in the last second", Type::kGauge,
        &Measured::packet_joules}}};
  for (const Row& row : kRows) {
    list.push_back({{row.name, row.type, row.unit, row.help, {"source", "scope", "name"}},
                    [&row](const Scrape& s, const Emit& emit) {
                      if (!s.all.meter) return;
                      for (const Measured& m : s.all.meter->measured) {
                        if (std::isfinite(m.watts) && std::isfinite(m.*row.field))
                          emit({s.all.meter->source, m.scope, m.name}, m.*row.field);
                      }
                    }});
  }
  list.push_back({{"splitplane_power_sensor_errors", Type::kCounter, "", "readings that failed", {"source"}},
                  [](const Scrape& s, const Emit& emit) {
                    if (s.all.meter && !s.all.meter->source.empty()) emit({s.all.meter->source}, s.all.meter->errors);
                  }});
  list.push_back({{"splitplane_estimated_wall_watts",
                   Type::kGauge,
                   "watts",
                   "what is measured and supply_watts' efficiency make of the power at the wall",
                   {"source"}},
                  [](const Scrape& s, const Emit& emit) {
                    if (s.all.meter && std::isfinite(s.all.meter->wall_watts))
                      emit({s.all.meter->source}, s.all.meter->wall_watts);
                  }});
  list.push_back({{"splitplane_modelled_power_watts",
                   Type::kGauge,
                   "watts",
                   "modelled and not measured, by the time of the workers in each state: estimate, and ends of the "
                   "band of its assumptions",
                   {"profile", "edge"}},
                  [](const Scrape& s, const Emit& emit) {
                    if (!s.all.meter || s.all.meter->profile.empty()) return;
                    const auto& [watts, low, high, why] = s.all.meter->modelled;
                    emit({s.all.meter->profile, "estimate"}, watts);
                    emit({s.all.meter->profile, "low"}, low);
                    emit({s.all.meter->profile, "high"}, high);
                  }});
  list.push_back({{"splitplane_modelled_packet_joules",
                   Type::kGauge,
                   "joules",
                   "modelled and not measured: of one packet that the workers received from ports",
                   {"profile"}},
                  [](const Scrape& s, const Emit& emit) {
                    if (s.all.meter && !s.all.meter->profile.empty())
                      emit({s.all.meter->profile}, s.all.meter->modelled_packet_joules);
                  }});
}

void add_bearers(std::vector<Family>& list) {
  for (const auto& row : kBearerCounters) {
    MetricInfo info = counter("bearer_", row, {"bearer", "direction"});
    if (row.name == "held") info.type = Type::kGauge;
    list.push_back({std::move(info),
                    [&row](const Scrape& s, const Emit& emit) {
                      for (const auto& b : s.bearers) {
                        const std::string id = fmt::format("{:#010x}", b.config.id.value);
                        emit({id, "downlink"}, b.downlink.*row.field);
                        emit({id, "uplink"}, b.uplink.*row.field);
                      }
                    },
                    true});
  }
}

const std::vector<Family>& families() {
  static const std::vector<Family> list = [] {
    std::vector<Family> made;
    add_instance(made);
    add_workers(made);
    add_ports(made);
    add_gtpu(made);
    add_neighbors(made);
    add_paths(made);
    add_cards(made);
    add_card_links(made);
    add_placement(made);
    add_buffering(made);
    add_phys(made);
    add_journal(made);
    add_power(made);
    add_bearers(made);
    return made;
  }();
  return list;
}

std::string_view type_name(Type type) {
  return type == Type::kCounter ? "counter" : type == Type::kGauge ? "gauge" : "info";
}

// The formats differ in the name of a family: text 0.0.4 knows only samples, and no type info.
void add_head(const MetricInfo& info, MetricFormat format, std::string& out) {
  const bool open = format == MetricFormat::kOpenMetrics;
  const std::string name = open ? info.name : info.sample_name();
  out += fmt::format("# TYPE {} {}\n", name, !open && info.type == Type::kInfo ? "gauge" : type_name(info.type));
  if (open && !info.unit.empty()) out += fmt::format("# UNIT {} {}\n", name, info.unit);
  out += fmt::format("# HELP {} {}\n", name, info.help);
}

void add_sample(const MetricInfo& info, const std::string& name, const Values& values, const Sample& value,
                std::string& out) {
  out += name;
  for (std::size_t i = 0; i < values.size(); ++i) {
    out += i == 0 ? "{" : ",";
    out += info.labels[i];
    out += "=\"";
    for (const char c : values[i]) {
      if (c == '\\' || c == '"') out += '\\';
      out += c;
    }
    out += '"';
  }
  out += values.empty() ? " " : "} ";
  value.append_to(out);
  out += '\n';
}

void add_values(std::string_view title, std::span<const std::string_view> names,
                std::span<const std::string_view> texts, std::string& out) {
  out += fmt::format("\n## {}\n\n| value | meaning |\n|---|---|\n", title);
  for (std::size_t i = 0; i < names.size(); ++i) out += fmt::format("| `{}` | {} |\n", names[i], texts[i]);
}

}  // namespace

std::string metric_name(std::string_view scope, std::string_view field, std::string_view unit) {
  const bool has_unit = unit.empty() || field == unit || field.ends_with(fmt::format("_{}", unit));
  return fmt::format("splitplane_{}{}{}{}", scope, field, has_unit ? "" : "_", has_unit ? "" : unit);
}

std::string MetricInfo::sample_name() const {
  return name + (type == Type::kCounter ? "_total" : type == Type::kInfo ? "_info" : "");
}

std::vector<MetricInfo> metric_list() {
  std::vector<MetricInfo> list;
  for (const auto& family : families()) list.push_back(family.info);
  return list;
}

std::string_view content_type(MetricFormat format) {
  return format == MetricFormat::kOpenMetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                              : "text/plain; version=0.0.4; charset=utf-8";
}

std::string render_metrics(const Scrape& scrape, MetricFormat format) {
  std::string out;
  for (const auto& family : families()) {
    if (family.of_bearers && !scrape.with_bearers) continue;
    add_head(family.info, format, out);
    const std::string name = family.info.sample_name();
    family.samples(
        scrape, [&](const Values& values, const Sample& value) { add_sample(family.info, name, values, value, out); });
  }
  for (const MetricSamples& family : scrape.more) {
    add_head(family.info, format, out);
    const std::string name = family.info.sample_name();
    for (const auto& sample : family.samples) add_sample(family.info, name, sample.labels, sample.value, out);
  }
  if (format == MetricFormat::kOpenMetrics) out += "# EOF\n";
  return out;
}

std::string metrics_table(const MoreMetrics& more) {
  std::string out;
  const auto add = [&](const MetricInfo& info) {
    out += fmt::format("{:<50} {:<8} {:<8} {}\n", info.sample_name(), type_name(info.type),
                       info.unit.empty() ? "-" : info.unit, info.help);
  };
  for (const auto& family : families()) add(family.info);
  for (const auto& info : more.list) add(info);
  return out;
}

std::string metrics_markdown(const MoreMetrics& more) {
  std::string out =
      "# Metrics\n\n"
      "Written by `splitplane metrics --markdown` from the lists that the program counts with. A test compares page "
      "and program.\n\n"
      "`splitplane run`, `splitplane card` and `splitplane guard` serve the metrics at `/metrics` if their file has\n"
      "`metrics: {listen: 127.0.0.1:9464}`. `splitplane baas` does if the section `baas` has that key. A client that "
      "asks for OpenMetrics 1.0, as Prometheus does, gets it. "
      "Others get\n"
      "Prometheus' text format 0.0.4. Metrics of bearers are there with `bearers: N` only, for the first N in the "
      "order of\n"
      "their identities.\n\n"
      "Counters of workers, stages, drops, ports and GTP-U have the same names in `splitplane ctl stats` and in "
      "DPDK's\n"
      "telemetry (docs/operate/operate.md). There they have no prefix and no unit. `ctl stats` has busy cycles as\n"
      "`cycles.busy`, and so on. `ctl bearer show` has the counters of bearers, and `splitplane top` shows rates. "
      "Only `ctl`\n"
      "shows key tables (`--json stats`), taps (`tap list`) and the state of UPFs (`peer list`).\n\n"
      "| metric | type | unit | labels | meaning |\n"
      "|---|---|---|---|---|\n";
  const auto add = [&](const MetricInfo& info) {
    out += fmt::format("| `{}` | {} | {} | {} | {} |\n", info.sample_name(), type_name(info.type), info.unit,
                       fmt::join(info.labels, ", "), info.help);
  };
  for (const auto& family : families()) add(family.info);
  for (const auto& info : more.list) add(info);
  add_values("Values of the label stage", datapath::kStageNames, datapath::kStageTexts, out);
  add_values("Values of the label reason", datapath::kDropReasonNames, datapath::kDropReasonTexts, out);
  add_values("Values of the label reason of packets that a card gave to the host",
             std::span(nic::kPuntReasonNames).subspan(1), std::span(nic::kPuntReasonTexts).subspan(1), out);
  add_values("Values of the label reason of packets that a card dropped", std::span(nic::kCardDropNames).subspan(1),
             std::span(nic::kCardDropTexts).subspan(1), out);
  for (const auto& [title, names, texts] : more.values) add_values(title, names, texts, out);
  return out;
}

}  // namespace splitplane::app
