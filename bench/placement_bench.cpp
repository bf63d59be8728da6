// What the decision core of placement makes of a load that drifts, beside the best that the card's table allows and
// beside the rule of other user planes: place a bearer when it comes, and never move it.
//
// A trace says how many packets each bearer has in each period: Poisson draws around a Zipf law whose ranks drift. Each
// second some bearers exchange their ranks: with any others (`jump`), or with others of half to twice the rank
// (`near`). Four rules see the same trace:
//
//   spill   placement::Decider in mode spill, which knows the periods before
//   bounded exchanges as many bearers as may move, and knows the true rates of each period before it begins
//   best    the busiest bearers of each period that fit, which no rule can know before the period is over
//   set-up  the first bearers that came, while the card had room
//
// Times are CPU time of the thread for one decision. A line a row goes to stderr, one JSON object to stdout.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

#include "placement/decision/best.h"
#include "placement/decision/decider.h"

namespace splitplane::bench {
namespace {

struct Options {
  std::size_t bearers = 200'000, entries = 65'536;
  double mpps = 5;
  unsigned warm_s = 90, measured_s = 60;
  std::vector<double> exponents{0.8, 1.0, 1.2};
  std::vector<double> drifts{0.1, 1, 5};  // percent of the bearers a second
  std::vector<std::string> kinds{"jump", "near"};
  std::uint64_t seed = 1;
  placement::Settings settings{.mode = placement::Mode::kSpill};
};

double thread_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

class Trace {
 public:
  Trace(const Options& options, double exponent, double drift_percent, bool is_near)
      : seconds_(options.settings.period_ms / 1e3),
        moved_(drift_percent / 100 * static_cast<double>(options.bearers)),
        is_near_(is_near),
        rates_(options.bearers),
        at_rank_(options.bearers),
        means(options.bearers),
        counts(options.bearers),
        random_(options.seed) {
    double sum = 0;
    for (std::size_t i = 0; i < rates_.size(); ++i) sum += std::pow(static_cast<double>(i + 1), -exponent);
    for (std::size_t i = 0; i < rates_.size(); ++i) {
      rates_[i] = options.mpps * 1e6 * std::pow(static_cast<double>(i + 1), -exponent) / sum;
    }
    std::iota(at_rank_.begin(), at_rank_.end(), 0U);
    std::shuffle(at_rank_.begin(), at_rank_.end(), random_);
  }
  // Fills in the next period's `means` and `counts`.
  void pass() {
    due_ += moved_ * seconds_;
    const double now = std::floor(due_);
    due_ -= now;
    std::uniform_int_distribution<std::size_t> any(0, counts.size() - 1);
    for (double i = 0; i < now; i += 2) {  // an exchange moves two
      const std::size_t one = any(random_);
      const double factor = std::exp2(2 * uniform_(random_) - 1);
      const auto near = static_cast<std::size_t>(static_cast<double>(one + 1) * factor);
      std::swap(at_rank_[one], at_rank_[is_near_ ? std::clamp<std::size_t>(near, 1, counts.size()) - 1 : any(random_)]);
    }
    for (std::size_t rank = 0; rank < counts.size(); ++rank) {
      means[at_rank_[rank]] = static_cast<float>(rates_[rank] * seconds_);
      counts[at_rank_[rank]] = draw(rates_[rank] * seconds_);
    }
  }

 private:
  // Poisson; a normal draw is as good from 30 on.
  std::uint32_t draw(double mean) {
    if (mean >= 30)
      return static_cast<std::uint32_t>(std::max(0.0, std::round(mean + std::sqrt(mean) * normal_(random_))));
    const double end = std::exp(-mean);
    std::uint32_t count = 0;
    for (double product = uniform_(random_); product > end; product *= uniform_(random_)) ++count;
    return count;
  }
  double seconds_, moved_, due_ = 0;
  bool is_near_;
  std::vector<double> rates_;
  std::vector<std::uint32_t> at_rank_;  // the bearer

 public:
  std::vector<float> means;  // by bearer, in a period
  std::vector<std::uint32_t> counts;

 private:
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_;
};

// Knows the true means, and exchanges bearers with half as many moves each way as a period has.
class Bounded {
 public:
  Bounded(const Options& options, std::size_t set_up)
      : on_card_(options.bearers),
        exchanges_(options.settings.most_moves_per_second * options.settings.period_ms / 2000) {
    std::fill_n(on_card_.begin(), set_up, true);
  }
  double share(const Trace& trace, double all) {
    placement::Greatest hot(exchanges_);
    placement::Least cold(exchanges_);
    for (std::size_t i = 0; i < on_card_.size(); ++i) {
      on_card_[i] ? cold.offer(trace.means[i], i) : hot.offer(trace.means[i], i);
    }
    const auto come = hot.sorted(), leave = cold.sorted();
    for (std::size_t i = 0; i < std::min(come.size(), leave.size()) && come[i].key > leave[i].key; ++i) {
      on_card_[come[i].slot] = true;
      on_card_[leave[i].slot] = false;
    }
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < on_card_.size(); ++i) sum += on_card_[i] ? trace.counts[i] : 0;
    return static_cast<double>(sum) / all;
  }

 private:
  std::vector<bool> on_card_;
  std::size_t exchanges_;
};

double share_of_best(std::vector<std::uint32_t> counts, std::size_t entries, double all) {
  if (counts.size() <= entries) return 1;
  const auto last = counts.begin() + static_cast<std::ptrdiff_t>(entries);
  std::nth_element(counts.begin(), last, counts.end(), std::greater<>());
  return static_cast<double>(std::accumulate(counts.begin(), last, std::uint64_t{0})) / all;
}

double percentile(std::vector<double> values, double part) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}
double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

nlohmann::json measure(const Options& options, double exponent, double drift, const std::string& kind) {
  using namespace placement;
  Trace trace(options, exponent, drift, kind == "near");
  Facts facts;
  facts.cards.push_back({.up = true, .capacity = options.entries});
  facts.workers.push_back({.cards = 1});
  facts.bearers.resize(options.bearers);
  Decider decider(options.settings);
  const std::size_t set_up = std::min(options.entries, options.bearers);  // they came while the card had room
  for (std::size_t i = 0; i < options.bearers; ++i) {
    BearerFacts& bearer = facts.bearers[i];
    bearer.id = BearerId{static_cast<std::uint32_t>(i + 1)};
    bearer.place = bearer.to = i < set_up ? Place::card(0) : Place::worker(0);
  }
  const unsigned per_second = 1000 / options.settings.period_ms;
  const unsigned warm = options.warm_s * per_second, periods = warm + options.measured_s * per_second;
  Bounded knowing(options, set_up);
  std::vector<double> best, bounded, spill, rule, moves, times;
  std::size_t most_on_card = 0, most_in_a_second = 0;
  double near_after_s = -1;
  for (unsigned period = 0; period < periods; ++period) {
    trace.pass();
    facts.now += Time(options.settings.period_ms);
    std::uint64_t all = 0, on_card = 0, on_set_up = 0;
    for (std::size_t i = 0; i < options.bearers; ++i) {
      BearerFacts& bearer = facts.bearers[i];
      bearer.packets += trace.counts[i];
      bearer.octets += std::uint64_t{1000} * trace.counts[i];
      all += trace.counts[i];
      if (bearer.place.on_card()) on_card += trace.counts[i];
      if (i < set_up) on_set_up += trace.counts[i];
    }
    const double whole = static_cast<double>(all), share = static_cast<double>(on_card) / whole;
    const double known = knowing.share(trace, whole);
    const double possible = share_of_best(trace.counts, options.entries, whole);
    if (near_after_s < 0 && share >= 0.9 * possible) near_after_s = static_cast<double>(period) / per_second;
    const double begin = thread_ms();
    const Decision& decision = decider.decide(facts);
    const double took = thread_ms() - begin;
    for (const Move& move : decision.moves) {
      BearerFacts& bearer = facts.bearers[move.slot];
      bearer.place = bearer.to = move.to;
      bearer.moved = facts.now;
    }
    most_on_card = std::max(most_on_card, static_cast<std::size_t>(std::ranges::count_if(
                                              facts.bearers, [](const auto& b) { return b.place.on_card(); })));
    times.push_back(took);
    if (period < warm) continue;
    best.push_back(possible);
    bounded.push_back(known);
    spill.push_back(share);
    rule.push_back(static_cast<double>(on_set_up) / whole);
    moves.push_back(static_cast<double>(decision.moves.size()));
    if (moves.size() >= per_second) {
      const double second = std::accumulate(moves.end() - per_second, moves.end(), 0.0);
      most_in_a_second = std::max(most_in_a_second, static_cast<std::size_t>(second));
    }
  }
  double worst = 1;
  for (std::size_t i = 0; i < best.size(); ++i) worst = std::min(worst, spill[i] / best[i]);
  const auto bearers = static_cast<double>(options.bearers);
  return {{"exponent", exponent},
          {"drift_percent", drift},
          {"drift", kind},
          {"best", mean(best)},
          {"bounded", mean(bounded)},
          {"spill", mean(spill)},
          {"set_up", mean(rule)},
          {"spill_of_best", mean(spill) / mean(best)},
          {"worst_of_best", worst},
          {"set_up_of_best", mean(rule) / mean(best)},
          {"moved_percent_a_second", 100 * mean(moves) * per_second / bearers},
          {"moved_percent_most", 100 * static_cast<double>(most_in_a_second) / bearers},
          {"near_after_s", near_after_s},
          {"most_on_card", most_on_card},
          {"decision_ms", percentile(times, 0.5)},
          {"decision_ms_p99", percentile(times, 0.99)}};
}

}  // namespace
}  // namespace splitplane::bench

int main(int argc, char** argv) {
  using namespace splitplane::bench;
  CLI::App app{"Bearers on a card under a load that drifts: by measured load, the best possible, and placed once."};
  Options options;
  auto& settings = options.settings;
  app.add_option("--bearers", options.bearers, "bearers")->check(CLI::Range(1000, 1'000'000));
  app.add_option("--entries", options.entries, "bearers that the card holds")->check(CLI::Range(1, 1'000'000));
  app.add_option("--mpps", options.mpps, "packets of all bearers together")->check(CLI::Range(0.01, 1000.0));
  app.add_option("--exponents", options.exponents, "of the Zipf law")->delimiter(',')->check(CLI::Range(0.0, 4.0));
  app.add_option("--drifts", options.drifts, "percent of the bearers that change their rank in a second")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 100.0));
  app.add_option("--kinds", options.kinds, "of drift")->delimiter(',')->check(CLI::IsMember({"jump", "near"}));
  app.add_option("--warm", options.warm_s, "seconds before it is measured");
  app.add_option("--seconds", options.measured_s, "seconds that are measured")->check(CLI::Range(1, 100'000));
  app.add_option("--seed", options.seed, "of the trace");
  app.add_option("--period-ms", settings.period_ms, "between two decisions")->check(CLI::Range(10, 1000));
  app.add_option("--load-ms", settings.load_ms, "time of the mean")->check(CLI::Range(1, 1'000'000));
  app.add_option("--moves", settings.most_moves_per_second, "moves a second at most");
  app.add_option("--min-stay-ms", settings.min_stay_ms, "minimum stay");
  app.add_option("--hysteresis", settings.hysteresis_percent, "percent");
  CLI11_PARSE(app, argc, argv);

  nlohmann::json rows = nlohmann::json::array();
  fmt::print(stderr, "{:>5} {:>6} {:>6}  {:>6} {:>7} {:>6} {:>6}  {:>8} {:>8}  {:>8} {:>8}  {:>7} {:>7}\n", "zipf",
             "drift", "%/s", "best", "bounded", "spill", "set-up", "of best", "worst", "moved %", "near s", "ms",
             "p99");
  for (const std::string& kind : options.kinds) {
    for (const double exponent : options.exponents) {
      for (const double drift : options.drifts) {
        const auto& row = rows.emplace_back(measure(options, exponent, drift, kind));
        const auto of = [&](const char* key) { return row[key].get<double>(); };
        fmt::print(stderr,
                   "{:5.1f} {:>6} {:6.2f}  {:6.3f} {:7.3f} {:6.3f} {:6.3f}  {:8.3f} {:8.3f}  {:8.3f} {:8.1f}  {:7.2f} "
                   "{:7.2f}\n",
                   exponent, kind, drift, of("best"), of("bounded"), of("spill"), of("set_up"), of("spill_of_best"),
                   of("worst_of_best"), of("moved_percent_a_second"), of("near_after_s"), of("decision_ms"),
                   of("decision_ms_p99"));
      }
    }
  }
  const nlohmann::json report{{"bearers", options.bearers},
                              {"entries", options.entries},
                              {"mpps", options.mpps},
                              {"seed", options.seed},
                              {"rows", rows}};
  std::printf("%s\n", report.dump(1).c_str());
}
