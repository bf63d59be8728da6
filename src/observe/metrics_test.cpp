// The list of metrics and its two text formats; a real Prometheus reads them in tests/live.
#include "observe/metrics.h"

#include <gmock/gmock.h>

#include <set>

namespace splitplane::app {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Scrape two_workers() {
  Scrape scrape;
  scrape.all.file_prefix = "odd \"name\\";
  scrape.all.workers = {{.name = "w0"}, {.name = "w1"}};
  scrape.all.workers[1].counters.drops[static_cast<std::size_t>(datapath::DropReason::tx_full)] = 7;
  scrape.all.workers[0].counters.stages[static_cast<std::size_t>(datapath::Stage::dl_tx)].packets = 11;
  scrape.all.ports = {{.name = "n3", .driver = {.received = 5, .received_bytes = 640}}};
  scrape.bearers.resize(1);
  scrape.bearers[0].config.id.value = 0x04000001;
  scrape.bearers[0].uplink.held = 3;
  return scrape;
}

TEST(Metrics, every_family_has_a_name_with_its_unit_and_a_help) {
  std::set<std::string> names;
  for (const auto& metric : metric_list()) {
    EXPECT_TRUE(names.insert(metric.name).second) << metric.name;
    EXPECT_TRUE(metric.name.starts_with("splitplane_")) << metric.name;
    EXPECT_FALSE(metric.help.empty()) << metric.name;
    EXPECT_TRUE(metric.unit.empty() || metric.name.ends_with("_" + metric.unit)) << metric.name;
  }
  EXPECT_GT(names.size(), 30U);
}

TEST(Metrics, open_metrics_types_the_family_and_ends_with_eof) {
  const std::string text = render_metrics(two_workers(), MetricFormat::kOpenMetrics);
  EXPECT_THAT(text, HasSubstr("# TYPE splitplane_worker_dropped_packets counter\n"
                              "# UNIT splitplane_worker_dropped_packets packets\n"));
  EXPECT_THAT(text, HasSubstr("splitplane_worker_dropped_packets_total{worker=\"w1\",reason=\"tx_full\"} 7\n"));
  EXPECT_THAT(text, HasSubstr("splitplane_stage_packets_total{worker=\"w0\",stage=\"dl_tx\"} 11\n"));
  EXPECT_THAT(text, HasSubstr("splitplane_port_received_bytes_total{port=\"n3\"} 640\n"));
  EXPECT_THAT(text, HasSubstr("file_prefix=\"odd \\\"name\\\\\"} 1\n"));
  EXPECT_TRUE(text.ends_with("\n# EOF\n"));
}

TEST(Metrics, the_older_format_types_the_samples) {
  const std::string text = render_metrics(two_workers(), MetricFormat::kText);
  EXPECT_THAT(text, HasSubstr("# TYPE splitplane_worker_dropped_packets_total counter\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE splitplane_build_info gauge\n"));
  EXPECT_THAT(text, Not(HasSubstr("# UNIT")));
  EXPECT_THAT(text, Not(HasSubstr("# EOF")));
}

TEST(Metrics, bearers_are_left_out_unless_asked_for) {
  Scrape scrape = two_workers();
  EXPECT_THAT(render_metrics(scrape, MetricFormat::kText), Not(HasSubstr("splitplane_bearer_")));
  scrape.with_bearers = true;
  EXPECT_THAT(render_metrics(scrape, MetricFormat::kText),
              HasSubstr("splitplane_bearer_held_packets{bearer=\"0x04000001\",direction=\"uplink\"} 3\n"));
}

TEST(Metrics, the_page_names_every_metric_stage_and_reason) {
  const std::string page = metrics_markdown({});
  for (const auto& metric : metric_list()) EXPECT_THAT(page, HasSubstr("`" + metric.sample_name() + "`"));
  for (const auto name : datapath::kStageNames) EXPECT_THAT(page, HasSubstr("`" + std::string(name) + "`"));
  for (const auto name : datapath::kDropReasonNames) EXPECT_THAT(page, HasSubstr("`" + std::string(name) + "`"));
}

}  // namespace
}  // namespace splitplane::app
