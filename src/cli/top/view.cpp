#include "cli/top/view.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "base/text.h"
#include "engine/stats.h"
#include "guard/segment/outcome.h"

namespace splitplane::app {
namespace {

using Style = TopLine::Style;
constexpr std::size_t kWide = 110;  // from this width on there is room for sums and explanations

std::string cycles(const std::optional<double>& value) {
  return value ? fmt::format("{:.1f}", *value) : "-";
}

std::string share(double value) {
  return fmt::format("{:.0f}%", 100 * value);
}

// The text that a list of ours has for a name; nothing if the name is another version's.
template <std::size_t N>
std::string_view text_for(const std::array<std::string_view, N>& names, const std::array<std::string_view, N>& texts,
                          const std::string& name) {
  const auto at = std::find(names.begin(), names.end(), name);
  return at == names.end() ? std::string_view{} : texts[static_cast<std::size_t>(at - names.begin())];
}

// Of a gNB or a guard.
std::string_view drop_text(const std::string& reason) {
  const std::string_view text = text_for(datapath::kDropReasonNames, datapath::kDropReasonTexts, reason);
  return text.empty() ? text_for(guard::kOutcomeNames, guard::kOutcomeTexts, reason) : text;
}

// A bearer's identity, and its DRB in a session with several bearers.
std::string name_of(const BearerRate& bearer) {
  return bearer.drb == 0 ? fmt::format("{:#010x}", bearer.id) : fmt::format("{:#010x} d{}", bearer.id, bearer.drb);
}

class Page {
 public:
  Page(const TopState& state, std::size_t width) : state_(state), wide_(width >= kWide), width_(width) {}

  void workers() {
    head(fmt::format("{:<14}{:>5}{:>9}{:>9}{:>9}{:>9}{:>6}{:>6}{:>7}{:>5}", "worker", "core", "rx pkt/s", "tx pkt/s",
                     "drop/s", "cyc/pkt", "busy", "idle", "asleep", "cpu"));
    for (const auto& w : sorted(state_.rates.workers, [](const WorkerRate& r) { return r.received; })) {
      if (w.silent_s != 0) {
        add(fmt::format("{:<14}{:>5}  has made no round for {} s", fit(w.name, 13), w.core, w.silent_s), Style::kAlarm);
        continue;
      }
      add(fmt::format("{:<14}{:>5}{:>9}{:>9}{:>9}{:>9}{:>6}{:>6}{:>7}{:>5}", fit(w.name, 13), w.core, si(w.received),
                      si(w.transmitted), si(w.dropped), cycles(w.cycles_per_packet), share(w.busy), share(w.idle),
                      share(w.asleep), w.cpu ? share(*w.cpu) : "-"),
          w.dropped > 0 ? Style::kAlarm : Style::kPlain);
    }
  }

  void stages() {
    head(fmt::format("{:<14}{:<14}{:>10}{:>10}{:>10}{:>18}{}", "worker", "stage", "pkt/s", "cyc/pkt", "of all",
                     "packets", wide_ ? "  what it does" : ""));
    for (const auto& s : sorted(state_.rates.stages, [](const StageRate& r) { return r.packets; })) {
      const std::string_view does =
          s.stage == kReceiveStage ? kReceiveText : text_for(datapath::kStageNames, datapath::kStageTexts, s.stage);
      add(fmt::format("{:<14}{:<14}{:>10}{:>10}{:>10}{:>18}{}{}", fit(s.worker, 13), fit(s.stage, 13), si(s.packets),
                      cycles(s.cycles_per_packet), cycles(s.part), s.total, wide_ ? "  " : "", wide_ ? does : ""));
    }
    if (state_.rates.stages.empty()) add("no stage has seen a packet");
  }

  void ports() {
    head(fmt::format("{:<14}{:>10}{:>10}{:>11}{:>11}{:>11}{:>11}{}", "port", "rx pkt/s", "tx pkt/s", "rx bit/s",
                     "tx bit/s", "missed/s", "errors/s", wide_ ? "          missed          errors" : ""));
    for (const auto& p : sorted(state_.rates.ports, [](const PortRate& r) { return r.rx_packets + r.tx_packets; })) {
      add(fmt::format("{:<14}{:>10}{:>10}{:>11}{:>11}{:>11}{:>11}{}", fit(p.name, 13), si(p.rx_packets),
                      si(p.tx_packets), si(p.rx_bits), si(p.tx_bits), si(p.missed), si(p.errors),
                      wide_ ? fmt::format("{:>16}{:>16}", p.missed_total, p.errors_total) : ""),
          p.missed + p.errors > 0 ? Style::kAlarm : Style::kPlain);
    }
  }

  void drops() {
    head(fmt::format("{:<14}{:<28}{:>10}{:>18}{}", "worker", "dropped because", "pkt/s", "packets",
                     wide_ ? "  which means" : ""));
    for (const auto& d : sorted(state_.rates.drops, [](const DropRate& r) { return r.packets; })) {
      add(fmt::format("{:<14}{:<28}{:>10}{:>18}{}{}", fit(d.worker, 13), fit(d.reason, 27), si(d.packets), d.total,
                      wide_ ? "  " : "", wide_ ? drop_text(d.reason) : ""),
          d.packets > 0 ? Style::kAlarm : Style::kPlain);
    }
    if (state_.rates.drops.empty()) add("nothing was dropped");
  }

  void placement(const PlacementRate& p) {
    head(fmt::format("{:<10}{:>9}{:>9}{:>8}{:>9}{:>10}{:>8}{:>8}{:>9}{}", "placement", "on host", "on cards", "pinned",
                     "moves/s", "moved", "failed", "held", "longest",
                     wide_ ? "     to card     to host   refused   load on cards" : ""));
    add(fmt::format(
        "{:<10}{:>9}{:>9}{:>8}{:>9}{:>10}{:>8}{:>8}{:>9}{}", fit(p.mode, 9),
        p.bearers - std::min(p.bearers, p.on_cards), p.on_cards, p.pinned, si(p.moves), p.to_card + p.to_host, p.failed,
        si(static_cast<double>(p.held)), fmt::format("{}ms", si(static_cast<double>(p.longest_hold_us) / 1000)),
        wide_ ? fmt::format("{:>12}{:>12}{:>10}{:>16}", p.to_card, p.to_host, p.refused, share(p.load_on_cards)) : ""));
  }

  void buffering() {
    head(fmt::format("{:<14}{:>12}{:>12}{:>12}{:>12}{:>14}{}", "SDUs of", "held", "told/s", "acked/s", "again/s",
                     "withdrawn/s", wide_ ? "           again" : ""));
    for (const auto& b : state_.rates.buffering) {
      add(fmt::format("{:<14}{:>12}{:>12}{:>12}{:>12}{:>14}{}", fit(b.name, 13), b.held, si(b.told), si(b.acknowledged),
                      si(b.sent_again), si(b.withdrawn), wide_ ? fmt::format("{:>16}", b.sent_again_total) : ""));
    }
  }

  void guard(const GuardTables& tables) {
    head(fmt::format("{:<14}{:<8}{:<9}{:>9}{:>10}{:>10}{:>10}{:>9}{}", "server", "mode", "state", "SYN/s", "unknown/s",
                     "answer/s", "proved/s", "drop/s", wide_ ? "   half open   times armed" : ""));
    for (const auto& g : sorted(state_.rates.guarded, [](const GuardRate& r) { return r.syns; })) {
      add(fmt::format("{:<14}{:<8}{:<9}{:>9}{:>10}{:>10}{:>10}{:>9}{}", fit(g.name, 13), fit(g.mode, 7),
                      fit(g.state, 8), si(g.syns), si(g.unknown), si(g.challenged), si(g.proved), si(g.dropped),
                      wide_ ? fmt::format("{:>10} %{:>14}", g.half_open_percent, g.armings) : ""),
          g.state == "armed" ? Style::kAlarm : Style::kPlain);
    }
    if (state_.rates.guarded.empty()) add("no server is protected");
    add(fmt::format("{} of {} clients proven, {} of {} connections translated", tables.sources, tables.source_entries,
                    tables.flows, tables.flow_entries));
  }

  void guard_page() {
    if (state_.rates.guard) {
      guard(*state_.rates.guard);
    } else {
      add("this is no guard");
    }
  }

  void bearers() {
    head(fmt::format("{:<14}{:>10}{:>10}{:>11}{:>11}{:>10}  {:<10}{}", "bearer", "dl pkt/s", "ul pkt/s", "dl bit/s",
                     "ul bit/s", "drop/s", "lives on", wide_ ? "            dl            ul  flows" : ""));
    for (const auto& b : sorted(state_.bearers.value_or(std::vector<BearerRate>{}),
                                [](const BearerRate& r) { return r.dl_packets + r.ul_packets; })) {
      add(fmt::format("{:<14}{:>10}{:>10}{:>11}{:>11}{:>10}  {:<10}{}", name_of(b), si(b.dl_packets), si(b.ul_packets),
                      si(b.dl_bits), si(b.ul_bits), si(b.dropped), b.card.empty() ? "host" : fit(b.card, 10),
                      wide_ ? fmt::format("{:>14}{:>14}  {}", b.dl_total, b.ul_total, b.flows) : ""),
          b.dropped > 0 ? Style::kAlarm : Style::kPlain);
    }
    if (!state_.bearers) {
      add("not asked yet");
    } else if (state_.bearers->empty()) {
      add("no bearers");
    }
  }

  void gap() { add(""); }
  [[nodiscard]] std::vector<TopLine> take() { return std::move(lines_); }

 private:
  void head(const std::string& text) { add(text, Style::kHead); }
  void add(std::string text, Style style = Style::kPlain) {
    text.resize(std::min(text.size(), width_));
    text.erase(text.find_last_not_of(' ') + 1);
    lines_.push_back({std::move(text), style});
  }
  template <class Row, class Key>
  [[nodiscard]] std::vector<Row> sorted(std::vector<Row> rows, Key key) const {
    if (state_.by_rate)
      std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) { return key(a) > key(b); });
    return rows;
  }

  const TopState& state_;
  bool wide_;
  std::size_t width_;
  std::vector<TopLine> lines_;
};

}  // namespace

std::string fit(const std::string& name, std::size_t width) {
  std::string text = printable(name, 200);
  if (text.size() > width) text = text.substr(0, width - 1) + "~";
  return text;
}

std::string si(double value) {
  if (!std::isfinite(value) || value < 0) return "-";
  constexpr std::array<std::string_view, 6> kPrefixes{"", "k", "M", "G", "T", "P"};
  std::size_t prefix = 0;
  // What would round up to four digits before the point takes the next prefix.
  while (value >= 999.95 && prefix + 1 < kPrefixes.size()) {
    value /= 1000;
    ++prefix;
  }
  if (prefix == 0) return value == std::floor(value) ? fmt::format("{:.0f}", value) : fmt::format("{:.1f}", value);
  return fmt::format("{:.{}f}{}", value, value < 9.9995 ? 3 : value < 99.995 ? 2 : 1, kPrefixes[prefix]);
}

std::string what_it_has(const Rates& rates) {
  if (rates.guard) {
    const std::size_t servers = rates.guarded.size();
    return fmt::format("{} server{}", servers, servers == 1 ? "" : "s");
  }
  if (rates.buffering.empty()) return fmt::format("{} bearer{}", rates.bearers, rates.bearers == 1 ? "" : "s");
  std::uint64_t held = 0;
  for (const BufferingRate& one : rates.buffering) held += one.held;
  return fmt::format("{} SDU{} held", held, held == 1 ? "" : "s");
}

std::vector<TopLine> top_lines(const TopState& state, TopPage page, std::size_t width) {
  Page lines(state, width);
  const bool all = page == TopPage::kAll;
  if (all || page == TopPage::kStages) {
    lines.workers();
    lines.gap();
  }
  if (all && state.rates.placement) {
    lines.placement(*state.rates.placement);
    lines.gap();
  }
  const bool is_service = !state.rates.buffering.empty();
  if (all && is_service) lines.buffering();
  if (all && !is_service) lines.ports();
  if (all) lines.gap();
  if (all && state.rates.guard) {
    lines.guard(*state.rates.guard);
    lines.gap();
  }
  // Nothing in a guard is timed by stages.
  if ((all && !state.rates.guard) || page == TopPage::kStages) lines.stages();
  if (page == TopPage::kPorts) lines.ports();
  if (page == TopPage::kGuard) lines.guard_page();
  if (all && !state.rates.guard) lines.gap();
  if (all || page == TopPage::kDrops) lines.drops();
  if (page == TopPage::kBearers) {
    if (state.rates.placement) lines.placement(*state.rates.placement);
    if (state.rates.placement) lines.gap();
    lines.bearers();
  }
  return lines.take();
}

}  // namespace splitplane::app
